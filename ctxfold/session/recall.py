"""Returns the exact text behind a ref."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctxfold.errors import RefError
from ctxfold.log.json_lines import line_form
from ctxfold.log.page import page_of
from ctxfold.log.refs import Address, BlockRef, RangeRef, RecordRef, StepRef, StretchRef
from ctxfold.session.history.commit import state_of
from ctxfold.session.history.tiles import read_tile
from ctxfold.store.sqlite import Reading
from ctxfold.store.values import StoredRecord
from ctxfold.text.words import counted
from ctxfold.workspace.workspace import spans

__all__ = ["Recalled", "recall"]


@dataclass(frozen=True, slots=True)
class Recalled:
    """What an address stands for.

    Attributes:
        ref: the address.
        text: for a record, its exact text; for a step or stretch, all its records under one-line headers; for a range, those lines.
        derived: whether the text is a derived form rather than a record's own: headers added, lines of indented JSON, a page in its reading form.
        kind: for a record, what it is: user, assistant, call, result or note; empty else.
        origin: for a record, where it came from: user, model, tool or page; empty else.
    """

    ref: str
    text: str
    derived: bool = False
    kind: str = ""
    origin: str = ""


def recall(tx: Reading, session: int, ref: Address, branch: str, reading: bool = False) -> Recalled:
    """The exact text of an address; on demand pages in their reading form. Raises RefError: nothing was recorded there."""
    match ref:
        case RecordRef():
            record = _record(tx, session, ref.step, ref.record)
            text = tx.log.text(record.entry)
            page = page_of(text, record.origin) if reading else None
            return Recalled(str(ref), text if page is None else page, page is not None, record.kind, record.origin)
        case StepRef():
            return Recalled(str(ref), _steps(tx, session, (ref.step,), reading), derived=True)
        case StretchRef():
            numbers = [
                step.n for step in tx.log.steps(session, range(ref.first, min(ref.last, tx.log.last_step(session)) + 1))
            ]
            if not numbers or ref.last > tx.log.last_step(session):
                raise RefError(_unknown(tx, session, str(ref)))
            return Recalled(str(ref), _stretch(tx, session, numbers, branch, reading), derived=True)
        case BlockRef():
            blocks = tx.cover.tile_numbers(session)
            if ref.block not in blocks:
                there = (
                    f"the newest of this session is b{blocks[-1]}"
                    if blocks
                    else "nothing was folded in this session yet"
                )
                raise RefError(f"no block {ref}; {there}")
            tile = read_tile(tx, session, ref.block)
            return Recalled(
                str(ref), f"# {ref}: {spans(tile.steps)}\n{_steps(tx, session, tile.steps, reading)}", derived=True
            )
        case RangeRef():
            return _range(tx, session, ref)


def _stretch(tx: Reading, session: int, numbers: Sequence[int], branch: str, reading: bool) -> str:
    """Steps in the order of the log, each run of them under the branch it lies on: the reader's own where it is on that."""
    heads = sorted(tx.forest.heads(session), key=lambda head: (head.name != branch, head.id))
    paths = [(head.name, dict(tx.log.path(session, state_of(tx, session, head).tip))) for head in heads]
    runs: list[tuple[str, list[int]]] = []
    for step in tx.log.steps(session, numbers):
        name = next((name for name, path in paths if step.depth <= path.get(step.lane, 0)), "none")
        if not runs or runs[-1][0] != name:
            runs.append((name, []))
        runs[-1][1].append(step.n)
    return "\n".join(f"# {spans(run)}, branch {name}\n{_steps(tx, session, run, reading)}" for name, run in runs)


def _range(tx: Reading, session: int, ref: RangeRef) -> Recalled:
    record = (
        _record(tx, session, ref.step, ref.record) if ref.record is not None else _one_result(tx, session, ref.step)
    )
    lines = line_form(tx.log.text(record.entry))
    if ref.first > len(lines):
        raise RefError(f"s{record.step}.{record.k} has {counted(len(lines), 'line')}; name lines within 1-{len(lines)}")
    last = min(ref.last, len(lines))
    return Recalled(
        f"s{record.step}.{record.k}:{ref.first}-{last}", "\n".join(lines[ref.first - 1 : last]), derived=True
    )


def _record(tx: Reading, session: int, step: int, k: int) -> StoredRecord:
    records = tx.log.records(session, [step])
    found = next((record for record in records if record.k == k), None)
    if found is None:
        if not records:
            raise RefError(_unknown(tx, session, f"s{step}.{k}"))
        there = f"s{step}.1" if len(records) == 1 else f"one of s{step}.1 to s{step}.{len(records)}"
        raise RefError(f"s{step} has {counted(len(records), 'record')}; name {there}")
    return found


def _one_result(tx: Reading, session: int, step: int) -> StoredRecord:
    results = [record for record in tx.log.records(session, [step]) if record.kind == "result"]
    if len(results) != 1:
        names = ", ".join(f"s{step}.{record.k}" for record in results) or "none"
        raise RefError(
            f"s{step} has {len(results)} results ({names}); name the record of the lines, as in s{step}.2:1-20"
        )
    return results[0]


def _steps(tx: Reading, session: int, numbers: Sequence[int], reading: bool) -> str:
    records = tx.log.records(session, numbers)
    if not records:
        raise RefError(_unknown(tx, session, f"s{numbers[0]}"))
    made: list[str] = []
    for record in records:
        text = tx.log.text(record.entry)
        page = page_of(text, record.origin) if reading else None
        head = f"## s{record.step}.{record.k} {_who(record)}{'' if page is None else ', as it reads'}"
        made.append(f"{head}\n{text if page is None else page}")
    return "\n".join(made)


def _who(record: StoredRecord) -> str:
    who = {"user": "user", "assistant": "assistant", "note": "note"}.get(record.kind, record.kind)
    return f"{who} {record.call_id}" if record.call_id else who


def _unknown(tx: Reading, session: int, ref: str) -> str:
    last = tx.log.last_step(session)
    return f"nothing is recorded at {ref}; " + (
        f"the steps of this session are s1-s{last}" if last else "this session has no step yet"
    )
