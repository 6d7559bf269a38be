"""Reads the calls of steps as they were recorded, each with the addresses of its results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ctxfold.session.handle import Handle
from ctxfold.store.sqlite import Reading
from ctxfold.view.native import Called

__all__ = ["calls_of", "read_calls"]


def read_calls(handle: Handle, steps: Sequence[int]) -> Mapping[int, Sequence[Called]]:
    """The calls of a session's steps, in a snapshot of their own: what is in the log never changes but by a redaction."""
    with handle.reading() as tx:
        return calls_of(tx, handle.session, steps)


def calls_of(tx: Reading, session: int, steps: Sequence[int]) -> dict[int, list[Called]]:
    """The calls of steps, in order. Where calls of a step share an id, the first of them takes the first result."""
    made: dict[int, list[Called]] = {}
    waiting: dict[tuple[int, str | None], list[int]] = {}
    for record in tx.log.records(session, steps):
        ref, key = f"s{record.step}.{record.k}", (record.step, record.call_id)
        of = made.setdefault(record.step, [])
        if record.kind == "call":
            waiting.setdefault(key, []).append(len(of))
            of.append(_called(ref, tx.log.text(record.entry)))
        elif record.kind == "result" and waiting.get(key):
            places = waiting[key]
            at = places[0] if len(places) == 1 else places.pop(0)
            of[at] = Called(ref=of[at].ref, name=of[at].name, args=of[at].args, results=(*of[at].results, ref))
    return made


def _called(ref: str, text: str) -> Called:
    """A call from its record; what a redaction left of one is a call without arguments."""
    try:
        tree = json.loads(text)
        return Called(ref, str(tree["name"]), tree["args"])
    except (ValueError, KeyError, TypeError):
        return Called(ref, "redacted", {})
