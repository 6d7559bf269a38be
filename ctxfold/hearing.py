"""What of the log an intent is decided on: the user's words and the deeds since it was last read, records as evidence and as sources. It decides nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ctxfold.compact import parse
from ctxfold.compact.outcome import succeeded
from ctxfold.errors import RefError
from ctxfold.finding import ranked
from ctxfold.intent.evidence import Deed
from ctxfold.intent.planning import Heard
from ctxfold.intent.sources import Source
from ctxfold.refs import BlockRef, StretchRef, parse_ref
from ctxfold.store.protocol import Reading
from ctxfold.store.values import StoredRecord
from ctxfold.text import STOP_WORDS

__all__ = ["Place", "Sources", "since"]

Place = tuple[int, int]
"""Where a record stands: its step, and its place in that."""


def since(tx: Reading, session: int, tip: int, read: Place) -> tuple[list[Heard | Deed], Place]:
    """The user's words and the answered calls of a path behind a place, in order, and where the path ends now.

    A page that was looked at is no deed: seeing a thing does not get it done.

    Args:
        tx: an open transaction.
        session: the session's row id.
        tip: the last step of the path.
        read: up to where it was read before.
    """
    if not tip:
        return [], (0, 0)
    path = tx.log.path(session, tip)
    step, k = read
    last = tx.log.step(session, step) if step else None
    newest = tx.log.step(session, tip)
    depth = newest.depth if newest else 0
    low = last.depth if last is not None and last.depth <= dict(path).get(last.lane, 0) else 1
    along = [each.n for each in tx.log.along(session, path, max(1, low - _BEHIND), depth)]
    numbers = [each.n for each in tx.log.along(session, path, low, depth)]
    records = tx.log.records(session, along)
    known = set(numbers)
    fresh = [record for record in records if record.step in known and (record.step != step or record.k > k)]
    late = [record for record in tx.log.records(session, numbers, late=True) if record.at != step or low == 1]
    found: list[Heard | Deed] = []
    turns = (
        _turns(tx, records, {n: at for at, n in enumerate(along)}) if any(each.kind == "user" for each in fresh) else {}
    )
    order = {n: at for at, n in enumerate(numbers)}
    for record in sorted([*fresh, *late], key=lambda each: (order.get(each.at, len(order)), each.id)):
        if record.kind == "user":
            found.append(Heard(f"s{record.step}.{record.k}", tx.log.text(record.entry), *turns[record.id]))
        elif record.kind == "result" and record.origin != "page":
            deed = _deed(tx, session, record)
            found += [deed] if deed else []
    return found, (tip, max((record.k for record in tx.log.records(session, [tip])), default=0))


def _turns(
    tx: Reading, records: Sequence[StoredRecord], order: dict[int, int]
) -> dict[int, tuple[str, tuple[str, ...]]]:
    """For each message of the user, what was replied before it, without a call, and to which of the user's records."""
    called = {record.step for record in records if record.kind == "call"}
    found: dict[int, tuple[str, tuple[str, ...]]] = {}
    reply, asked = "", tuple[str, ...]()
    for record in sorted(records, key=lambda each: (order.get(each.at, len(order)), each.id)):
        if record.kind == "user":
            found[record.id] = (reply, asked)
            asked = (f"s{record.step}.{record.k}",) if reply else (*asked, f"s{record.step}.{record.k}")
            reply = ""
        elif record.kind == "assistant" and record.step not in called:
            reply = tx.log.text(record.entry)
    return found


_BEHIND = 12
"""Steps before what is new in which is looked for what was replied last."""


def _deed(tx: Reading, session: int, result: StoredRecord) -> Deed | None:
    calls = [
        record
        for record in tx.log.records(session, [result.step])
        if record.kind == "call" and record.call_id == result.call_id
    ]
    if not calls:
        return None
    said = parse(tx.log.text(calls[0].entry))
    name = str(said.get("name", "")) if isinstance(said, dict) else ""
    args = json.dumps(said.get("args"), ensure_ascii=False, default=str) if isinstance(said, dict) else ""
    step = result.step
    return Deed(f"s{step}.{calls[0].k}", f"s{step}.{result.k}", name, args, tx.log.text(result.entry))


@dataclass(frozen=True)
class Sources:
    """The log of a session, as evidence and as sources."""

    tx: Reading
    session: int

    def shows(self, ref: str) -> tuple[str, ...] | None:
        """The records behind an address that can be evidence."""
        try:
            named = parse_ref(ref)
        except RefError:
            return None
        if isinstance(named, (BlockRef, StretchRef)):
            return None
        wanted = getattr(named, "record", None)
        found: list[str] = []
        for record in self.tx.log.records(self.session, [named.step]):
            if wanted is not None and record.k != wanted:
                continue
            if record.kind == "user":
                found.append(f"s{record.step}.{record.k}")
            elif record.kind in ("result", "call"):
                found += self._answered(record)
        return tuple(dict.fromkeys(found)) or None

    def _answered(self, record: StoredRecord) -> list[str]:
        """A call and a result of it that says it succeeded."""
        for other in self.tx.log.records(self.session, [record.step]):
            if other.kind == "result" and other.call_id == record.call_id and succeeded(self.tx.log.text(other.entry)):
                return [f"s{record.step}.{record.k}", f"s{other.step}.{other.k}"]
        return []

    def of(self, step: int) -> list[Source]:
        """The records of a step in order."""
        return [self._source(record) for record in self.tx.log.records(self.session, [step])]

    def found(self, queries: Sequence[str], most: int, *, whole: bool) -> list[Source]:
        """Results, notes and telling calls that hold words of any query, the newest first.

        Args:
            queries: words; each is searched by itself.
            most: records a query may bring.
            whole: whether long records are read to their end, which takes some tenths of a second for tens of megabytes.
        """
        rows: dict[int, StoredRecord] = {}
        for asked in queries:
            telling = " ".join(word for word in asked.split() if word.lower().strip(".,:;!?") not in STOP_WORDS)
            for row, _ in self._ranked(telling or asked, most, whole):
                record = self.tx.log.record_by_id(row)
                if record is not None and record.kind in ("result", "call", "note"):
                    rows[row] = record
        newest = sorted(rows.values(), key=lambda record: -record.id)[: 2 * most]
        sources = [self._source(record) for record in newest]
        return [source for source in sources if source.kind != "call" or len(source.text) > _LONG_CALL]

    def _ranked(self, query: str, most: int, whole: bool) -> list[tuple[int, float]]:
        return ranked(self.tx, self.session, query, most) if whole else self.tx.facts.search(self.session, query, most)

    def holds(self, name: str, upto: Place) -> bool:
        """Whether a record up to a place, said by no user, holds a name."""
        for row in self.tx.facts.holding(self.session, name, _LOOKED):
            record = self.tx.log.record_by_id(row)
            if record is None or record.kind == "user" or (record.step, record.k) > upto:
                continue
            if name.lower() in self.tx.log.text(record.entry).lower():
                return True
        return False

    def _source(self, record: StoredRecord) -> Source:
        text = self.tx.log.text(record.entry)
        return Source(record.step, record.k, record.kind, text, record.origin in ("tool", "page"))


_LONG_CALL = 240
"""Characters from which a call is more than the question its result answers."""
_LOOKED = 12
