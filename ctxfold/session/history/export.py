"""Lists, deletes and verifies sessions, and exports one to a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any

from ctxfold.errors import CorruptStore, InputError
from ctxfold.session import handover
from ctxfold.session import screenshots as pictures
from ctxfold.session.history.commit import dump_payload, head_of, state_of
from ctxfold.session.history.load import goals
from ctxfold.session.history.verify import verify
from ctxfold.session.open import address_of, named, store_at
from ctxfold.session.validate import as_path
from ctxfold.store import is_there, open_store
from ctxfold.store.codec import encode, unpack_json
from ctxfold.store.sqlite import Reading
from ctxfold.store.values import SessionRow

__all__ = [
    "FORMAT",
    "SessionInfo",
    "check_lines",
    "delete_session",
    "export_session",
    "sessions",
    "verify_session",
]


def _sealed(lines: Iterable[str]) -> Iterator[str]:
    """Lines, and a closing one with their checksum."""
    many, made = 0, blake2b(digest_size=16, person=b"seal")
    for line in lines:
        many += 1
        made.update(encode(line) + b"\n")
        yield line
    yield dump_payload({"end": {"lines": many, "hash": made.hexdigest()}})


def check_lines(lines: Iterable[str]) -> list[str]:
    """The lines before the closing one. Raises ValueError: that is missing, or its checksum is not theirs."""
    *before, closing = lines
    *_, made = _sealed(before)
    if json.loads(closing) != json.loads(made):
        raise ValueError("these lines are not the ones that were exported")
    return before


FORMAT = "ctxfold-session-2"
"""Of the files that `export_session` writes."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session in a list.

    Attributes:
        name: its name.
        goal: what it is for, as the branch says on which a new handle begins; empty when nothing was said.
        steps: how many steps it has.
        branches: how many branches.
        created: when it was begun, seconds since 1970.
        updated: when it last changed.
        bytes: bytes of its raw records.
    """

    name: str
    goal: str
    steps: int
    branches: int
    created: float
    updated: float
    bytes: int


def sessions(store: str | None = None) -> list[SessionInfo]:
    """The sessions of a store, the newest work first; none where no store was made yet.

    Args:
        store: as in `Session.open`.

    Raises:
        InputError: a store that no path can name.
        StoreError: the store cannot be used.
    """
    address = address_of(store)
    if not is_there(address):
        return []
    with open_store(address) as kept, kept.reading() as tx:
        return [_info(tx, name) for name in tx.sessions.names()]


def _info(tx: Reading, name: str) -> SessionInfo:
    row = tx.sessions.named(name)
    if row is None:
        raise CorruptStore(f"the session {name} is listed but not there; restore a copy of the store")
    words = goals(tx, row.id, state_of(tx, row.id, head_of(tx, row.id, row.current or 1)))
    return SessionInfo(
        name,
        words[-1] if words else "",
        tx.log.last_step(row.id),
        len(tx.forest.heads(row.id)),
        row.created,
        row.updated,
        tx.sessions.raw_bytes(row.id),
    )


def delete_session(name: str, store: str | None = None) -> None:
    """Remove a session and whatever only it referenced, its pictures too.

    Raises:
        UnknownSession: it is not there.
        SessionNameError: the name is not one.
        InputError: a store that no path can name.
        StoreError: the store cannot be used; or it is removed, but its bytes could not be taken out of the file yet: the message names the next move.
    """
    with store_at(store) as kept:
        with kept.writing() as tx:
            tx.drop(named(tx, kept, name).id)
        pictures.forget(kept.address, name)
        handover.forget(kept.address, name)
        kept.scrub()


def verify_session(name: str, store: str | None = None) -> int:
    """Replay a session's events and compare every revision. Returns how many events there are.

    Raises:
        CorruptStore: one differs.
        UnknownSession: it is not there.
        SessionNameError: the name is not one.
        InputError: a store that no path can name.
        StoreError: the store cannot be used.
    """
    with store_at(store) as kept, kept.reading() as tx:
        return verify(tx, named(tx, kept, name).id)


def export_session(name: str, file: str | os.PathLike[str], store: str | None = None) -> None:
    """Write a session to a file, private to its owner.

    Raises:
        UnknownSession: it is not there.
        SessionNameError: the name is not one.
        InputError: the file cannot be written, or no path can name it or the store.
        StoreError: the store cannot be used.
    """
    place = as_path(file)
    with store_at(store) as kept, kept.reading() as tx:
        row = named(tx, kept, name)
        try:
            made = os.open(place, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
            with open(made, "w", encoding="utf-8", errors="surrogatepass", newline="\n") as out:
                out.writelines(f"{line}\n" for line in _sealed(map(dump_payload, _trees(tx, row))))
        except OSError as error:
            raise InputError(f"{place.name} cannot be written ({error.strerror}); name another file") from error


def _trees(tx: Reading, row: SessionRow) -> Iterator[dict[str, Any]]:
    session = row.id
    yield {
        "format": FORMAT,
        "name": row.name,
        "created": row.created,
        "current": row.current,
        "budget": tx.sessions.budget(session),
    }
    for topic in tx.forest.topics(session):
        yield {"topic": asdict(topic)}
    for lane, parent, fork in tx.log.lanes(session):
        yield {"lane": [lane, parent, fork]}
    for step in tx.log.steps(session, range(1, tx.log.last_step(session) + 1)):
        yield {"step": asdict(step)}
    for record in tx.log.entries_of(session):
        yield {
            "record": {
                "step": record.step, "k": record.k, "at": record.at, "kind": record.kind, "origin": record.origin, "call_id": record.call_id,
                "text": tx.log.text(record.entry), "shown": None if record.shown is None else tx.log.text(record.shown),
                "form": unpack_json(record.form), "key": record.idempotency,
            }
        }  # fmt: skip
    for tile in tx.cover.tile_numbers(session):
        yield {"tile": unpack_json(tx.cover.tile(session, tile) or b"")}
    for cell, prev, tile in tx.cover.cells(session):
        yield {"cell": [cell, prev, tile]}
    for note, prev, slot, text in tx.cover.note_links(session):
        yield {"note": [note, prev, slot, text]}
    for event in tx.forest.events(session):
        state = {**asdict(event.state), "revision": event.state.revision.hex()}
        yield {"event": {**asdict(event), "state": state}}
    for head in tx.forest.heads(session):
        yield {"head": asdict(head)}
