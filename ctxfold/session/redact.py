"""Masks every string of a session, then writes it anew."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice
from itertools import count as count_from
from typing import Any

from ctxfold.errors import InputError, RefError
from ctxfold.log import Address, BlockRef, RangeRef, RecordRef, StepRef, StretchRef, parse_ref
from ctxfold.log.json import parse
from ctxfold.log.lines import Line, blobs
from ctxfold.session.branches import MAIN
from ctxfold.session.commits import INTENTS, NAMES, Happened, advance, dump_payload, head_of, state_of
from ctxfold.session.load import dump_tile, lines_at, read_tile
from ctxfold.session.verify import rechain
from ctxfold.store.codec import encode, pack_json
from ctxfold.store.rows import HeadRow, StoredRecord
from ctxfold.store.sqlite import Writing
from ctxfold.text.secrets import Copies, Readings
from ctxfold.workspace import dump_lines

Mask = Callable[[str], str]

LEAST = 6
"""Characters from which a redacted value is also looked for where it may have been quoted, and in other encodings."""

MOST = 64
"""Values of one redaction that are looked for in other encodings."""

_LEAST_IN_NAME = 4
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Masks:
    """What one redaction blanks: parts of any text, whole lines of the records in `refs`, and names where the name of a branch, topic or the session tells of it.

    `values`: what was found, as it stood.
    """

    text: Mask
    refs: frozenset[str]
    values: frozenset[str]

    def names(self, name: str) -> bool:
        """Whether a name tells of what is redacted. Names are in lower case."""
        told = (value.lower() in name for value in self.values if len(value) >= _LEAST_IN_NAME)
        return self.text(name) != name or any(told)


def stars(text: str) -> str:
    """A tombstone of a text's length in bytes; line ends stay, so line numbers keep their meaning."""
    return "".join(part if part in ("\n", "\r") else "*" * len(encode(part)) for part in re.split(r"([\n\r])", text))


def mask_matches(pattern: re.Pattern[str], found: Iterable[str]) -> Masks:
    """Blank what a pattern matches and each value that it was found to match, with the copies of these in other encodings."""
    values = frozenset(found)
    values |= frozenset(map(_unescape, values))
    ordered = sorted(values, key=len, reverse=True)
    copies = [Copies(value) for value in islice((value for value in ordered if len(value) >= LEAST), MOST)]

    def mask(text: str) -> str:
        text = pattern.sub(lambda match: stars(match[0]), text)
        for value in ordered:
            text = text.replace(value, stars(value))
        return _blank_copies(text, copies) if copies else text

    return Masks(mask, frozenset(), values)


def mask_quotes(quotes: Iterable[str], refs: frozenset[str]) -> Masks:
    """Blank what redacted records are quoted by, as it stands."""
    ordered = sorted(quotes, key=len, reverse=True)

    def mask(text: str) -> str:
        for quote in ordered:
            text = text.replace(quote, stars(quote))
        return text

    return Masks(mask, refs, frozenset(ordered))


def _blank_copies(text: str, wanted: list[Copies]) -> str:
    """Blank the letters and digits of each copy: what stands between them may hold a document together."""
    readings = Readings(text)
    found = sorted(stretch for copies in wanted for copy in copies.find(readings) for stretch in copy.stretches)
    pieces: list[str] = []
    last = 0
    for start, end in found:
        if end > last:
            fresh = max(start, last)
            pieces += (text[last:fresh], _WORD.sub(lambda word: stars(word[0]), text[fresh:end]))
            last = end
    return "".join((*pieces, text[last:]))


def _unescape(value: str) -> str:
    try:
        return str(json.loads(f'"{value}"'))
    except ValueError:
        return value


_TEXTS = frozenset({"text", "why", "need", "hint", "path"})
_COURSE, _FACTS, _OMITTED = "course", "facts", "omitted"
_OURS = re.compile(rf"{MAIN}|(?:branch|topic|redacted)(?:-\d+)?")
"""Names that nobody chose."""


def mask_line(line: Line, mask: Mask) -> Line:
    """A line of a full form with its text masked; the marks of who speaks stay."""
    opening = line.text[: len(line.text) - len(line.text.lstrip("<> "))] if mask is stars else ""
    text = opening + mask(line.text[len(opening) :])
    return line if text == line.text else line.reword(text)


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
