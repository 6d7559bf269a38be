"""The embedded refactorings: which operator the history calls for, and what each operator does without a text.

Source: ACR's router and operators, here on exact repetition, size and the register alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import assert_never

from ctxfold.decisions.fold import find_stretch, make_tile, price_blocks, values_of
from ctxfold.decisions.memory import Batch, choose_batch, choose_tile
from ctxfold.decisions.refactor import (
    Case,
    Operator,
    PastCall,
    PutTile,
    Refactoring,
    RefactorRefusal,
    find_fault,
    make_note,
)
from ctxfold.errors import FoldError
from ctxfold.log import place_of
from ctxfold.log.json import canonical, parse
from ctxfold.log.lines import Line
from ctxfold.prompts import prompt
from ctxfold.select.pieces import find_above as above
from ctxfold.tokens import count, head
from ctxfold.view.render import query_of
from ctxfold.workspace import Block, Pin, RawStep, Tile, Workspace, spans

_TIMES, _NAMED_TIMES = 3, 2
"""How often the same must stand in a row; the second where somebody named the operator."""
_ROUNDS = 2
"""How often a round of several steps must come, whole."""
_PERIODS = (1, 2, 3)
_LONGEST_CALL = 20_000
_MARKS = re.compile(r"\s\[[a-z-]+(?:=[^\]\n]*)?\]")
"""What a snapshot says of its elements in brackets, as in `[ref=e12]`."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A stretch of contiguous steps that went in circles. `repeats`: those of them that show what one before them showed."""

    steps: tuple[int, ...]
    repeats: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Step:
    n: int
    whole: tuple[tuple[str, str], ...]
    """Its calls, each with what came of it."""


def read_past_call(step: int, text: str, result: str | None, page: bool = False) -> PastCall:
    """A call and its result as repetition sees them."""
    tree = parse(text[:_LONGEST_CALL])
    name, args = (tree.get("name"), tree.get("args")) if isinstance(tree, dict) else ("", None)
    key = f"{name} {canonical(args)}" if name else _digest(text)
    plain = (_MARKS.sub("", result or "") if page else result or "").strip()
    return PastCall(step, key, _digest(plain) if plain else "", result is not None)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def loops(case: Case) -> list[Loop]:
    """The loops among the raw steps, oldest first, none overlapping. A message of the user ends one: to ask again after it is no loop."""
    found: list[Loop] = []
    for steps in _stretches(case):
        at = 0
        while at < len(steps):
            loop = _loop_at(steps[at:], _NAMED_TIMES if case.named else _TIMES)
            if loop is None:
                at += 1
            else:
                found.append(loop)
                at += len(loop.steps)
    return found


def _stretches(case: Case) -> Iterator[list[_Step]]:
    """The raw steps whose every call has something for an answer, cut at all others and where the user spoke."""
    by_step = _by_step(case.calls)
    stretch: list[_Step] = []
    for block in case.workspace.blocks:
        calls = by_step.get(block.n, ()) if isinstance(block, RawStep) else ()
        usable = bool(calls) and all(call.outcome for call in calls)
        if not usable or (isinstance(block, RawStep) and block.n in case.spoken):
            yield stretch
            stretch = []
        if usable and isinstance(block, RawStep):
            stretch.append(_Step(block.n, tuple(sorted((call.key, call.outcome) for call in calls))))
    yield stretch


def _by_step(calls: Iterable[PastCall]) -> dict[int, list[PastCall]]:
    found: dict[int, list[PastCall]] = {}
    for call in calls:
        found.setdefault(call.step, []).append(call)
    return found


def _loop_at(steps: Sequence[_Step], times: int) -> Loop | None:
    """The longest loop that begins with the first of some steps: one step again and again, or a round of two or three."""
    longest = 0
    for period in _PERIODS:
        end = period
        while end < len(steps) and steps[end].whole == steps[end - period].whole:
            end += 1
        if end >= period * (times if period == 1 else _ROUNDS):
            longest = max(longest, end)
    if not longest:
        return None
    seen = set[tuple[tuple[str, str], ...]]()
    repeats = set[int]()
    for step in steps[:longest]:
        if step.whole in seen:
            repeats.add(step.n)
        seen.add(step.whole)
    return Loop(tuple(step.n for step in steps[:longest]), frozenset(repeats))


def duplicates(case: Case) -> tuple[int, ...]:
    """The raw steps before the latest whose every call was made before with the same result, in path order."""
    raw = {block.n for block in case.workspace.blocks[: case.protected] if isinstance(block, RawStep)}
    seen: set[tuple[str, str]] = set()
    found: list[int] = []
    for step, calls in _by_step(case.calls).items():
        ends = [(call.key, call.outcome) for call in calls]
        if step in raw and all(call.outcome for call in calls) and seen.issuperset(ends):
            found.append(step)
        seen.update(ends)
    return tuple(found)


_FENCES = re.compile(r"^<<[^\n]+\n|\n\S+>>$")


def path_prune(case: Case) -> Refactoring | RefactorRefusal:
    """Fold every loop that stands before the latest step into a tile of status failed, with all that it showed."""
    effects: list[PutTile] = []
    for loop in loops(case):
        blocks = _foldable(case, loop)
        tile = _pruned(blocks, loop.repeats, case.tile + len(effects)) if blocks else None
        if tile is not None:
            effects.append(PutTile(tile))
    if not effects:
        return RefactorRefusal("no stretch that went in circles stands before the latest step")
    where = "; ".join(spans(effect.tile.steps) for effect in effects[-3:])
    return Refactoring("path_prune", tuple(effects), f"the same calls with the same results in {where}")


