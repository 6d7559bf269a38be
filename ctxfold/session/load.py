"""A revision to a workspace; tiles."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from ctxfold.errors import CorruptStore
from ctxfold.log import Kind, Origin, Record, Step
from ctxfold.log.json import canonical
from ctxfold.log.lines import Line, followed, lines_of
from ctxfold.session.commits import Happened, advance
from ctxfold.store.codec import digest, encode, pack_text, unpack_json
from ctxfold.store.rows import HeadRow, Path, Reading, State, StoredRecord, Writing
from ctxfold.workspace import (
    HEADER,
    STANDING,
    Block,
    Change,
    Decider,
    Note,
    Older,
    RawStep,
    Tile,
    Workspace,
    dump_lines,
    load_lines,
)

VERSION = 1
"""Of the fold applier. A tile holds its resolved lines, so an older session keeps its bytes when this grows."""


def dump_tile(tile: Tile) -> dict[str, Any]:
    """A tile as JSON, steps as runs."""
    runs: list[list[int]] = []
    for step in tile.steps:
        if runs and step == runs[-1][1] + 1:
            runs[-1][1] = step
        else:
            runs.append([step, step])
    return {
        "id": tile.number, "steps": runs, "summary": tile.summary, "lines": dump_lines(tile.lines), "status": tile.status, "origin": tile.origin,
        "raw": tile.raw, "tokens": tile.tokens, "untrusted": tile.untrusted, "whole": tile.whole, "children": list(tile.children),
        **({"front": True} if tile.front else {}),
        **({"changed": [[each.name, *each.steps] for each in tile.changed]} if tile.changed else {}),
    }  # fmt: skip


def load_tile(tree: Any) -> Tile:
    """A tile from JSON made by `dump_tile`. Raises CorruptStore when it is not."""
    try:
        steps = tuple(step for first, last in tree["steps"] for step in range(first, last + 1))
        return Tile(
            tree["id"], steps, tree["summary"], load_lines(tree["lines"]), tree["status"], tree["origin"],
            tree["raw"], tree["tokens"], tree["untrusted"], tree["whole"], tuple(tree["children"]), tree.get("front", False),
            tuple(Change(name, tuple(steps)) for name, *steps in tree.get("changed", ())),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptStore("a folded block does not read back; restore a copy of the store") from error


def read_tile(tx: Reading, session: int, tile: int) -> Tile:
    """A tile by number. Raises CorruptStore when it is not there."""
    return load_tile(unpack_json(_body(tx, session, tile)))


def tiles_of(tx: Reading, session: int, cover: int) -> list[Tile]:
    """The tiles of a cover in path order."""
    found: list[Tile] = []
    while cover:
        cover, number = tx.cover.cell(session, cover)
        found.append(read_tile(tx, session, number))
    return found[::-1]


class Outline(NamedTuple):
    """What a tile is without its lines. `written`: whether a host or a model wrote it in place of its steps; `children`: the tiles it replaced."""

    number: int
    first: int
    size: int
    written: bool
    children: tuple[int, ...]

    @classmethod
    def of(cls, tile: Tile) -> Outline:
        """The outline of a tile that is at hand."""
        return cls(
            tile.number, tile.first, len(tile.steps), tile.origin != "embedded" and not tile.front, tile.children
        )


def read_outline(tx: Reading, session: int, tile: int) -> Outline:
    """A tile by number, its lines left unread. Raises CorruptStore when it is not there."""
    try:
        tree: Any = unpack_json(tx.cover.tile(session, tile) or b"")
        size = sum(last - first + 1 for first, last in tree["steps"])
        written = tree["origin"] != "embedded" and not tree.get("front", False)
        return Outline(tree["id"], tree["steps"][0][0], size, written, tuple(tree["children"]))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise CorruptStore(f"block b{tile} does not read back; restore a copy of the store") from error


def tile_digest(tx: Reading, session: int, tile: int) -> bytes:
    """The content hash of a tile as it is stored: an older version wrote its lines in another form. Raises CorruptStore when it is not there."""
    return digest(encode(canonical(unpack_json(_body(tx, session, tile)))))


def _body(tx: Reading, session: int, tile: int) -> bytes:
    body = tx.cover.tile(session, tile)
    if body is None:
        raise CorruptStore(f"block b{tile} is not there; restore a copy of the store")
    return body


def put_tile(tx: Writing, session: int, state: State, tile: Tile, said: tuple[Decider, str], head: HeadRow) -> State:
    """Commit a tile on a branch, whose cover has whole blocks where it goes: its body, the cells of the cover it makes, one event."""
    cover, kept = cover_with(tx, session, state.cover, tile)
    payload = {"tile": tile.number, "steps": list(tile.steps), "version": VERSION}
    return advance(tx, session, head, state, replace(state, cover=cover), Happened("folded", payload, (kept,), *said))


def cover_with(tx: Writing, session: int, cover: int, tile: Tile) -> tuple[int, bytes]:
    """Keep a tile; the newest cell of a cover with it in place of those whose steps it stands for, and its content hash."""
    body = canonical(dump_tile(tile))
    tx.cover.add_tile(session, tile.number, tile.first, tile.last, tile.tokens, pack_text(body))
    cover, kept = behind(tx, session, cover, tile)
    for number in (tile.number, *kept):
        cover = tx.cover.add_cell(session, cover, number)
    return cover, digest(encode(body))


def behind(tx: Reading, session: int, cover: int, tile: Tile) -> tuple[int, list[int]]:
    """Of a cover that a tile is to stand in: the newest cell before it, and the tiles that go on standing behind it, in path order."""
    inside = set(tile.steps)
    kept: list[int] = []
    first = tx.log.step(session, tile.first)
    while cover:
        row = tx.cover.cell(session, cover)
        end = tx.cover.tile_end(session, row[1])
        if end is None:
            raise CorruptStore(f"block b{row[1]} is not there; restore a copy of the store")
        last = tx.log.step(session, end)
        if first is not None and last is not None and last.depth < first.depth:
            break
        if end not in inside:
            kept.append(row[1])
        cover = row[0]
    return cover, kept[::-1]


REACH = 64_000
"""o200k tokens of blocks that are loaded, unless more are asked for."""
_PART = 4
"""Of what is loaded, the part that one block counts for at most: behind a result of any size stands what was folded before it."""
TIMEOUT = 600.0
"""Seconds after which a call without an answer no longer keeps its step from being consolidated."""
_WORDS = 60
_CHUNK = 256


def load(tx: Reading, session: int, state: State, reach: int = REACH, upto: int | None = None) -> Workspace:
    """The workspace of a revision. `reach`: o200k tokens of blocks to load at least, newest first; `upto`: a step that must be among them.

    Raises:
        CorruptStore: something it needs does not read back.
    """
    notes = tuple(Note("goal", text) for text in goals(tx, session, state))
    path = tx.log.path(session, state.tip)
    tip = tx.log.step(session, state.tip)
    if tip is None:
        return Workspace(notes=notes)
    blocks, depth = _blocks(tx, session, state, tip, path, reach, upto)
    older: Older | None = None
    words: tuple[Line, ...] = ()
    if depth > 1:
        older, words = _older(tx, session, path, depth - 1)
    return Workspace(tip.depth, older, words, tuple(blocks), notes, tip.raw_upto)


def goals(tx: Reading, session: int, state: State) -> list[str]:
    """What the session is for, as a revision of one branch says it: the first words and every revision since."""
    return [text for slot, text in tx.cover.notes(session, state.notes) if slot == "goal"]


def _blocks(
    tx: Reading, session: int, state: State, tip: Step, path: Path, reach: int, upto: int | None
) -> tuple[list[Block], int]:
    """Blocks newest to oldest until enough are loaded, returned in path order, and the depth of the first."""
    found: list[Block] = []
    depth, cell, tokens = tip.depth, state.cover, 0
    wanted = _depth_of(tx, session, upto)
    while depth > 0 and (tokens < reach or (wanted is not None and depth >= wanted)):
        row = tx.cover.cell(session, cell) if cell else None
        tile = read_tile(tx, session, row[1]) if row else None
        floor = _depth_of(tx, session, tile.last) or 0 if tile else 0
        if floor < depth:
            low = max(floor + 1, depth - _CHUNK + 1)
            steps = raw_steps(tx, session, tx.log.along(session, path, low, depth), newest=depth == tip.depth)
            found.extend(reversed(steps))
            tokens += reached(steps, reach)
            depth = low - 1
        elif tile is not None and row is not None:
            found.append(tile)
            tokens += reached([tile], reach)
            depth -= len(tile.steps)
            cell = row[0]
    return found[::-1], depth + 1


def reached(blocks: Sequence[Block], reach: int) -> int:
    """What blocks count for in o200k tokens where `reach` are to be loaded."""
    return sum(min(block.tokens, reach // _PART) for block in blocks)


def _depth_of(tx: Reading, session: int, n: int | None) -> int | None:
    if n is None:
        return None
    step = tx.log.step(session, n)
    return None if step is None else step.depth


def lines_at(tx: Reading, record: StoredRecord) -> tuple[Line, ...]:
    """The full form of a kept record: made from the log, unless lines were kept with it."""
    kept = unpack_json(record.form)
    if kept:
        return load_lines(kept)
    shown = None if record.shown is None else tx.log.text(record.shown)
    text = tx.log.text(record.entry)
    kind, origin = cast(Kind, record.kind), cast(Origin, record.origin)
    return lines_of(Record(record.step, record.k, kind, origin, text, record.call_id, record.at, shown))


def raw_steps(tx: Reading, session: int, steps: Sequence[Step], newest: bool = False) -> list[RawStep]:
    """Steps with their lines, in path order; `newest` says the last of them ends its path."""
    numbers = [step.n for step in steps]
    by_step: dict[int, list[StoredRecord]] = {n: [] for n in numbers}
    in_time = [record for record in tx.log.records(session, numbers) if record.at == record.step]
    for record in in_time:
        by_step[record.step].append(record)
    waiting = _waiting(in_time)
    for record in tx.log.records(session, numbers, late=True):
        by_step[record.at].append(record)
    for records in by_step.values():
        records.sort(key=lambda record: record.id)
    made: list[RawStep] = []
    now = time.time()
    for at, step in enumerate(steps):
        lines = tuple(line for record in by_step[step.n] for line in lines_at(tx, record))
        last = newest and at == len(steps) - 1
        passed = not newest or any(not later.open for later in steps[at + 1 :])
        settled = not step.open and (passed or step.n not in waiting or now - step.time > TIMEOUT)
        if step.n in waiting and not (last or step.open):
            lines = followed(lines)
        made.append(RawStep(step.n, lines, step.raw, HEADER + sum(line.tokens for line in lines), settled))
    return made


def _waiting(records: Iterable[StoredRecord]) -> set[int]:
    """The steps that have a call without a result among some records."""
    calls: Counter[int] = Counter()
    for record in records:
        calls[record.step] += {"call": 1, "result": -1}.get(record.kind, 0)
    return {n for n, left in calls.items() if left > 0}


def _older(tx: Reading, session: int, path: Path, depth: int) -> tuple[Older, tuple[Line, ...]]:
    first, last = tx.log.along(session, path, 1, 1), tx.log.along(session, path, depth, depth)
    if not first or not last:
        raise CorruptStore("a path has a hole; restore a copy of the store")
    numbers = {n for kind in STANDING for n in tx.log.steps_with(session, kind, path, depth, _WORDS)}
    words: list[Line] = []
    for record in tx.log.records(session, sorted(numbers)):
        words += [line for line in lines_at(tx, record) if line.kind in STANDING]
    return Older(first[0].n, last[0].n, depth, last[0].raw_upto), tuple(words)


def waiting_at(tx: Reading, session: int, step: int) -> int:
    """How many calls of a step wait for an answer; one that came while another step was the newest is that step's."""
    records = tx.log.records(session, [step]) if step else ()
    return sum({"call": 1, "result": -1}.get(record.kind, 0) for record in records if record.at == record.step)
