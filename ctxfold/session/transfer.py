"""List, export, import, delete, export of what still reads."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

from ctxfold.errors import CorruptStore, CtxfoldError, ImportFault, InputError
from ctxfold.log import Kind, Origin, Record, Step
from ctxfold.session import open as pictures
from ctxfold.session.branches import check_name
from ctxfold.session.commits import dump_payload, head_of, state_of
from ctxfold.session.load import read_goals
from ctxfold.session.open import check_path, find_address, find_session, open_store_at
from ctxfold.session.record import Branch, Draft, record
from ctxfold.session.session import Session
from ctxfold.session.verify import verify
from ctxfold.store import is_there, open_store
from ctxfold.store.codec import decode, encode, pack_json, unpack_json
from ctxfold.store.rows import EventRow, HeadRow, SessionRow, State, TopicRow
from ctxfold.store.sqlite import Reading, Writing
from ctxfold.store.wreck import LooseRecord, Wreck
from ctxfold.text.json import strictly
from ctxfold.tokens import MIN_BUDGET
from ctxfold.workspace import Workspace


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
        with kept.writing() as tx:
            tx.drop(find_session(tx, kept, name).id)
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
        UnknownSession: it is not there.
        SessionNameError: the name is not one.
        InputError: the file cannot be written, or no path can name it or the store.
        StoreError: the store cannot be used.
    """
    place = check_path(file)
    with open_store_at(store) as kept, kept.reading() as tx:
        row = find_session(tx, kept, name)
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
    for entry in tx.log.entries_of(session):
        yield {
            "record": {
                "step": entry.step, "k": entry.k, "at": entry.at, "kind": entry.kind, "origin": entry.origin, "call_id": entry.call_id,
                "text": tx.log.text(entry.entry), "shown": None if entry.shown is None else tx.log.text(entry.shown),
                "form": unpack_json(entry.form), "key": entry.idempotency,
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


_UNCHECKED = "ctxfold-session-1"
"""The format before exports had a checksum. It is read still: where a line is missing, what is left does not replay."""


def import_session(file: str | os.PathLike[str], store: str | None = None, name: str | None = None) -> str:
    """Read a session from a file.

    Raises:
        ImportFault: not such a file, one that was altered, or a name that is taken.
        SessionNameError: another name that is not one.
        InputError: a file or store that no path can name.
        StoreError: the store cannot be used.
    """
    place = check_path(file)
    if name is not None:
        check_name(name)
    try:
        text = decode(place.read_bytes())
    except (OSError, ValueError) as error:
        raise ImportFault(f"{place.name} cannot be read; give a file that `ctxfold sessions export` wrote") from error
    lines = [line.removesuffix("\r") for line in text.split("\n") if line.strip()]
    try:
        with open_store_at(store) as kept, kept.writing() as tx:
            return _store_session(tx, _checked(lines, place.name), name)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError, CorruptStore) as error:
        raise ImportFault(
            f"{place.name} does not replay to what was exported; it was altered or cut short: export it again"
        ) from error


def _checked(lines: list[str], file: str) -> list[str]:
    """The lines of an export without what closes it. Raises ImportFault: it is no export, one of a format that is not known, or its checksum is missing or not its own."""
    opening = strictly(lines[0]) if lines else None
    form = opening.get("format") if isinstance(opening, dict) else None
    if form == _UNCHECKED:
        return lines
    if form != FORMAT:
        raise ImportFault(
            f"{file} is not a session that this ctxfold can read; give a file that `ctxfold sessions export` wrote, and upgrade where a newer ctxfold did; "
            f"a text comes in with `ctxfold record SESSION < {file}`, a host's transcript with --from HOST"
        )
    try:
        return check_lines(lines)
    except ValueError as error:
        raise ImportFault(f"{file} was altered or cut short: export it again") from error


def _store_session(tx: Writing, lines: list[str], name: str | None) -> str:
    trees = [json.loads(line) for line in lines]
    wanted = check_name(trees[0]["name"] if name is None else name)
    if tx.sessions.named(wanted) is not None:
        raise ImportFault(f"a session {wanted!r} is there already; give another name with --name")
    row = tx.sessions.add(wanted, float(trees[0]["created"]))
    for tree in trees[1:]:
        _store_line(tx, row.id, tree)
    tx.log.recount(row.id)
    verify(tx, row.id)
    _settle(tx, row.id, trees[0])
    return wanted


def _settle(tx: Writing, session: int, opening: dict[str, Any]) -> None:
    current, budget = int(opening["current"]), int(opening.get("budget", 0))
    if current not in {0, *(head.id for head in tx.forest.heads(session))} or 0 != budget < MIN_BUDGET:
        raise ValueError(current, budget)
    tx.sessions.settle(session, current)
    tx.sessions.keep_budget(session, budget)


def _store_line(tx: Writing, session: int, tree: dict[str, Any]) -> None:
    ((kind, body),) = tree.items()
    match kind:
        case "topic":
            tx.forest.add_topic(session, TopicRow(**body))
        case "lane":
            tx.log.put_lane(session, *body)
        case "step":
            tx.log.add_step(session, Step(**body))
        case "record":
            _store_record(tx, session, body)
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


def _store_record(tx: Writing, session: int, body: dict[str, Any]) -> None:
    record = Record(
        body["step"], body["k"], body["kind"], body["origin"], body["text"], body["call_id"], body["at"], body["shown"]
    )
    entry = tx.log.add_entry(record.text)
    shown = None if record.shown is None else tx.log.add_entry(record.shown)
    tx.log.add_record(session, record, entry, shown, pack_json(body["form"]), body["key"])
    if tx.log.step(session, record.at) is None:
        raise ValueError(record.at)


_LOST = "(lost: this record does not read back from the damaged store)"


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What became of one session.

    Attributes:
        name: its name in the new store.
        whole: whether it is there as it was. Else its log alone is, on one branch: folds, other branches, to-do, constraints and decisions are missing.
        missing: the addresses of records that do not read back, as far as their steps are known.
    """

    name: str
    whole: bool
    records: int
    missing: tuple[str, ...]


def salvage_store(new: str, store: str | None = None) -> list[Salvaged]:
    """Make a new store of what still reads of another, which is left as it is and is open nowhere in this process.

    Raises:
        InputError: there is no file to read, something is where the new one is to be, or nothing of the old one reads.
        StoreError: the new store cannot be made.
    """
    place, old = check_path(new), check_path(find_address(store).removeprefix("sqlite:///"))
    if place.exists():
        raise InputError(f"{place} is there already; name a file that is not")
    with tempfile.TemporaryDirectory(prefix="ctxfold-salvage-") as folder:
        try:
            wreck = Wreck(old, Path(folder))
        except OSError as error:
            raise InputError(
                f"{old} cannot be copied ({error.strerror}); name the damaged store with --store"
            ) from error
        with closing(wreck):
            found = [_take_over(wreck, number, name, place) for number, name in wreck.names().items()]
    if not found:
        raise InputError(f"nothing of {old} reads; restore a copy of it")
    return found


def _take_over(wreck: Wreck, number: int, name: str, new: Path) -> Salvaged:
    """A session as it was, where all of it replays; else its log."""
    lines = wreck.copy.with_name(f"{number}.jsonl")
    try:
        export_session(name, lines, store=str(wreck.copy))
        import_session(lines, store=str(new))
    except CtxfoldError:
        return _rebuild(wreck, number, name, new)
    return Salvaged(name, True, len(wreck.records(number)), ())


def _rebuild(wreck: Wreck, number: int, name: str, new: Path) -> Salvaged:
    loose = wreck.records(number)
    with Session.open(check_name(name), goal=wreck.goal(number), store=str(new)):
        pass
    by_step: dict[int, dict[int, LooseRecord]] = {}
    for each in loose:
        by_step.setdefault(each.step, {})[each.k] = each
    missing: list[str] = []
    with open_store_at(str(new)) as kept, kept.writing() as tx:
        row = find_session(tx, kept, name)
        head = head_of(tx, row.id, 1)
        for n in range(1, max(by_step, default=0) + 1):
            state = state_of(tx, row.id, head)
            drafts = _draft_step(n, by_step.get(n, {}), missing)
            after = record(tx, Branch(row.id, head, state, Workspace()), drafts, fills=True).state
            head = replace(head, seq=after.seq)
        verify(tx, row.id)
    return Salvaged(name, False, sum(each.text is not None for each in loose), tuple(missing))


def _draft_step(n: int, records: dict[int, LooseRecord], missing: list[str]) -> Sequence[Draft]:
    """The records of a step under the addresses they had; a note stands in place of one that is lost."""
    made: list[Draft] = []
    for k in range(1, max(records, default=1) + 1):
        loose = records.get(k)
        if loose is None or loose.text is None:
            missing.append(f"s{n}.{k}" if records else f"s{n}")
            made.append(Draft("note", "tool", _LOST))
        else:
            made.append(
                Draft(cast(Kind, loose.kind), cast(Origin, loose.origin), loose.text, loose.call_id, loose.shown)
            )
    return made
