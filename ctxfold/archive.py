"""Sessions as a whole: listed, deleted, written to a file and read back. The file is JSON lines, and reading one back replays it.

An export holds every record's exact text and every event; an import verifies that replaying them gives the revisions it was exported with.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from ctxfold import config, pictures
from ctxfold.errors import CorruptStore, ImportFault, InputError
from ctxfold.forest.moves import check_name
from ctxfold.log import Record, Step
from ctxfold.opening import named
from ctxfold.replay import verify
from ctxfold.store import open_store
from ctxfold.store.codec import pack_json, unpack_json
from ctxfold.store.protocol import Reading, Writing
from ctxfold.store.values import EventRow, HeadRow, SessionRow, State, TopicRow
from ctxfold.strict_json import strictly
from ctxfold.workspace import load_lines

__all__ = [
    "FORMAT",
    "SessionInfo",
    "delete_session",
    "export_session",
    "import_session",
    "sessions",
    "to_file",
    "verify_session",
]

FORMAT = "ctxfold-session-1"


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session in a list.

    Attributes:
        name: its name.
        goal: what it is for; empty when nothing was said.
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
    """The sessions of a store, the newest work first. `store` as in `Session.open`."""
    kept = open_store(store or config.default_store())
    try:
        with kept.reading() as tx:
            return [_info(tx, name) for name in tx.sessions.names()]
    finally:
        kept.close()


def _info(tx: Reading, name: str) -> SessionInfo:
    row = tx.sessions.named(name)
    if row is None:
        raise CorruptStore(f"the session {name} is listed but not there; restore a copy of the store")
    heads = tx.forest.heads(row.id)
    notes: list[str] = []
    for head in heads:
        event = tx.forest.event(row.id, head.seq) if head.seq else None
        notes = notes or [text for _, text in tx.cover.notes(row.id, event.state.notes)] if event else notes
    return SessionInfo(
        name,
        notes[-1] if notes else "",
        tx.log.last_step(row.id),
        len(heads),
        row.created,
        row.updated,
        tx.sessions.raw_bytes(row.id),
    )


def delete_session(name: str, store: str | None = None) -> None:
    """Remove a session and whatever only it referenced, its pictures too.

    Raises:
        UnknownSession: it is not there.
        StoreError: it is removed, but its bytes could not be taken out of the file yet; the message names the next move.
    """
    kept = open_store(store or config.default_store())
    try:
        with kept.writing() as tx:
            row = named(tx, kept, name)
            tx.sessions.drop(row.id)
        pictures.forget(kept.address, name)
        kept.scrub()
    finally:
        kept.close()


def verify_session(name: str, store: str | None = None) -> int:
    """Replay a session's events and compare every revision. Returns how many events there are. Raises CorruptStore when one differs."""
    kept = open_store(store or config.default_store())
    try:
        with kept.reading() as tx:
            row = named(tx, kept, name)
            return verify(tx, row.id)
    finally:
        kept.close()


def export_session(name: str, file: str | os.PathLike[str], store: str | None = None) -> None:
    """Write a session to a file, private to its owner.

    Raises:
        UnknownSession: it is not there.
        InputError: the file cannot be written.
    """
    to_file(name, file, store, lambda tx, row: _lines(tx, row.id, name, row.created, row.current))


