"""When the intent is looked at again: on a change of it, on words that lean on something folded away, on pressure of the budget; never at every turn.

Pure: it is handed what is new and what stands in the view, and names the reasons. Source: U-Fold recomputes its view at every user turn, which is its own
stated weakness and defeats the prompt cache; here each trigger is named in the event it causes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ctxfold.log.lines import Line
from ctxfold.text import query_words
from ctxfold.text.values import facts_of
from ctxfold.workspace.intent import Cause, Intent, IntentChange
from ctxfold.workspace.workspace import RawStep, Tile, Workspace, spans

__all__ = ["Trigger", "changing", "folded", "leaning", "newest_fold", "pressing"]

_NAMES = 6
"""Names that are looked up at most."""
_WORD = 4
"""Letters from which a plain word may name something; of scripts without blanks, signs from which one may."""
_EAST = 2
_READ = 4_000
_STRETCH = 8
"""Steps that must have been folded since for the budget to press: folds may come thick where steps are long."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """A reason to plan or to extract.

    Attributes:
        cause: which of the reasons.
        detail: what it was in this case, in a few words.
        need: what is to be looked for, in words; empty for what the intent is about.
    """

    cause: Cause
    detail: str
    need: str = ""

    def __str__(self) -> str:
        return f"{self.cause}: {self.detail}"


def changing(before: Intent, change: IntentChange) -> Trigger | None:
    """A change of intent: an item or a constraint that is new or other than before, or a turn in the dialogue. Words that change nothing are none."""
    turned = {said.cue for said in change.course} & {"changed", "cancelled", "returned", "settled"}
    known = {item.id for item in before.items}
    named: list[str] = sorted(turned)
    if any(item.id not in known for item in change.items):
        named.append("asked")
    if any(item.id in known for item in change.items) and not turned:
        named.append("evidence")
    if change.constraints:
        named.append("constraint")
    return Trigger("intent change", ", ".join(named)) if named else None


def folded(workspace: Workspace) -> bool:
    """Whether anything on the path stands in the view in less than its full form."""
    return workspace.older is not None or any(isinstance(block, Tile) and not block.whole for block in workspace.blocks)


def leaning(
    workspace: Workspace, heard: Sequence[str], fresh: Callable[[Line], bool], held: Callable[[str], bool]
) -> Trigger | None:
    """Words that name what stands nowhere in the view and somewhere in the log.

    Args:
        workspace: the settled cover.
        heard: what the user said since.
        fresh: whether a line is new since the view was last looked at.
        held: whether the log held a name before.
    """
    said = [line.text[:_READ] for line in _new(workspace, fresh) if line.kind in ("say", "call")]
    names = [name for text in (*heard, *said) for name in facts_of(f". {text[:_READ]}") if len(name) >= _EAST]
    names += [word for text in heard for word in query_words(text[:_READ]) if _telling(word)]
    if not names:
        return None
    shown = "\n".join(_shown(workspace, fresh)).lower()
    absent = [name for name in dict.fromkeys(names) if name.lower() not in shown]
    lost = [name for name in absent[:_NAMES] if held(name)]
    lost = [name for name in lost if not any(name != other and name in other for other in lost)]
    if not lost:
        return None
    return Trigger("unresolved reference", ", ".join(name[:40] for name in lost[:3]), " ".join(lost))


def _telling(word: str) -> bool:
    return len(word) >= (_WORD if word.isascii() else _EAST)


def _new(workspace: Workspace, fresh: Callable[[Line], bool]) -> Iterable[Line]:
    for block in reversed(workspace.blocks):
        if not isinstance(block, RawStep) or not any(fresh(line) for line in block.lines):
            return
        yield from (line for line in block.lines if fresh(line))


def _shown(workspace: Workspace, fresh: Callable[[Line], bool]) -> Iterable[str]:
    """What the view shows, the words that are looked into left out."""
    yield from (line.text for line in workspace.words)
    yield from (each.text for each in workspace.intent.extracts)
    for block in workspace.blocks:
        if isinstance(block, Tile):
            yield block.summary
        yield from (line.text for line in block.lines if line.kind not in ("user", "say", "call") or not fresh(line))


def newest_fold(workspace: Workspace) -> int:
    """The last step of the newest tile of several, 0 when there is none: a fold of one step presses on nothing."""
    return max((tile.last for tile in _macros(workspace)), default=0)


def pressing(workspace: Workspace, seen: int) -> Trigger | None:
    """A good stretch of steps that was folded for the budget since the last extraction.

    Args:
        workspace: the settled cover.
        seen: the last folded step that was looked at.
    """
    newest = newest_fold(workspace)
    if newest - seen < _STRETCH:
        return None
    tile = next(tile for tile in _macros(workspace) if tile.last == newest)
    return Trigger("budget pressure", f"{tile.id} of {spans(tile.steps)}")


def _macros(workspace: Workspace) -> Iterable[Tile]:
    return (block for block in workspace.blocks if isinstance(block, Tile) and len(block.steps) > 1)
