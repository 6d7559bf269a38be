"""A record's compact form: rendered once, at ingest, against what its ancestors left in the view. It never looks forward and never stores.

Complete in facts, smaller in tokens: JSON becomes keyed rows wherever it stands, the assistant's prose keeps its head and its new values, a repeat becomes a ref,
the user's words and raw text stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, assert_never

from ctxfold.log.compact.blobs import without_blobs
from ctxfold.log.compact.cells import cell, is_flat, word
from ctxfold.log.compact.prose import shorten
from ctxfold.log.compact.rows import Row, rows, rows_of, within
from ctxfold.log.compact.unwrap import Tree, Words, unwrapped
from ctxfold.log.facts import Ledger, header_key, text_key
from ctxfold.log.lines import AI, NOTE, USER, Line, LineKind, fence, line, unposed
from ctxfold.log.records import Record
from ctxfold.tokens import count

__all__ = ["VERSION", "compact"]

VERSION = 8
"""Of the rendering rules. Events hold the rendered lines, so an older session keeps its bytes when this grows."""

_REPEAT_FROM = 60
"""Characters from which a repeated text becomes a ref."""
_WORD = 12
"""Characters a word has at most on average, for an argument to be prose and not an address or code."""
_PROSE = 100
"""Characters from which an argument in words is shortened like prose."""


def compact(record: Record, past: Ledger) -> tuple[Line, ...]:
    """Render one record.

    Args:
        record: the raw entry.
        past: what stands in the view already, this step's earlier records included.

    Returns:
        Its lines; none for an empty text, but for an empty result: a call without one still waits for its own.
    """
    if record.shown is not None:
        return (*_late(record), *_shown(record, record.shown))
    if not record.text:
        nothing = line("data", record.ref, f"< {cell(record.text)}", untrusted=record.untrusted)
        return (*_late(record), nothing) if record.kind == "result" else ()
    match record.kind:
        case "user":
            return (line("user", record.ref, f"{USER} {record.text}", (text_key(record.text),)),)
        case "assistant":
            return (line("say", record.ref, unposed(f"{AI} {shorten(record.text, past)}")),)
        case "note" if record.untrusted:
            return (line("text", record.ref, fence(record.ref, record.text, "note"), untrusted=True),)
        case "note":
            return (line("note", record.ref, unposed(f"{NOTE} {record.text}")),)
        case "call":
            return tuple(_call(record, past))
        case "result":
            return (*_late(record), *_result(record, past))
        case _:
            assert_never(record.kind)


def _shown(record: Record, shown: str) -> tuple[Line, ...]:
    return (line("text", record.ref, fence(record.ref, shown), untrusted=record.untrusted),) if shown else ()


def _late(record: Record) -> tuple[Line, ...]:
    """What says that a result belongs to an earlier step, or to another call than the one it would stand behind."""
    if not (record.late or record.call):
        return ()
    call = f" call {record.call}" if record.call else ""
    return (line("data", record.ref, f"< late, of s{record.step}{call}:", untrusted=record.untrusted),)


def _result(record: Record, past: Ledger) -> tuple[Line, ...]:
    key = text_key(record.text)
    if len(record.text) >= _REPEAT_FROM:
        same = past.find(key)
        if same is not None:
            return (line("data", record.ref, f"< same as {same.ref}", points=(key,), untrusted=record.untrusted),)
    return tuple(_unwrapped(record, past, key))


def _unwrapped(record: Record, past: Ledger, key: int) -> Iterator[Line]:
    """The lines of a result: rows for what is data in it, the rest as it stands. Its own key is on the first."""
    found = unwrapped(record.text)
    labelled = [(f"{part.name}:" if part.name else "", part.value) for part in found if isinstance(part, Tree)]
    made = rows_of(labelled, past)
    keys: tuple[int, ...] = (key,)
    for part in found:
        match part:
            case Tree():
                yield from _rows(record, "data", "<", next(made), keys)
            case Words():
                shown = fence(record.ref, part.text, part.name)
                yield line("text", record.ref, shown, keys, untrusted=record.untrusted)
            case _:
                assert_never(part)
        keys = ()


def _rows(record: Record, kind: LineKind, mark: str, made: Iterable[Row], keys: tuple[int, ...] = ()) -> Iterator[Line]:
    """Rows as lines of a record, the first with some keys more. A row without words, above all that an object holds, stands in the one below it."""
    ref, untrusted = record.ref, record.untrusted
    for words, indent, own, points, joined in made:
        if not words:
            keys += own
            continue
        text = f"{mark} {' ' * indent}{words}"
        yield Line(kind, ref, text, count(words if joined else text) + 1, keys + own, points, untrusted, joined)
        keys = ()


def _call(record: Record, past: Ledger) -> Iterator[Line]:
    tree = json.loads(without_blobs(record.text))
    name, args = " ".join(str(tree["name"]).splitlines()), tree["args"]  # a name over two lines could pose as a speaker
    if not isinstance(args, dict):
        yield line("call", record.ref, f"> {name} {_whole(args)}")
        return
    short = {key: value for key, value in args.items() if _short(value)}
    said = [f"{word(key)}={_said(value, past)}" for key, value in short.items()]
    about = f"{name} {said[0]}" if said else name
    yield line("call", record.ref, f"> {about}", (header_key(name, about),))
    nested = {key: within(key, value, past) for key, value in args.items() if isinstance(value, (dict, list)) and value}
    inside = [row for row in nested.values() if row is not None]
    rest = " ".join((*said[1:], *(row.text for row in inside)))
    if rest:
        keys, points = ([key for row in inside for key in row.keys], [key for row in inside for key in row.points])
        yield Line("call", record.ref, f">  {rest}", count(rest) + 1, tuple(keys), tuple(points), joined=True)
    for key, value in args.items():
        if not _short(value) and nested.get(key) is None:
            yield from _long(record, key, value, past)


def _said(value: Any, past: Ledger) -> str:
    """An argument's cell; prose in it is shortened like any other the assistant wrote."""
    words = isinstance(value, str) and len(value) > _PROSE and value.count(" ") > len(value) / _WORD
    return cell(shorten(value, past) if words else value)


def _short(value: Any) -> bool:
    return is_flat(value) and not (isinstance(value, str) and "\n" in value)


def _whole(args: Any) -> str:
    return cell(args) if is_flat(args) else json.dumps(args, ensure_ascii=False)


def _long(record: Record, key: str, value: Any, past: Ledger) -> Iterable[Line]:
    """An argument that needs lines of its own: a nested value, or text of several lines."""
    if isinstance(value, str):
        known = past.find(text_key(value)) if len(value) >= _REPEAT_FROM else None
        if known is not None:
            yield line("call", record.ref, f">  {key}: same as {known.ref}", points=(text_key(value),))
        else:
            yield line("call", record.ref, unposed(f">  {key}:\n{value}"), (text_key(value),))
        return
    yield from _rows(record, "call", "> ", rows(value, past, f"{key}:"))
