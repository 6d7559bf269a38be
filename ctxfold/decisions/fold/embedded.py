"""The embedded folder: which steps to fold when the budget requires it, and the tile it makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctxfold.decisions.fold.tile import price, tile_of
from ctxfold.log.lines import Line
from ctxfold.tokens import count, count_lines
from ctxfold.view.condense import condense, stub
from ctxfold.view.show import Shown, addressed, show
from ctxfold.workspace.workspace import Block, RawStep, Tile, Workspace

__all__ = ["Batch", "Settings", "due", "embedded_tile", "micro_tile"]


@dataclass(frozen=True, slots=True)
class Settings:
    """When the cover is consolidated, and how far. A share is one of the budget.

    Attributes:
        high: the high-water mark, from which the cover is consolidated.
        low: the low-water mark, down to which it is worked.
        spoken: share that the newest steps fill in full after it, in a dialogue.
        documented: the same where all of the recent text is documents.
        latest: the most that counts of the newest step: what is above it is bounded in the view.
        least: share that the older steps get at least.
        micro: share of a step that folding it alone leaves.
    """

    high: float = 0.90
    low: float = 0.60
    spoken: float = 0.15
    documented: float = 0.43
    latest: float = 0.60
    least: float = 0.20
    micro: float = 0.40

    def of(self, budget: int) -> Settings:
        """The settings at a budget: a small one has no room to spare, and no prefix cache keeps so short a prompt."""
        return self if budget >= _SMALL else Settings(high=1.0, low=0.80, documented=0.58)


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
    share = settings.spoken + (settings.documented - settings.spoken) * _documents(blocks, budget)
    end, full = len(blocks), 0
    while end > 0:
        block = blocks[end - 1]
        newest = end == len(blocks)
        if not newest and (not isinstance(block, RawStep) or (block.settled and full + block.tokens > share * budget)):
            break
        full += min(block.tokens, int(settings.latest * budget)) if newest else block.tokens
        end -= 1
    if end == 0 or (end == 1 and isinstance(blocks[0], Tile)):
        return None
    standing = min(full, price(*blocks[end:]))
    return Batch(blocks[:end], blocks[end:], max(int(settings.low * budget) - standing, int(settings.least * budget)))


def _documents(blocks: Sequence[Block], budget: int) -> float:
    """How much of the recent text is documents, 0 to 1."""
    every = documents = 0
    for block in reversed(blocks):
        for line in block.lines:
            every += line.tokens
            documents += line.tokens * (line.kind in ("text", "call") and line.tokens > _DOCUMENT)
        if every > budget:
            break
    return documents / max(every, 1)


def embedded_tile(batch: Batch, opened: Sequence[Block], number: int, budget: int, query: Sequence[str]) -> Tile:
    """The tile the embedded folder makes of a batch; it never costs more than its blocks do.

    Args:
        batch: what is folded.
        opened: the same steps with more of their lines, read from the log.
        number: the tile's number.
        budget: o200k tokens of the view.
        query: texts that say what the session is about now.
    """
    blocks = [show(block) for block in opened]
    room = min(batch.room, price(*batch.blocks) - _LEAST)
    summary = _summaries(opened, room // 2)
    room -= count(summary)
    made = condense(blocks, [show(block) for block in batch.newest], room, budget, query)
    lines = [line for each in made for line in each]
    lines = _with_stubs(blocks, made, room - count_lines(addressed(lines)))
    tile = tile_of(batch.blocks, number, summary, tuple(lines), "embedded")
    if price(tile) < price(*batch.blocks):
        return tile
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


def _summaries(blocks: Sequence[Block], room: int) -> str:
    """What hosts and models wrote of tiles that are folded again: the newest, in their order, within a room of o200k tokens."""
    kept: list[str] = []
    for block in reversed(blocks):
        if isinstance(block, Tile) and block.summary:
            room -= count(block.summary) + 1
            if room < 0:
                break
            kept.append(block.summary)
    return "\n".join(reversed(kept))


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
