"""A refactoring as a decision, and what it is decided from and ends in, all frozen values. They judge nothing and read no store.

Source: ACR's operators and router. All operators compile to three effects: put a tile in place of a stretch of the cover, add a note, supersede a fact.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, get_args

from ctxfold.log.compact.cells import parse
from ctxfold.log.facts import identity
from ctxfold.text import summarise
from ctxfold.workspace.by import Decider
from ctxfold.workspace.guidance import Pin, Superseded
from ctxfold.workspace.workspace import Tile, Workspace

__all__ = [
    "OPERATORS",
    "Act",
    "Added",
    "Case",
    "Effect",
    "Fact",
    "Operator",
    "Outdated",
    "Put",
    "Refactored",
    "Refactoring",
    "Refusal",
    "Route",
]

Operator = Literal[
    "state_abstract", "noise_filter", "fact_rectify", "path_prune", "cognitive_boosting", "attention_anchor"
]
OPERATORS: tuple[Operator, ...] = get_args(Operator)


@dataclass(frozen=True, slots=True)
class Put:
    """A tile in place of the blocks whose steps it stands for."""

    tile: Tile


@dataclass(frozen=True, slots=True)
class Added:
    """A note, in place of the one that stood in its slot."""

    pin: Pin


@dataclass(frozen=True, slots=True)
class Outdated:
    """A value that a newer event took the place of."""

    fact: Superseded


Effect = Put | Added | Outdated


@dataclass(frozen=True, slots=True)
class Refactoring:
    """What an operator makes of a workspace, resolved.

    Attributes:
        operator: which.
        effects: what it does, in order.
        reason: why, in a few words without a word of the log.
        decider: who wrote it.
        flagged: the steps that failed or repeat others: only of these may a prune drop anything.
        edits: for a correction, how many words of how many it changed.
    """

    operator: Operator
    effects: tuple[Effect, ...]
    reason: str
    decider: Decider = "embedded"
    flagged: frozenset[int] = frozenset()
    edits: tuple[int, int] = (0, 0)

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """The tiles it puts."""
        return tuple(effect.tile for effect in self.effects if isinstance(effect, Put))

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps whose place in the view it changes, in path order."""
        return tuple(step for tile in self.tiles for step in tile.steps)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an operator is not applied, in words of ours alone."""

    operator: Operator
    reason: str


@dataclass(frozen=True, slots=True)
class Route:
    """What a router says of a history.

    Attributes:
        operator: what should be done; None to leave it alone.
        reason: the evidence, in a few words.
        decider: who routed.
    """

    operator: Operator | None
    reason: str = "clean"
    decider: Decider = "embedded"


@dataclass(frozen=True, slots=True)
class Act:
    """A call with what came back, reduced to what a router compares.

    Attributes:
        step: its step.
        call: the record of the call.
        result: the record of its result; empty while there is none.
        name: the tool.
        key: the tool and its normalised arguments.
        failure: the class of its error; empty when it did not fail.
        state: a digest of what came back, by which the same result is known again.
        barren: whether nothing was found, or nothing came back.
        silent: whether nothing at all came back, which may be all there is to say.
        page: whether it came from a page.
    """

    step: int
    call: str
    result: str
    name: str
    key: str
    failure: str = ""
    state: str = ""
    barren: bool = False
    silent: bool = False
    page: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A value at a key of the ledger, as some record tells it.

    Attributes:
        group: what it is a fact of: the names of its object and of those around it, or the call that told it.
        field: its key.
        value: its value, as it is written.
        ref: the record.
        order: its place on the path; the greater is the newer.
    """

    group: str
    field: str
    value: str
    ref: str
    order: int

    @property
    def names(self) -> tuple[str, ...]:
        """What names its object and those around it, else what names the thing its call was about; empty where nothing does."""
        first, *rest = self.group.split("\0")
        named = tuple(name.partition("=")[2] for name in (first, *rest) if _NAME.match(name))
        return named or _asked_about(first)


_NAME = re.compile(r"[^\s=]+=")


@lru_cache(maxsize=4096)
def _asked_about(call: str) -> tuple[str, ...]:
    """The value by which a call's arguments name what it is about."""
    named = identity(parse(call.partition(" ")[2]))
    return () if named is None else (named[1],)


def _unread(_ref: str) -> str:
    return ""


@dataclass(frozen=True)
class Case:
    """All that operators and routers look at: the workspace, and the evidence of the steps that stand in it.

    Attributes:
        workspace: what is to be refactored.
        acts: the calls of the loaded path, in path order.
        facts: the ledger of the loaded path as values, oldest first.
        spoken: the steps that hold words of the user.
        budget: o200k tokens of a view.
        tile: the number of the next tile.
        model_notes: the records that are notes of a model's own.
        asked: whether somebody named the operator, and so vouches for what is seen twice only.
        history: reads the exact text of the whole path: asked only for what the view does not hold.
        read: reads the exact text of a record; empty where there is none on the path.
    """

    workspace: Workspace
    acts: tuple[Act, ...] = ()
    facts: tuple[Fact, ...] = ()
    spoken: frozenset[int] = frozenset()
    budget: int = 8000
    tile: int = 1
    model_notes: frozenset[str] = frozenset()
    asked: bool = False
    history: Callable[[], str] = str
    read: Callable[[str], str] = _unread

    @cached_property
    def protected(self) -> int:
        """The place of the first block that stays as it is: the latest, and before it the latest observation."""
        blocks = self.workspace.blocks
        seen = [at for at, block in enumerate(blocks) if any(line.kind in ("data", "text") for line in block.lines)]
        return max(min([len(blocks) - 1, *seen[-1:]]), 0)


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
    """

    operator: Operator | Literal["none"]
    applied: bool
    reason: str
    decider: Decider = "embedded"
    steps: tuple[int, ...] = ()
    before: str = ""
    after: str = ""
    tokens: tuple[int, int] = (0, 0)

    @property
    def refused(self) -> bool:
        """Whether an operator was chosen and not applied."""
        return self.operator != "none" and not self.applied

    @property
    def diff(self) -> str:
        """What changed, line by line."""
        return summarise(self.before, self.after)
