"""What a stretch says that nothing before it in the stretch says: the engine behind pruning and filtering. It never drops a value that stands nowhere else.

Only lines of steps that are flagged may go. Of those the user's words, notes, and what later lines point at stay; every line stays that brings a value
or a text not told yet. So whatever was discovered on the way survives, and what goes is what was said twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxfold.decisions.fold.consolidate import due, embedded_tile, pinned_in, price, tile_of
from ctxfold.decisions.fold.embedded import Room, Settings
from ctxfold.decisions.refactor.values import Case, Operator, Put, Refactoring, Refusal
from ctxfold.log.compact.ditto import spelled
from ctxfold.log.compact.prose import values
from ctxfold.log.lines import Line
from ctxfold.view.render import query_of
from ctxfold.workspace.workspace import Block, Origin, spans

__all__ = ["body", "distilled", "state_abstract", "step_of", "told", "with_needed"]


_FENCES = re.compile(r"^<<[^\n]+\n|\n\S+>>$")
_READ = 200_000


def distilled(
    blocks: Sequence[Block], flagged: frozenset[int], pinned: frozenset[int], beside: Sequence[Line] = ()
) -> tuple[Line, ...]:
    """The lines of blocks, less what flagged steps say again.

    Args:
        blocks: a contiguous stretch in path order.
        flagged: steps that failed or repeat others.
        pinned: ledger keys that later lines point at.
        beside: lines that stay where they are and say the same.

    Returns:
        Kept lines in their order, as they stood; rows of tables with their cells written out.
    """
    lines = spelled([line for block in blocks for line in block.lines])
    told = {value for line in beside for value in values(line.text[:_READ])}
    said = {body(line) for line in beside}
    kept: set[int] = set()
    for at, line in enumerate(lines):
        if (
            step_of(line) not in flagged
            or line.kind in ("user", "note")
            or not pinned.isdisjoint(line.keys)
            or _fresh(line, told, said)
        ):
            kept.add(at)
        if at in kept:
            told |= values(line.text[:_READ])
            said.add(body(line))
    with_needed(lines, kept)
    return tuple(line for at, line in enumerate(lines) if at in kept)


def step_of(line: Line) -> int:
    """The step a line's record belongs to; 0 for a line of a tile's own."""
    number = line.ref.removeprefix("s").partition(".")[0]
    return int(number) if number.isdecimal() else 0


def body(line: Line) -> str:
    """What a line says, without its marks and its address."""
    return " ".join(_FENCES.sub("", line.text).lstrip("<> ").split())


def _fresh(line: Line, told: set[str], said: set[str]) -> bool:
    """Whether a line brings something: a value, or a text of a tool or a page that did not stand before."""
    if values(line.text[:_READ]) - told:
        return not (line.points and not line.keys and line.text.lstrip("<> ").startswith("same as "))
    return line.kind in ("data", "text") and not line.points and body(line) not in said


def with_needed(lines: Sequence[Line], kept: set[int]) -> None:
    """Add the rows that kept rows stand under, and those they point at.

    Args:
        lines: of a stretch.
        kept: the places of those that are kept; it grows.
    """
    places = {key: at for at in range(len(lines) - 1, -1, -1) for key in lines[at].keys}
    todo = sorted(kept)
    while todo:
        at = todo.pop()
        line = lines[at]
        needed = [places[key] for key in line.points if key in places and places[key] < at]
        if line.kind in ("data", "call") and line.indent > 2:
            needed += _above(lines, at)
        for each in needed:
            if each not in kept:
                kept.add(each)
                todo.append(each)


def _above(lines: Sequence[Line], at: int) -> list[int]:
    """The row that a row stands under."""
    for before in range(at - 1, -1, -1):
        if lines[before].ref != lines[at].ref:
            break
        if lines[before].indent < lines[at].indent:
            return [before]
    return []


def told(operator: Operator, case: Case, blocks: Sequence[Block], text: str, origin: Origin) -> Refactoring | Refusal:
    """A tile that says `text` in place of blocks.

    Args:
        operator: whose work it is.
        case: what is looked at.
        blocks: the stretch.
        text: the prose.
        origin: who wrote it.

    Returns:
        The refactoring; the user's words and the rows whose values the text does not hold stand in its tile.
    """
    if not blocks:
        return Refusal(operator, "nothing stands before the latest step")
    lines = _kept(blocks, text, pinned_in(case.workspace, blocks))
    tile = tile_of(blocks, case.tile, text, lines, origin)
    return Refactoring(operator, (Put(tile),), f"told of {spans(tile.steps)}")


def _kept(blocks: Sequence[Block], text: str, pinned: frozenset[int]) -> tuple[Line, ...]:
    """What every fold keeps, and each row of facts with a value that the text does not say."""
    said = values(text)
    lines = spelled([line for block in blocks for line in block.lines])
    kept: set[int] = set()
    for at, line in enumerate(lines):
        row = line.kind == "data" and bool(values(line.text) - said)
        if row or line.kind in ("user", "note") or not pinned.isdisjoint(line.keys):
            said |= values(line.text)
            kept.add(at)
    with_needed(lines, kept)
    return tuple(line for at, line in enumerate(lines) if at in kept)


_SETTINGS = Settings()


def state_abstract(case: Case, text: str | None, origin: Origin) -> Refactoring | Refusal:
    """Fold what stands before the latest step into one tile.

    Args:
        case: what is looked at.
        text: the state in words; None keeps what a consolidation keeps where one is due, else every fact, with as much prose as the low-water mark leaves.
        origin: who wrote it.

    Returns:
        One tile, or why there is none.
    """
    workspace = case.workspace
    wanted = due(workspace, case.budget, _SETTINGS)
    blocks = workspace.blocks[: case.protected] if wanted is None or text is not None else wanted[0]
    if text is not None:
        return told("state_abstract", case, blocks, text, origin)
    if not blocks:
        return Refusal("state_abstract", "nothing stands before the latest step")
    cost = sum(block.tokens for block in blocks)
    room = wanted[1] if wanted is not None else Room(cost, min(int(_SETTINGS.rest * case.budget), cost // 2))
    tile = embedded_tile(workspace, blocks, case.tile, room, query_of(workspace))
    if tile.whole or price(tile) >= price(*blocks):
        return Refusal("state_abstract", "what stands there is facts alone; nothing could be shortened")
    return Refactoring("state_abstract", (Put(tile),), f"state of {spans(tile.steps)}")
