"""Redacts what was made of records: tiles, ids, notes, plans, extractions, refactorings, the reasons of events, and names.

A branch, a topic or a session that is called by what was redacted is called `redacted` from then on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain, groupby
from itertools import count as count_from
from typing import Any

from ctxfold.log.lines import Line
from ctxfold.session.history.branches import MAIN
from ctxfold.session.history.commit import NAMES, dump_payload
from ctxfold.session.history.events import INTENTS
from ctxfold.session.history.tiles import dump_tile, read_tile
from ctxfold.session.history.tombstones import Mask, Masks, stars
from ctxfold.store.codec import pack_json
from ctxfold.store.sqlite import Writing

__all__ = ["mask_ids", "mask_line", "mask_notes", "mask_tiles", "rename_branches", "rename_session"]

_TEXTS = frozenset({"text", "why", "need", "hint", "path"})
_COURSE, _FACTS, _OMITTED = "course", "facts", "omitted"
_OURS = re.compile(rf"{MAIN}|(?:branch|topic|redacted)(?:-\d+)?")
"""Names that nobody chose."""


def mask_line(line: Line, mask: Mask) -> Line:
    """A line of a full form with its text masked; the marks of who speaks stay."""
    opening = line.text[: len(line.text) - len(line.text.lstrip("<> "))] if mask is stars else ""
    text = opening + mask(line.text[len(opening) :])
    return line if text == line.text else line.reworded(text)


def mask_tiles(tx: Writing, session: int, masks: Masks) -> int:
    """How many tiles were masked."""
    changed = 0
    for number in tx.cover.tile_numbers(session):
        tile = read_tile(tx, session, number)
        lines = tuple(mask_line(line, stars if line.ref in masks.refs else masks.text) for line in tile.lines)
        summary = masks.text(tile.summary)
        if lines != tile.lines or summary != tile.summary:
            tx.cover.replace_tile(session, number, pack_json(dump_tile(replace(tile, lines=lines, summary=summary))))
            changed += 1
    return changed


def mask_ids(tx: Writing, session: int, masks: Masks) -> int:
    """How many records had a call id or an idempotency key masked."""
    changed = 0
    for _, group in groupby(sorted(tx.log.entries_of(session), key=lambda record: record.step), lambda each: each.step):
        records = list(group)
        ids = _mask_apart([record.call_id for record in records], masks.text)
        keys = _mask_apart([record.idempotency for record in records], masks.text)
        for record in records:
            named = (ids[record.call_id], keys[record.idempotency])
            if named != (record.call_id, record.idempotency):
                tx.log.rename(session, record, *named)
                changed += 1
    return changed


def _mask_apart(names: Sequence[str | None], mask: Mask) -> dict[str | None, str | None]:
    """The names of a step masked: what was one stays one, what were two stay two, for a result is told by its call's."""
    found = dict.fromkeys(names)
    taken = {name for name in found if name is not None and mask(name) == name}
    for name in found:
        if name is not None:
            masked = mask(name)
            numbered = (f"{masked}-{number}" for number in count_from(2))
            found[name] = (
                name if masked == name else next(each for each in chain([masked], numbered) if each not in taken)
            )
            taken.add(found[name] or "")
    return found


def mask_notes(tx: Writing, session: int, masks: Masks) -> int:
    """How many notes, plans, extractions, refactorings and reasons of events were masked."""
    changed = 0
    for number, _, _, text in tx.cover.note_links(session):
        if masks.text(text) != text:
            tx.cover.replace_note(session, number, masks.text(text))
            changed += 1
    for event in tx.forest.events(session):
        payload: dict[str, Any] = json.loads(event.json)
        after = _mask_payload(event.kind, payload, masks)
        kept = event.json if after == payload else dump_payload(after)
        masked = replace(event, cause=masks.text(event.cause), json=kept)
        if masked != event:
            tx.forest.replace_event(session, masked)
            changed += 1
    return changed


def _mask_payload(kind: str, payload: dict[str, Any], masks: Masks) -> dict[str, Any]:
    if kind in INTENTS or kind == "refused":
        made: dict[str, Any] = _mask_plan(payload, masks)
        return made
    if kind == "noted":
        return {**payload, "text": masks.text(payload["text"])}
    if kind == "refactored":
        return {**payload, "guidance": _mask_guidance(payload["guidance"], masks)}
    return payload


def _mask_plan(node: Any, masks: Masks) -> Any:
    """The payload of a plan or an extraction, or a part of it, with its texts masked."""
    match node:
        case dict():
            own = stars if _record(node.get("ref")) in masks.refs else masks.text
            return {key: _mask_cell(key, value, own, masks) for key, value in node.items()}
        case list():
            return [_mask_plan(each, masks) for each in node]
        case _:
            return node


def _mask_cell(key: str, value: Any, own: Mask, masks: Masks) -> Any:
    if key in _TEXTS and isinstance(value, str):
        return own(value) if key != "path" else masks.text(value)
    if key == _FACTS and isinstance(value, list):
        return [own(fact) for fact in value]
    if key == _OMITTED and isinstance(value, list):
        return [masks.text(said) for said in value]
    if key == _COURSE and isinstance(value, list):
        return [
            [ref, cue, (stars if _record(ref) in masks.refs else masks.text)(text), *rest]
            for ref, cue, text, *rest in value
        ]
    return _mask_plan(value, masks)


def _record(ref: object) -> str:
    """The record of an address of lines."""
    return ref.partition(":")[0] if isinstance(ref, str) else ""


def _mask_guidance(tree: dict[str, Any], masks: Masks) -> dict[str, Any]:
    """What a refactoring left, as JSON, with its texts masked."""

    def mask(text: str, *refs: str) -> str:
        return masks.text(text) if masks.refs.isdisjoint(refs) else stars(text)

    pins = [{**pin, "text": mask(pin["text"], *pin["refs"])} for pin in tree["pins"]]
    superseded = [
        {
            **each,
            "of": masks.text(each["of"]),
            "was": mask(each["was"], each["at"]),
            "now": mask(each["now"], each["by"]),
        }
        for each in tree["superseded"]
    ]
    return {**tree, "pins": pins, "superseded": superseded}


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
    return next(name for name in chain(["redacted"], (f"redacted-{n}" for n in count_from(2))) if name not in taken)
