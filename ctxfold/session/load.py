"""Loads the workspace of a revision from the store, and writes and reads its tiles."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

from ctxfold.errors import CorruptStore
from ctxfold.log import Kind, Origin, Record, Step, runs_of
from ctxfold.log.json import canonical
from ctxfold.log.lines import Line, followed, lines_of
from ctxfold.session.commits import Happened, advance
from ctxfold.store.codec import digest, encode, pack, unpack_json
from ctxfold.store.rows import Reading, Writing
from ctxfold.store.tables import HeadRow, Path, State, StoredRecord
from ctxfold.workspace import (
    HEADER,
    STANDING,
    Block,
    Change,
    Decider,
    Memory,
    Older,
    RawStep,
    Tile,
    Workspace,
)

VERSION = 1
"""The version of the fold applier, kept in its events. A tile holds its resolved lines, so replay never applies it."""

_PLAIN = ("summary", "status", "origin", "raw", "tokens", "untrusted", "whole")
"""The fields of a tile that JSON holds as they are."""
_SUB_TASK = ("goal", "outcome", "todo")
"""The fields of a tile that JSON holds if they are set."""


def dump_tile(tile: Tile) -> dict[str, Any]:
    """Return a tile as JSON, its steps as runs."""
    return {
        "id": tile.number,
        "steps": runs_of(tile.steps),
        "lines": dump_lines(tile.lines),
        "children": list(tile.children),
        **{name: getattr(tile, name) for name in _PLAIN},
        **({"memory": [text for _, text in tile.memory]} if tile.memory else {}),
        **({"as_of": tile.as_of, "fresh": tile.fresh} if tile.as_of else {}),
        **({"marks": list(tile.marks)} if tile.marks else {}),
        **{name: text for name in _SUB_TASK if (text := getattr(tile, name))},
        **({"changed": [[each.name, *each.steps] for each in tile.changed]} if tile.changed else {}),
    }


def load_tile(tree: Any) -> Tile:
    """Read a tile from JSON made by `dump_tile`. Raises CorruptStore: not a tile."""
    try:
        steps = tuple(step for first, last in tree["steps"] for step in range(first, last + 1))
        changed = tuple(Change(name, tuple(steps)) for name, *steps in tree.get("changed", ()))
        texts = dict(zip(Memory.model_fields, tree.get("memory", ()), strict=False))
        memory = Memory(**texts) if texts else None
        rest = {**tree, "steps": steps, "lines": load_lines(tree["lines"]), "children": tuple(tree["children"])}
        rest |= {"changed": changed, "memory": memory, "marks": tuple(tree.get("marks", ()))}
        return Tile(number=rest.pop("id"), **rest)
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptStore("a folded block does not read back; restore a copy of the store") from error


def read_tile(tx: Reading, session: int, tile: int) -> Tile:
    """Return a tile by its number. Raises CorruptStore: no such tile."""
    return load_tile(unpack_json(_body(tx, session, tile)))


def load_tiles(tx: Reading, session: int, cover: int) -> list[Tile]:
    """Return the tiles of a cover in path order."""
    found: list[Tile] = []
    while cover:
        cover, number = tx.cover.cell(session, cover)
        found.append(read_tile(tx, session, number))
    return found[::-1]


def hash_tile(tx: Reading, session: int, tile: int) -> bytes:
    """Return the content hash of a stored tile. Raises CorruptStore: no such tile."""
    return digest(encode(canonical(unpack_json(_body(tx, session, tile)))))


def _body(tx: Reading, session: int, tile: int) -> bytes:
    body = tx.cover.tile(session, tile)
    if not body:
        raise CorruptStore(f"block b{tile} is not there or damaged; restore a copy of the store")
    return body


def put_tile(tx: Writing, session: int, state: State, tile: Tile, said: tuple[Decider, str], head: HeadRow) -> State:
    """Commit a tile on a branch, in place of the blocks of its steps. Returns the branch's revision."""
    cover, kept = cover_with(tx, session, state.cover, tile)
    payload = {"tile": tile.number, "steps": list(tile.steps), "marks": list(tile.marks), "version": VERSION}
    return advance(tx, session, head, state, replace(state, cover=cover), Happened("folded", payload, (kept,), *said))


def cover_with(tx: Writing, session: int, cover: int, tile: Tile) -> tuple[int, bytes]:
    """Store a tile and a cover that has it in place of the tiles inside it. Returns that cover's cell and the tile's
    hash.
    """
    body = canonical(dump_tile(tile))
    tx.cover.add_tile(session, tile.number, tile.first, tile.last, tile.tokens, pack(encode(body)))
    cover, kept = split_cover(tx, session, cover, tile)
    for number in (tile.number, *kept):
        cover = tx.cover.add_cell(session, cover, number)
    return cover, digest(encode(body))


def split_cover(tx: Reading, session: int, cover: int, tile: Tile) -> tuple[int, list[int]]:
    """Split a cover where a tile goes: the last cell before it, and the tiles after it in path order."""
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
"""o200k tokens of blocks that are loaded if no larger view is wanted."""
_PART = 4
"""One block counts for at most a quarter of these tokens, so that a huge result does not keep older tiles from loading.
"""
TIMEOUT = 600.0
"""Seconds after which a call without an answer no longer keeps its step from being consolidated."""
_WORDS = 60
"""Steps before the loaded blocks of which the user's words and the notes are loaded, the newest of each."""
_CHUNK = 256
"""Raw steps that are loaded in one query."""


