"""Finds the compactions of a session's host, what each dropped, and puts that back as an extraction; and what calls named and a text leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ctxfold.decisions.intent.dropped import Dropped, compare, named_besides, refs_of
from ctxfold.decisions.register import Source, Trigger
from ctxfold.errors import InputError
from ctxfold.session.decide import Wanted, extracted
from ctxfold.session.handle import Handle
from ctxfold.session.transcripts.values import COMPACTION
from ctxfold.store.rows import Reading, StoredRecord, Writing
from ctxfold.workspace import By, Extraction

__all__ = ["dropped", "named", "restored"]


def dropped(tx: Reading, now: Handle, compaction: int) -> Dropped:
    """What a compaction dropped of all that was recorded before it. They count from 1; 0 is the newest. Raises InputError: there is none of that number."""
    now.refresh(tx)
    records = list(tx.log.entries_of(now.session))
    marks = [at for at, each in enumerate(records) if (each.idempotency or "").startswith(COMPACTION)]
    number = compaction or len(marks)
    if not 1 <= number <= len(marks):
        if not marks:
            raise InputError(
                "no host has compacted this session: a compaction is known from a host's transcript, "
                "as `ctxfold sessions import --from HOST` and `install HOST --hooks` read it"
            )
        raise InputError(f"there is no compaction {number}: this session has {len(marks)}, the oldest is 1")
    at = marks[number - 1]
    mark = records[at]
    lost, kept = compare(
        _sources(tx, records[:at]), tx.log.text(mark.entry), _sources(tx, records[at + 1 :]), now.workspace.intent
    )
    return Dropped(number, len(marks), f"s{mark.step}.{mark.k}", lost, kept)


def restored(tx: Writing, now: Handle, compaction: int, budget: int, by: By) -> Extraction:
    """Put the lines that a compaction dropped at the end of the view, as many as a budget holds. Raises InputError: there is none of that number, or it dropped nothing."""
    found = dropped(tx, now, compaction)
    refs = refs_of(found)
    if not refs:
        raise InputError(f"compaction {found.compaction} dropped nothing that is in use: there is nothing to put back")
    why = Trigger("compaction", f"what compaction {found.compaction} dropped")
    return extracted(tx, now, Wanted(None, [{"ref": ref} for ref in refs], budget, why), by)


def named(tx: Reading, now: Handle, besides: str, room: int) -> tuple[str, ...]:
    """The values that calls named and a text leaves out, in some characters."""
    calls = [each for each in tx.log.entries_of(now.session) if each.kind == "call"]
    return named_besides(_sources(tx, calls), besides, room)


def _sources(tx: Reading, records: Iterable[StoredRecord]) -> Iterator[Source]:
    """Records with their texts, without the summaries that a host made of others."""
    for each in records:
        if not (each.idempotency or "").startswith(COMPACTION):
            yield Source(each.step, each.k, each.kind, tx.log.text(each.entry), each.origin in ("tool", "page"))