def _foldable(case: Case, loop: Loop) -> Sequence[Block]:
    """The blocks of a loop that may be folded: those before what stays as it is."""
    free = {block.steps[-1] for block in case.workspace.blocks[: case.protected]}
    steps = [step for step in loop.steps if step in free]
    if len(steps) < 2:
        return ()
    try:
        return find_stretch(case.workspace, steps[0], steps[-1])
    except FoldError:
        return ()


def _pruned(blocks: Sequence[Block], repeats: frozenset[int], number: int) -> Tile | None:
    """The tile of a loop, with a word on the world outside where that still makes the view smaller; None where nothing does."""
    lines = without_repeats(blocks, repeats)
    before = price_blocks(*blocks)
    for summary in (prompt("refactor_pruned"), ""):
        tile = make_tile(blocks, number, summary, lines, "embedded", status="failed")
        if price_blocks(tile) < before:
            return tile
    return None


def without_repeats(blocks: Sequence[Block], repeats: frozenset[int], before: Sequence[Block] = ()) -> tuple[Line, ...]:
    """The lines of blocks, less what repeating steps say again: no value goes that stands nowhere else among them, or before them."""
    lines = [line for block in blocks for line in block.lines]
    standing = [line for block in before for line in block.lines]
    told, said, kept = values_of(standing), {_body(line) for line in standing}, set[int]()
    for at, line in enumerate(lines):
        body = _body(line)
        stays = place_of(line.ref)[0] not in repeats or line.kind in ("user", "note")
        values = values_of([line])
        if stays or values - told or (line.kind in ("data", "text") and body not in said):
            kept.add(at)
            told |= values
            said.add(body)
    return _with_needed(lines, kept)


def _body(line: Line) -> str:
    """What a line says, without its marks and its address."""
    return " ".join(_FENCES.sub("", line.text).lstrip("<> ").split())


def _with_needed(lines: Sequence[Line], kept: set[int]) -> tuple[Line, ...]:
    """The kept lines with those that they cannot be read without."""
    needed = above(lines)
    every = kept | {place for at in kept for place in needed[at]}
    return tuple(line for at, line in enumerate(lines) if at in every)


_WORTH = 0.1
"""The share of the budget that filtering duplicates must free before the router has it done."""
_EACH, _MOST, _BOUND, _OPEN = 48, 300, 6, 3
"""o200k tokens of one key fact and of all of them; constraints and open items among them, at most."""


def route(case: Case) -> Refactoring | None:
    """What a history calls for, or nothing: a loop is pruned, duplicates that cost much are filtered, at the high-water mark the state is abstracted."""
    found = [path_prune(case), noise_filter(case)]
    if choose_batch(case.workspace, case.budget, case.settings) is not None:
        found.append(state_abstract(case))
    for made in found:
        if isinstance(made, Refactoring) and not find_fault(case, made) and _is_worth_it(case, made):
            return made
    return None


def _is_worth_it(case: Case, made: Refactoring) -> bool:
    steps = set(made.steps)
    before = sum(block.tokens for block in case.workspace.blocks if not steps.isdisjoint(block.steps))
    freed = before - sum(tile.tokens for tile in made.tiles)
    return made.operator != "noise_filter" or freed >= _WORTH * case.budget


def apply_rules(operator: Operator, case: Case) -> Refactoring | RefactorRefusal:
    """What an operator makes of a case where nobody wrote a text for it."""
    match operator:
        case "state_abstract":
            return state_abstract(case)
        case "noise_filter":
            return noise_filter(case)
        case "path_prune":
            return path_prune(case)
        case "fact_rectify":
            return RefactorRefusal("no rule finds what is wrong: give corrections, one a line: OLD => NEW (s12.2)")
        case "cognitive_boosting":
            pin = _next_item(case.workspace)
            return (
                make_note(case, operator, pin)
                if pin
                else RefactorRefusal("no item of the to-do is open: give the thought")
            )
        case "attention_anchor":
            pin = _key_facts(case.workspace)
            return (
                make_note(case, operator, pin)
                if pin
                else RefactorRefusal("no goal, constraint or open item: give the facts")
            )
        case _:
            assert_never(operator)


def state_abstract(case: Case) -> Refactoring | RefactorRefusal:
    """Fold what stands before the latest step into one tile: what a consolidation keeps where one is due, else half."""
    workspace = case.workspace
    batch = choose_batch(workspace, case.budget, case.settings)
    if batch is None:
        before, newest = workspace.blocks[: case.protected], workspace.blocks[case.protected :]
        batch = Batch(before, newest, sum(block.tokens for block in before) // 2)
    blocks = batch.blocks
    if not blocks:
        return RefactorRefusal("nothing stands before the latest step")
    tile = choose_tile(batch, blocks, case.tile, case.budget, query_of(workspace))
    if tile.whole or price_blocks(tile) >= price_blocks(*blocks):
        return RefactorRefusal("what stands there is facts alone; nothing could be shortened")
    return Refactoring("state_abstract", (PutTile(tile),), f"state of {spans(tile.steps)}")


def noise_filter(case: Case) -> Refactoring | RefactorRefusal:
    """Fold each run of raw steps that repeat others into one tile of what they do not repeat."""
    again = duplicates(case)
    repeats = frozenset(again)
    effects: list[PutTile] = []
    for run in _runs(case, again):
        try:
            blocks = find_stretch(case.workspace, run[0], run[-1])
        except FoldError:
            continue
        before = case.workspace.blocks[: case.workspace.blocks.index(blocks[0])]
        kept = without_repeats(blocks, repeats, before)
        tile = make_tile(blocks, case.tile + len(effects), "", kept, "embedded", status="completed")
        if price_blocks(tile) < price_blocks(*blocks):
            effects.append(PutTile(tile))
    if not effects:
        return RefactorRefusal("no step before the latest repeats another")
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
