"""The refactor decision: six operators that mend a view that went bad.

Source: ACR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from functools import cached_property
from typing import Literal, assert_never, get_args

from ctxfold.decisions.fold import (
    SETTINGS,
    FoldSettings,
    find_values_in_force,
    fold,
    price_blocks,
    values_of,
    values_said,
)
from ctxfold.decisions.marks import find_invented, list_known_texts
from ctxfold.errors import FoldError
from ctxfold.log.lines import Line
from ctxfold.text.sentences import sentences
from ctxfold.text.words import counted
from ctxfold.tokens import count
from ctxfold.workspace import Block, Decider, Guidance, Pin, Superseded, Tile, Workspace

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
class RefactorRefusal:
    """Why an operator is not applied, in words of ours alone. `values`: the first few that it is about, as they were written or as the log has them."""

    reason: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PastCall:
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
    calls: tuple[PastCall, ...] = ()
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


def make_note(case: Case, operator: Operator, pin: Pin) -> Refactoring | RefactorRefusal:
    """A note added in its slot; refused where it stands already."""
    guidance = case.workspace.guidance.at(case.workspace.path_length)
    standing = guidance.thought if pin.slot == "thought" else guidance.key_info
    if standing is not None and standing.text == pin.text:
        return RefactorRefusal("this note stands already")
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


VERSION = 1
"""Of the applier. Events hold resolved content, so an older session keeps its bytes when this grows."""

_SUPERSEDED, _DEPTHS = 40, 64


def refactor(workspace: Workspace, refactoring: Refactoring) -> Workspace:
    """Apply a refactoring. Pure. Raises FoldError: a tile of it stands for steps that are not whole blocks of this workspace."""
    after = workspace
    for effect in refactoring.effects:
        after = _with(after, effect)
    guidance = after.guidance
    return replace(after, guidance=replace(guidance, made=guidance.made + 1, depths=guidance.depths[-_DEPTHS:]))


def _with(workspace: Workspace, effect: Effect) -> Workspace:
    guidance = workspace.guidance
    match effect:
        case PutTile(tile=tile):
            depth = 1 + count_depth(workspace, tile)
            after = fold(workspace, tile)
            return replace(after, guidance=replace(guidance, depths=(*guidance.depths, (tile.number, depth))))
        case AddNote(pin=pin):
            return replace(workspace, guidance=_pinned(guidance, pin))
        case Supersede(fact=fact):
            others = tuple(each for each in guidance.superseded if each != fact)
            return replace(workspace, guidance=replace(guidance, superseded=(*others, fact)[-_SUPERSEDED:]))
        case _:
            assert_never(effect)


def _pinned(guidance: Guidance, pin: Pin) -> Guidance:
    match pin.slot:
        case "thought":
            return replace(guidance, thought=pin)
        case "key_info":
            return replace(guidance, key_info=pin)
        case _:
            assert_never(pin.slot)


def count_depth(workspace: Workspace, tile: Tile) -> int:
    """How many refactorings stand inside each other already in the blocks that a tile would replace."""
    depths = dict(workspace.guidance.depths)
    inside = set(tile.steps)
    numbers = (
        block.number for block in workspace.blocks if isinstance(block, Tile) and not inside.isdisjoint(block.steps)
    )
    return max((depths.get(number, 0) for number in numbers), default=0)


RECALL = 0.98
"""The share of values in force that must stand afterwards."""
EDITED = 0.5
"""The share of prose that a correction may change at most."""
DEPTH = 3
"""How many refactorings may stand inside each other."""
THOUGHT, KEY_INFO = 80, 400
"""o200k tokens that a thought, and key facts, may cost."""
_SENTENCES = 2


def count_most(path_length: int) -> int:
    """How many refactorings may stand on a path of so many steps."""
    return 8 + path_length // 4


def find_fault(case: Case, made: Refactoring) -> RefactorRefusal | None:
    """Why a refactoring may not stand; None when it may."""
    workspace = case.workspace
    if workspace.guidance.made >= count_most(workspace.path_length):
        return RefactorRefusal(
            f"{workspace.guidance.made} refactorings stand on this path already; undo some, or go on without"
        )
    if any(count_depth(workspace, tile) >= DEPTH for tile in made.tiles):
        return RefactorRefusal(
            f"what stands there was refactored {DEPTH} times already; undo one, or use another operator"
        )
    try:
        after = refactor(workspace, made)
    except FoldError as error:
        return RefactorRefusal(str(error))
    wrong = _latest(case, after) or _by_operator(case, made, after)
    return RefactorRefusal(wrong) if wrong else _words(case, made) or _values_in_force(case, made, after)


def _latest(case: Case, after: Workspace) -> str:
    """The latest block and the latest observation as they were; every message of the user verbatim."""
    before = case.workspace
    kept = before.blocks[case.protected :]
    if after.blocks[len(after.blocks) - len(kept) :] != kept:
        return "the latest step and the latest observation must stay as they are"
    if [line.text for line in _said(before)] != [line.text for line in _said(after)]:
        return "the user's words must stay as they are"
    return ""


def _said(workspace: Workspace) -> Iterable[Line]:
    return (line for block in workspace.blocks for line in block.lines if line.kind == "user")


def _by_operator(case: Case, made: Refactoring, after: Workspace) -> str:
    """What an operator must do, and must not."""
    match made.operator:
        case "state_abstract" | "noise_filter" | "path_prune":
            return _shrinks(case.workspace, made)
        case "cognitive_boosting" | "attention_anchor":
            if after.blocks != case.workspace.blocks or any(not isinstance(each, AddNote) for each in made.effects):
                return "it must only add, and would change what stands"
            return _short_enough(made)
        case "fact_rectify":
            touched, whole = made.edits
            small = touched <= EDITED * whole
            return "" if small else "a correction may change half of what it corrects at most; use another operator"
        case _:
            assert_never(made.operator)


def _shrinks(workspace: Workspace, made: Refactoring) -> str:
    for tile in made.tiles:
        took, gives = price_blocks(*_under(workspace, tile)), price_blocks(tile)
        if gives >= took:
            return f"it would cost {gives} tokens for the {took} that stand there; shorten it"
    return ""


def _under(workspace: Workspace, tile: Tile) -> list[Block]:
    """The blocks a tile would replace."""
    inside = set(tile.steps)
    return [block for block in workspace.blocks if not inside.isdisjoint(block.steps)]


def _short_enough(made: Refactoring) -> str:
    for effect in made.effects:
        if isinstance(effect, AddNote):
            thought = effect.pin.slot == "thought"
            costs, room = count(effect.pin.text), THOUGHT if thought else KEY_INFO
            if costs > room:
                return f"the note costs {costs} tokens, and its room is {room}; say what matters within that"
            if thought and made.decider != "embedded" and len(sentences(effect.pin.text)) > _SENTENCES:
                return "a thought is one or two sentences"
    return ""


def _words(case: Case, made: Refactoring) -> RefactorRefusal | None:
    """Nothing empty, and no id, number, address or quotation that the log does not have."""
    if made.decider == "embedded":
        return None
    told = [tile.summary for tile in made.tiles if tile.origin != "embedded"]
    told += [effect.pin.text for effect in made.effects if isinstance(effect, AddNote)]
    if any(not text.strip() for text in told) and made.operator != "fact_rectify":
        return RefactorRefusal("the text is empty; write it")
    steps = frozenset(step for block in case.workspace.blocks for step in block.steps)
    strange = find_invented("\n".join(told), [*list_known_texts(case.workspace, ()), *case.history()], steps)
    if not strange:
        return None
    many = counted(len(strange), "value")
    return RefactorRefusal(
        f"it holds {many} that the history does not have; copy values exactly, or leave them out", strange
    )


def _values_in_force(case: Case, made: Refactoring, then: Workspace) -> RefactorRefusal | None:
    """Of the values in force in what is replaced, nearly all stand afterwards: in its place, or elsewhere in the view."""
    if made.operator == "state_abstract" and made.decider == "embedded":
        return None  # it keeps what a consolidation would, chosen by the same worth
    corrected = set[str]()
    for effect in made.effects:
        corrected |= values_said(effect.fact.was) if isinstance(effect, Supersede) else set()
    for tile in made.tiles:
        before = _in_force(case.workspace, _under(case.workspace, tile), made) - corrected
        after = values_said(tile.summary) | values_of(tile.lines)
        if len(before & after) < RECALL * len(before):
            after |= values_of(line for block in then.blocks for line in block.lines)
        if len(before & after) < RECALL * len(before):
            gone = sorted(before - after)
            return RefactorRefusal(f"{len(gone)} of {len(before)} values in force would go; keep them", tuple(gone))
    return None


def _in_force(workspace: Workspace, blocks: Sequence[Block], made: Refactoring) -> set[str]:
    """The values of a stretch that are in use; for a prune every one that a tool or a page told."""
    kinds = {"user", "note"} | ({"data", "text"} if made.operator == "path_prune" else set())
    told = values_of(line for block in blocks for line in block.lines if line.kind in kinds)
    return told | find_values_in_force(blocks, workspace.blocks, workspace.intent)
