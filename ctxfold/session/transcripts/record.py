"""Recording the entries of a transcript in a session, each once; one that was redacted since is known again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from ctxfold.log import RecordRef
from ctxfold.session.handle import Handle
from ctxfold.session.record import Draft, Result, record
from ctxfold.session.transcripts.values import (
    AssistantSaid,
    Called,
    Entry,
    HostCompacted,
    ToolAnswered,
    UserSaid,
    key_of,
)
from ctxfold.store.codec import encode
from ctxfold.store.rows import Reading, Writing

__all__ = ["Held", "record_entries"]

_SHOWN = "The host put a summary of its own in place of all before this."
"""What stands in a view for a host's summary: the log below it says more."""
_NUMBERED = re.compile(r"(?<=\*)-\d+$")
"""What a redaction puts behind the second of two ids that it made alike."""


@dataclass(slots=True)
class Held:
    """What the log holds of transcripts: the records by their keys, in which step each call stands and by which id, and records whose keys were blanked."""

    keys: dict[str, RecordRef] = field(default_factory=dict)
    calls: dict[str, tuple[int, str]] = field(default_factory=dict)
    blanked: list[Blanked] = field(default_factory=list)

    @classmethod
    def of(cls, tx: Reading, session: int, entries: Sequence[Entry]) -> Held:
        """As far as the store has it of these entries."""
        held = cls()
        named = {name for each in entries for name in (key_of(each), each.id)}
        for each in tx.log.entries_of(session, sorted(named)):
            if each.idempotency is not None:
                ref = held.keys[each.idempotency] = RecordRef(each.step, each.k)
                if "*" in each.idempotency:
                    held.blanked.append(Blanked(each.idempotency, tx.log.text(each.entry), ref, each.call_id))
            if each.kind == "call" and each.call_id is not None:
                held.calls[each.call_id] = (each.step, each.call_id)
        return held

    def know_again(self, entries: Sequence[Entry]) -> None:
        """Take entries whose records were redacted for the ones they are."""
        new = {key_of(each): each for each in entries if key_of(each) not in self.keys}
        for key, blanked in known_again([(key, _text(each)) for key, each in new.items()], self.blanked):
            self.keys[key] = blanked.ref
            if blanked.call is not None:
                self.calls[new[key].id] = (blanked.ref.step, blanked.call)


def record_entries(tx: Writing, at: Handle, entries: Sequence[Entry]) -> dict[RecordRef, bool]:
    """Record what the log does not hold yet: an assistant's words, its calls and what they returned as one step.

    A result whose call stands in an older step is added to that step; one whose call was never seen is left out. Each record is told, and whether it is new.
    """
    entries = list(_once(entries))
    held = Held.of(tx, at.session, entries)
    held.know_again(entries)
    known = frozenset(held.keys)
    for group in _grouped([each for each in entries if key_of(each) not in known]):
        made = [draft for each in group if (draft := _draft(each, group))]
        if made:
            assistant = any(draft.kind in ("assistant", "call") for draft in made)
            recorded = record(tx, at.place(tx), made, fills=assistant)
            at.took(recorded)
            held.calls |= {each.id: (recorded.step.n, each.id) for each in group if isinstance(each, Called)}
            before = recorded.last - len(made)
            held.keys |= {draft.key or "": RecordRef(recorded.step.n, before + k) for k, draft in enumerate(made, 1)}
        for each in group:
            if isinstance(each, ToolAnswered) and not _calls(each.id, group) and each.id in held.calls:
                step, call = held.calls[each.id]
                kept = key_of(replace(each, id=call))
                held.keys[key_of(each)] = at.arrived(tx, step, Result(call, each.text, shown=each.shown), kept)
    keys = [key for each in entries if (key := key_of(each)) in held.keys]
    return {held.keys[key]: key not in known for key in keys}


def _once(entries: Sequence[Entry]) -> Iterable[Entry]:
    """The entries, of those with one key the first."""
    first: dict[str, Entry] = {}
    for each in entries:
        first.setdefault(key_of(each), each)
    return first.values()


def _grouped(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Entries by step: the assistant's words, calls and their results stand together, everything else alone."""
    group: list[Entry] = []
    for each in entries:
        if group and not _joins(group, each):
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def _joins(group: Sequence[Entry], each: Entry) -> bool:
    match each:
        case UserSaid() | HostCompacted():
            return False
        case AssistantSaid() | Called():
            return all(isinstance(one, AssistantSaid | Called) for one in group)
        case ToolAnswered():
            return _calls(each.id, group)
        case _:
            assert_never(each)


def _calls(call: str, group: Sequence[Entry]) -> bool:
    return any(isinstance(one, Called) and one.id == call for one in group)


def _text(entry: Entry) -> str:
    """The text of an entry's record."""
    match entry:
        case Called():
            return json.dumps({"name": entry.name, "args": entry.args}, ensure_ascii=False)
        case HostCompacted():
            return entry.summary
        case UserSaid() | AssistantSaid() | ToolAnswered():
            return entry.text
        case _:
            assert_never(entry)


def _draft(entry: Entry, group: Sequence[Entry]) -> Draft | None:
    """The record of an entry; None for a result that belongs to an older step."""
    key, text = key_of(entry), _text(entry)
    match entry:
        case UserSaid():
            return Draft("user", "user", text, key=key)
        case AssistantSaid():
            return Draft("assistant", "model", text, key=key)
        case Called():
            return Draft("call", "model", text, entry.id, key=key)
        case ToolAnswered():
            return Draft("result", "tool", text, entry.id, entry.shown, key) if _calls(entry.id, group) else None
        case HostCompacted():
            return Draft("note", "model", text, shown=_SHOWN, key=key)
        case _:
            assert_never(entry)


@dataclass(frozen=True, slots=True)
class Blanked:
    """A record whose key a redaction blanked: the key and the text as they stand, its place, and the id of its call."""

    key: str
    text: str
    ref: RecordRef
    call: str | None


def known_again(told: Iterable[tuple[str, str]], blanked: Iterable[Blanked]) -> Iterator[tuple[str, Blanked]]:
    """The keys of entries that stand in the log with parts of them blanked, each with its record; each record is known once."""
    left = list(blanked)
    for key, text in told:
        for each in left:
            if (_fits(each.key, key) or _fits(_NUMBERED.sub("", each.key), key)) and _fits(each.text, text):
                left.remove(each)
                yield key, each
                break


def _fits(blanked: str, text: str) -> bool:
    """Whether a text may be what a tombstone was put in: it keeps the length in bytes, and the line ends."""
    parts = re.split(rb"(\*+)", encode(blanked))
    pattern = b"".join(b".{%d}" % len(part) if part.startswith(b"*") else re.escape(part) for part in parts)
    return re.fullmatch(pattern, encode(text), re.DOTALL) is not None