def to_file(
    name: str,
    file: str | os.PathLike[str],
    store: str | None,
    lines: Callable[[Reading, SessionRow], Iterable[dict[str, Any]]],
) -> None:
    """Write what is made of a session to a file, one JSON object a line, private to its owner.

    Args:
        name: the session.
        file: where to.
        store: as in `Session.open`.
        lines: makes them.

    Raises:
        UnknownSession: it is not there.
        InputError: the file cannot be written.
    """
    kept = open_store(store or config.default_store())
    try:
        with kept.reading() as tx:
            row = named(tx, kept, name)
            try:
                with open(os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
                    _write(out, lines(tx, row))
            except OSError as error:
                raise InputError(
                    f"{Path(file).name} cannot be written ({error.strerror}); name another file"
                ) from error
    finally:
        kept.close()


def _write(out: TextIO, lines: Iterable[dict[str, Any]]) -> None:
    for line in lines:
        out.write(json.dumps(line, separators=(",", ":")) + "\n")


def _lines(tx: Reading, session: int, name: str, created: float, current: int) -> Iterator[dict[str, Any]]:
    yield {
        "format": FORMAT,
        "name": name,
        "created": created,
        "current": current,
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


def import_session(file: str | os.PathLike[str], store: str | None = None, name: str | None = None) -> str:
    """Read a session from a file.

    Args:
        file: one that `export_session` wrote.
        store: where to, as in `Session.open`.
        name: another name for it; None keeps its own.

    Returns:
        Its name.

    Raises:
        ImportFault: not such a file, one that was altered, or a name that is taken.
    """
    try:
        text = Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ImportFault(
            f"{Path(file).name} cannot be read; give a file that `ctxfold sessions export` wrote"
        ) from error
    kept = open_store(store or config.default_store())
    try:
        with kept.writing() as tx:
            return _take_in(tx, text.splitlines(), Path(file).name, name)
    finally:
        kept.close()


def _take_in(tx: Writing, lines: list[str], file: str, name: str | None) -> str:
    told = [line for line in lines if line]
    opening = strictly(told[0]) if told else None
    if not isinstance(opening, dict) or opening.get("format") != FORMAT:
        raise ImportFault(f"{file} is not a {FORMAT} file; give one that `ctxfold sessions export` wrote")
    try:
        trees = [json.loads(line) for line in told]
        wanted = check_name(trees[0]["name"] if name is None else name)
        if tx.sessions.named(wanted) is not None:
            raise ImportFault(f"a session {wanted!r} is there already; give another name with --name")
        row = tx.sessions.add(wanted, float(trees[0]["created"]))
        for tree in trees[1:]:
            _take_one(tx, row.id, tree)
        verify(tx, row.id)
        tx.sessions.settle(row.id, int(trees[0]["current"]))
        tx.sessions.keep_budget(row.id, int(trees[0].get("budget", 0)))
    except (KeyError, TypeError, ValueError, AttributeError, CorruptStore) as error:
        raise ImportFault(
            f"{file} does not replay to what was exported; it was altered or cut short: export it again"
        ) from error
    return wanted


def _take_one(tx: Writing, session: int, tree: dict[str, Any]) -> None:
    ((kind, body),) = tree.items()
    match kind:
        case "topic":
            tx.forest.add_topic(session, TopicRow(**body))
        case "lane":
            tx.log.put_lane(session, *body)
        case "step":
            tx.log.add_step(session, Step(**body))
        case "record":
            _take_record(tx, session, body)
        case "tile":
            steps = [step for first, last in body["steps"] for step in range(first, last + 1)]
            tx.cover.add_tile(session, body["id"], steps[0], steps[-1], body["tokens"], pack_json(body))
        case "cell":
            tx.cover.put_cell(session, *body)
        case "note":
            tx.cover.put_note(session, *body)
        case "event":
            state = body.pop("state")
            tx.forest.add_event(
                session, EventRow(**body, state=State(**{**state, "revision": bytes.fromhex(state["revision"])}))
            )
        case "head":
            tx.forest.add_head(session, HeadRow(**body))
        case _:
            raise ValueError(kind)


def _take_record(tx: Writing, session: int, body: dict[str, Any]) -> None:
    record = Record(
        body["step"], body["k"], body["kind"], body["origin"], body["text"], body["call_id"], body["at"], body["shown"]
    )
    entry = tx.log.add_entry(record.text)
    shown = None if record.shown is None else tx.log.add_entry(record.shown)
    row = tx.log.add_record(session, record, entry, shown, pack_json(body["form"]), body["key"])
    step = tx.log.step(session, record.at)
    if step is None:
        raise ValueError(record.at)
    facts = [(key, row) for line in load_lines(body["form"]) for key in line.keys]
    tx.facts.add_facts(session, step.lane, step.depth, facts)
