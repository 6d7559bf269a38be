"""Reads the calls of steps as they were recorded, each with the addresses of its results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ctxfold.session.handle import Handle
from ctxfold.view.native import Called

__all__ = ["read_calls"]


def read_calls(handle: Handle, steps: Sequence[int]) -> Mapping[int, Sequence[Called]]:
    """The calls of a session's steps, in order, read in a snapshot of their own: what is in the log never changes but by a redaction.

    Where calls of a step share an id, the first of them takes the first result.
    """
    made: dict[int, list[Called]] = {}
    waiting: dict[tuple[int, str | None], list[int]] = {}
    with handle.reading() as tx:
        for record in tx.log.records(handle.session, steps):
            ref, key = f"s{record.step}.{record.k}", (record.step, record.call_id)
            of = made.setdefault(record.step, [])
            if record.kind == "call":
                waiting.setdefault(key, []).append(len(of))
                of.append(_called(ref, tx.log.text(record.entry)))
            elif record.kind == "result" and waiting.get(key):
                places = waiting[key]
                at = places[0] if len(places) == 1 else places.pop(0)
                of[at] = replace(of[at], results=(*of[at].results, ref))
    return made


def _called(ref: str, text: str) -> Called:
    """A call from its record; what a redaction left of one is a call without arguments."""
    try:
        tree = json.loads(text)
        return Called(ref, str(tree["name"]), tree["args"])
    except (ValueError, KeyError, TypeError):
        return Called(ref, "redacted", {})
