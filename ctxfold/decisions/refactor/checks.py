"""The checks that every refactoring must pass before it is applied.

Source: ACR: it shrinks where it must, invents nothing, keeps facts in force and the latest verbatim; notes only add.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from ctxfold.decisions.fold.tile import in_force, price, values_of, values_said
from ctxfold.decisions.fold.verify import invented, known_texts
from ctxfold.decisions.refactor.apply import depth_of, refactor
from ctxfold.decisions.refactor.values import AddNote, Case, Refactoring, Refusal, Supersede
from ctxfold.errors import FoldError
from ctxfold.log.lines import Line
from ctxfold.text import sentences
from ctxfold.text.words import counted
from ctxfold.tokens import count
from ctxfold.workspace.workspace import Block, Tile, Workspace

__all__ = ["DEPTH", "KEY_INFO", "THOUGHT", "fault", "most"]

RECALL = 0.98
"""The share of values in force that must stand afterwards."""
EDITED = 0.5
"""The share of prose that a correction may change at most."""
DEPTH = 3
"""How many refactorings may stand inside each other."""
THOUGHT, KEY_INFO = 80, 400
"""o200k tokens that a thought, and key facts, may cost."""
_SENTENCES = 2


def most(path_length: int) -> int:
    """How many refactorings may stand on a path of so many steps."""
    return 8 + path_length // 4


def fault(case: Case, made: Refactoring) -> Refusal | None:
    """Why a refactoring may not stand; None when it may."""
    workspace = case.workspace
    if workspace.guidance.made >= most(workspace.path_length):
        return Refusal(
            f"{workspace.guidance.made} refactorings stand on this path already; undo some, or go on without"
        )
    if any(depth_of(workspace, tile) >= DEPTH for tile in made.tiles):
        return Refusal(f"what stands there was refactored {DEPTH} times already; undo one, or use another operator")
    try:
        after = refactor(workspace, made)
    except FoldError as error:
        return Refusal(str(error))
    wrong = _latest(case, after) or _by_operator(case, made, after)
    return Refusal(wrong) if wrong else _words(case, made) or _values_in_force(case, made, after)


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
        took, gives = price(*_under(workspace, tile)), price(tile)
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


def _words(case: Case, made: Refactoring) -> Refusal | None:
    """Nothing empty, and no id, number, address or quotation that the log does not have."""
    if made.decider == "embedded":
        return None
    told = [tile.summary for tile in made.tiles if tile.origin != "embedded"]
    told += [effect.pin.text for effect in made.effects if isinstance(effect, AddNote)]
    if any(not text.strip() for text in told) and made.operator != "fact_rectify":
        return Refusal("the text is empty; write it")
    steps = frozenset(step for block in case.workspace.blocks for step in block.steps)
    strange = invented("\n".join(told), [*known_texts(case.workspace, ()), *case.history()], steps)
    if not strange:
        return None
    many = counted(len(strange), "value")
    return Refusal(f"it holds {many} that the history does not have; copy values exactly, or leave them out", strange)


def _values_in_force(case: Case, made: Refactoring, then: Workspace) -> Refusal | None:
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
            return Refusal(f"{len(gone)} of {len(before)} values in force would go; keep them", tuple(gone))
    return None


def _in_force(workspace: Workspace, blocks: Sequence[Block], made: Refactoring) -> set[str]:
    """The values of a stretch that are in use; for a prune every one that a tool or a page told."""
    kinds = {"user", "note"} | ({"data", "text"} if made.operator == "path_prune" else set())
    told = values_of(line for block in blocks for line in block.lines if line.kind in kinds)
    return told | in_force(blocks, workspace.blocks, workspace.intent)
