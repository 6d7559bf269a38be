"""What is folded when; the memory; its plain fall-back."""

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
"""o200k tokens that a fold saves at least."""
_ROOM_A_WORD = 2
"""How much room older steps get at least for each token that the user said in them."""
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


def find_front(blocks: Sequence[Block]) -> Front | None:
    """What stands in front of blocks already; None where nobody wrote it."""
    fronts = [block for block in blocks if isinstance(block, Tile) and block.front]
    return Front("\n".join(block.summary for block in fronts), fronts[-1].origin) if fronts else None


def front_room(budget: int, settings: FoldSettings) -> int:
    """o200k tokens that a summary in front of the older steps may take, the same at each consolidation."""
    return int(settings.front * budget)


def choose_batch(workspace: Workspace, budget: int, settings: FoldSettings) -> Batch | None:
    """What to fold so that the cover stands at the low-water mark of a budget; None below the high one, or where nothing may be folded."""
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
    """The share that documents have in what stands in full; none where no call brought one, since only who edits a text must quote it."""
    if not any(line.kind == "call" and line.is_document for block in blocks for line in block.lines):
        return 0.0
    lines = [line for block in blocks if isinstance(block, RawStep) for line in block.lines]
    return sum(line.tokens for line in lines if line.is_document) / max(sum(line.tokens for line in lines), 1)


def choose_tile(
    batch: Batch, opened: Sequence[Block], number: int, budget: int, query: Sequence[str], front: Front | None = None
) -> Tile:
    """The tile the embedded folder makes of a batch; it never costs more than its blocks do.

    `opened`: the same steps with more of their lines, read from the log; `front`: what was written to stand in front, None keeps what there is.
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
    """The tile of a stretch that someone asked to fold without saying how; a `FoldError` where it would cost more as a tile."""
    first = workspace.blocks.index(blocks[0])
    newest = workspace.blocks[first + len(blocks) :]
    tokens, said = sum(block.tokens for block in blocks), sum(_said(block) for block in blocks)
    room = max(int(settings.micro * tokens), _DOCUMENT, _ROOM_A_WORD * said)
    if tokens <= room:
        every = tuple(line for block in blocks for line in block.lines)
        tile = make_tile(blocks, number, _summaries(None, blocks, tokens, query), every, "embedded", whole=True)
        if price_blocks(tile) > price_blocks(*blocks):
            raise FoldError(f"{spans(tile.steps)} is short and stands as it is; fold more steps, or give a summary")
        return tile
    return choose_tile(Batch(blocks, newest, room), blocks, number, max(tokens, 3 * said), query)


def _summaries(before: Front | None, blocks: Sequence[Block], room: int, query: Sequence[str]) -> str:
    """What stands in front of a tile that is folded again, and what hosts and models wrote of tiles in it: within a room of o200k tokens their best
    sentences.
    """
    written = [block.summary for block in blocks if isinstance(block, Tile) and block.summary]
    every = [*([before.text] if before else []), *written]
    return "\n".join(filter(None, shorten_summaries(every, room, query)))


def _with_stubs(blocks: Sequence[Shown], made: Sequence[list[Line]], room: int) -> list[Line]:
    """The lines, and where nothing stands of neighbouring blocks a word for all of them, as far as there is room."""
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
