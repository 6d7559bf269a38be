"""Redacts names: a branch, a topic or a session that is called by what was redacted is called `redacted` from then on."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import replace
from itertools import chain, count

from ctxfold.session.history.branches import MAIN
from ctxfold.session.history.commit import NAMES, dump_payload
from ctxfold.session.history.tombstones import Masks
from ctxfold.store.protocol import Writing

__all__ = ["rename_branches", "rename_session"]

_OURS = re.compile(rf"{MAIN}|(?:branch|topic|redacted)(?:-\d+)?")
"""Names that nobody chose."""


def rename_branches(tx: Writing, session: int, masks: Masks) -> int:
    """Give other names to the branches and topics that tell of it, in their events too; how many had one."""
    heads, topics = tx.forest.heads(session), tx.forest.topics(session)
    events = [(event, json.loads(event.json)) for event in tx.forest.events(session)]
    told = [payload[key] for _, payload in events for key in sorted(NAMES & payload.keys())]
    known = dict.fromkeys([*(head.name for head in heads), *(topic.name for topic in topics), *told])
    others: dict[str, str] = {}
    for name in known:
        if _tells(name, masks):
            others[name] = _free({*known, *others.values()})
    for head in heads:
        if head.name in others:
            tx.forest.rename_head(session, head.id, others[head.name])
    for topic in topics:
        if topic.name in others:
            tx.forest.rename_topic(session, topic.id, others[topic.name])
    for event, payload in events:
        after = {key: others.get(value, value) if key in NAMES else value for key, value in payload.items()}
        if after != payload:
            tx.forest.replace_event(session, replace(event, json=dump_payload(after)))
    return len(others)


def rename_session(tx: Writing, session: int, name: str, masks: Masks) -> str:
    """The session's name, another one where it told of it."""
    if not _tells(name, masks):
        return name
    other = _free(tx.sessions.names())
    tx.sessions.rename(session, other)
    return other


def _tells(name: str, masks: Masks) -> bool:
    return not _OURS.fullmatch(name) and masks.names(name)


def _free(taken: Collection[str]) -> str:
    return next(name for name in chain(["redacted"], (f"redacted-{n}" for n in count(2))) if name not in taken)
