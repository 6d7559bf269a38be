"""Redacts what was made of records: tiles, ids, notes, plans, extractions, refactorings, and the reasons of events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, groupby
from itertools import count as count_from
from typing import Any

from ctxfold.log.lines import Line
from ctxfold.session.history.commit import dump_payload
from ctxfold.session.history.events import INTENTS
from ctxfold.session.history.tiles import dump_tile, read_tile
from ctxfold.session.history.tombstones import Mask, Masks, stars
from ctxfold.store.codec import pack_json
from ctxfold.store.protocol import Writing
from ctxfold.workspace.guidance import masked_guidance
from ctxfold.workspace.masking import masked_payload

__all__ = ["mask_ids", "mask_line", "mask_notes", "mask_tiles"]


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
    for number, text in tx.cover.note_rows(session):
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
        return masked_payload(payload, masks.text, stars, masks.refs)
    if kind == "noted":
        return {**payload, "text": masks.text(payload["text"])}
    if kind == "refactored":
        return {**payload, "guidance": masked_guidance(payload["guidance"], masks.text, stars, masks.refs)}
    return payload
