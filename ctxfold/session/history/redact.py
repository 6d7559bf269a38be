"""Redaction: overwrites bytes of a session wherever they stand, keeping their length.

No digest of what was removed stays: revision ids, which hash the content they came with, are written anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from itertools import count as count_from
from typing import Any

from ctxfold.errors import InputError, RefError
from ctxfold.log.form import blobs
from ctxfold.log.json_tree import parse
from ctxfold.log.lines import Line
from ctxfold.log.refs import Address, BlockRef, RangeRef, RecordRef, StepRef, StretchRef, parse_ref
from ctxfold.session.history.commit import Happened, advance, dump_payload, head_of, state_of
from ctxfold.session.history.events import INTENTS
from ctxfold.session.history.load import lines_at
from ctxfold.session.history.tiles import dump_tile, read_tile
from ctxfold.session.history.verify import rechain
from ctxfold.session.recall import line_form
from ctxfold.store.codec import encode, pack_json
from ctxfold.store.protocol import Writing
from ctxfold.store.values import HeadRow, StoredRecord
from ctxfold.workspace.guidance import masked_guidance
from ctxfold.workspace.masking import masked_payload
from ctxfold.workspace.workspace import dump_lines

__all__ = ["Redaction", "redact"]

Mask = Callable[[str], str]

_LEAST_QUOTE = 6
"""Characters from which a redacted value is also looked for where it may have been quoted."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """What a redaction changed: how many records, and how many bytes of them."""

    records: int
    bytes: int


def redact(tx: Writing, session: int, head: HeadRow, what: str) -> Redaction:
    """Replace what a ref (`s12`, `s12.2`, `s12.2:4-8`, `s4-s9`) names, or else what a regular expression matches, and say so on branch `head`.

    Raises:
        RefError: a ref that names nothing.
        InputError: no regular expression, or one that matches nothing.
    """
    try:
        ref = parse_ref(what)
    except RefError:
        done, masks = _by_pattern(tx, session, _compile(what))
    else:
        done, masks = _by_ref(tx, session, ref)
    masked = [mask(tx, session, masks) for mask in (_mask_tiles, _mask_notes, _mask_names)]
    if not (done.records or any(masked)):
        raise InputError("nothing matches this pattern; `ctxfold recall` finds what is recorded")
    tx.log.sweep()
    rechain(tx, session)
    state = state_of(tx, session, head_of(tx, session, head.id))
    advance(tx, session, head, state, state, Happened("redacted", {"records": done.records, "bytes": done.bytes}))
    return done


def _compile(what: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(what)
    except re.error as error:
        raise InputError(
            f"not a ref and not a regular expression ({error}); quote special characters with a backslash"
        ) from error
    if pattern.search("") is not None:
        raise InputError("this pattern matches nothing at all everywhere; name what is to be redacted")
    return pattern


def stars(text: str) -> str:
    """A tombstone of a text's length in bytes; line ends stay, so line numbers keep their meaning."""
    return "".join(part if part in ("\n", "\r") else "*" * len(encode(part)) for part in re.split(r"([\n\r])", text))


def _by_pattern(tx: Writing, session: int, pattern: re.Pattern[str]) -> tuple[Redaction, _Masks]:
    literals: set[str] = set()
    for record in tx.log.entries_of(session):
        for entry in (record.entry, *([] if record.shown is None else [record.shown])):
            literals |= _find_matches(pattern, tx.log.text(entry))
    literals |= set(map(_unescape, literals))

    def mask(text: str) -> str:
        text = pattern.sub(lambda found: stars(found[0]), text)
        for literal in sorted(literals, key=len, reverse=True):
            text = text.replace(literal, stars(literal))
        return text

    records = size = 0
    for record in tx.log.entries_of(session):
        before = tx.log.text(record.entry)
        after = mask(before)
        if after != before:
            records += 1
            size += sum(len(encode(found[0])) for found in pattern.finditer(before))
        _rewrite(tx, record, before, after, mask)
    return Redaction(records, size), _Masks(mask, frozenset())


def _find_matches(pattern: re.Pattern[str], text: str) -> set[str]:
    """What a pattern matches of a text, and what stands in views for the bytes of which it matches any: a fingerprint of them tells too much."""
    found = list(pattern.finditer(text))
    cut = blobs(text) if found else []
    return {match[0] for match in found} | {
        short for run, short in cut if any(match.start() < run.end and run.start < match.end() for match in found)
    }


def _unescape(literal: str) -> str:
    try:
        return str(json.loads(f'"{literal}"'))
    except ValueError:
        return literal


