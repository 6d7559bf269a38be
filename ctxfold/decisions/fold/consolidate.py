"""When and what to fold without being told how: nothing below the high-water mark, else a batch down to the low one. `fold` applies it.

Batches keep the prompt cache: between two of them the view only grows at its end. The newest steps stay raw; a batch of older ones becomes a tile
behind those there are. What outgrew its share is folded: the raw steps when there is a batch of them, else the tiles, into one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from operator import is_not

from ctxfold.decisions.fold.embedded import Room, Settings, condense, kept_by_all, status_of
from ctxfold.errors import FoldError
from ctxfold.log.lines import Line, cost
from ctxfold.view.ladder import show
from ctxfold.view.relevance import Query
from ctxfold.workspace.workspace import HEADER, Block, Origin, RawStep, Status, Tile, Workspace, spans

__all__ = ["due", "embedded_tile", "micro_tile", "pinned_in", "price", "tile_of", "told_tile"]


def due(workspace: Workspace, budget: int, settings: Settings) -> tuple[Sequence[Block], Room] | None:
    """What to fold so that the cover stands at the low-water mark, and what its tile may cost.

    Args:
        workspace: the settled cover.
        budget: o200k tokens of a view.
        settings: water marks and caps.

    Returns:
        None below the high-water mark, or when nothing may be folded.
    """
    settings = settings.of(budget)
    older = 0 if workspace.older is None else workspace.older.raw
    whole = workspace.tokens + older
    if whole < settings.trigger * budget:
        return None
    blocks = workspace.blocks
    first = next((at for at in range(len(blocks), 0, -1) if not isinstance(blocks[at - 1], RawStep)), 0)
    tiles, raw = (sum(block.tokens for block in part) for part in (blocks[:first], blocks[first:]))
    if tiles and raw + older < settings.grown * budget and whole < settings.brim * budget:
        return None
    if first > 1 and raw + older < settings.grown * budget:
        room = (settings.brim * budget - raw - older) * settings.pressed
        return blocks[:first], Room(int(room), int(room * settings.prose))
    end, tail = len(blocks), 0
    while end > first:
        block = blocks[end - 1]
        near = len(blocks) - end < settings.window
        fits = tail + block.tokens <= (settings.near if near else settings.tail) * budget
        if not isinstance(block, RawStep) or (len(blocks) - end >= settings.recent and block.settled and not fits):
            break
        tail += block.tokens
        end -= 1
    if end - first < settings.least and raw - tail < settings.tail * budget:
        return None
    if end == first:
        return None
    free = settings.brim * budget - tail - older
    share = min(settings.facts * budget, free)
    least = settings.facts * budget * _LEAST
    again = share - tiles < least
    room = max(min((share if again else share - tiles) * settings.fill, free), least)
    prose = room * settings.prose if first else settings.rest * budget - tail
    return blocks[0 if again else first : end], Room(int(room), int(prose))


_LEAST = 1 / 6
"""The share of the tiles' room below which a new tile is not worth its place, and all of them are folded into one."""


def embedded_tile(
    workspace: Workspace, blocks: Sequence[Block], number: int, room: Room, query: Query, opened: Sequence[Block] = ()
) -> Tile:
    """The tile the embedded folder makes of blocks; it never costs more than they do.

    Args:
        workspace: where they stand.
        blocks: a contiguous stretch of it.
        number: the tile's number.
        room: what it may cost.
        query: what the session is about now.
        opened: the same steps with more of their lines, where there are more; the blocks themselves otherwise.
    """
    cost = sum(block.tokens for block in blocks)
    pinned = pinned_in(workspace, blocks)
    for seams in _SEAMS:
        within = room.within(cost - HEADER - seams)
        sifted = _presifted(opened or blocks, within, query, pinned)
        tile = tile_of(blocks, number, "", condense(sifted, within, query, pinned), "embedded")
        if _saves(tile, blocks):
            return tile
    return tile_of(blocks, number, "", tuple(line for block in blocks for line in block.lines), "embedded", whole=True)


_SEAMS = (5, 24)
"""o200k tokens that are kept free for the marks of what is left out; the second where there are many of them."""


def _presifted(blocks: Sequence[Block], room: Room, query: Query, pinned: frozenset[int]) -> Sequence[Block]:
    """Blocks small enough to be ranked against each other: a very long stretch is sifted part by part first."""
    parts: list[list[Block]] = [[]]
    size = 0
    for block in blocks:
        size += block.tokens
        if size > SIFT and parts[-1]:
            parts.append([])
            size = block.tokens
        parts[-1].append(block)
    if len(parts) == 1:
        return blocks
    sifted = (replace(part[0], lines=condense(part, room, query, pinned)) for part in parts)
    return tuple(block for block in sifted if block.lines)


