"""The embedded folder: which steps to fold when the budget requires it, and the tile it makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxfold.decisions.fold.tile import price, tile_of
from ctxfold.log.lines import Line
from ctxfold.tokens import count, count_lines
from ctxfold.view.condense import condense, gists, stub
from ctxfold.view.show import Shown, addressed, show
from ctxfold.workspace.workspace import Block, Origin, RawStep, Tile, Workspace

__all__ = [
    "SETTINGS",
    "Batch",
    "Front",
    "Settings",
    "due",
    "embedded_tile",
    "front_of",
    "front_room",
    "micro_tile",
]


@dataclass(frozen=True, slots=True)
class Settings:
    """When the cover is consolidated, and how far. A share is one of the budget.

    Attributes:
        high: the high-water mark, from which the cover is consolidated.
        low: the low-water mark, down to which it is worked.
        full: share that the newest steps fill in full after it.
        latest: the most that counts of the newest step: what is above it is bounded in the view.
        least: share that the older steps get at least.
        micro: share of a step that folding it alone leaves.
        front: the most that a summary in front of the older steps takes.
    """

    high: float = 0.90
    low: float = 0.60
    full: float = 0.20
    latest: float = 0.60
    least: float = 0.20
    micro: float = 0.40
    front: float = 0.30

    def of(self, budget: int) -> Settings:
        """The settings at a budget: a small one has no room to spare, and no prefix cache keeps so short a prompt."""
        return self if budget >= _SMALL else replace(self, high=1.0, low=0.80)


SETTINGS = Settings()
"""The water marks and shares by which everything is folded."""
_SMALL = 8_000
_LEAST = 4
"""o200k tokens that a fold saves at least."""
_DOCUMENT = 100
"""o200k tokens from which a text that stands in lines counts as a document."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What is due: the blocks to fold, the newest that stay full behind them, and the o200k tokens of the tile."""

    blocks: Sequence[Block]
    newest: Sequence[Block]
    room: int


@dataclass(frozen=True, slots=True)
class Front:
    """A summary that stands in front of what is chosen of older steps, and who wrote it."""

    text: str
    origin: Origin


def front_of(blocks: Sequence[Block]) -> Front | None:
    """What stands in front of blocks already; None where nobody wrote it."""
    fronts = [block for block in blocks if isinstance(block, Tile) and block.front]
    return Front("\n".join(block.summary for block in fronts), fronts[-1].origin) if fronts else None


def front_room(budget: int) -> int:
    """o200k tokens that a summary in front of the older steps may take, the same at each consolidation."""
    return int(SETTINGS.front * budget)


def due(workspace: Workspace, budget: int, settings: Settings) -> Batch | None:
    """What to fold so that the cover stands at the low-water mark; None below the high one, or where nothing may be folded.

    Args:
        workspace: the settled cover.
        budget: o200k tokens of a view.
        settings: water marks and shares.
    """
    settings = settings.of(budget)
    if workspace.tokens + (0 if workspace.older is None else workspace.older.raw) <= settings.high * budget:
        return None
    blocks = workspace.blocks
    end, full = len(blocks), 0
    while end > 0:
        block = blocks[end - 1]
        newest = end == len(blocks)
        if not newest and (
            not isinstance(block, RawStep) or (block.settled and full + block.tokens > settings.full * budget)
        ):
            break
        full += min(block.tokens, int(settings.latest * budget)) if newest else block.tokens
        end -= 1
    if end == 0 or (end == 1 and isinstance(blocks[0], Tile)):
        return None
    standing = min(full, price(*blocks[end:]))
    return Batch(blocks[:end], blocks[end:], max(int(settings.low * budget) - standing, int(settings.least * budget)))


def embedded_tile(
    batch: Batch, opened: Sequence[Block], number: int, budget: int, query: Sequence[str], front: Front | None = None
) -> Tile:
    """The tile the embedded folder makes of a batch; it never costs more than its blocks do.

    Args:
        batch: what is folded.
        opened: the same steps with more of their lines, read from the log.
        number: the tile's number.
        budget: o200k tokens of the view.
        query: texts that say what the session is about now.
        front: what was written to stand in front, in place of all that was written before; None keeps what there is.
    """
    blocks = [show(block) for block in opened]
    room = min(batch.room, price(*batch.blocks) - _LEAST)
    before = front_of(batch.blocks)
    summary = front.text if front else _summaries(before, opened, room // 2, query)
    room = max(room - count(summary), 0)
    made = condense(blocks, [show(block) for block in batch.newest], room, budget, query)
    lines = [line for each in made for line in each]
    lines = _with_stubs(blocks, made, room - count_lines(addressed(lines)))
    author = front or before
    tile = tile_of(batch.blocks, number, summary, tuple(lines), author.origin if author else "embedded")
    if price(tile) < price(*batch.blocks):
        return replace(tile, front=author is not None)
    every = tuple(line for block in batch.blocks for line in block.lines)
    return tile_of(batch.blocks, number, summary, every, "embedded", whole=True)


def micro_tile(
    workspace: Workspace, blocks: Sequence[Block], number: int, settings: Settings, query: Sequence[str]
) -> Tile:
    """The tile of a stretch that someone asked to fold without saying how.

    Args:
        workspace: where the blocks stand.
        blocks: a contiguous stretch of it.
        number: the tile's number.
        settings: the shares.
        query: texts that say what the session is about now.
    """
    first = workspace.blocks.index(blocks[0])
    newest = workspace.blocks[first + len(blocks) :]
    tokens = sum(block.tokens for block in blocks)
    batch = Batch(blocks, newest, max(int(settings.micro * tokens), _DOCUMENT))
    return embedded_tile(batch, blocks, number, tokens, query)


def _summaries(before: Front | None, blocks: Sequence[Block], room: int, query: Sequence[str]) -> str:
    """What stands in front of a tile that is folded again, and what hosts and models wrote of tiles in it: within a room of o200k tokens their best
    sentences.
    """
    written = [block.summary for block in blocks if isinstance(block, Tile) and block.summary]
    every = [*([before.text] if before else []), *written]
    return "\n".join(filter(None, gists(every, room, query)))


def _with_stubs(blocks: Sequence[Shown], made: Sequence[list[Line]], room: int) -> list[Line]:
    """The lines, and where nothing stands of neighbouring blocks a word for all of them, as far as there is room."""
    found: list[Line] = []
    gone: list[Shown] = []

    def close() -> None:
        nonlocal room
        every = [line for block in gone for line in block.lines]
        word = (
            stub([step for block in gone for step in block.steps], sum(block.raw for block in gone), every)
            if gone
            else None
        )
        if word is not None and word.tokens <= room:
            room -= word.tokens
            found.append(word)
        gone.clear()

    for block, lines in zip(blocks, made, strict=True):
        if lines:
            close()
            found += lines
        else:
            gone.append(block)
    close()
    return found
