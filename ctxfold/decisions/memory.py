"""The memory of a path: which steps a consolidation folds, and the one tile that it makes of them.

The tile holds the memory in nine parts if somebody wrote one (deep consolidation; AgentFold, section 3.2), the user's
words, and lines that the selector chooses anew from the log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from pydantic import ValidationError

from ctxfold.config import FoldSettings
from ctxfold.decisions.fold import (
    KeptMemory,
    assign_steps,
    find_memory,
    keep_words,
    make_tile,
    price_blocks,
    set_sub_task,
)
from ctxfold.errors import FoldError, InputError
from ctxfold.log import spans
from ctxfold.log.lines import Line, line
from ctxfold.prompts import prompt
from ctxfold.tokens import count, head
from ctxfold.view.fit import (
    Shown,
    condense,
    query_of,
    shorten_memory,
    shorten_summaries,
    show,
    write_account,
    write_memory,
)
from ctxfold.view.trail import drop_repeats
from ctxfold.workspace import Block, Item, Memory, MemoryParts, Origin, RawStep, Tile, Workspace

_LEAST = 4
"""o200k tokens that a fold must save."""
_ROOM_A_WORD = 2
"""Tokens of room that older steps get at least for each token of the user's words in them."""
_DOCUMENT = 100
"""The least o200k tokens of a step that is folded alone."""
_MICRO = 0.4
"""The share of a step that folding it alone without a summary leaves."""
_THIRD = 1 / 3
"""The share of the low-water mark that the newest steps in full get at most, and the older steps at least."""
_LATEST = 0.6
"""The share of a budget that the newest step counts for at most: a view bounds what is above it."""
TINY = 2_000
"""o200k tokens of a budget below which a memory gets more room, since it is most of the view."""
_MEMORY, _TINY_MEMORY = 0.28, 0.45
"""The share of a budget that a memory may take; on recorded sessions a reader of that size misses no fact."""
_FRESH, _TINY_FRESH = 1.25, 0.9
"""The raw records of folded steps after the memory, in budgets, from which it is written anew: in lines they need 8% of
that, so that lines and memory take 38% of the view; in a tiny view the raw records weigh twice the memory's room.
"""
_WORDS = 0.12
"""The share of a budget that the user's words and lines get beside a memory, however long it is."""
_CLOSED = 0.1
"""The most of the older steps' room for the lines of closed items."""
_ITEM = 24
"""o200k tokens of an item's text in the line that is left of its steps."""
_OVER = 1.25
"""How far a memory may exceed its room before it is shortened."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The blocks to fold, the newest ones that stay in full, and the room of the tile in o200k tokens."""

    blocks: Sequence[Block]
    newest: Sequence[Block]
    room: int

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps to fold, in path order."""
        return tuple(step for block in self.blocks for step in block.steps)


def read_memory(given: Mapping[str, str] | str) -> Memory:
    """Read a memory from its parts, or from a report in one text. Raises InputError: an unknown part, or no text."""
    try:
        memory = Memory(report=given) if isinstance(given, str) else Memory(**given)
    except (ValidationError, TypeError) as error:
        raise InputError(f"a memory is text in these parts: {', '.join(MemoryParts.model_fields)}") from error
    if not memory.text:
        raise InputError("the memory is empty; say what is wanted, what was done and found, and what comes next")
    return memory


def memory_room(budget: int) -> int:
    """Return the o200k tokens that a memory may take."""
    return int((_TINY_MEMORY if budget < TINY else _MEMORY) * budget)


def is_memory_due(workspace: Workspace, budget: int, batch: Batch | None = None) -> bool:
    """Return whether the memory is to be written anew: there is none, or the steps after it need too much room.

    `batch`: the steps that are about to be folded; None looks at the steps that are folded already.
    """
    folded = [block for block in workspace.blocks if isinstance(block, Tile)]
    kept = find_memory(folded)
    if kept is None:
        return batch is not None or any(block.origin == "embedded" for block in folded)
    later = sum(block.raw for block in batch.blocks if block.steps[0] > kept.as_of) if batch else 0
    return kept.fresh + later > (_TINY_FRESH if budget < TINY else _FRESH) * budget


def choose_batch(workspace: Workspace, budget: int, settings: FoldSettings) -> Batch | None:
    """Return the blocks to fold down to the low-water mark; None below the high one, or if nothing may be folded."""
    settings = settings.of(budget)
    blocks, older = workspace.blocks, 0 if workspace.older is None else workspace.older.raw
    most = settings.at * budget - older
    if workspace.tokens <= most or sum(block.tokens for block in drop_repeats(blocks)) <= most:
        return None
    return split_blocks(blocks, budget, settings)


def split_blocks(blocks: Sequence[Block], budget: int, settings: FoldSettings, newest: float = 1.0) -> Batch | None:
    """Split blocks into those to fold and the newest, which stay in full; None if nothing may be folded.

    The newest get a third of the low-water mark; more if the session edits documents that they hold, up to what the
    user's words in the older ones leave. `newest`: the share of the budget that they get at most.
    """
    costs = [block.tokens for block in drop_repeats(blocks)]
    end, full, said = len(blocks), 0, sum(_count_said(block) for block in blocks)
    third = min(_THIRD * settings.to, newest)
    newer = third + _share_documents(blocks) * third
    while end > 0:
        block = blocks[end - 1]
        stays = len(blocks) - end < settings.depth
        said -= _count_said(block)
        most = max(third, min(newer, settings.to - _ROOM_A_WORD * said / budget)) * budget
        if not stays and (not isinstance(block, RawStep) or (block.settled and full + costs[end - 1] > most)):
            break
        full += min(costs[end - 1], int(_LATEST * budget)) if end == len(blocks) else costs[end - 1]
        end -= 1
    if settings.window:
        steps = [index for index in range(end) if isinstance(blocks[index], RawStep)]
        end = min(end, steps[int(settings.window) - 1] + 1) if len(steps) > settings.window else end
    if end == 0 or (end == 1 and isinstance(blocks[0], Tile)):
        return None
    return make_batch(blocks, end, budget, settings)


@dataclass(frozen=True, slots=True)
class MemoryDue:
    """A memory that somebody should write: the steps that it replaces, and its room in o200k tokens."""

    steps: tuple[int, ...]
    room: int

    def describe(self, tool: str) -> str:
        """Return the notice for a model that writes it by calling a tool, in at most 200 tokens."""
        return prompt("memory_due", steps=spans(self.steps), room=self.room, tool=tool)


def find_due(workspace: Workspace, budget: int) -> MemoryDue | None:
    """Return the memory that the folded steps call for; None if they have one that is new enough."""
    if not is_memory_due(workspace, budget):
        return None
    folded = [block.steps for block in workspace.blocks if isinstance(block, Tile)]
    return MemoryDue(tuple(chain(*folded)), memory_room(budget))


def make_batch(blocks: Sequence[Block], end: int, budget: int, settings: FoldSettings) -> Batch:
    """Return the batch of the blocks before an index, its room down to the low-water mark."""
    bounded = max(blocks[-1].tokens - int(_LATEST * budget), 0)
    newest = price_blocks(*drop_repeats(blocks[end:])) - bounded if end < len(blocks) else 0
    room = max(int(settings.to * budget) - newest, int(_THIRD * settings.to * budget))
    return Batch(blocks[:end], blocks[end:], room)


def _count_said(block: Block) -> int:
    """o200k tokens of the user's words in a block."""
    return sum(line.tokens for line in block.lines if line.kind == "user")


