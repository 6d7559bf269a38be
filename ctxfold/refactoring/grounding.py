"""Does a text hold only what the history holds? Ids, numbers, codes, quotations, and names in plain letters. It judges no sense.

What a view shows is asked first; the log itself only for what is not found there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxfold.compact.spelled import spelled
from ctxfold.folding.invented import invented
from ctxfold.lines import text_of
from ctxfold.refactoring.values import Case
from ctxfold.text import STOP_WORDS, stem
from ctxfold.workspace import Tile, Workspace

__all__ = ["ungrounded"]

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NAME = re.compile(
    r"(?<![\w@/.-])[A-Z][^\W\d_]+(?:['’-][^\W\d_]+)*(?: (?:(?:de|la|of|van|von|del|da|di) )?[A-Z][^\W\d_]+(?:['’-][^\W\d_]+)*)*"
)
_LONGEST = 4_000_000
_MONTHS = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday".split()
)


def ungrounded(text: str, case: Case) -> tuple[str, ...]:
    """The values and names of a text that the history does not have.

    Args:
        text: what a host or a model wrote.
        case: the history.

    Returns:
        Each once; empty when it invents none.
    """
    steps = frozenset(step for block in case.workspace.blocks for step in block.steps)
    shown = _shown(case.workspace)
    strange = [*invented(text, shown, steps), *_names(text, shown)]
    if not strange:
        return ()
    whole = f"{shown}\n{case.history()[:_LONGEST]}"
    return tuple(dict.fromkeys([*invented(text, whole, steps), *_names(text, whole)]))


def _shown(workspace: Workspace) -> str:
    """All that the workspace says."""
    intent, guidance = workspace.intent, workspace.guidance
    parts = [workspace.goal, *workspace.revisions, text_of(workspace.words)]
    for block in workspace.blocks:
        parts += [block.summary] if isinstance(block, Tile) else []
        parts.append(text_of(spelled(block.lines)))
    parts += [item.text for item in intent.items] + [each.text for each in intent.constraints]
    parts += [each.text for each in intent.extracts] + [said.text for said in intent.course]
    parts += [pin.text for pin in (guidance.thought, guidance.key_info) if pin is not None]
    return "\n".join(parts)


def _names(text: str, source: str) -> Iterator[str]:
    """Names in plain letters that the source does not have."""
    known = {word.lower() for word in _WORD.findall(source)}
    stems = {stem(word) for word in known if word.isascii()}
    for found in _NAME.finditer(text):
        words = _WORD.findall(found[0])
        if _opens(text, found.start()):
            words = words[1:]
        for word in words:
            low = word.lower().removesuffix("'s").removesuffix("’s")
            if not word[0].isupper() or low in STOP_WORDS or low in known or len(low) < 2:
                continue
            if low in _MONTHS or (low.isascii() and stem(low) in stems):
                continue
            yield word


def _opens(text: str, at: int) -> bool:
    """Whether a sentence begins there: a capital then says nothing."""
    before = text[:at].rstrip(" \"'“‘(*-•")
    return not before or before[-1] in ".!?:;\n。！？"
