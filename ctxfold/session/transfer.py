"""Lists, deletes, exports and imports sessions. Of a damaged session, an export holds what still reads."""

from __future__ import annotations

import json
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from itertools import chain, islice, pairwise
from typing import IO, Any, TypeVar

from ctxfold.errors import CorruptStore, ImportFault, InputError
from ctxfold.log import Record, Step
from ctxfold.session import open as pictures
from ctxfold.session.branches import check_name
from ctxfold.session.commits import GENESIS, dump_payload, head_of, state_of
from ctxfold.session.load import read_goals
from ctxfold.session.open import check_path, find_address, find_session, open_store_at
from ctxfold.session.verify import replay, verify
from ctxfold.store import is_there, open_store
from ctxfold.store.codec import decode, encode, pack_json, unpack_json
from ctxfold.store.rows import EventRow, HeadRow, Reading, SessionRow, State, StoredRecord, TopicRow, Writing, damaged
from ctxfold.text.json import strictly
from ctxfold.tokens import MIN_BUDGET

FORMAT = "ctxfold-session-3"
"""Of the files that `export_session` writes: one JSON object a line, the last one with the checksum of the others."""

_YEAR_10000 = 253_402_300_800
"""Seconds since 1970. Every number with a fraction in an export is a time."""

Tree = dict[str, Any]
_T = TypeVar("_T")


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
    address = find_address(store)
    if not is_there(address):
        return []
    with open_store(address) as kept, kept.reading() as tx:
        return [_info(tx, name) for name in tx.sessions.names()]


def _info(tx: Reading, name: str) -> SessionInfo:
    row = tx.sessions.named(name)
    if row is None:
        raise CorruptStore(f"the session {name} is listed but not there; restore a copy of the store")
    words = read_goals(tx, row.id, state_of(tx, row.id, head_of(tx, row.id, row.current or 1)))
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
    with open_store_at(store) as kept:
        kept.remove(lambda tx: tx.drop(find_session(tx, kept, name).id))
        pictures.forget_pictures(kept.address, name)
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
    with open_store_at(store) as kept, kept.reading() as tx:
        return verify(tx, find_session(tx, kept, name).id)