def _share_documents(blocks: Sequence[Block]) -> float:
    """The share of documents in the raw steps; 0 unless a call brought one, since only an editor must quote."""
    if not any(line.kind == "call" and line.is_document for block in blocks for line in block.lines):
        return 0.0
    lines = [line for block in blocks if isinstance(block, RawStep) for line in block.lines]
    return sum(line.tokens for line in lines if line.is_document) / max(sum(line.tokens for line in lines), 1)


def make_past(
    batch: Batch, opened: Sequence[Block], number: int, budget: int, workspace: Workspace, written: KeptMemory | None
) -> Tile:
    """Return the tile of a batch: its memory, and the lines that the selector chooses.

    Steps of an item of the to-do that is closed get a line, and lines of their own where all others are in.

    Args:
        batch: the blocks to fold.
        opened: the same steps with more of their lines.
        number: the number of the tile.
        budget: o200k tokens of the view.
        workspace: the present task and its to-do.
        written: the memory; None if nobody wrote one.
    """
    query, items = query_of(workspace), workspace.intent.items
    room = batch.room if written else min(batch.room, price_blocks(*batch.blocks) - _LEAST)
    if written and count(written.memory.text) > _OVER * memory_room(budget):
        written = replace(written, memory=shorten_memory(written.memory, memory_room(budget), query))
    as_of = written.as_of if written else 0
    later = [block for block in opened if isinstance(block, Tile) and block.last > as_of]
    summary = _join_summaries(later, room // 2, query)
    text = write_memory(batch.steps, as_of, written.memory, summary) if written else summary
    owners = assign_steps(opened, items)
    closed = {item.id: [step for step in owners if owners[step] == item.id] for item in items if item.state != "open"}
    rows = list(_write_closed(items, closed, later, as_of, int(_CLOSED * room)))
    left = max(room - count(text) - sum(row.tokens for row in rows), int(_WORDS * budget) if written else 0)
    ended = set(chain(*closed.values()))
    blocks = [replace(_drop_prose(show(block), as_of), closed=ended.issuperset(block.steps)) for block in opened]
    newest = [show(block) for block in batch.newest]
    made = condense(blocks, newest, left, budget, query, text if written else "")
    tile = make_tile(batch.blocks, number, summary, (*rows, *chain(*made)), written.origin if written else "embedded")
    if written:
        fresh = sum(block.raw for block in batch.blocks if block.steps[0] > as_of)
        fresh += sum(block.fresh for block in batch.blocks if isinstance(block, Tile) and block.as_of == as_of)
        tile = replace(tile, memory=written.memory, as_of=as_of, fresh=fresh, marks=written.marks)
        return replace(tile, tokens=show(tile).tokens)
    if price_blocks(tile) < price_blocks(*batch.blocks):
        return tile
    every = tuple(line for block in batch.blocks for line in block.lines)
    return make_tile(batch.blocks, number, summary, every, "embedded", whole=True)


def _write_closed(
    items: Sequence[Item], closed: Mapping[str, Sequence[int]], told: Sequence[Tile], as_of: int, room: int
) -> Iterator[Line]:
    """A line for each item that is closed: its steps after the memory, its state and words, and what shows it; none
    for steps of which somebody told the sub-task.
    """
    known = {step for tile in told if tile.origin != "embedded" for step in tile.steps}
    for item in items:
        steps = [step for step in closed.get(item.id, ()) if step > as_of and step not in known]
        words = "" if item.untrusted else f": {head(item.text, _ITEM)}"
        shown = f" ({item.evidence[-1]})" if item.evidence else ""
        row = line("stub", spans(steps), f"[{spans(steps)} {item.id} {item.state}{words}{shown}]")
        if steps and row.tokens <= room:
            yield row
            room -= row.tokens


def _drop_prose(block: Shown, as_of: int) -> Shown:
    """A block without the assistant's prose, if its step is one that the memory tells."""
    if not block.steps or block.steps[-1] > as_of:
        return block
    return replace(block, lines=tuple(line for line in block.lines if line.kind != "say"))


def shorten_tile(workspace: Workspace, blocks: Sequence[Block], number: int) -> Tile:
    """Return the tile of blocks that somebody folds without a summary. Raises FoldError: it would cost more."""
    first = workspace.blocks.index(blocks[0])
    newest = workspace.blocks[first + len(blocks) :]
    tokens, said = sum(block.tokens for block in blocks), sum(_count_said(block) for block in blocks)
    room = max(int(_MICRO * tokens), _DOCUMENT, _ROOM_A_WORD * said)
    if tokens <= room:
        every, text = tuple(line for block in blocks for line in block.lines), _join_summaries(blocks, tokens, ())
        tile = make_tile(blocks, number, text, every, "embedded", whole=True)
        if price_blocks(tile) > price_blocks(*blocks):
            raise FoldError(f"{spans(tile.steps)} is too short to fold; fold more steps, or give a summary")
        return tile
    batch = Batch(blocks, newest, room)
    return make_past(batch, blocks, number, max(tokens, 3 * said), workspace, find_memory(blocks))


def _address_account(tile: Tile) -> str:
    """What a tile says of its steps, after their address, status and item if somebody told their sub-task."""
    text, is_told = write_account(tile), tile.goal or tile.outcome
    return f"({', '.join(filter(None, (f'{spans(tile.steps)} {tile.status}', tile.todo)))}) {text}" if is_told else text


def find_condensable(workspace: Workspace, wanted: Collection[int]) -> list[RawStep]:
    """Return the steps among the wanted ones that stand in full and are settled."""
    raw = [block for block in workspace.blocks if isinstance(block, RawStep) and block.settled and block.lines]
    return [block for block in raw if block.n in wanted]


def condense_step(
    workspace: Workspace, step: RawStep, number: int, time: str, text: str, origin: Origin
) -> Tile | None:
    """Return a tile for one step: its time, its calls, and the text that somebody wrote, or the values that the
    selector chooses. It takes 50 o200k tokens beside the user's words (granular condensation; the AgentFold skill).
    None if the step costs no more.
    """
    calls = "; ".join(each.text.removeprefix("> ") for each in step.lines if each.kind == "call" and not each.depth)
    calls = calls if count(calls) <= _CALLS else f"{head(calls, _CALLS)} …"
    summary = ": ".join(filter(None, (f"{time} {calls}".strip(), text)))
    lines = [*keep_words([step], workspace.intent.lifted)]
    if not text:
        bare = replace(show(step), lines=tuple(each for each in step.lines if each.kind in ("say", "data", "text")))
        newest = [show(block) for block in workspace.blocks[workspace.blocks.index(step) + 1 :]]
        room = CONDENSED - count(f"{spans(step.steps)} < {summary}") - _LEAST
        lines += chain(*condense([bare], newest, max(room, 0), CONDENSED, query_of(workspace)))
    tile = set_sub_task(workspace, [step], make_tile([step], number, summary, tuple(lines), origin))
    return tile if price_blocks(tile) < price_blocks(step) else None


CONDENSED, _CALLS = 50, 16
"""o200k tokens of a step that is condensed, and of the calls named in it."""


def _join_summaries(blocks: Sequence[Block], room: int, query: Sequence[str]) -> str:
    """The summaries of tiles: their best sentences within a room of o200k tokens."""
    tiles = [block for block in blocks if isinstance(block, Tile) and not block.memory]
    written = [text for tile in tiles if (text := _address_account(tile))]
    return "\n".join(filter(None, shorten_summaries(written, room, query)))
