"""Tells events in words: the lines of `ctxfold log`, and the line that sums up a step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from ctxfold.log import spans
from ctxfold.session.commits import EventKind, find_voided
from ctxfold.store.rows import Reading
from ctxfold.store.tables import EventRow
from ctxfold.workspace import Decider

_LONGEST = 90
"""Characters of a line that sums something up."""
_READ = 2_000
"""Characters of a text that are read for it."""
_ORDER = ("user", "call", "assistant", "note", "result")
"""Kinds of records, the one that tells most of a step first."""


@dataclass(frozen=True, slots=True)
class Event:
    """One committed event, as a history shows it.

    Attributes:
        seq: its number in the session.
        kind: what happened.
        decider: who decided it.
        cause: the reason, in a few words.
        branch: its branch.
        revision: the branch's revision after it, in hex.
        steps: the steps it concerns.
        time: seconds since 1970.
        holds: whether it is in force; False for a decision that was undone.
        about: the fold, the move, the words or the call, in a few words.
        tokens: of a recording, the raw cost of its step now, in o200k tokens; else 0.
        refused: the replies of a model that could not be applied, each with its fault.
    """

    seq: int
    kind: EventKind
    decider: Decider
    cause: str
    branch: str
    revision: str
    steps: tuple[int, ...]
    time: float
    holds: bool = True
    about: str = ""
    tokens: int = 0
    refused: tuple[tuple[str, str], ...] = ()


def read_history(tx: Reading, session: int, limit: int) -> list[Event]:
    """Return the newest events, newest first, at most `limit`."""
    rows = tx.forest.events(session, limit=limit, newest=True)
    gone = find_voided(rows[::-1])
    return [describe_event(tx, session, row, holds=row.seq not in gone) for row in rows]


def describe_event(tx: Reading, session: int, row: EventRow, *, holds: bool) -> Event:
    """Return an event as a history shows it."""
    branch = next((head.name for head in tx.forest.heads(session) if head.id == row.head), "")
    payload = json.loads(row.json)
    step = tx.log.step(session, payload["step"]) if "step" in payload else None
    steps = tuple(payload.get("steps", ())) or ((payload["step"],) if "step" in payload else ())
    about, tokens = _describe(tx, session, row.kind, payload), 0 if step is None else step.raw
    refused = tuple((each["text"], each["why"]) for each in payload.get("refused", ()))
    kind, decider, revision = cast(EventKind, row.kind), cast(Decider, row.decider), row.state.revision.hex()
    return Event(row.seq, kind, decider, row.cause, branch, revision, steps, row.time, holds, about, tokens, refused)


_ABOUT = {
    "arrived": "result of s{step}",
    "folded": "the fold{of_steps} into b{tile}",
    "moved": "the move to {name}",
    "renamed": "the renaming of {was_name} to {name}",
    "restored": "the return to v{to}",
    "refactored": "the refactoring {operator}{of_steps}",
    "noted": "{slot}: {text}",
    "read": "the plan stays as it is",
    "redacted": "{records} records, {bytes} bytes blanked",
}
"""An event in words, with the keys of its content; other kinds have a form of their own."""


def _describe(tx: Reading, session: int, kind: str, payload: dict[str, Any]) -> str:
    """An event in one line; empty if its kind says it all."""
    match kind:
        case "recorded":
            return _describe_records(tx, session, payload["step"], payload["records"])
        case "intent_set":
            change = payload["change"]
            ids = [each["id"] for name in ("items", "constraints", "decisions") for each in change.get(name, ())]
            named = ", ".join(ids or change.get("order", ())) or "the dialogue so far"
            return _shorten(f"the plan of {named}")
        case "extracted":
            made = payload["extraction"]
            about = _shorten(f"the extraction of {', '.join(each['ref'] for each in made['extracts']) or 'nothing'}")
            return f"{about}; not read: {_shorten(made['unread'])}" if made.get("unread") else about
        case "voided":
            target = tx.forest.event(session, int(payload["target"]))
            if payload["by"] == "redo" and target is not None:
                target = tx.forest.event(session, int(json.loads(target.json)["target"]))
            about = "" if target is None else _describe(tx, session, target.kind, json.loads(target.json))
            return f"{payload['by']} of {about}" if about else str(payload["by"])
        case _:
            steps = payload.get("steps", ())
            return _shorten(_ABOUT.get(kind, "").format(**payload, of_steps=f" of {spans(steps)}" if steps else ""))


def sum_up(texts: Sequence[tuple[str, str]]) -> str:
    """Return a line for records, each a kind and a text: of the record that tells most."""
    kind, text = min(texts, key=lambda each: _ORDER.index(each[0].partition(" ")[0]), default=("", ""))
    return _shorten(_describe_call(text[:_READ]) if kind == "call" else text[:_READ])


def _describe_records(tx: Reading, session: int, step: int, places: Sequence[int]) -> str:
    """The record of a step that tells most, and how many more there are."""
    records = [each for each in tx.log.records(session, [step]) if each.k in places]
    chosen = min(records, key=lambda record: (_ORDER.index(record.kind), record.k), default=None)
    if chosen is None:
        return ""
    text = sum_up([(chosen.kind, tx.log.text(chosen.entry))])
    more = len(records) - 1
    return f"{chosen.kind}: {text}{f' +{more}' if more else ''}"


def _describe_call(text: str) -> str:
    try:
        call = json.loads(text)
    except ValueError:
        return text
    args = call.get("args") or {}
    written = " ".join(f"{key}={value}" for key, value in args.items()) if isinstance(args, dict) else str(args)
    return f"{call.get('name', 'call')} {written}"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
