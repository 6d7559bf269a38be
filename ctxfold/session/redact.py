"""Masks every string of a session that holds a redacted value, and writes the session anew."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any

from ctxfold.errors import InputError, RefError
from ctxfold.log import Address, BlockRef, RangeRef, Record, RecordRef, StretchRef, parse_ref
from ctxfold.log.json import parse
from ctxfold.log.lines import Line, blobs, lines_of
from ctxfold.session.commits import GENESIS, MAIN, NAMES, Happened, advance, dump_payload, head_of, state_of
from ctxfold.session.load import dump_lines, load_lines
from ctxfold.session.recall import find_leaves
from ctxfold.session.transfer import dump_session, store_session
from ctxfold.session.verify import replay
from ctxfold.store.codec import encode
from ctxfold.store.rows import Writing
from ctxfold.store.tables import HeadRow
from ctxfold.text.secrets import Copies, Readings

Mask = Callable[[str], str]
Tree = dict[str, Any]

LEAST = 6
"""Characters from which a redacted value is also looked for where it may have been quoted, and in other encodings."""
MOST = 64
"""Values of one redaction that are looked for in other encodings: each costs a pass over all of the session."""
_LEAST_IN_NAME = 4
"""Characters from which a value is looked for in names, in lower case."""
_WORD = re.compile(r"[^\W_]+")
_OURS = re.compile(rf"{MAIN}|(?:branch|topic|redacted)(?:-\d+)?")
"""Names that nobody chose."""
_WORDS_OF_OURS = frozenset(
    "kind origin decider status state slot operator action by at id ref refs evidence cause counts todo superseded_by"
    " revision field".split()
)
"""Keys with a word of ours or an address, which code reads: they hold no text of anybody."""


_IDS = ("call_id", "idempotency")


@dataclass(frozen=True, slots=True)
class Redaction:
    """What a redaction changed.

    Attributes:
        records: how many records.
        bytes: how many bytes of them.
        names: how many branches and topics have another name now.
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


@dataclass(frozen=True, slots=True)
class _Masks:
    """What one redaction masks: parts of any text, and all of the records in `refs`, or some lines of one.

    `values`: the texts to look for. `names`: other names for branches, topics, calls and keys.
    """

    text: Mask
    values: frozenset[str]
    refs: frozenset[str] = frozenset()
    lines: RangeRef | None = None
    left: tuple[str, ...] = (_OUTSIDE,)
    names: Mapping[str, str] = field(default_factory=dict)

    def of(self, ref: object) -> Mask:
        """The mask for a text that came from an address: all of it, where its record is redacted."""
        return stars if isinstance(ref, str) and ref.partition(":")[0] in self.refs else self.text

    def is_named(self, name: str) -> bool:
        """Whether a name that somebody chose holds a value. Names are in lower case."""
        values = (value.lower() for value in self.values if len(value) >= _LEAST_IN_NAME)
        return not _OURS.fullmatch(name) and (self.text(name) != name or any(value in name for value in values))


def redact(tx: Writing, session: int, head: HeadRow, what: str, called: str | None) -> Redaction:
    """Mask the records or lines of a ref (`s12`, `s12.2`, `s12.2:4-8`, `s4-s9`), else the matches of a pattern.

    An event on branch `head` says that it was done. `called` is the session's name, which is then masked as those of
    branches and topics are; None leaves all names.

    Raises:
        RefError: a ref that names nothing.
        InputError: not a regular expression, or one that matches nothing.
    """
    trees = list(dump_session(tx, session))
    try:
        ref = parse_ref(what)
    except RefError:
        masks = _by_pattern(_compile(what), trees)
    else:
        masks = _by_ref(ref, trees)
    names = {} if called is None else _rename(trees, masks)
    masks = replace(masks, names=names | _mask_ids(trees, masks.text))
    own = called if called is None or not masks.is_named(called) else _find_free(tx.sessions.names())
    masked = [_mask_row(tree, masks) for tree in trees]
    if masked == trees and own == called:
        raise InputError("nothing matches this pattern; `ctxfold recall` finds what is recorded")
    pairs = [(old["entry"], new["entry"]) for old, new in zip(_records_in(trees), _records_in(masked), strict=True)]
    changed = [_count_changed(old, new) for old, new in pairs if old != new]
    tx.clear(session)
    store_session(tx, session, masked)
    _revise(tx, session)
    if own is not None and own != called:
        tx.sessions.change(session, "name", own)
    state = state_of(tx, session, head_of(tx, session, head.id))
    done = Redaction(len(changed), sum(changed), len(names), own or "", masks.left)
    advance(tx, session, head, state, state, Happened("redacted", {"records": done.records, "bytes": done.bytes}))
    return done


