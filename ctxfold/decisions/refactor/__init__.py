"""Refactoring (ACR): six operators that mend a view, as effects with one applier, and their checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from functools import cached_property
from typing import Literal, get_args

from ctxfold.config import SETTINGS, FoldSettings
from ctxfold.decisions.fold import fold, price_blocks
from ctxfold.decisions.marks import LogEvidence
from ctxfold.errors import InputError
from ctxfold.text.sentences import sentences
from ctxfold.tokens import DEFAULT_BUDGET, count
from ctxfold.workspace import Block, Decider, Pin, Superseded, Tile, Workspace

Operator = Literal[
    "state_abstract", "noise_filter", "fact_rectify", "path_prune", "cognitive_boosting", "attention_anchor"
]
"""ACR's six operators."""
OPERATORS: tuple[Operator, ...] = get_args(Operator)


def read_operator(name: str) -> Operator | Literal["auto"]:
    """Return an operator, or `auto`. Raises InputError: no such operator."""
    known: tuple[Operator | Literal["auto"], ...] = ("auto", *OPERATORS)
    for each in known:
        if each == name:
            return each
    raise InputError(f"{name!r} is no operator; use auto or one of {', '.join(OPERATORS)}")


VERSION = 1
"""The version of the applier, kept in events. Events hold resolved content, so replay never applies it."""

Effect = Tile | Pin | Superseded
"""Put a tile over a span of the cover, set the note of a slot, or supersede a value: every operator compiles to these.
"""
_NAMED, _LONGEST = 8, 120
"""The values of a refusal that are named, and characters of each."""


@dataclass(frozen=True, slots=True)
class Refactoring:
    """The resolved effects of an operator.

    Attributes:
        reason: why, in a few words without a word of the log.
        marks: the values of a written text that the log lacks.
    """

    operator: Operator
    effects: tuple[Effect, ...]
    reason: str
    decider: Decider = "embedded"
    marks: tuple[str, ...] = ()

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """The tiles it puts."""
        return tuple(effect for effect in self.effects if isinstance(effect, Tile))

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps that the view shows otherwise, in path order."""
        return tuple(step for tile in self.tiles for step in tile.steps)


@dataclass(frozen=True)
class Case:
    """A workspace and the evidence of its steps, for operators and the router.

    Attributes:
        calls: the calls of each loaded step, as `read_past_call` returns them.
        spoken: the steps that hold words of the user.
        tile: the number of the next tile.
        model_notes: the refs of a model's own notes.
        named: whether somebody named the operator, and so vouches for what repeats twice only.
        evidence: reads the texts that a written text may take values from, and the steps that it may refer to.
        read: reads the exact text of a record; empty without one on the path.
    """

    workspace: Workspace
    calls: Mapping[int, Sequence[tuple[str, str]]] = field(default_factory=dict)
    spoken: frozenset[int] = frozenset()
    budget: int = DEFAULT_BUDGET
    settings: FoldSettings = SETTINGS
    tile: int = 1
    model_notes: frozenset[str] = frozenset()
    named: bool = False
    evidence: Callable[[], LogEvidence] = lambda: LogEvidence((), ())
    read: Callable[[str], str] = lambda _ref: ""

    @cached_property
    def protected(self) -> int:
        """The index of the first block that stays as it is: the latest block, or the latest result before it."""
        blocks = self.workspace.blocks
        seen = [at for at, block in enumerate(blocks) if any(line.kind in ("data", "text") for line in block.lines)]
        return max(min([len(blocks) - 1, *seen[-1:]]), 0)

    @property
    def earlier(self) -> Sequence[Block]:
        """The blocks that may be refactored."""
        return self.workspace.blocks[: self.protected]


@dataclass(frozen=True, slots=True)
class Refactored:
    """The outcome of a refactoring.

    Attributes:
        operator: the one that was chosen; `none` if the history was left alone.
        applied: whether it was applied.
        reason: why it was chosen, or refused.
        decider: who wrote it.
        steps: the steps that the view shows otherwise.
        before: the view of them before.
        after: the view of them after; in a dry run, as it would be.
        tokens: o200k tokens of the cover before and after.
        values: of a refusal, what it is about; else the values of the text that the log lacks.
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
        """The reason with its values, for whoever wrote the text; events keep the reason alone."""
        named = ", ".join(repr(value[:_LONGEST]) for value in self.values[:_NAMED])
        marked = "; not in the log, and marked so" if self.applied else ""
        return f"{self.reason}{marked}: {named}" if named else self.reason

    @property
    def refused(self) -> bool:
        """Whether an operator was chosen and not applied."""
        return self.operator != "none" and not self.applied

    @property
    def diff(self) -> str:
        """The lines that went and came, marked `-` and `+`; else `no change`."""
        lines = list(unified_diff(self.before.split("\n"), self.after.split("\n"), n=0, lineterm=""))[2:]
        return "\n".join(f"{line[0]} {line[1:]}" for line in lines if line[0] != "@") or "no change"


