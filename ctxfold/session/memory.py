"""Commits folds and the memory of a path, and fills a view from the log."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from ctxfold.config import FoldSettings
from ctxfold.decisions.fold import (
    FoldDirective,
    KeptMemory,
    find_memory,
    find_stretch,
    fold,
    price_blocks,
    set_sub_task,
    write_tile,
)
from ctxfold.decisions.memory import (
    Batch,
    choose_batch,
    condense_step,
    find_condensable,
    make_batch,
    make_past,
    shorten_tile,
    split_blocks,
)
from ctxfold.errors import FoldError, StaleDecision
from ctxfold.log import place_of, spans
from ctxfold.log.lines import COMMANDS, UNSAID
from ctxfold.session.handle import Handle
from ctxfold.session.load import depth_of, put_tile, raw_steps, read_tile
from ctxfold.session.record import Branch
from ctxfold.session.sources import read_evidence
from ctxfold.store.rows import Reading, Writing
from ctxfold.tokens import Budget, count
from ctxfold.view.native import CallLog
from ctxfold.view.render import View, render
from ctxfold.workspace import HEADER, Block, By, Memory, RawStep, Tile, Workspace

REACH = 4
"""Lines of folded steps that a consolidation reads anew, in budgets of its view, the newest first.

On recorded conversations this loses nothing against reading all of them; a long coding session at a very small budget
loses a few values.
"""
_CHUNK = 16
"""Steps that are read at once."""
_STEP = re.compile(r"\bs(\d{1,9})\b")


def open_tiles(
    tx: Reading, session: int, workspace: Workspace, blocks: Sequence[Block], reach: int
) -> tuple[Block, ...]:
    """Return blocks with their tiles opened: the steps they were made of, and the tiles inside that somebody wrote and
    that the memory does not tell.

    Opens about `reach` o200k tokens of lines, the newest; of a tile that holds more, the older steps stay one block.
    Raises CorruptStore.
    """
    if all(isinstance(block, RawStep) for block in blocks):
        return tuple(blocks)
    path = tx.log.path(session, workspace.blocks[-1].steps[-1])
    closed = frozenset(number for number, _ in workspace.guidance.depths)
    memory = find_memory(blocks)
    as_of = 0 if memory is None else memory.as_of

    def open_tile(tile: Tile, room: int) -> list[Block]:
        """The parts of a tile, newest first."""
        made: list[Block] = []
        inside: list[Tile | range] = [tile]
        while inside and room > 0:
            part = inside.pop()
            if isinstance(part, range):
                if len(part) > _CHUNK:
                    inside.append(part[:-_CHUNK])
                depths = part[-_CHUNK:]
                steps = raw_steps(tx, session, tx.log.along(session, path, depths[0], depths[-1]))
                made += reversed(steps)
                room -= sum(step.tokens for step in steps)
            elif (part.origin != "embedded" and not part.memory and part.last > as_of) or (part.number in closed):
                made.append(part)
                room -= part.tokens
            else:
                inside += _list_parts(tx, session, part)
        return [*made, _keep_rest(tile, made)] if inside else made

    opened: list[Block] = []
    spent = 0
    for block in reversed(blocks):
        parts = [block] if isinstance(block, RawStep) else open_tile(block, reach - spent)
        spent += sum(part.tokens for part in parts)
        opened += parts
    return tuple(opened[::-1])


def _list_parts(tx: Reading, session: int, tile: Tile) -> Iterator[Tile | range]:
    """The tiles that a tile was made of, and the depths of the steps between them, in path order."""
    at = depth_of(tx, session, tile.first) or 0
    end = at + len(tile.steps)
    for number in tile.children:
        child = read_tile(tx, session, number)
        first = depth_of(tx, session, child.first) or 0
        if first > at:
            yield range(at, first)
        yield child
        at = first + len(child.steps)
    if end > at:
        yield range(at, end)


def _keep_rest(tile: Tile, opened: Sequence[Block]) -> Tile:
    """A tile of the steps that were not opened, with the lines that it kept of them."""
    refs = {line.ref for block in opened for line in block.lines}
    refs |= {block.id for block in opened if isinstance(block, Tile)}
    lines = tuple(line for line in tile.lines if line.ref not in refs and line.kind != "stub")
    steps = tile.steps[: len(tile.steps) - sum(len(block.steps) for block in opened)]
    tokens = HEADER + sum(line.tokens for line in lines)
    return replace(tile, steps=steps, lines=lines, memory=None, as_of=0, fresh=0, tokens=tokens)


def fold_steps(tx: Writing, now: Handle, directive: FoldDirective, by: By) -> Tile:
    """Fold the steps of a directive; without a last step, up to the latest that this handle has seen.

    Raises:
        FoldError: nothing to fold, a cut through a tile, an unknown item of the to-do, or a summary longer than its
            steps.
    """
    latest = now.seen
    place = now.place(tx, upto=directive.first_step)
    workspace = place.workspace
    blocks = find_stretch(workspace, directive.first_step, directive.last_step or latest or None)
    empty = [block.steps[0] for block in blocks if isinstance(block, RawStep) and not (block.lines or block.settled)]
    if empty:
        raise FoldError(f"s{empty[0]} is empty yet; fold it when something is recorded in it")
    number = tx.cover.next_tile(place.session)
    steps, marks = tuple(step for block in blocks for step in block.steps), list[str]()

    def mark(text: str) -> str:
        marked, missing = read_evidence(tx, place, steps).mark(text)
        marks.extend(missing)
        return marked

    directive, told = directive.reword(mark), directive.told
    if directive.summary is not None:
        tile = write_tile(workspace, blocks, number, directive.summary, by.author, directive)
    else:
        by = by if told else By("embedded", by.reason)
        tile = set_sub_task(workspace, blocks, shorten_tile(workspace, blocks, number), directive)
        tile = replace(tile, origin=by.author) if told and tile.memory is None else tile
        if count(f"{tile.goal} {tile.outcome}") > price_blocks(*blocks):
            raise FoldError(f"this account would cost more than {spans(steps)}; shorten it, or fold more steps")
    return _put(tx, now, place, blocks, replace(tile, marks=(*tile.marks, *marks)), by)


def condense_steps(tx: Writing, now: Handle, last: int, texts: Mapping[int, str] | None, by: By) -> tuple[Tile, ...]:
    """Fold each of the last steps alone, or each step that has a text.

    A step stays as it is if it is folded already, not settled, or no longer than its tile would be.
    """
    place, made = now.place(tx, upto=min(texts, default=None) if texts else None), list[Tile]()
    path = [step for block in place.workspace.blocks for step in block.steps]
    steps = find_condensable(place.workspace, texts or path[-last:])
    times = {step.n: step.time for step in tx.log.steps(place.session, [step.n for step in steps])}
    for step in steps:
        text, marks = read_evidence(tx, place, step.steps).mark(texts[step.n]) if texts else ("", ())
        when = f"{datetime.fromtimestamp(times[step.n], UTC):%Y-%m-%d %H:%M}"
        number, who = tx.cover.next_tile(place.session), by if texts else By("embedded", by.reason)
        tile = condense_step(place.workspace, step, number, when, text, by.author if texts else "embedded")
        if tile is not None:
            made.append(_put(tx, now, place, [step], replace(tile, marks=tuple(marks)), who))
            place = now.place(tx)
    return tuple(made)


def consolidate(
    tx: Writing, now: Handle, limit: int, by: By, memory: Memory | None = None, as_of: int | None = None
) -> tuple[Tile, ...]:
    """Fold older steps if the cover is above its high-water mark. Returns the tile that was made, if any.

    `memory`: None keeps the one written before; `as_of`: the latest step that its author had read, None for the latest
    that this handle has shown. Raises StaleDecision: that step is no longer on the path.
    """
    older = now.place(tx).workspace.older
    latest = as_of or now.seen
    place = now.place(tx, upto=older.first if older else None)
    batch = choose_batch(place.workspace, limit, now.settings)
    if batch is None:
        return ()
    if as_of is not None and place.workspace.holding(as_of) is None:
        raise StaleDecision(f"s{as_of} is no longer on this branch; write the memory again")
    written = None if memory is None else _sign(tx, place, memory, latest, by)
    return _fold_past(tx, now, place, batch, limit, by, written)


def put_memory(
    tx: Writing, now: Handle, limit: int, memory: Memory, upto: int | None, as_of: int | None, by: By
) -> Tile:
    """Put a memory in place of the steps up to `upto`, None for the one before the latest.

    `as_of`: the latest step that its author had read; None for the latest that this handle has shown and that is not
    open. Raises FoldError: there are no such steps.
    """
    older = now.place(tx).workspace.older
    place = now.place(tx, upto=older.first if older else None)
    blocks = place.workspace.blocks
    if as_of is None:
        blocks = tuple(block for block in blocks if isinstance(block, Tile) or block.settled)
        as_of = min(now.seen or place.state.tip, blocks[-1].steps[-1]) if blocks else 0
    end = sum(block.steps[0] <= (as_of - 1 if upto is None else upto) for block in blocks)
    if end == 0:
        raise FoldError("there is nothing before the latest step; record more steps first")
    batch = make_batch(place.workspace.blocks, end, limit, now.settings.of(limit))
    return _fold_past(tx, now, place, batch, limit, by, _sign(tx, place, memory, as_of, by))[0]


def _fold_past(
    tx: Writing, now: Handle, place: Branch, batch: Batch, limit: int, by: By, written: KeptMemory | None
) -> tuple[Tile, ...]:
    """Fold a batch into the tile of the past, with a new memory or the one there is, and commit it."""
    opened = open_tiles(tx, place.session, place.workspace, batch.blocks, REACH * limit)
    number, kept = tx.cover.next_tile(place.session), written or find_memory(batch.blocks)
    tile = make_past(batch, opened, number, limit, place.workspace, kept)
    return () if tile.whole else (_put(tx, now, place, batch.blocks, tile, by),)


def _sign(tx: Reading, place: Branch, memory: Memory, as_of: int, by: By) -> KeptMemory:
    """A memory as it is kept, with marks behind the values that the log lacks, and behind rows that say what to do and
    cite neither a message of the user nor a standing rule (`c4`, or its file and line).
    """
    cited = {int(step) for step in _STEP.findall("\n".join((memory.wanted, memory.laid_down)))}
    said = {record.step for record in tx.log.records(place.session, sorted(cited)) if record.kind == "user"}

    rules = [rule for rule in place.workspace.intent.binding if place_of(rule.ref) == (0, 0) and not rule.untrusted]
    sources = re.compile("|".join(rf"\b{re.escape(name)}\b" for rule in rules for name in (rule.id, rule.ref) if name))

    def is_cited(row: str) -> bool:
        return bool(said.intersection(map(int, _STEP.findall(row))) or (rules and sources.search(row)))

    def mark_rows(text: str) -> str:
        return "\n".join(row if not row.strip() or is_cited(row) else f"{row} {UNSAID}" for row in text.splitlines())

    texts, marks, evidence = dict[str, str](), list[str](), read_evidence(tx, place, ())
    for name, text in memory:
        texts[name], missing = evidence.mark(text)
        marks += missing
        if name in COMMANDS:
            texts[name] = mark_rows(texts[name])
    return KeptMemory(Memory(**texts), as_of, by.author, tuple(marks))


_FULL = 0.95
"""The share of its budget that a filled view takes wherever the log holds that much."""
_NEWEST = 0.25
"""The share of a filled view that its newest steps get at most, so that the user's words and the lines have room."""
_FILLS = 3
"""How often a filled view is given more room."""


