"""Lists, deletes, exports and imports sessions. Of a damaged session, an export holds what still reads."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any

from pydantic import BaseModel

from ctxfold.decisions.register import ItemWritten, StatementWritten
from ctxfold.errors import CorruptStore, ImportFault, InputError
from ctxfold.log import place_of
from ctxfold.messages import Message, Text
from ctxfold.prompts import prompt
from ctxfold.session import open as pictures
from ctxfold.session.branches import check_name
from ctxfold.session.commits import dump_payload, head_of, state_of
from ctxfold.session.handle import Handle, check
from ctxfold.session.load import read_goals
from ctxfold.session.open import check_path, check_utf8, find_address, find_session, open_store_at
from ctxfold.session.recall import Hit, search
from ctxfold.session.verify import verify
from ctxfold.store import is_there, open_store
from ctxfold.store.codec import decode, encode
from ctxfold.store.rows import Reading, Writing
from ctxfold.store.tables import KEYS
from ctxfold.text.json import parse_strictly
from ctxfold.tokens import MIN_BUDGET
from ctxfold.workspace import By, Item, Statement, Workspace, number_of

if TYPE_CHECKING:
    from ctxfold.session.session import Session

FORMAT = "ctxfold-session-3"
"""Of the files that `export_session` writes: one JSON object a line, the last one with the checksum of the others."""

_YEAR_10000 = 253_402_300_800
"""Seconds since 1970. Every number with a fraction in an export is a time."""

Tree = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session in a list.

    Attributes:
        name: its name.
        goal: its goal on the branch that a new handle begins on; empty without one.
        title: the start of its goal, else of the user's first message, on one line.
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
    title: str


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
    with open_store(address) as opened, opened.reading() as tx:
        return [_info(tx, name) for name in tx.sessions.names()]


@check
def recall_all(query: str, limit: int = 5, skip: int = 0, store: str | None = None, prefix: str = "") -> list[Hit]:
    """Return the places in all sessions that hold the words of a query, best first, each with its session and title.

    Args:
        query: words.
        limit: the most places, after `skip` better ones.
        skip: how many to leave out.
        store: as in `Session.open`.
        prefix: how the names of the sessions begin that are searched; empty for all.

    Raises:
        InputError: a store that no path can name.
        StoreError: the store cannot be used.
    """
    address, skip = find_address(store), max(skip, 0)
    if not is_there(address):
        return []
    begin, most = check_utf8(prefix, "the prefix"), skip + max(1, limit)
    with open_store(address) as opened, opened.reading() as tx:

        def load(number: int) -> Workspace:
            row = tx.sessions.named(tx.sessions.name(number))
            return Handle(opened, number, (row and row.current) or 1).place(tx).workspace

        hits = search(tx, begin, query, most, load)
        return [replace(hit, title=_info(tx, hit.session).title or hit.session) for hit in hits[skip:]]


_TITLE = 80
"""Characters of a title at most: with the other columns of the list of sessions it fits a wide terminal."""


def _info(tx: Reading, name: str) -> SessionInfo:
    row = tx.sessions.named(name)
    if row is None:
        raise CorruptStore(f"the session {name} is listed but not there; restore a copy of the store")
    words = read_goals(tx, row.id, state_of(tx, row.id, head_of(tx, row.id, row.current or 1)))
    goal, steps = words[-1] if words else "", tx.log.last_step(row.id)
    branches, size = len(tx.forest.heads(row.id)), tx.sessions.raw_bytes(row.id)
    title = " ".join((goal or tx.log.first_words(row.id)).split())[:_TITLE]
    return SessionInfo(row.name, goal, steps, branches, row.created, row.updated, size, title)


def hand_off(old: Session, new: Session) -> bool:
    """Begin a new session with the memory of an old one, for another host. Returns False if it has steps already.

    The old view, in half of the new session's budget, is recorded as a host's summary is and becomes the memory. Open
    items, constraints and decisions are copied, each with its source, `paris-trip s14.1`; the goal too, if the new
    session has none.
    """
    if new.tip:
        return False
    view, intent = old.view(new.budget // 2, fill=True), old.intent
    text = prompt("handed_over", session=old.name, tip=old.tip, view=view.text)
    new.record([Message("user", (Text(text),), f"handed over: {old.name}", compacted=True)])
    decisions = [each for each in intent.decisions if each.holds and number_of(each.id)]
    kinds = (ItemWritten, intent.open), (StatementWritten, intent.binding), (StatementWritten, decisions)
    todo, constraints, decided = ([_copy(kind, each, old.name) for each in every] for kind, every in kinds)
    by = By(reason=f"handed over from {old.name}")
    new.plan(intent.summary or None, todo, constraints, decided, by, new.goal or old.goal)
    return True


def _copy(kind: type[ItemWritten | StatementWritten], of: Item | Statement, session: str) -> BaseModel:
    return kind(text=of.text).cite(f"{session} {of.ref}" if place_of(of.ref)[0] else of.ref, of.untrusted)


def delete_session(name: str, store: str | None = None) -> None:
    """Remove a session and whatever only it referenced, its pictures too.

    Raises:
        UnknownSession: it is not there.
        SessionNameError: the name is not one.
        InputError: a store that no path can name.
        StoreError: the store cannot be used; or the session is removed, but its bytes are still in the file: the
            message names the next move.
    """
    with open_store_at(store) as opened:
        opened.remove(lambda tx: tx.drop(find_session(tx, opened, name).id))
        pictures.forget_pictures(opened.address, name)
        opened.scrub()


def verify_session(name: str, store: str | None = None) -> int:
    """Replay a session's events and compare every revision. Returns how many events there are.

    Raises:
        CorruptStore: one differs.
        UnknownSession: it is not there.
        SessionNameError: the name is not one.
        InputError: a store that no path can name.
        StoreError: the store cannot be used.
    """
    with open_store_at(store) as opened, opened.reading() as tx:
        return verify(tx, find_session(tx, opened, name).id)


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
    with open_store_at(store) as opened, opened.reading() as tx:
        row = find_session(tx, opened, name)
        opening = {"format": FORMAT, "name": name, "created": row.created, "current": row.current}
        opening["budget"] = tx.sessions.budget(row.id)
        try:
            descriptor = os.open(place, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
            with open(descriptor, "w", encoding="utf-8", errors="surrogatepass", newline="\n") as out:
                trees = chain([opening], dump_session(tx, row.id, lost))
                out.writelines(f"{line}\n" for line in _seal(map(dump_payload, trees), lost))
        except OSError as error:
            raise InputError(f"{place.name} cannot be written ({error.strerror}); name another file") from error
    if lost:
        raise CorruptStore(
            f"{name} is damaged: {place.name} holds what still reads of it, without {', '.join(lost)}; restore a copy "
            "of the store, or begin a new session from the texts in the file"
        )


def _seal(lines: Iterable[str], lost: list[str]) -> Iterator[str]:
    """Lines, and a closing one with their checksum and the names of lost rows."""
    count, seal = 0, blake2b(digest_size=16, person=b"seal")
    for line in lines:
        count += 1
        seal.update(encode(line) + b"\n")
        yield line
    yield dump_payload({"end": {"lines": count, "hash": seal.hexdigest(), **({"lost": lost} if lost else {})}})


def dump_session(tx: Reading, session: int, lost: list[str] | None = None) -> Iterator[Tree]:
    """The rows of a session as JSON, each under the name of its table and after those that it refers to.

    With `lost`, a row that does not read back is left out and named there; without, it raises CorruptStore.
    """
    for table in KEYS:
        rows: list[Tree] = []
        for number in range(1, tx.last_row(table, session) + 1):
            try:
                rows += tx.read_rows(table, session, number)
            except CorruptStore:
                if lost is None:
                    raise
                lost.append(f"{table} {number}")
        if table == "record":
            rows.sort(key=lambda row: int(row.pop("id")))
        yield from ({table: row} for row in rows)


def store_session(tx: Writing, session: int, trees: Iterable[Tree]) -> None:
    """Write the rows that `dump_session` gave."""
    for tree in trees:
        ((table, row),) = tree.items()
        tx.write_row(table, session, row)


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
            with open_store_at(store) as opened, opened.writing() as tx:
                name = check_name(opening["name"] if name is None else name)
                if tx.sessions.named(name) is not None:
                    raise ImportFault(f"a session {name!r} is there already; give another name with --name")
                session = tx.sessions.add(name, opening["created"]).id
                store_session(tx, session, islice(_read_trees(lines), 1, None))
                verify(tx, session)
                _settle(tx, session, opening)
                return name
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
    """The first line of an export. Raises ImportFault: not an export, or one of another version."""
    opening = parse_strictly(decode(lines.readline()))
    if not isinstance(opening, dict) or opening.get("format") != FORMAT:
        raise ImportFault(
            f"{file} is not a session that this ctxfold can read; give a file that `ctxfold sessions export` wrote, "
            f"and upgrade where a newer ctxfold did; a text comes in with `ctxfold record SESSION < {file}`, "
            "a host's transcript with --from HOST"
        )
    return opening


def _read_trees(lines: IO[bytes]) -> Iterator[Tree]:
    """The rows of an export from its first line on. Raises ValueError: its last line is not the checksum of these."""
    lines.seek(0)
    seal = blake2b(digest_size=16, person=b"seal")
    for count, line in enumerate(lines):
        tree = parse_strictly(decode(line), _read_finite)
        if tree is None:
            raise ValueError(f"line {count + 1} is not JSON")
        if "end" in tree:
            if tree["end"] != {"lines": count, "hash": seal.hexdigest()} or lines.readline().strip():
                raise ValueError("its checksum differs")
            return
        seal.update(line.rstrip(b"\r\n") + b"\n")
        yield tree
    raise ValueError("its last line is missing")


def _read_finite(number: str) -> float:
    """A number with a fraction. Raises ValueError: a time that no clock can show."""
    if not 0 <= float(number) < _YEAR_10000:
        raise ValueError(number)
    return float(number)


def _check_sizes(trees: Iterator[Tree]) -> None:
    """See that no number in an export claims more than the file holds, nor leads in a circle, before any is used.

    A few bytes could else ask for a list of 10**12 steps, or for a walk without end. Raises ValueError.
    """
    counts = Counter[str]()
    for tree in islice(trees, 1, None):
        ((table, row),) = tree.items()
        counts[table] += 1
        number, before = row[KEYS[table]], [row[name] for name in ("parent", "prev") if name in row]
        is_sound = True
        if table == "step":
            is_sound = max(row["words"], row["noted"]) <= number
        elif table == "event":
            before.append(json.loads(row["json"]).get("was", 0))
        elif table == "tile":
            before += row["body"]["children"]
            ends = list(chain.from_iterable(row["body"]["steps"]))
            is_sound = [row["first"], *ends, row["last"]] == [ends[0], *sorted(ends), ends[-1]] and (
                1 <= ends[0] <= ends[-1] <= counts["step"]
            )
        is_in_order = table == "record" or number == counts[table]
        if not (is_sound and is_in_order and all(0 <= earlier < number for earlier in before)):
            raise ValueError(f"{table} {number} is not where it belongs")


def _settle(tx: Writing, session: int, opening: Tree) -> None:
    current, budget = opening["current"], opening["budget"]
    if current not in {0, *(head.id for head in tx.forest.heads(session))} or 0 != budget < MIN_BUDGET:
        raise ValueError("a branch or a budget that cannot be")
    tx.sessions.change(session, "current", current)
    tx.sessions.change(session, "budget", budget)
