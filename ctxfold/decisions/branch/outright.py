"""What a message says outright of its place: a number ("the second option"), or a branch's name in words of return. It weighs nothing."""

from __future__ import annotations

import re
from typing import Literal

from ctxfold.decisions.branch.sight import Sight
from ctxfold.text import words
from ctxfold.workspace.forest import Choice, Limb

__all__ = ["outright"]


def outright(seen: Sight) -> Choice | None:
    """Where a message says outright that it belongs: by number ("the second option"), or by a branch's name in words of return. Nothing outranks it."""
    here, counted = seen.grove.around.branch, _counted(seen)
    if counted is not None:
        action: Literal["continue", "switch"] = "continue" if counted == here else "switch"
        return Choice(action, to=None if counted == here else counted, confidence=0.85, reason="names it by number")
    named = [beside.limb for beside in seen.limbs if seen.cues.returns and _named(seen, beside.limb)]
    if not named:
        return None
    to = max(named, key=lambda limb: limb.visited).branch
    return Choice("switch", to=to, confidence=0.9, reason="says its name")


def _counted(seen: Sight) -> str | None:
    """The branch named by number ("the second option", "plan B"), where there is more than one."""
    number, grove = seen.cues.ordinal, seen.grove
    if number is None or seen.cues.turns:
        return None
    named = [branch for _, branch in grove.topics] if seen.cues.kind == "topic" else list(grove.branches)
    at = number - 1 if number > 0 else len(named) - 1
    return named[at] if len(named) > 1 and at < len(named) else None


_GIVEN = re.compile(r"^(?:main|(?:branch|topic)-\d+)$")


def _named(seen: Sight, limb: Limb) -> bool:
    """Whether the message says the limb's own name, or its topic's."""
    said = f" {' '.join(words(seen.measure.message))} "
    for name in {limb.branch, limb.topic} - {seen.grove.around.topic}:
        spelled = " ".join(words(name.replace("-", " ")))
        if not _GIVEN.match(name) and spelled and f" {spelled} " in said:
            return True
    return False