SIFT = 100_000
"""o200k tokens of a stretch that are ranked at once."""


def micro_tile(workspace: Workspace, blocks: Sequence[Block], number: int, settings: Settings, query: Query) -> Tile:
    """The tile of a stretch that someone asked to fold without saying how: its facts whole, its prose to the cap.

    One step that keeps to the cap stands whole: ranking its rows could only drop one of them for the price of the mark that says so.

    Args:
        workspace: where the blocks stand.
        blocks: a contiguous stretch of it.
        number: the tile's number.
        settings: the caps.
        query: what the session is about now.
    """
    lines = tuple(line for block in blocks for line in block.lines)
    most = settings.micro * len(blocks)
    prose = sum([line.tokens for line in lines if line.kind not in ("user", "data", "note")])
    if len(blocks) == 1 and isinstance(blocks[0], RawStep) and prose <= most:
        return tile_of(blocks, number, "", lines, "embedded", whole=True)
    room = sum([line.tokens for line in lines]) - prose + most
    return embedded_tile(workspace, blocks, number, Room(room, room), query)


def told_tile(workspace: Workspace, blocks: Sequence[Block], number: int, summary: str, origin: Origin) -> Tile:
    """The tile of a summary that a host or a model wrote.

    Raises:
        FoldError: the summary is empty, or longer than what it would replace.
    """
    summary = summary.strip()
    if not summary:
        raise FoldError(
            "the summary is empty; say what was done, found and decided, or leave it out to let ctxfold write it"
        )
    tile = tile_of(blocks, number, summary, kept_by_all(blocks, pinned_in(workspace, blocks)), origin)
    took, gives = price(*blocks), price(tile)
    if gives >= took:
        raise FoldError(
            f"this summary would cost {gives} tokens for the {took} of {spans(tile.steps)}; shorten it, or fold more steps"
        )
    return tile


def tile_of(
    blocks: Sequence[Block],
    number: int,
    summary: str,
    lines: tuple[Line, ...],
    origin: Origin,
    whole: bool = False,
    status: Status | None = None,
) -> Tile:
    """A tile for blocks, its price counted.

    Args:
        blocks: what it stands for.
        number: its number.
        summary: prose that replaces them.
        lines: what is kept of them.
        origin: who wrote the summary.
        whole: whether every line of them stands.
        status: how they ended; None lets the evidence say.
    """
    steps = tuple(step for block in blocks for step in block.steps)
    raw = sum(block.raw for block in blocks)
    untrusted = any(line.untrusted for block in blocks for line in block.lines) or any(
        isinstance(block, Tile) and block.untrusted for block in blocks
    )
    children = tuple(block.number for block in blocks if isinstance(block, Tile))
    made = Tile(number, steps, summary, lines, status or status_of(blocks), origin, raw, 0, untrusted, whole, children)
    return replace(made, tokens=show(made).tokens)


def pinned_in(workspace: Workspace, blocks: Sequence[Block]) -> frozenset[int]:
    """The ledger keys that lines after these blocks point at.

    Args:
        workspace: where they stand.
        blocks: a contiguous stretch of it.
    """
    later = takewhile(partial(is_not, blocks[-1]), reversed(workspace.blocks))
    return frozenset().union(*[block.points for block in later])


def price(*blocks: Block) -> int:
    """o200k tokens of blocks as a view shows them, their seams counted."""
    return _cost(_texts(*blocks))


def _saves(tile: Tile, blocks: Sequence[Block]) -> bool:
    """Whether a tile costs less than the blocks it is for. The rows that both end with cost the same in both: they are not counted."""
    seams = sum([1 + len(block.lines) for block in (tile, *blocks)])
    if tile.tokens + _SEAM * seams < sum([block.tokens for block in blocks]):
        return True
    after, before = _texts(tile), _texts(*blocks)
    while after and before and after[-1] == before[-1] and after[-1].startswith("<"):
        del after[-1], before[-1]
    return _cost(after) < _cost(before)


_SEAM = 4
"""o200k tokens by which the price of a line may differ from what it costs between its neighbours: where more is saved, nothing is counted anew."""


def _texts(*blocks: Block) -> list[str]:
    return [text for block in blocks for text in show(block).texts]


def _cost(texts: Sequence[str]) -> int:
    return cost(("", *texts, ""))
