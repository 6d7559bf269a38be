"""Events in words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from ctxfold.session.commits import EventKind, voided
from ctxfold.store.rows import EventRow, Reading, StoredRecord
from ctxfold.workspace import Decider, spans

_LONGEST = 90
"""Characters of a line that sums something up."""
_READ = 2_000
"""Characters of a text that are looked at for it."""


@dataclass(frozen=True, slots=True)
class Event:
    """One committed event, as a history shows it.

    Attributes:
        seq: its number in the session.
        kind: what happened.
        decider: who decided it.
        cause: why, in a few words.
        branch: the branch it stands on.
        revision: the branch's revision after it, in hex.
        steps: the steps it concerns.
        time: when, seconds since 1970.
        standing: whether it is in force; a decision that was undone is not.
        about: what it was about, in a few words: the fold, the move, what was said or called.
        tokens: of what was recorded, what its step costs raw now, in o200k tokens; 0 for anything else.
        refused: of an event that keeps what a model wrote and nobody could apply: each reply with what was wrong with it.
    """

    seq: int
    kind: EventKind
    decider: Decider
    cause: str
    branch: str
    revision: str
    steps: tuple[int, ...]
    time: float
    standing: bool = True
    about: str = ""
    tokens: int = 0
    refused: tuple[tuple[str, str], ...] = ()


def history(tx: Reading, session: int, limit: int) -> list[Event]:
    """The newest events, newest first, `limit` at most."""
    rows = tx.forest.events(session, limit=limit, newest=True)
    gone = voided(rows[::-1])
    return [shown(tx, session, row, standing=row.seq not in gone) for row in rows]


def shown(tx: Reading, session: int, row: EventRow, *, standing: bool) -> Event:
    """An event as a history shows it."""
    branch = next((head.name for head in tx.forest.heads(session) if head.id == row.head), "")
    payload = json.loads(row.json)
    steps = tuple(payload.get("steps", ())) or ((payload["step"],) if "step" in payload else ())
    step = tx.log.step(session, payload["step"]) if "step" in payload else None
    return Event(
        row.seq,
        cast(EventKind, row.kind),
        cast(Decider, row.decider),
        row.cause,
        branch,
        row.state.revision.hex(),
        steps,
        row.time,
        standing,
        _tell(tx, session, row),
        0 if step is None else step.raw,
        tuple((each["text"], each["why"]) for each in payload.get("refused", ())),
    )


def _tell(tx: Reading, session: int, event: EventRow) -> str:
    """What an event was about, in one line; empty where its kind says it all."""
    payload: dict[str, Any] = json.loads(event.json)
    match event.kind:
        case "recorded":
            return _tell_records(tx, session, payload["step"], payload["records"])
        case "arrived":
            return f"result of s{payload['step']}{', late' if payload['at'] != payload['step'] else ''}"
        case "folded":
            return f"the fold of {spans(payload['steps'])} into b{payload['tile']}"
        case "moved":
            made = {"create": "the new branch", "new_topic": "the new topic"}.get(payload["action"], "the move to")
            return f"{made} {payload['name']}"
        case "renamed":
            return f"the renaming of {payload['was_name']} to {payload['name']}"
        case "intent_set":
            return f"the plan of {', '.join(_list_ids(payload['change'])) or 'the dialogue so far'}"
        case "extracted":
            refs = ", ".join(each["ref"] for each in payload["extraction"]["extracts"])
            return _shorten(f"the extraction of {refs or 'nothing'}")
        case "refactored":
            where = f" of {spans(payload['steps'])}" if payload["steps"] else ""
            return f"the refactoring {payload['operator']}{where}"
        case "noted":
            return _shorten(f"{payload['slot']}: {payload['text']}")
        case "voided":
            return _tell_voided(tx, session, payload)
        case "redacted":
            return f"{payload['records']} records, {payload['bytes']} bytes blanked"
        case _:
            return ""


def sum_up(texts: Sequence[tuple[str, str]]) -> str:
    """A line that sums up records, each its kind and its text: what the user said, else what was called, else what the assistant said."""
    by_kind = {kind: text[:_READ] for kind, text in reversed(texts)}
    if "user" in by_kind:
        return _shorten(by_kind["user"])
    if "call" in by_kind:
        return _shorten(_tell_call(by_kind["call"]))
    return _shorten(texts[0][1][:_READ] if texts else "")


def _tell_records(tx: Reading, session: int, step: int, places: Sequence[int]) -> str:
    """Who said or did what first, and how many entries there are beside it."""
    records = [each for each in tx.log.records(session, [step]) if each.k in places]
    chosen = min(records, key=_weigh, default=None)
    if chosen is None:
        return ""
    text = sum_up([(chosen.kind, tx.log.text(chosen.entry))])
    more = len(records) - 1
    return f"{chosen.kind}: {text}{f' +{more}' if more else ''}"


_FIRST = ("user", "call", "assistant", "note", "result")


def _weigh(record: StoredRecord) -> tuple[int, int]:
    return _FIRST.index(record.kind), record.k


def _tell_call(text: str) -> str:
    try:
        call = json.loads(text)
    except ValueError:
        return text
    args = call.get("args") or {}
    given = " ".join(f"{key}={value}" for key, value in args.items()) if isinstance(args, dict) else str(args)
    return f"{call.get('name', 'call')} {given}"


def _tell_voided(tx: Reading, session: int, payload: dict[str, Any]) -> str:
    target = tx.forest.event(session, int(payload["target"]))
    if payload["by"] == "redo" and target is not None:
        target = tx.forest.event(session, int(json.loads(target.json)["target"]))
    return f"{payload['by']} of {_tell(tx, session, target)}" if target is not None else str(payload["by"])


def _list_ids(change: dict[str, Any]) -> list[str]:
    return [each["id"] for name in ("items", "constraints", "decisions") for each in change.get(name, ())]


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
