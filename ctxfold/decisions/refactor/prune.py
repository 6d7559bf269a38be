"""Loops of a history, folded into tiles of status failed, and the lines that stay when a stretch is folded because of what repeats in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxfold.decisions.fold.directive import stretch
from ctxfold.decisions.fold.tile import price, tile_of, values_of
from ctxfold.decisions.refactor.repetition import Loop, loops
from ctxfold.decisions.refactor.values import Case, PutTile, Refactoring, Refusal
from ctxfold.errors import FoldError
from ctxfold.log.lines import Line
from ctxfold.log.refs import place_of
from ctxfold.prompts import prompt
from ctxfold.view.headings import above
from ctxfold.workspace.workspace import Block, Tile, spans

__all__ = ["path_prune", "without_repeats"]

_FENCES = re.compile(r"^<<[^\n]+\n|\n\S+>>$")


def path_prune(case: Case) -> Refactoring | Refusal:
    """Fold every loop that stands before the latest step into a tile of status failed, with all that it showed."""
    effects: list[PutTile] = []
    for loop in loops(case):
        blocks = _foldable(case, loop)
        tile = _pruned(blocks, loop.repeats, case.tile + len(effects)) if blocks else None
        if tile is not None:
            effects.append(PutTile(tile))
    if not effects:
        return Refusal("no stretch that went in circles stands before the latest step")
    where = "; ".join(spans(effect.tile.steps) for effect in effects[-3:])
    return Refactoring("path_prune", tuple(effects), f"the same calls with the same results in {where}")


def _foldable(case: Case, loop: Loop) -> Sequence[Block]:
    """The blocks of a loop that may be folded: those before what stays as it is."""
    free = {block.steps[-1] for block in case.workspace.blocks[: case.protected]}
    steps = [step for step in loop.steps if step in free]
    if len(steps) < 2:
        return ()
    try:
        return stretch(case.workspace, steps[0], steps[-1])
    except FoldError:
        return ()


def _pruned(blocks: Sequence[Block], repeats: frozenset[int], number: int) -> Tile | None:
    """The tile of a loop, with a word on the world outside where that still makes the view smaller; None where nothing does."""
    lines = without_repeats(blocks, repeats)
    before = price(*blocks)
    for summary in (prompt("refactor_pruned"), ""):
        tile = tile_of(blocks, number, summary, lines, "embedded", status="failed")
        if price(tile) < before:
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
