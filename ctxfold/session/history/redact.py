"""Redaction: overwrites bytes of a session wherever they stand, keeping their length.

No digest of what was removed stays: revision ids, which hash the content they came with, are written anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from ctxfold.errors import InputError, RefError
from ctxfold.log.form import blobs
from ctxfold.log.json_tree import parse
from ctxfold.log.refs import Address, BlockRef, RangeRef, RecordRef, StepRef, StretchRef, parse_ref
from ctxfold.session.history.commit import Happened, advance, head_of, state_of
from ctxfold.session.history.load import lines_at
from ctxfold.session.history.redact_derived import (
    mask_ids,
    mask_line,
    mask_notes,
    mask_tiles,
    rename_branches,
    rename_session,
)
from ctxfold.session.history.tombstones import LEAST, MOST, Mask, Masks, mask_matches, mask_quotes, stars
from ctxfold.session.history.verify import rechain
from ctxfold.store.codec import encode, pack_json
from ctxfold.store.sqlite import Writing
from ctxfold.store.values import HeadRow, StoredRecord
from ctxfold.workspace.workspace import dump_lines

__all__ = ["Redaction", "redact"]


@dataclass(frozen=True, slots=True)
class Redaction:
    """What a redaction changed.

    Attributes:
        records: how many records.
        bytes: how many bytes of them.
        names: how many branches and topics are called otherwise now.
        session: the session's name, another one where that was redacted.
        left: the copies that it does not reach, in words.
    """

    records: int
    bytes: int
    names: int = 0
    session: str = ""
    left: tuple[str, ...] = ()


_OUTSIDE = "exports and copies made before, and other sessions"
_ENCODED = "other encodings of it: give its value, not a ref, to reach those too"
_UNREAD = f"other encodings of all but the {MOST} longest values"


def redact(tx: Writing, session: int, head: HeadRow, what: str, called: str | None) -> Redaction:
    """Replace what a ref (`s12`, `s12.2`, `s12.2:4-8`, `s4-s9`) names, or else what a regular expression matches, and say so on branch `head`. `called`: the session's name, redacted like those of branches and topics; None leaves all of them.

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
    masked = [mask(tx, session, masks) for mask in (mask_tiles, mask_notes, mask_ids)]
    if called is not None:
        done = replace(
            done, names=rename_branches(tx, session, masks), session=rename_session(tx, session, called, masks)
        )
    if not (done.records or any(masked) or done.names or done.session != (called or "")):
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


def _by_pattern(tx: Writing, session: int, pattern: re.Pattern[str]) -> tuple[Redaction, Masks]:
    values: set[str] = set()
    for record in tx.log.entries_of(session):
        for entry in (record.entry, *([] if record.shown is None else [record.shown])):
            values |= _find_matches(pattern, tx.log.text(entry))
    beside = chain(
        (text for *_, text in tx.cover.note_links(session)), (row.cause for row in tx.forest.events(session))
    )
    values |= {match[0] for text in beside for match in pattern.finditer(text)}
    masks = mask_matches(pattern, values)
    records = size = 0
    for record in tx.log.entries_of(session):
        before = tx.log.text(record.entry)
        after = masks.text(before)
        if after != before:
            records += 1
            size += _count_changed(before, after)
        _rewrite(tx, record, before, after, masks.text)
    left = (_OUTSIDE, _UNREAD) if sum(len(value) >= LEAST for value in values) > MOST else (_OUTSIDE,)
    return Redaction(records, size, left=left), masks


def _find_matches(pattern: re.Pattern[str], text: str) -> set[str]:
    """What a pattern matches of a text, and what stands in views for the bytes of which it matches any: a fingerprint of them tells too much."""
    found = list(pattern.finditer(text))
    cut = blobs(text) if found else []
    return {match[0] for match in found} | {
        short for run, short in cut if any(match.start() < run.end and run.start < match.end() for match in found)
    }


def _by_ref(tx: Writing, session: int, ref: Address) -> tuple[Redaction, Masks]:
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
    return Redaction(len(chosen), size, left=(_OUTSIDE, _ENCODED)), mask_quotes(quotes, refs)


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
    return {quote for quote in found if len(quote) >= LEAST}


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
    lines = enumerate(text.split("\n"), 1)
    return "\n".join(stars(line) if ref.first <= at <= ref.last else line for at, line in lines)


def _rewrite(tx: Writing, record: StoredRecord, before: str, after: str, mask: Mask) -> None:
    form = lines_at(tx, record)
    whole = "\n".join(line.text for line in form)
    lines = tuple(mask_line(line, mask) for line in form) if mask is stars or mask(whole) != whole else form
    shown = record.shown is not None and mask(tx.log.text(record.shown)) != tx.log.text(record.shown)
    if before == after and lines == form and not shown:
        return
    tx.log.blank(record, after, pack_json(dump_lines(lines)))