def export_session(name: str, file: str | os.PathLike[str], store: str | None = None) -> None:
    """Write a session to a file, private to its owner.

    Raises:
        CorruptStore: the session is damaged. The file holds what still reads, and the message names the rest.
        UnknownSession: it is not there.
        SessionNameError: the name is not one.
        InputError: the file cannot be written, or no path can name it or the store.
        StoreError: the store cannot be used.
    """
    place, lost = check_path(file), list[str]()
    with open_store_at(store) as kept, kept.reading() as tx:
        row = find_session(tx, kept, name)
        try:
            made = os.open(place, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
            with open(made, "w", encoding="utf-8", errors="surrogatepass", newline="\n") as out:
                out.writelines(f"{line}\n" for line in _seal(map(dump_payload, dump_session(tx, row, lost)), lost))
        except OSError as error:
            raise InputError(f"{place.name} cannot be written ({error.strerror}); name another file") from error
    if lost:
        raise CorruptStore(
            f"{name} is damaged: {place.name} holds what still reads of it, without {', '.join(lost)}; restore a copy "
            "of the store, or begin a new session from the texts in the file"
        )


def _seal(lines: Iterable[str], lost: list[str]) -> Iterator[str]:
    """Lines, and a closing one with their checksum and what is missing."""
    many, made = 0, blake2b(digest_size=16, person=b"seal")
    for line in lines:
        many += 1
        made.update(encode(line) + b"\n")
        yield line
    yield dump_payload({"end": {"lines": many, "hash": made.hexdigest(), **({"lost": lost} if lost else {})}})


def dump_session(tx: Reading, row: SessionRow, lost: list[str] | None = None) -> Iterator[Tree]:
    """All of a session as JSON, an object a row, each behind those that it refers to.

    With `lost`, a row that does not read back is left out and named there; without, it raises CorruptStore.
    """
    session = row.id

    def read(what: str, rows: Callable[..., _T], *given: Any) -> list[_T]:
        """What a call returns, in a list; an empty list where it does not read back."""
        try:
            return [rows(*given)]
        except CorruptStore:
            if lost is None:
                raise
            lost.append(what)
            return []

    def read_all(what: str, rows: Callable[..., Iterable[_T]], *given: Any) -> Iterator[_T]:
        return chain.from_iterable(read(what, rows, *given))

    budget = sum(read("the budget", tx.sessions.budget, session))
    yield {"format": FORMAT, "name": row.name, "created": row.created, "current": row.current, "budget": budget}
    for topic in read_all("the topics", tx.forest.topics, session):
        yield {"topic": asdict(topic)}
    for lane, parent, fork in read_all("the lanes", tx.log.lanes, session):
        yield {"lane": {"id": lane, "parent": parent, "fork": fork}}
    numbers = range(1, sum(read("the steps", tx.log.last_step, session)) + 1)
    steps = deque(step for n in numbers for step in read_all(f"s{n}", tx.log.steps, session, [n]))
    records = [record for n in numbers for record in read_all(f"the records of s{n}", tx.log.records, session, [n])]
    for record in sorted(records, key=lambda record: record.id):
        while steps and steps[0].n <= max(record.step, record.at):
            yield {"step": asdict(steps.popleft())}
        for tree in read(f"s{record.step}.{record.k}", _dump_record, tx, record):
            yield {"record": tree}
    for step in steps:
        yield {"step": asdict(step)}
    for number in read_all("the blocks", tx.cover.tile_numbers, session):
        for tree in read(f"b{number}", _dump_tile, tx, session, number):
            yield {"tile": tree}
    for cell, prev, tile in read_all("the covers", tx.cover.cells, session):
        yield {"cell": {"id": cell, "prev": prev, "tile": tile}}
    for note, prev, slot, text in read_all("the notes", tx.cover.note_links, session):
        yield {"note": {"id": note, "prev": prev, "slot": slot, "text": text}}
    for seq in range(1, sum(read("the events", tx.forest.last_event, session)) + 1):
        for tree in read(f"event {seq}", _dump_event, tx, session, seq):
            yield {"event": tree}
    for head in read_all("the branches", tx.forest.heads, session):
        yield {"head": asdict(head)}


def _dump_record(tx: Reading, record: StoredRecord) -> Tree:
    return {
        "step": record.step, "k": record.k, "at": record.at, "kind": record.kind, "origin": record.origin,
        "call_id": record.call_id, "text": tx.log.text(record.entry),
        "shown": None if record.shown is None else tx.log.text(record.shown),
        "form": unpack_json(record.form), "key": record.idempotency,
    }  # fmt: skip


def _dump_tile(tx: Reading, session: int, number: int) -> Tree:
    tree: Tree = unpack_json(tx.cover.tile(session, number) or b"")
    return tree


def _dump_event(tx: Reading, session: int, seq: int) -> Tree:
    event = tx.forest.event(session, seq)
    if event is None:
        raise damaged(f"event {seq}")
    return {**asdict(event), "state": {**asdict(event.state), "revision": event.state.revision.hex()}}


def import_session(file: str | os.PathLike[str], store: str | None = None, name: str | None = None) -> str:
    """Read a session from a file.

    Raises:
        ImportFault: not an export, one that was altered, or a name that is taken.
        SessionNameError: another name that is not one.
        InputError: a file or store that no path can name.
        StoreError: the store cannot be used.
    """
    place = check_path(file)
    if name is not None:
        check_name(name)
    try:
        with open(place, "rb") as lines:
            opening = _read_opening(lines, place.name)
            _check_sizes(_read_trees(lines))
            with open_store_at(store) as kept, kept.writing() as tx:
                wanted = check_name(opening["name"] if name is None else name)
                if tx.sessions.named(wanted) is not None:
                    raise ImportFault(f"a session {wanted!r} is there already; give another name with --name")
                session = tx.sessions.add(wanted, opening["created"]).id
                store_session(tx, session, islice(_read_trees(lines), 1, None))
                verify(tx, session)
                _settle(tx, session, opening)
                return wanted
    except OSError as error:
        raise ImportFault(
            f"{place.name} cannot be read ({error.strerror}); give a file that `ctxfold sessions export` wrote"
        ) from error
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError, CorruptStore) as error:
        raise ImportFault(
            f"{place.name} is no whole session ({error}): it was altered, cut short, or written from a damaged store; "
            "export it again, or restore a copy of the store first"
        ) from error


def _read_opening(lines: IO[bytes], file: str) -> Tree:
    """The first line of an export. Raises ImportFault: it is none, or one of another version."""
    opening = strictly(decode(lines.readline()))
    if not isinstance(opening, dict) or opening.get("format") != FORMAT:
        raise ImportFault(
            f"{file} is not a session that this ctxfold can read; give a file that `ctxfold sessions export` wrote, "
            f"and upgrade where a newer ctxfold did; a text comes in with `ctxfold record SESSION < {file}`, "
            "a host's transcript with --from HOST"
        )
    return opening


