"""The values of the refactor decision: what it is decided from, its three effects, and its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from functools import cached_property
from typing import Literal, get_args

from ctxfold.decisions.fold.settings import SETTINGS, FoldSettings
from ctxfold.workspace.by import Decider
from ctxfold.workspace.guidance import Pin, Superseded
from ctxfold.workspace.workspace import Tile, Workspace

__all__ = [
    "OPERATORS",
    "AddNote",
    "Call",
    "Case",
    "Effect",
    "Operator",
    "PutTile",
    "Refactored",
    "Refactoring",
    "Refusal",
    "Supersede",
    "noted",
]

Operator = Literal[
    "state_abstract", "noise_filter", "fact_rectify", "path_prune", "cognitive_boosting", "attention_anchor"
]
"""ACR's six operators; each compiles to the three effects below."""
OPERATORS: tuple[Operator, ...] = get_args(Operator)

_NAMED, _LONGEST = 8, 120
"""How many values of a refusal are named, and characters of each."""


@dataclass(frozen=True, slots=True)
class PutTile:
    """Replace a span of the cover by a tile."""

    tile: Tile


@dataclass(frozen=True, slots=True)
class AddNote:
    """Add a note, in place of the one that stood in its slot."""

    pin: Pin


@dataclass(frozen=True, slots=True)
class Supersede:
    """Mark a value as superseded by that of a newer record."""

    fact: Superseded


Effect = PutTile | AddNote | Supersede


@dataclass(frozen=True, slots=True)
class Refactoring:
    """What an operator makes of a workspace, resolved. `reason`: why, in a few words without a word of the log; `edits`: for a correction, how many words of how many it changed."""

    operator: Operator
    effects: tuple[Effect, ...]
    reason: str
    decider: Decider = "embedded"
    edits: tuple[int, int] = (0, 0)

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """The tiles it puts."""
        return tuple(effect.tile for effect in self.effects if isinstance(effect, PutTile))

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps whose place in the view it changes, in path order."""
        return tuple(step for tile in self.tiles for step in tile.steps)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an operator is not applied, in words of ours alone. `values`: the first few that it is about, as they were written or as the log has them."""

    reason: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A call with what came back, reduced to what exact repetition is told by: the tool and its arguments in canonical form, and a digest of the result.

    The digest is empty while there is none, and where nothing came back.
    """

    step: int
    key: str
    outcome: str = ""
    answered: bool = False


def _unread(_ref: str) -> str:
    return ""


@dataclass(frozen=True)
class Case:
    """All that operators and the router look at: the workspace, and the evidence of the steps that stand in it.

    Attributes:
        calls: the calls of the loaded path, in path order.
        spoken: the steps that hold words of the user.
        settings: when and how far the session folds.
        tile: the number of the next tile.
        model_notes: the records that are notes of a model's own.
        named: whether somebody named the operator, and so vouches for what is seen twice only.
        history: reads the exact text of the loaded path.
        read: reads the exact text of a record; empty where there is none on the path.
    """

    workspace: Workspace
    calls: tuple[Call, ...] = ()
    spoken: frozenset[int] = frozenset()
    budget: int = 8000
    settings: FoldSettings = SETTINGS
    tile: int = 1
    model_notes: frozenset[str] = frozenset()
    named: bool = False
    history: Callable[[], Sequence[str]] = tuple
    read: Callable[[str], str] = _unread

    @cached_property
    def protected(self) -> int:
        """The place of the first block that stays as it is: the latest, and before it the latest observation."""
        blocks = self.workspace.blocks
        seen = [at for at, block in enumerate(blocks) if any(line.kind in ("data", "text") for line in block.lines)]
        return max(min([len(blocks) - 1, *seen[-1:]]), 0)


def noted(case: Case, operator: Operator, pin: Pin) -> Refactoring | Refusal:
    """A note added in its slot; refused where it stands already."""
    guidance = case.workspace.guidance.at(case.workspace.path_length)
    standing = guidance.thought if pin.slot == "thought" else guidance.key_info
    if standing is not None and standing.text == pin.text:
        return Refusal("this note stands already")
    return Refactoring(operator, (AddNote(pin),), "a thought" if pin.slot == "thought" else "key facts")


@dataclass(frozen=True, slots=True)
class Refactored:
    """What became of a refactoring.

    Attributes:
        operator: what was chosen; `none` when the history was left alone.
        applied: whether it stands.
        reason: why it was chosen, or refused.
        decider: who wrote it.
        steps: the steps whose place in the view it changes.
        before: what stood there, as a view shows it.
        after: what stands there now; in a dry run, what would.
        tokens: o200k tokens of the settled view before and after.
        values: what a refusal is about, the first few: what the history does not have, or what would go.
    """

    operator: Operator | Literal["none"]
    applied: bool
    reason: str
    decider: Decider = "embedded"
    steps: tuple[int, ...] = ()
    before: str = ""
    after: str = ""
    tokens: tuple[int, int] = (0, 0)
    values: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """The reason with the values it is about, for whoever wrote the text; events keep the reason alone."""
        named = ", ".join(repr(value[:_LONGEST]) for value in self.values[:_NAMED])
        return f"{self.reason}: {named}" if named else self.reason

    @property
    def refused(self) -> bool:
        """Whether an operator was chosen and not applied."""
        return self.operator != "none" and not self.applied

    @property
    def diff(self) -> str:
        """The lines that went and came, marked `-` and `+`; `no change` where none did."""
        lines = list(unified_diff(self.before.split("\n"), self.after.split("\n"), n=0, lineterm=""))[2:]
        return "\n".join(f"{line[0]} {line[1:]}" for line in lines if line[0] != "@") or "no change"
