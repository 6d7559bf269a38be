"""Loads the workspace of a revision: as many blocks as any budget could show, and the user's words and findings before them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import cast

from ctxfold.errors import CorruptStore
from ctxfold.log.form import followed, lines_of
from ctxfold.log.lines import Line
from ctxfold.log.records import Kind, Origin, Record, Step
from ctxfold.session.history.tiles import is_lost, read_tile
from ctxfold.store.codec import unpack_json
from ctxfold.store.sqlite import Reading
from ctxfold.store.values import Path, State, StoredRecord
from ctxfold.workspace.workspace import HEADER, STANDING, Block, Note, Older, RawStep, Workspace, load_lines

__all__ = ["REACH", "goals", "lines_at", "load", "raw_steps", "reached", "waiting_at"]

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
        if row is not None and is_lost(tx, session, row[1]):
            cell = row[0]
            continue
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