def _read_trees(lines: IO[bytes]) -> Iterator[Tree]:
    """The rows of an export from its first line on. Raises ValueError: its last line is not the checksum of the rest."""
    lines.seek(0)
    made = blake2b(digest_size=16, person=b"seal")
    for many, line in enumerate(lines):
        tree = strictly(decode(line), _read_finite)
        if tree is None:
            raise ValueError(f"line {many + 1} is not JSON")
        if "end" in tree:
            if tree["end"] != {"lines": many, "hash": made.hexdigest()} or lines.readline().strip():
                raise ValueError("its checksum differs")
            return
        made.update(line.rstrip(b"\r\n") + b"\n")
        yield tree
    raise ValueError("its last line is missing")


def _read_finite(number: str) -> float:
    """A number with a fraction. Raises ValueError: it is no time that a clock can show."""
    if not 0 <= float(number) < _YEAR_10000:
        raise ValueError(number)
    return float(number)


def _check_sizes(trees: Iterator[Tree]) -> None:
    """See that no number in an export claims more than the file holds, nor leads in a circle, before any is used.

    A few bytes could else ask for a list of 10**12 steps, or for a walk without end. Raises ValueError.
    """
    many = Counter[str]()
    for tree in islice(trees, 1, None):
        ((kind, body),) = tree.items()
        many[kind] += 1
        match kind:
            case "step":
                number, before = body["n"], [body["parent"]]
            case "tile":
                ends = [0, *chain.from_iterable(body["steps"])]
                if any(one > other for one, other in pairwise(ends)) or ends[-1] > many["step"]:
                    raise ValueError("a block of more steps than there are")
                number, before = body["id"], body["children"]
            case "event":
                number, before = body["seq"], [body["prev"], json.loads(body["json"]).get("was", 0)]
            case "lane":
                number, before = body["id"], [body["parent"]]
            case "cell" | "note":
                number, before = body["id"], [body["prev"]]
            case _:
                continue
        if number != many[kind] or not all(0 <= each < number for each in before):
            raise ValueError(f"{kind} {number} is not where it belongs")


def store_session(tx: Writing, session: int, trees: Iterable[Tree], *, anew: bool = False) -> None:
    """Write the rows that `dump_session` gave. `anew`: their texts were changed, so each revision is computed again."""
    revisions = {0: GENESIS.revision}
    for tree in trees:
        ((kind, body),) = tree.items()
        match kind:
            case "topic":
                tx.forest.add_topic(session, TopicRow(**body))
            case "lane":
                tx.log.add_lane(session, body["parent"], body["fork"])
            case "step":
                tx.log.put_step(session, Step(**body))
            case "record":
                _store_record(tx, session, body)
            case "tile":
                steps = list(chain.from_iterable(body["steps"]))
                tx.cover.add_tile(session, body["id"], steps[0], steps[-1], body["tokens"], pack_json(body))
            case "cell":
                tx.cover.add_cell(session, body["prev"], body["tile"])
            case "note":
                tx.cover.add_note(session, body["prev"], body["slot"], body["text"])
            case "event":
                state = State(**{**body["state"], "revision": bytes.fromhex(body["state"]["revision"])})
                event = EventRow(**{**body, "state": state})
                if anew:
                    made = replay(tx, session, event, revisions[event.prev])
                    event = replace(event, state=replace(state, revision=made))
                revisions[event.seq] = event.state.revision
                tx.forest.add_event(session, event)
            case "head":
                tx.forest.add_head(session, HeadRow(**body))
            case _:
                raise ValueError(f"a row of an unknown kind, {kind}")


def _store_record(tx: Writing, session: int, body: Tree) -> None:
    record = Record(
        body["step"], body["k"], body["kind"], body["origin"], body["text"], body["call_id"], body["at"], body["shown"]
    )
    entry = tx.log.add_entry(record.text)
    shown = None if record.shown is None else tx.log.add_entry(record.shown)
    tx.log.add_record(session, record, entry, shown, pack_json(body["form"]), body["key"])


def _settle(tx: Writing, session: int, opening: Tree) -> None:
    current, budget = opening["current"], opening["budget"]
    if current not in {0, *(head.id for head in tx.forest.heads(session))} or 0 != budget < MIN_BUDGET:
        raise ValueError("a branch or a budget that cannot be")
    tx.sessions.settle(session, current)
    tx.sessions.keep_budget(session, budget)
