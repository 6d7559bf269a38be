"""Finds the reasons to extract unasked: a value in the user's words that the view has lost, or pressure of the budget.

Source: U-Fold recomputes its view at every user turn, which is its own stated weakness and defeats the prompt cache.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ctxfold.log.lines import Line
from ctxfold.text.entities import facts_of
from ctxfold.workspace.intent import Cause
from ctxfold.workspace.workspace import Tile, Workspace, spans

__all__ = ["Trigger", "folded", "holds_name", "lost_reference", "newest_fold", "pressing"]

_NAMES = 6
"""Names that are looked up at most."""
_RECENT = 6
"""Blocks at the end in which the user's new words are looked for."""
_SHORT = 2
"""Characters from which a value may be one that the log is searched for."""
_READ = 4_000
_STRETCH = 8
"""Steps that must have been folded since for the budget to press: folds may come thick where steps are long."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """A reason to plan or to extract. `detail`: what it was in this case; `need`: what is to be looked for, empty for what the intent is about."""

    cause: Cause
    detail: str
    need: str = ""

    def __str__(self) -> str:
        return f"{self.cause}: {self.detail}"


def folded(workspace: Workspace) -> bool:
    """Whether anything on the path stands in the view in less than its full form."""
    return workspace.older is not None or any(isinstance(block, Tile) and not block.whole for block in workspace.blocks)


def lost_reference(workspace: Workspace, fresh: Callable[[Line], bool], held: Callable[[str], bool]) -> Trigger | None:
    """A value in the user's words that stands nowhere else in the view and somewhere in the log."""
    said = [line.text.partition(" ")[2] for block in workspace.blocks[-_RECENT:] for line in block.said if fresh(line)]
    names = [name for text in said for name in facts_of(text[:_READ]) if len(name) >= _SHORT]
    if not names:
        return None
    shown = "\n".join(_shown(workspace, fresh))
    absent = [name for name in dict.fromkeys(names) if not holds_name(shown, name)]
    lost = [name for name in absent[:_NAMES] if held(name)]
    if not lost:
        return None
    return Trigger("unresolved reference", ", ".join(name[:40] for name in lost[:3]), " ".join(lost))


def holds_name(text: str, name: str) -> bool:
    """Whether a value stands in a text as one of its own, not within a longer one."""
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text, re.I | re.A) is not None


def _shown(workspace: Workspace, fresh: Callable[[Line], bool]) -> Iterable[str]:
    """What the view shows beside the new words of the user."""
    yield from (line.text for line in workspace.words)
    yield from (each.text for each in workspace.intent.extracts)
    for block in workspace.blocks:
        if isinstance(block, Tile):
            yield block.summary
        yield from (line.text for line in block.lines if line.kind != "user" or not fresh(line))


def newest_fold(workspace: Workspace) -> int:
    """The last step of the newest tile of several, 0 when there is none: a fold of one step presses on nothing."""
    return max((tile.last for tile in _macros(workspace)), default=0)


def pressing(workspace: Workspace, seen: int) -> Trigger | None:
    """A good stretch of steps that was folded for the budget since the last extraction."""
    newest = newest_fold(workspace)
    if newest - seen < _STRETCH:
        return None
    tile = next(tile for tile in _macros(workspace) if tile.last == newest)
    return Trigger("budget pressure", f"{tile.id} of {spans(tile.steps)}")


def _macros(workspace: Workspace) -> Iterable[Tile]:
    return (block for block in workspace.blocks if isinstance(block, Tile) and len(block.steps) > 1)
