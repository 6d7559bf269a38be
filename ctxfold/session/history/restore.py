"""Imports a session from an exported file: checks its checksum, stores its rows and replays its events."""

from __future__ import annotations

import json
import os
from typing import Any

from ctxfold.errors import CorruptStore, ImportFault
from ctxfold.log.records import Record, Step
from ctxfold.session.history.branches import check_name
from ctxfold.session.history.export import FORMAT, check_lines
from ctxfold.session.history.verify import verify
from ctxfold.session.open import store_at
from ctxfold.session.validate import as_path
from ctxfold.store.codec import decode, pack_json
from ctxfold.store.sqlite import Writing
from ctxfold.store.values import EventRow, HeadRow, State, TopicRow
from ctxfold.text.strict_json import strictly
from ctxfold.tokens import MIN_BUDGET

__all__ = ["import_session"]

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
    place = as_path(file)
    if name is not None:
        check_name(name)
    try:
        text = decode(place.read_bytes())
    except (OSError, ValueError) as error:
        raise ImportFault(f"{place.name} cannot be read; give a file that `ctxfold sessions export` wrote") from error
    lines = [line.removesuffix("\r") for line in text.split("\n") if line.strip()]
    try:
        with store_at(store) as kept, kept.writing() as tx:
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
