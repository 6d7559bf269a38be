"""The embedded refactorings: which operator the history calls for, and what each operator does without a text.

Source: ACR's router and operators, here on exact repetition, size and the register alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from ctxfold.decisions.fold.directive import stretch
from ctxfold.decisions.fold.embedded import Batch, due, embedded_tile
from ctxfold.decisions.fold.tile import price, tile_of
from ctxfold.decisions.refactor.checks import fault
from ctxfold.decisions.refactor.prune import path_prune, without_repeats
from ctxfold.decisions.refactor.repetition import duplicates
from ctxfold.decisions.refactor.values import Case, Operator, PutTile, Refactoring, Refusal, noted
from ctxfold.errors import FoldError
from ctxfold.prompts import prompt
from ctxfold.tokens import count, head
from ctxfold.view.render import query_of
from ctxfold.workspace.guidance import Pin
from ctxfold.workspace.workspace import RawStep, Workspace, spans

__all__ = ["embedded", "route"]

_WORTH = 0.1
"""The share of the budget that filtering duplicates must free before the router has it done."""
_EACH, _MOST, _BOUND, _OPEN = 48, 300, 6, 3
"""o200k tokens of one key fact and of all of them; constraints and open items among them, at most."""


def route(case: Case) -> Refactoring | None:
    """What a history calls for, or nothing: a loop is pruned, duplicates that cost much are filtered, at the high-water mark the state is abstracted."""
    found = [path_prune(case), noise_filter(case)]
    if due(case.workspace, case.budget, case.settings) is not None:
        found.append(state_abstract(case))
    for made in found:
        if isinstance(made, Refactoring) and not fault(case, made) and _is_worth_it(case, made):
            return made
    return None


def _is_worth_it(case: Case, made: Refactoring) -> bool:
    steps = set(made.steps)
    before = sum(block.tokens for block in case.workspace.blocks if not steps.isdisjoint(block.steps))
    freed = before - sum(tile.tokens for tile in made.tiles)
    return made.operator != "noise_filter" or freed >= _WORTH * case.budget


def embedded(operator: Operator, case: Case) -> Refactoring | Refusal:
    """What an operator makes of a case where nobody wrote a text for it."""
    match operator:
        case "state_abstract":
            return state_abstract(case)
        case "noise_filter":
            return noise_filter(case)
        case "path_prune":
            return path_prune(case)
        case "fact_rectify":
            return Refusal("no rule finds what is wrong: give corrections, one a line: OLD => NEW (s12.2)")
        case "cognitive_boosting":
            pin = _next_item(case.workspace)
            return noted(case, operator, pin) if pin else Refusal("no item of the to-do is open: give the thought")
        case "attention_anchor":
            pin = _key_facts(case.workspace)
            return noted(case, operator, pin) if pin else Refusal("no goal, constraint or open item: give the facts")
        case _:
            assert_never(operator)


def state_abstract(case: Case) -> Refactoring | Refusal:
    """Fold what stands before the latest step into one tile: what a consolidation keeps where one is due, else half."""
    workspace = case.workspace
    batch = due(workspace, case.budget, case.settings)
    if batch is None:
        before, newest = workspace.blocks[: case.protected], workspace.blocks[case.protected :]
        batch = Batch(before, newest, sum(block.tokens for block in before) // 2)
    blocks = batch.blocks
    if not blocks:
        return Refusal("nothing stands before the latest step")
    tile = embedded_tile(batch, blocks, case.tile, case.budget, query_of(workspace))
    if tile.whole or price(tile) >= price(*blocks):
        return Refusal("what stands there is facts alone; nothing could be shortened")
    return Refactoring("state_abstract", (PutTile(tile),), f"state of {spans(tile.steps)}")


def noise_filter(case: Case) -> Refactoring | Refusal:
    """Fold each run of raw steps that repeat others into one tile of what they do not repeat."""
    again = duplicates(case)
    repeats = frozenset(again)
    effects: list[PutTile] = []
    for run in _runs(case, again):
        try:
            blocks = stretch(case.workspace, run[0], run[-1])
        except FoldError:
            continue
        before = case.workspace.blocks[: case.workspace.blocks.index(blocks[0])]
        kept = without_repeats(blocks, repeats, before)
        tile = tile_of(blocks, case.tile + len(effects), "", kept, "embedded", status="completed")
        if price(tile) < price(*blocks):
            effects.append(PutTile(tile))
    if not effects:
        return Refusal("no step before the latest repeats another")
    steps = [step for effect in effects for step in effect.tile.steps if step in repeats]
    return Refactoring("noise_filter", tuple(effects), f"{spans(steps)} repeat what stood before")


def _runs(case: Case, steps: Sequence[int]) -> Iterator[list[int]]:
    """Repeating steps in runs: a tile between two of them parts them."""
    wanted, run = set(steps), list[int]()
    for block in case.workspace.blocks:
        if isinstance(block, RawStep):
            run += [block.n] if block.n in wanted else []
        elif run:
            yield run
            run = []
    if run:
        yield run


def _next_item(workspace: Workspace) -> Pin | None:
    if not workspace.intent.open:
        return None
    item = workspace.intent.open[0]
    words = prompt("refactor_thought_open", item=item.id, text=_short(item.text))
    return Pin("thought", words, workspace.path_length, (item.ref,) if item.ref else (), item.untrusted)


def _key_facts(workspace: Workspace) -> Pin | None:
    """The task, what holds, what is open, and the user's newest words where they are not the latest, each as it stands in the session."""
    goal = (workspace.revisions or (workspace.goal,))[-1]
    bound = workspace.intent.binding[::-1][:_BOUND]
    items = workspace.intent.open[:_OPEN]
    said = [line for block in workspace.blocks[-1 - _RECENT : -1] for line in block.lines if line.kind == "user"][-1:]
    parts = [prompt("refactor_key_task", text=_short(goal))] if goal else []
    parts += [prompt("refactor_key_bound", ref=each.ref, text=_short(each.text)) for each in bound]
    parts += [prompt("refactor_key_open", id=item.id, text=_short(item.text)) for item in items]
    parts += [prompt("refactor_key_said", ref=line.ref, text=_short(line.text.partition(" ")[2])) for line in said]
    while parts and sum(count(part) for part in parts) > _MOST:
        parts.pop()
    if not parts:
        return None
    refs = (*(each.ref for each in bound), *(item.ref for item in items if item.ref), *(line.ref for line in said))
    return Pin("key_info", "\n".join(parts), workspace.path_length, refs, any(item.untrusted for item in items))


_RECENT = 40
"""Blocks at the end in which the user's newest words are looked for."""


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if count(flat) <= _EACH else f"{head(flat, _EACH)} …"
