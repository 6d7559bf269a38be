"""What must stay exact."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from ctxfold.text.sentences import Span
from ctxfold.text.words import is_common

_LONGEST = 200
"""Characters of one entity at most. A longer run without blanks (a data URL, a minified script) is cut: its start tells
it apart."""

EAST = r"\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uffef"
_ATOM = re.compile(rf"[€£¥₹$]?\d{{1,3}}(?:,\d{{3}}){{1,6}}(?:\.\d+)?(?![\w,])|[^\s,;()\[\]{{}}<>\"'`|“”‘’«»„…{EAST}]+")
_DIGIT = re.compile(r"\d")
_UNDERSCORED = re.compile(r"\w*[^\W_]_+[^\W_]")
_PATH = re.compile(r"(?:[A-Za-z]:|~|\.{1,2})?[/\\][\w.@~%+-]|[\w.@~%+-]+[/\\][\w.@~%+-]+[/\\.]")
_DOTTED = re.compile(r"[\w-]{2,}(?:\.[\w-]+){0,9}\.[A-Za-z][A-Za-z0-9]{0,15}(?:[(:/].*)?", re.S)
_UNIT = re.compile(
    r"[ \u00a0\u202f]?(?:%|°[CF]?|[€£¥₹$]|([A-Za-zµ][A-Za-z/]{0,13}))(?!\w)|[\u3400-\u9fff\uac00-\ud7af]"
)
_MONTH = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
    r"\b\.?([ \u00a0]\d{1,2}(?:st|nd|rd|th)?\b)?(,?[ \u00a0]\d{4}\b)?"
)
_DAY = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)?[ \u00a0]$")
_ADDRESS = re.compile(rf"[A-Za-z][A-Za-z0-9+.-]{{0,15}}://[^\s<>\"`{{}}|\\^{EAST}]{{1,400}}")
_QUOTED = re.compile(
    r"\"([^\"\n]{1,120})\"|“([^”\n]{1,120})”|«([^»\n]{1,120})»|`([^`\n]{1,120})`"
    r"|(?<!\w)'([^'\n]{1,120})'(?![\w:])|「([^」\n]{1,120})」"
)
_COLON = re.compile(r"\s?:")
_PAIR = re.compile(
    r"^[ \t]*(?:[-*•][ \t])?([^\W_][\w./#-]*(?: [\w./#-]+){0,3}(?::[ \t]+|：[ \t]*)[^\s][^\n]{0,60})$", re.M
)
_ASSIGNED = re.compile(
    r"(?<![\w.-])[A-Za-z_][\w.-]{0,40} ?=(?!=) ?(?:\"[^\"\n]{0,120}\"|'[^'\n]{0,120}'|[^\s\"'=,;&|()]{1,120})"
)
NAME = re.compile(r"(?<![.!?:]\s)(?<!^)\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
"""Capitalised words that open no sentence."""


def entities(text: str) -> list[Span]:
    """The stretches of a text that carry a value: what must be exact to be of use later.

    URLs, e-mail addresses, paths and file names; dates and times; versions; ids, that is letters mixed with digits,
    hexadecimal, UUIDs, joined names and codes in capitals; numbers with their unit or currency; short quoted strings;
    `key=value`, and `key: value` where it fills a line.

    Returns:
        Spans in text order, none overlapping or touching, each at most 200 characters unless several ran together.
    """
    finders = (_find_addresses, _find_atoms, _find_dates, _find_quotations, _find_pairs)
    return _merge_spans(chain.from_iterable(find(text) for find in finders))


def _merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, those that overlap or touch joined."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(span.end, merged[-1].end))
        else:
            merged.append(span)
    return merged


def _find_addresses(text: str) -> Iterator[Span]:
    """URLs of any scheme, without the marks that close the sentence or bracket around them."""
    for match in _ADDRESS.finditer(text) if "://" in text else ():
        url = match[0].rstrip(".,;:!?*'")
        while url.endswith(")") and url.count(")") > url.count("("):
            url = url[:-1].rstrip(".,;:!?*'")
        yield Span(match.start(), match.start() + min(len(url), _LONGEST))


def _find_atoms(text: str) -> Iterator[Span]:
    """Runs without blanks that carry a value by their build; a number takes its unit with it."""
    capitals: list[Span | None] = []
    for match in _ATOM.finditer(text):
        atom = match.group()
        if atom.isalpha():
            if atom.isupper():
                capitals.append(Span(match.start(), match.end()) if _is_code(atom) else None)
            else:
                yield from _take_codes(capitals)
            continue
        yield from _take_codes(capitals)
        span = _trim(atom, match.start())
        if span is None:
            continue
        atom = text[span.start : span.end]
        if _DIGIT.search(atom):
            yield from _number(text, span, atom)
        elif _is_joined(atom):
            yield Span(span.start, min(span.end, span.start + _LONGEST))
    yield from _take_codes(capitals)


def _take_codes(capitals: list[Span | None]) -> Iterator[Span]:
    """The codes among up to three words in capitals in a row; more are a sentence in capitals. Empties the list."""
    if len(capitals) <= 3:
        yield from (span for span in capitals if span is not None)
    capitals.clear()


def _is_code(atom: str) -> bool:
    """Whether a word in capitals may be a code."""
    return 2 <= len(atom) <= 12 and atom.isascii() and not is_common(atom)


def _trim(atom: str, start: int) -> Span | None:
    """An atom without the punctuation around it; None when nothing else is left."""
    left = atom.lstrip("*:!?=–—")
    inner = left.rstrip("*:!?=–—.-&")
    if len(inner) < 2 and not inner.isdigit():
        return None
    start += len(atom) - len(left)
    return Span(start, start + len(inner))


def _number(text: str, span: Span, atom: str) -> Iterator[Span]:
    """Anything with a digit: a number with its currency or unit, a date, a time, a version, an id.

    One bare digit needs a unit.
    """
    start, end = span.start, min(span.end, span.start + _LONGEST)
    if start and text[start - 1] in " \u00a0" and text[max(0, start - 2)] in "€£¥₹$":
        start -= 2
    if not atom[-1].isdigit():
        yield Span(start, end)
        return
    unit = _UNIT.match(text, end) if end == span.end and not any(map(str.isalpha, atom)) else None
    if unit and (unit[1] is None or not is_common(unit[1])):
        yield Span(start, unit.end())
    elif len(atom) > 1 or start < span.start:
        yield Span(start, end)


def _is_joined(atom: str) -> bool:
    """Whether an atom without digits is a path, a file name, an address, an option or a name of several parts."""
    if "@" in atom or atom[0] == "#" or atom.startswith("--"):
        return any(letter.isalpha() for letter in atom[:_LONGEST])
    for marks, matches in (("/\\", _PATH.match), ("_", _UNDERSCORED.match), (".", _DOTTED.fullmatch)):
        if any(mark in atom for mark in marks):
            return matches(atom) is not None
    return False


def _find_dates(text: str) -> Iterator[Span]:
    """Dates that name their month, with a day or a year."""
    for match in _MONTH.finditer(text):
        start = match.start()
        if start and text[start - 1].isalnum():
            continue
        day = _DAY.search(text, max(0, start - 6), start)
        if day or match[1] or match[2]:
            yield Span(day.start() if day else start, match.end())


def _find_quotations(text: str) -> Iterator[Span]:
    """Short quoted strings, without their quotes; not the keys of JSON."""
    for match in _QUOTED.finditer(text):
        start, end = match.span(match.lastindex or 0)
        if text[start:end].strip() and not _COLON.match(text, match.end()):
            yield Span(start, end)


def _find_pairs(text: str) -> Iterator[Span]:
    """A name and its value, joined by `=`, or by a colon when they fill a line."""
    for match in _PAIR.finditer(text):
        yield Span(match.start(1), match.start(1) + len(match[1].rstrip()))
    if "=" in text:
        for match in _ASSIGNED.finditer(text):
            yield Span(match.start(), match.end())
