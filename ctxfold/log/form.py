"""Writes a record in its full form: the lines that show all of it in a view."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import assert_never

from ctxfold.log.json_tree import parse
from ctxfold.log.lines import AI, NOTE, USER, Line, fence, line, unposed
from ctxfold.log.records import Record
from ctxfold.log.rows import inline, rows_of, word
from ctxfold.text.sentences import Span
from ctxfold.tokens import count

__all__ = ["VERSION", "blobs", "followed", "lines_of"]

VERSION = 9
"""Of the full form. Events hold the lines, so an older session keeps its bytes when this grows."""

_BLOB = re.compile(r"(?<![\w+/-])[\w+/-]{2000,}+={0,2}", re.ASCII)
"""A run that nobody copies by hand: tokens and cursors, which have to be handed on, are shorter."""
_BYTES = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])")
"""Digits alone are a number, letters alone may be words or a sequence of them."""


def lines_of(record: Record) -> tuple[Line, ...]:
    """The lines of one record.

    Returns:
        All its words: prose, calls and documents verbatim, what a program wrote for programs as rows. None for an empty text, but for an empty result:
        a call without a line behind it still waits for its answer.
    """
    ref, untrusted = record.ref, record.untrusted
    if record.shown is not None:
        shown = (line("text", ref, fence(ref, record.shown), untrusted=untrusted),) if record.shown else ()
        return (*_late(record), *shown)
    match record.kind:
        case "user":
            return (line("user", ref, f"{USER} {record.text}"),) if record.text else ()
        case "assistant":
            return (line("say", ref, unposed(f"{AI} {record.text}")),) if record.text else ()
        case "note":
            if not record.text:
                return ()
            if untrusted:
                return (line("text", ref, fence(ref, record.text, "note"), untrusted=True),)
            return (line("note", ref, unposed(f"{NOTE} {record.text}")),)
        case "call":
            return tuple(_call(record))
        case "result":
            return (*_late(record), *_result(record))
        case _:
            assert_never(record.kind)


def followed(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines of a step whose calls were not all answered, as they stand once another step follows it."""
    call = next((each.ref for each in reversed(lines) if each.kind == "call"), None)
    return lines if call is None else (*lines, line("data", call, "< no result before the next step"))


def blobs(text: str) -> list[tuple[Span, str]]:
    """Each run of bytes spelled as text that is cut where a text is shown, and what stands in its place, in order."""
    found = ((Span(*run.span()), _short(run)) for run in _BLOB.finditer(text))
    return [(span, short) for span, short in found if short != span.of(text)]


def _late(record: Record) -> tuple[Line, ...]:
    """What says that a result belongs to an earlier step, or to another call than the one it would stand behind: a line of the step where it stands."""
    if not (record.late or record.call):
        return ()
    call = f" call {record.call}" if record.call else ""
    ref = f"s{record.at}" if record.late else record.ref
    return (line("data", ref, f"< late, of s{record.step}{call}:", untrusted=record.untrusted),)


def _result(record: Record) -> Iterator[Line]:
    text = _BLOB.sub(_short, record.text)
    tree = None if "\n" in text.strip() else parse(text)
    if tree is None:
        words = fence(record.ref, text) if text else '< ""'
        yield line("text", record.ref, words, untrusted=record.untrusted)
        return
    for row in rows_of(tree):
        mark = "< " + "  " * row.depth
        cuts = tuple(len(mark) + cut for cut in row.cuts)
        shown = mark + row.text
        yield Line("data", record.ref, shown, count(shown) + 1, cuts, row.depth, row.table, record.untrusted)


def _call(record: Record) -> Iterator[Line]:
    tree = json.loads(_BLOB.sub(_short, record.text))
    name, args = " ".join(str(tree["name"]).splitlines()), tree["args"]  # a name over two lines could pose as a speaker
    if not isinstance(args, dict):
        yield line("call", record.ref, f"> {name}({inline(args)})")
        return
    long = {key: value for key, value in args.items() if isinstance(value, str) and "\n" in value}
    cells = [f"{word(key)}={inline(value)}" for key, value in args.items() if key not in long]
    head = f"> {name}("
    text = head + ", ".join(cells) + ")"
    cuts, at = [len(head)], len(head)
    for cell in cells:
        at += len(cell)
        cuts.append(at)
        at += 2
    yield Line("call", record.ref, text, count(text) + 1, tuple(cuts))
    for key, value in long.items():
        yield line("call", record.ref, unposed(f">  {word(key)}:\n{value}"), depth=1)


def _short(run: re.Match[str]) -> str:
    if _BYTES.match(run[0]) is None:
        return run[0]
    return f"{run[0][:16]}… ({len(run[0])} characters, sha256 {sha256(run[0].encode()).hexdigest()[:8]})"