def load(tx: Reading, session: int, state: State, reach: int = REACH, upto: int | None = None) -> Workspace:
    """Return the workspace of a revision: blocks of at least `reach` o200k tokens, newest first, and back to step
    `upto`.

    Raises:
        CorruptStore: a part of it cannot be read.
    """
    goals = tuple(read_goals(tx, session, state))
    path = tx.log.path(session, state.tip)
    tip = tx.log.step(session, state.tip)
    if tip is None:
        return Workspace(goals=goals)
    blocks, depth = _blocks(tx, session, state, tip, path, reach, upto)
    older: Older | None = None
    words: tuple[Line, ...] = ()
    if depth > 1:
        older, words = _older(tx, session, path, depth - 1)
    return Workspace(tip.depth, older, words, tuple(blocks), goals, tip.raw_upto)


def read_goals(tx: Reading, session: int, state: State) -> list[str]:
    """Return the goal of a branch and its revisions, oldest first."""
    return [text for slot, text in tx.cover.notes(session, state.notes) if slot == "goal"]


def _blocks(
    tx: Reading, session: int, state: State, tip: Step, path: Path, reach: int, upto: int | None
) -> tuple[list[Block], int]:
    """Load the newest blocks until they are enough. Returns them in path order, and the depth of the first."""
    found: list[Block] = []
    depth, cell, tokens = tip.depth, state.cover, 0
    wanted = depth_of(tx, session, upto)
    while depth > 0 and (tokens < reach or (wanted is not None and depth >= wanted)):
        row = tx.cover.cell(session, cell) if cell else None
        tile = read_tile(tx, session, row[1]) if row else None
        floor = depth_of(tx, session, tile.last) or 0 if tile else 0
        if floor < depth:
            low = max(floor + 1, depth - _CHUNK + 1)
            steps = raw_steps(tx, session, tx.log.along(session, path, low, depth), newest=depth == tip.depth)
            found.extend(reversed(steps))
            tokens += count_reach(steps, reach)
            depth = low - 1
        elif tile is not None and row is not None:
            found.append(tile)
            tokens += count_reach([tile], reach)
            depth -= len(tile.steps)
            cell = row[0]
    return found[::-1], depth + 1


def count_reach(blocks: Sequence[Block], reach: int) -> int:
    """Return the o200k tokens that blocks count for when `reach` are wanted."""
    return sum(min(block.tokens, reach // _PART) for block in blocks)


def depth_of(tx: Reading, session: int, n: int | None) -> int | None:
    """Return how many steps a step's path has up to it; None if there is no such step."""
    if n is None:
        return None
    step = tx.log.step(session, n)
    return None if step is None else step.depth


def lines_at(tx: Reading, record: StoredRecord) -> tuple[Line, ...]:
    """Return the full form of a record: the lines stored with it, or those made from its text."""
    kept = unpack_json(record.form)
    if kept:
        return load_lines(kept)
    shown = None if record.shown is None else tx.log.text(record.shown)
    text = tx.log.text(record.entry)
    kind, origin = cast(Kind, record.kind), cast(Origin, record.origin)
    return lines_of(Record(record.step, record.k, kind, origin, text, record.call_id, record.at, shown))


def raw_steps(tx: Reading, session: int, steps: Sequence[Step], newest: bool = False) -> list[RawStep]:
    """Return steps with their lines, in path order. `newest`: the last of them ends its path."""
    numbers = [step.n for step in steps]
    by_step: dict[int, list[StoredRecord]] = {n: [] for n in numbers}
    in_time = [record for record in tx.log.records(session, numbers) if record.at == record.step]
    for record in in_time:
        by_step[record.step].append(record)
    waiting = count_waiting(in_time)
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
        settled = not step.open and (passed or waiting[step.n] <= 0 or now - step.time > TIMEOUT)
        if waiting[step.n] > 0 and not (last or step.open):
            lines = followed(lines)
        made.append(RawStep(step.n, lines, step.raw, HEADER + sum(line.tokens for line in lines), settled))
    return made


def count_waiting(records: Iterable[StoredRecord]) -> Counter[int]:
    """Return of each step how many more calls than results it has."""
    calls: Counter[int] = Counter()
    for record in records:
        calls[record.step] += {"call": 1, "result": -1}.get(record.kind, 0)
    return calls


def _older(tx: Reading, session: int, path: Path, depth: int) -> tuple[Older, tuple[Line, ...]]:
    first, last = tx.log.along(session, path, 1, 1), tx.log.along(session, path, depth, depth)
    if not first or not last:
        raise CorruptStore("a path has a hole; restore a copy of the store")
    numbers = {n for kind in STANDING for n in tx.log.steps_with(session, kind, path, depth, _WORDS)}
    words: list[Line] = []
    for record in tx.log.records(session, sorted(numbers)):
        words += [line for line in lines_at(tx, record) if line.kind in STANDING]
    return Older(first[0].n, last[0].n, depth, last[0].raw_upto), tuple(words)


def dump_lines(lines: Iterable[Line]) -> list[list[object]]:
    """Return lines as JSON."""
    return [list(line) for line in lines]


def load_lines(tree: Any) -> tuple[Line, ...]:
    """Read lines from JSON made by `dump_lines`. Raises CorruptStore."""
    try:
        return tuple(Line._make([*parts[:4], tuple(parts[4]), *parts[5:]]) for parts in tree)
    except (TypeError, ValueError, IndexError) as error:
        raise CorruptStore("rendered lines do not read back; restore a copy of the store") from error
