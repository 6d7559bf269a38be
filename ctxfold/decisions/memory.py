"""Consolidation: which steps are folded at which budget, and the tile that the selector makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxfold.decisions.fold import TRAIL, FoldSettings, make_tile, price_blocks
from ctxfold.errors import FoldError
from ctxfold.log.lines import Line
from ctxfold.tokens import count, count_lines
from ctxfold.view.fit import Shown, address_lines, condense, name_steps, shorten_summaries, show
from ctxfold.view.trail import changes_of, drop_repeats, write_trail
from ctxfold.workspace import Block, Origin, RawStep, Tile, Workspace, spans

_LEAST = 4
"""o200k tokens that a fold must save."""
_ROOM_A_WORD = 2
"""Tokens of room that older steps get at least for each token of the user's words in them."""
_DOCUMENT = 100
"""The least o200k tokens of a step that is folded alone."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The blocks to fold, the newest ones that stay in full, and the room of the tile in o200k tokens."""

    blocks: Sequence[Block]
    newest: Sequence[Block]
    room: int


@dataclass(frozen=True, slots=True)
class Front:
    """A summary that precedes the lines chosen from older steps, and its author."""

    text: str
    origin: Origin


def find_front(blocks: Sequence[Block]) -> Front | None:
    """Return the summary in front of blocks; None if nobody wrote one."""
    fronts = [block for block in blocks if isinstance(block, Tile) and block.front]
    return Front("\n".join(block.summary for block in fronts), fronts[-1].origin) if fronts else None


def front_room(budget: int, settings: FoldSettings) -> int:
    """Return the o200k tokens of a summary in front of the older steps."""
    return int(settings.front * budget)


def choose_batch(workspace: Workspace, budget: int, settings: FoldSettings) -> Batch | None:
    """Return the blocks to fold down to the low-water mark; None below the high one, or if nothing may be folded."""
    settings = settings.of(budget)
    blocks, older = workspace.blocks, 0 if workspace.older is None else workspace.older.raw
    if workspace.tokens + older <= settings.high * budget:
        return None
    costs = [block.tokens for block in drop_repeats(blocks)]
    if sum(costs) + older <= settings.high * budget:
        return None
    end, full, said = len(blocks), 0, sum(_said(block) for block in blocks)
    newer = settings.full + _documents(blocks) * (settings.low - settings.least - settings.full)
    while end > 0:
        block = blocks[end - 1]
        newest = end == len(blocks)
        said -= _said(block)
        most = max(settings.full, min(newer, settings.low - _ROOM_A_WORD * said / budget)) * budget
        if not newest and (not isinstance(block, RawStep) or (block.settled and full + costs[end - 1] > most)):
            break
        full += min(costs[-1], int(settings.latest * budget)) if newest else costs[end - 1]
        end -= 1
    if end == 0 or (end == 1 and isinstance(blocks[0], Tile)):
        return None
    bounded = max(blocks[-1].tokens - int(settings.latest * budget), 0)
    standing = price_blocks(*drop_repeats(blocks[end:])) - bounded
    return Batch(blocks[:end], blocks[end:], max(int(settings.low * budget) - standing, int(settings.least * budget)))


def _said(block: Block) -> int:
    """o200k tokens of the user's words in a block."""
    return sum(line.tokens for line in block.lines if line.kind == "user")


def _documents(blocks: Sequence[Block]) -> float:
    """The share of documents in the raw steps; 0 unless a call brought one, since only an editor must quote."""
    if not any(line.kind == "call" and line.is_document for block in blocks for line in block.lines):
        return 0.0
    lines = [line for block in blocks if isinstance(block, RawStep) for line in block.lines]
    return sum(line.tokens for line in lines if line.is_document) / max(sum(line.tokens for line in lines), 1)


def choose_tile(
    batch: Batch, opened: Sequence[Block], number: int, budget: int, query: Sequence[str], front: Front | None = None
) -> Tile:
    """Return the tile of a batch, as the selector fills it; it never costs more than its blocks.

    `opened`: the same steps with more of their lines; `front`: a new summary in front, None keeps the one there is.
    """
    blocks = [show(block) for block in opened]
    room = min(batch.room, price_blocks(*batch.blocks) - _LEAST)
    before = find_front(batch.blocks)
    summary = front.text if front else _summaries(before, opened, room // 2, query)
    steps = tuple(step for block in batch.blocks for step in block.steps)
    changed = write_trail(changes_of(batch.blocks), steps, int(TRAIL * room), summary)
    room = max(room - count(summary) - (changed.tokens if changed else 0), 0)
    made = condense(blocks, [show(block) for block in batch.newest], room, budget, query)
    lines = _with_stubs(blocks, made, room - count_lines(address_lines([line for each in made for line in each])))
    lines = [*([changed] if changed else []), *lines]
    author = front or before
    tile = make_tile(batch.blocks, number, summary, tuple(lines), author.origin if author else "embedded")
    if price_blocks(tile) < price_blocks(*batch.blocks):
        return replace(tile, front=author is not None)
    every = tuple(line for block in batch.blocks for line in block.lines)
    return make_tile(batch.blocks, number, summary, every, "embedded", whole=True)


def shorten_tile(
    workspace: Workspace, blocks: Sequence[Block], number: int, settings: FoldSettings, query: Sequence[str]
) -> Tile:
    """Return the tile of blocks that somebody folds without a summary. Raises FoldError: it would cost more."""
    first = workspace.blocks.index(blocks[0])
    newest = workspace.blocks[first + len(blocks) :]
    tokens, said = sum(block.tokens for block in blocks), sum(_said(block) for block in blocks)
    room = max(int(settings.micro * tokens), _DOCUMENT, _ROOM_A_WORD * said)
    if tokens <= room:
        every = tuple(line for block in blocks for line in block.lines)
        tile = make_tile(blocks, number, _summaries(None, blocks, tokens, query), every, "embedded", whole=True)
        if price_blocks(tile) > price_blocks(*blocks):
            raise FoldError(f"{spans(tile.steps)} is too short to fold; fold more steps, or give a summary")
        return tile
    return choose_tile(Batch(blocks, newest, room), blocks, number, max(tokens, 3 * said), query)


def _summaries(before: Front | None, blocks: Sequence[Block], room: int, query: Sequence[str]) -> str:
    """The summary in front and those of the tiles inside: their best sentences within a room of o200k tokens."""
    written = [block.summary for block in blocks if isinstance(block, Tile) and block.summary]
    every = [*([before.text] if before else []), *written]
    return "\n".join(filter(None, shorten_summaries(every, room, query)))


def _with_stubs(blocks: Sequence[Shown], made: Sequence[list[Line]], room: int) -> list[Line]:
    """The lines, with one short line for neighbouring blocks of which none was chosen, as far as there is room."""
    found: list[Line] = []
    gone: list[Shown] = []

    def close() -> None:
        nonlocal room
        every = [line for block in gone for line in block.lines]
        word = (
            name_steps([step for block in gone for step in block.steps], sum(block.raw for block in gone), every)
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