def fill_view(tx: Reading, now: Handle, workspace: Workspace, budget: Budget, log: CallLog) -> View:
    """Render a view whose past is chosen anew from the log, so that it takes its budget. Commits nothing."""
    view = render(workspace, budget, log)
    if all(isinstance(block, RawStep) for block in workspace.blocks):
        return view
    limit = budget.tokens
    opened = open_tiles(tx, now.session, workspace, workspace.blocks, REACH * limit)
    room = limit - render(replace(workspace, blocks=()), budget).tokens
    for _ in range(_FILLS):
        filled = render(_refill_past(workspace, opened, limit, room, now.settings), budget, log)
        view = filled if filled.tokens >= _FULL * limit or filled.tokens > view.tokens else view
        if filled.tokens >= _FULL * limit:
            break
        room += limit - filled.tokens
    return view


def _refill_past(
    workspace: Workspace, opened: Sequence[Block], limit: int, room: int, settings: FoldSettings
) -> Workspace:
    """A workspace for a view that is filled: all steps in full if they fit and there is no memory, else the older ones
    folded anew from the log, so that the whole takes `room` o200k tokens.
    """
    memory = find_memory(workspace.blocks)
    if memory is None and price_blocks(*opened) <= room:
        return replace(workspace, blocks=tuple(opened))
    low_water = min(max(room / limit, 0.01), 0.99)
    batch = split_blocks(opened, limit, replace(settings, at=1.0, to=low_water), _NEWEST)
    if batch is None:
        return replace(workspace, blocks=tuple(opened))
    number = max(block.number for block in workspace.blocks if isinstance(block, Tile))
    tile = make_past(batch, batch.blocks, number, limit, workspace, memory)
    past = batch.blocks if tile.whole else (tile,)
    return replace(workspace, blocks=(*past, *batch.newest))


def _put(tx: Writing, now: Handle, place: Branch, blocks: Sequence[Block], tile: Tile, by: By) -> Tile:
    """Commit a tile in place of blocks."""
    after = put_tile(tx, place.session, place.state, tile, (by.decider, by.reason), place.head)
    now.take_decision(after, fold(place.workspace, tile), sum(block.tokens for block in blocks) - tile.tokens)
    return tile