def _revise(tx: Writing, session: int) -> None:
    """Compute each revision again, for the content that it comes from was masked."""
    revisions = {0: GENESIS.revision}
    for event in tx.forest.events(session):
        revisions[event.seq] = replay(tx, session, event, revisions[event.prev])
        tx.forest.revise(session, event.seq, revisions[event.seq])


def stars(text: str) -> str:
    """A tombstone of a text's length in bytes; line ends stay, so line numbers keep their meaning."""
    return "".join(part if part in ("\n", "\r") else "*" * len(encode(part)) for part in re.split(r"([\n\r])", text))


def _compile(what: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(what)
    except re.error as error:
        raise InputError(
            f"not a ref and not a regular expression ({error}); quote special characters with a backslash"
        ) from error
    if pattern.search("") is not None:
        raise InputError(
            "this pattern matches the empty string, so it would redact everything; "
            "write one that needs at least one character"
        )
    return pattern


def _by_pattern(pattern: re.Pattern[str], trees: Sequence[Tree]) -> _Masks:
    """Mask the matches of a pattern and each value that it matched, with their copies in other encodings."""
    values = frozenset(value for text in _texts_in(trees) for value in _find_matches(pattern, text))
    values |= frozenset(map(_unescape, values))
    long = sorted((value for value in values if len(value) >= LEAST), key=len, reverse=True)
    copies, mask_values = [Copies(value) for value in long[:MOST]], _mask_all(values)

    def mask(text: str) -> str:
        text = mask_values(pattern.sub(lambda match: stars(match[0]), text))
        return _blank_copies(text, copies) if copies else text

    return _Masks(mask, values, left=(_OUTSIDE, _UNREAD) if len(long) > MOST else (_OUTSIDE,))


def _mask_all(values: Iterable[str]) -> Mask:
    """A mask for each copy of some values as they are."""
    ordered = sorted(values, key=len, reverse=True)

    def mask(text: str) -> str:
        for value in ordered:
            text = text.replace(value, stars(value))
        return text

    return mask


def _find_matches(pattern: re.Pattern[str], text: str) -> set[str]:
    """The matches of a pattern in a text, and the short form of bytes that it matches part of: it has a fingerprint."""
    matches = list(pattern.finditer(text))
    return {match[0] for match in matches} | {
        short
        for run, short in (blobs(text) if matches else ())
        if any(match.start() < run.end and run.start < match.end() for match in matches)
    }


def _unescape(value: str) -> str:
    try:
        return str(json.loads(f'"{value}"'))
    except ValueError:
        return value


def _blank_copies(text: str, wanted: list[Copies]) -> str:
    """Mask the letters and digits of each copy: the signs between them may hold a document together."""
    readings = Readings(text)
    stretches = sorted(stretch for copies in wanted for copy in copies.find(readings) for stretch in copy.stretches)
    pieces: list[str] = []
    last = 0
    for start, end in stretches:
        if end > last:
            fresh = max(start, last)
            pieces += (text[last:fresh], _WORD.sub(lambda word: stars(word[0]), text[fresh:end]))
            last = end
    return "".join((*pieces, text[last:]))


def _by_ref(ref: Address, trees: Sequence[Tree]) -> _Masks:
    """Mask all of the records of a ref, or some lines of one, and their quotations elsewhere."""
    chosen = _find_records(ref, _records_in(trees))
    lines = ref if isinstance(ref, RangeRef) else None
    quotes = frozenset(chain.from_iterable(_find_quotes(body["entry"], lines) for body in chosen))
    return _Masks(_mask_all(quotes), quotes, frozenset(map(_ref_of, chosen)), lines, (_OUTSIDE, _ENCODED))


def _find_records(ref: Address, records: Iterable[Tree]) -> list[Tree]:
    if isinstance(ref, BlockRef):
        raise RefError(f"{ref} is a view of the log; redact the steps that it was made of")
    first, last = (ref.first, ref.last) if isinstance(ref, StretchRef) else (ref.step, ref.step)
    bodies = [body for body in records if first <= body["step"] <= last]
    if isinstance(ref, RecordRef | RangeRef):
        bodies = [row for row in bodies if (row["kind"] == "result" if ref.record is None else row["k"] == ref.record)]
    if not bodies or (isinstance(ref, RangeRef) and len(bodies) != 1):
        raise RefError(f"{ref} names no single record; `ctxfold log` shows those there are")
    return bodies


def _ref_of(body: Tree) -> str:
    return f"s{body['step']}.{body['k']}"


def _find_quotes(text: str, lines: RangeRef | None) -> set[str]:
    """The words that a redacted text may have been quoted by: its values, or its lines."""
    kept = set() if lines is None else set(_blank_lines(text, lines).split("\n"))
    quotes = {run.of(text) for run, _ in blobs(text)}
    tree = parse(text)
    if tree is None:
        quotes |= {line.strip() for line in text.split("\n") if line not in kept}
    else:
        quotes |= set(map(str, find_leaves(tree)))
    return {quote for quote in quotes if len(quote) >= LEAST}


def _blank_lines(text: str, ref: RangeRef) -> str:
    if parse(text) is not None:
        raise RefError(f"{ref} counts lines of a derived form; redact the whole record, or a pattern")
    lines = enumerate(text.split("\n"), 1)
    return "\n".join(stars(line) if ref.first <= at <= ref.last else line for at, line in lines)


def _count_changed(before: str, after: str) -> int:
    return sum(one != other for one, other in zip(encode(before), encode(after), strict=False))


def _texts_in(trees: Iterable[Tree]) -> Iterator[str]:
    """Every text of a session but for words of ours; the content of events as a tree, not as JSON."""
    for tree in trees:
        ((kind, body),) = tree.items()
        nodes = [body] if kind != "event" else [body["cause"], json.loads(body["json"])]
        while nodes:
            match nodes.pop():
                case dict() as node:
                    nodes += [value for key, value in node.items() if key not in _WORDS_OF_OURS | NAMES]
                case list() | tuple() as node:
                    nodes += node
                case str() as text:
                    yield text
                case _:
                    continue


def _mask_row(tree: Tree, masks: _Masks) -> Tree:
    ((table, row),) = tree.items()
    if table == "event":
        payload = dump_payload(_mask(json.loads(row["json"]), masks, masks.text))
        return {table: row | {"cause": masks.text(row["cause"]), "json": payload}}
    return {table: _mask_record(row, masks) if table == "record" else _mask(row, masks, masks.text)}


def _mask(node: Any, masks: _Masks, mask: Mask, key: str = "") -> Any:
    """A tree with its texts masked, in full those from the address of a redacted record."""
    match node:
        case _ if key in _WORDS_OF_OURS:
            return node
        case str():
            return masks.names.get(node, node) if key in NAMES else mask(node)
        case list() if key == "lines":
            return dump_lines(_mask_line(line, masks.of(line.ref)) for line in load_lines(node))
        case list():
            return [_mask(each, masks, mask) for each in node]
        case dict():
            addresses = [node.get("ref"), *node.get("refs", ()), node.get("at"), node.get("by")]
            own = stars if stars in map(masks.of, addresses) else mask
            return {name: _mask(each, masks, own, name) for name, each in node.items()}
        case _:
            return node


def _mask_record(row: Tree, masks: _Masks) -> Tree:
    """A record masked. Its lines are kept from here on: made anew from the masked text, they might not be as many."""
    mask, before = masks.of(_ref_of(row)), row["entry"]
    text = _blank_lines(before, masks.lines) if masks.lines and mask is stars else mask(before)
    texts = (row["step"], row["k"], row["kind"], row["origin"], before, row["call_id"], row["at"], row["shown"])
    full = load_lines(row["form"]) or lines_of(Record(*texts))
    whole = "\n".join(line.text for line in full)
    lines = tuple(_mask_line(line, mask) for line in full) if mask is stars or mask(whole) != whole else full
    row = row | {key: masks.names.get(row[key], row[key]) for key in _IDS}
    if text == before and lines == full and (row["shown"] is None or mask(row["shown"]) == row["shown"]):
        return row
    return row | {"entry": text, "shown": None, "form": dump_lines(lines)}


def _mask_line(line: Line, mask: Mask) -> Line:
    """A line with its text masked; the marks of who speaks stay."""
    opening = line.text[: len(line.text) - len(line.text.lstrip("<> "))] if mask is stars else ""
    text = opening + mask(line.text[len(opening) :])
    return line if text == line.text else line.reword(text)


def _mask_ids(trees: Sequence[Tree], mask: Mask) -> dict[str, str]:
    """Other names for the call ids and keys that tell of it. Two stay two, for results find their calls by them."""
    names = {row[key] for row in _records_in(trees) for key in _IDS if row[key]}
    others: dict[str, str] = {}
    for name in sorted(names):
        masked = mask(name)
        if masked != name:
            others[name] = f"{masked}-{len(others) + 1}" if masked in names else masked
            names.add(others[name])
    return others


def _records_in(trees: Iterable[Tree]) -> Iterator[Tree]:
    return (tree["record"] for tree in trees if "record" in tree)


def _rename(trees: Sequence[Tree], masks: _Masks) -> dict[str, str]:
    """Other names for the branches and topics that tell of it, also for those that only events still name."""
    rows = [tree.get("head") or tree.get("topic") or {} for tree in trees]
    rows += [json.loads(tree["event"]["json"]) for tree in trees if "event" in tree]
    known = dict.fromkeys(row[key] for row in rows for key in sorted(NAMES & row.keys()))
    others: dict[str, str] = {}
    for name in filter(masks.is_named, known):
        others[name] = _find_free({*known, *others.values()})
    return others


def _find_free(taken: Collection[str]) -> str:
    return next(name for name in chain(["redacted"], (f"redacted-{n}" for n in count(2))) if name not in taken)