_SUPERSEDED, _DEPTHS = 40, 64
"""The superseded values and the tiles that guidance keeps, the newest."""


def refactor(workspace: Workspace, refactoring: Refactoring) -> Workspace:
    """Apply a refactoring. Pure. Raises FoldError: a tile's steps are not whole blocks of this workspace."""
    guidance = workspace.guidance
    for effect in refactoring.effects:
        match effect:
            case Tile():
                if effect.memory is None or refactoring.operator != "fact_rectify":
                    depth = effect.number, 1 + count_depth(workspace, effect)
                    guidance = replace(guidance, depths=(*guidance.depths, depth)[-_DEPTHS:])
                workspace = fold(workspace, effect)  # a corrected memory stays open: its lines are chosen anew
            case Pin(slot="thought"):
                guidance = replace(guidance, thought=effect)
            case Pin():
                guidance = replace(guidance, key_info=effect)
            case Superseded():
                values = (*(each for each in guidance.superseded if each != effect), effect)
                guidance = replace(guidance, superseded=values[-_SUPERSEDED:])
    return replace(workspace, guidance=replace(guidance, made=guidance.made + 1))


def count_depth(workspace: Workspace, tile: Tile) -> int:
    """Return how many refactorings are inside each other in the blocks that a tile would replace."""
    depths, inside = dict(workspace.guidance.depths), workspace.covering(tile.steps)
    return max((depths.get(block.number, 0) for block in inside if isinstance(block, Tile)), default=0)


_MADE, _STEPS = 8, 4
"""How many refactorings any path may have, and the steps that allow one more."""
DEPTH = 3
"""The most refactorings inside each other."""
THOUGHT, KEY_INFO = 80, 400
"""o200k tokens of a thought and of key facts at most."""
_SENTENCES = 2
"""The most sentences of a thought that a host or a model wrote."""


def check_refactoring(case: Case, made: Refactoring) -> Refactoring:
    """Return a refactoring that may be applied. Raises InputError: it may not.

    The latest block and result stay, and every message of the user. A tile costs less than its blocks, and a note stays
    within its room, unless they are corrections.
    """
    workspace, past = case.workspace, case.workspace.guidance.made
    if past >= _MADE + workspace.path_length // _STEPS:
        raise InputError(f"{past} refactorings are on this path already; undo some, or go on without")
    if any(count_depth(workspace, tile) >= DEPTH for tile in made.tiles):
        raise InputError(f"these steps were refactored {DEPTH} times already; undo one, or use another operator")
    after, kept = refactor(workspace, made), workspace.blocks[case.protected :]
    if after.blocks[len(after.blocks) - len(kept) :] != kept:
        raise InputError("the latest step and the latest observation must stay as they are")
    said, said_after = ([line.text for block in each.blocks for line in block.said] for each in (workspace, after))
    if said != said_after:
        raise InputError("the user's words must stay as they are")
    if made.operator == "fact_rectify":
        return made
    for effect in made.effects:
        if isinstance(effect, Tile):
            took, gives = price_blocks(*workspace.covering(effect.steps)), price_blocks(effect)
            if gives >= took:
                raise InputError(f"it would cost {gives} tokens, and these steps cost {took}; shorten it")
        elif isinstance(effect, Pin):
            costs, room = count(effect.text), THOUGHT if effect.slot == "thought" else KEY_INFO
            if costs > room:
                raise InputError(f"the note costs {costs} tokens, and its room is {room}; say what matters within that")
            if effect.slot == "thought" and len(sentences(effect.text)) > _SENTENCES:
                raise InputError("a thought is one or two sentences")
    return made