def _by_ref(tx: Writing, session: int, ref: Address) -> tuple[Redaction, _Masks]:
    chosen = _records_of(tx, session, ref)
    quotes: set[str] = set()
    size = 0
    refs = frozenset(f"s{record.step}.{record.k}" for record in chosen)
    for record in chosen:
        before = tx.log.text(record.entry)
        after = _blank_lines(before, ref) if isinstance(ref, RangeRef) else stars(before)
        size += _count_changed(before, after) if isinstance(ref, RangeRef) else len(encode(before))
        quotes |= _find_quotes(before, after)
        _rewrite(tx, record, before, after, stars)
    wanted = sorted(quotes, key=len, reverse=True)

    def mask(text: str) -> str:
        for quote in wanted:
            text = text.replace(quote, stars(quote))
        return text

    return Redaction(len(chosen), size), _Masks(mask, refs)


def _count_changed(before: str, after: str) -> int:
    return sum(one != other for one, other in zip(encode(before), encode(after), strict=False))


def _find_quotes(before: str, after: str) -> set[str]:
    """What a redacted text may have been quoted by: its values, or its lines."""
    kept = set(after.split("\n"))
    found = {run.of(before) for run, _ in blobs(before)}
    tree = parse(before)
    if tree is None:
        found |= {line.strip() for line in before.split("\n") if line not in kept}
    else:
        found |= set(_leaves(tree))
    return {quote for quote in found if len(quote) >= _LEAST_QUOTE}


def _leaves(tree: Any) -> Iterator[str]:
    """The scalars of a tree, spelled."""
    if isinstance(tree, (dict, list)):
        for each in tree.values() if isinstance(tree, dict) else tree:
            yield from _leaves(each)
    else:
        yield str(tree)


def _records_of(tx: Writing, session: int, ref: Address) -> list[StoredRecord]:
    found: list[StoredRecord]
    match ref:
        case BlockRef():
            raise RefError(f"{ref} is a view of the log; redact the steps it stands for")
        case StepRef():
            found = tx.log.records(session, [ref.step])
        case StretchRef():
            found = tx.log.records(session, range(ref.first, min(ref.last, tx.log.last_step(session)) + 1))
        case RecordRef():
            found = [record for record in tx.log.records(session, [ref.step]) if record.k == ref.record]
        case RangeRef():
            found = tx.log.records(session, [ref.step])
            found = [each for each in found if each.k == ref.record or (ref.record is None and each.kind == "result")]
    if not found or (isinstance(ref, RangeRef) and len(found) != 1):
        raise RefError(f"{ref} names no single record; `ctxfold log` shows those there are")
    return found


def _blank_lines(text: str, ref: RangeRef) -> str:
    if parse(text) is not None:
        raise RefError(f"{ref} counts lines of a derived form; redact the whole record, or a pattern")
    lines = line_form(text)
    return "\n".join(stars(line) if ref.first <= at <= ref.last else line for at, line in enumerate(lines, 1))


@dataclass(frozen=True, slots=True)
class _Masks:
    """How other places are masked: a text's quotes anywhere, and whole lines of the records in `refs`."""

    text: Mask
    refs: frozenset[str]


def _mask_line(line: Line, mask: Mask) -> Line:
    opening = line.text[: len(line.text) - len(line.text.lstrip("<> "))] if mask is stars else ""
    text = opening + mask(line.text[len(opening) :])
    if text == line.text:
        return line
    return line.reworded(text)


def _rewrite(tx: Writing, record: StoredRecord, before: str, after: str, mask: Mask) -> None:
    form = lines_at(tx, record)
    lines = tuple(_mask_line(line, mask) for line in form)
    shown = record.shown is not None and mask(tx.log.text(record.shown)) != tx.log.text(record.shown)
    if before == after and lines == form and not shown:
        return
    tx.log.blank(record, after, pack_json(dump_lines(lines)))


def _mask_tiles(tx: Writing, session: int, masks: _Masks) -> int:
    """How many tiles were masked."""
    changed = 0
    for number in tx.cover.tile_numbers(session):
        tile = read_tile(tx, session, number)
        lines = tuple(_mask_line(line, stars if line.ref in masks.refs else masks.text) for line in tile.lines)
        summary = masks.text(tile.summary)
        if lines != tile.lines or summary != tile.summary:
            tx.cover.replace_tile(session, number, pack_json(dump_tile(replace(tile, lines=lines, summary=summary))))
            changed += 1
    return changed


def _mask_names(tx: Writing, session: int, masks: _Masks) -> int:
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


def _mask_notes(tx: Writing, session: int, masks: _Masks) -> int:
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


def _mask_payload(kind: str, payload: dict[str, Any], masks: _Masks) -> dict[str, Any]:
    if kind in INTENTS or kind == "refused":
        return masked_payload(payload, masks.text, stars, masks.refs)
    if kind == "noted":
        return {**payload, "text": masks.text(payload["text"])}
    if kind == "refactored":
        return {**payload, "guidance": masked_guidance(payload["guidance"], masks.text, stars, masks.refs)}
    return payload
