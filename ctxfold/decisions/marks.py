"""Marks the values of a summary that the log does not hold: ids, numbers, paths and quotations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from string import ascii_lowercase, digits
from unicodedata import normalize

from ctxfold.text.values import EAST
from ctxfold.text.words import is_common

MARK = " [not in the log]"
"""What follows a value that the log does not hold."""
_MOST_NAMED = 8
"""The most values that an error or an answer names."""

_RUN = re.compile(rf"[^\s;()\[\]{{}}<>\"`|“”‘’«»„…{EAST}]+")
"""Text between blanks, brackets, quotation marks, and signs of scripts that are written without blanks."""
_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|`[^`\n]{1,400}`")
_WORD = re.compile(r"\w+")
_REF = re.compile(r"s(\d{1,9})(?:\.\d+)?(?::\d+(?:-\d+)?|-s(\d{1,9}))?")
"""The address of a step, a record, lines of it, or a stretch of steps."""
_OPENING = re.compile(r"(?:(?:~|\.+)/|(?<=[…<>})\]])/|[-,:;!?*=–—'’&+~≈≤≥±×$€£¥₹#_^])*")
_ENDING = "-.,:;!?*=–—'’&+~≈≤≥±×$€£¥₹#_^/\\%"
"""Signs before and after a value that do not belong to it, such as a currency or the `~/` of a home folder."""
_CLOSING = "`*_\"'”’»%"
"""Signs after a value that come before its mark."""

_ESCAPED_BREAK = re.compile(r"\\[nrt]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DECIMAL_ZEROS = re.compile(r"(?<=\d)\.0+(?!\d)|(?<=\.\d)0+(?!\d)|(?<=\.\d\d)0+(?!\d)")
_GLUE = re.compile(r"(?<=\d)t(?=\d\d:)|(?<=://)[^/\s]+(?=/)|\.(?!\w)")
"""What joins a date to its time, a path to its scheme, and a number to the end of its sentence."""
_JOINED = frozenset(ascii_lowercase + digits)
"""Signs that make a longer word or number of a value next to them."""
_LEAST = 4
"""The length from which a value is looked for in simplified text, where days and hours have no neighbours."""

_COUNTED = re.compile(r"\d[a-z]{0,2}(?:-[a-z]+)*")
"""A number of one digit, with its unit or noun: `2nd`, `3x`, `4-step`."""
_NAME = re.compile(r"[@_/\\]|\w\w\.\w|\w\.\w\w|[a-z][A-Z]")
"""What makes letters a name that must be exact: an address, a path, a file name, `snake_case`, `camelCase`."""
_CODE = re.compile(r"[A-Z]{5,}")
_JOINTS = re.compile(r"(,(?!\d{3}(?!\d))|[=&+×–—|]|\.\.+|:(?=\D)|(?<=\D):|@(?=\d)|['’]s$)")
"""Where several values are joined; a time of day stays in one piece."""
_AMOUNT = re.compile(r"\D?\d[\d.,:]*%?")
_RANGE = re.compile(rf"{_AMOUNT.pattern}-(?:{_AMOUNT.pattern}|[a-z]+(?:-[a-z]+)*)")
"""`12-40`, `07:00-10:00` or `14-day`."""
_VERSION = re.compile(r"v?\d+(?:\.\d+)+")
"""`v1.2.3` or `1.2.3`, which mean the same."""
_PAIR = re.compile(r"([A-Z]\w*)\.(\w+)|(\w+)\.(\w*_\w*|[a-z]\w*[A-Z]\w*)|(\d[\d.,]*)([A-Za-z]{2,})")
"""`Class.method` or `module.some_function`, unlike a file name; or `15.1GB`. The log may hold both parts apart."""


def name_marks(marks: Sequence[str]) -> str:
    """Return marked values as a phrase for an error or an answer."""
    more = f" and {len(marks) - _MOST_NAMED} more" if len(marks) > _MOST_NAMED else ""
    return ", ".join(repr(value[:60]) for value in marks[:_MOST_NAMED]) + more


class LogEvidence:
    """The texts that a summary may take values from, and the steps that it may refer to.

    A value is looked for with no letter or digit on either side, in any case. One-digit numbers are not looked for.
    Refs to `steps`, and `days` such as 2026-11-25, need not be in the log.
    """

    def __init__(self, log: Sequence[str], steps: Collection[int] = (), days: Collection[str] = ()) -> None:
        text = normalize("NFKC", "\n".join(log)).lower()
        unescaped = _ESCAPED_BREAK.sub(" ", text)
        self._text = text if unescaped == text else f"{text}\n{unescaped}"
        self._simple = _simplify(unescaped)
        self._steps, self._days = steps, days

    @cached_property
    def _words(self) -> str:
        return f" {' '.join(_WORD.findall(self._text))} "

    def mark(self, text: str) -> tuple[str, tuple[str, ...]]:
        """Return a text with marks after the values that this evidence lacks, and those values."""
        text = text.replace(MARK, "")
        spans = sorted(_find_missing(text, self))
        marked, at = "", 0
        for _, end in spans:
            closed = end + len(text[end:]) - len(text[end:].lstrip(_CLOSING))
            marked, at = f"{marked}{text[at:closed]}{MARK}", closed
        return marked + text[at:], tuple(dict.fromkeys(text[start:end].strip(_CLOSING) for start, end in spans))

    def has_value(self, value: str) -> bool:
        """Return whether the log holds a value, its singular or its number in another notation; or it is a ref."""
        pair, ref = _PAIR.fullmatch(value), _REF.fullmatch(value)
        if pair and all(self.has_value(part) for part in pair.groups() if part):
            return True
        if value in self._days or (ref and all(int(step) in self._steps for step in ref.groups() if step)):
            return True
        value = normalize("NFKC", value).lower()
        singular = value.removesuffix("s") if len(value) > _LEAST else value
        versions = {value.removeprefix("v"), f"v{value}"} if _VERSION.fullmatch(value) else set[str]()
        if any(_has_token(self._text, form, _JOINED) for form in {value, singular} | versions):
            return True
        simple = _simplify(value)
        return (simple != value or len(simple) >= _LEAST) and _has_token(self._simple, simple, _JOINED | {"."})

    def has_words(self, quotation: str) -> bool:
        """Return whether the log holds each part of a quotation, word for word; dots mark words left out."""
        parts = (" ".join(_WORD.findall(normalize("NFKC", part).lower())) for part in re.split(r"…|\.\.\.", quotation))
        return all(f" {part} " in self._words for part in parts if part)


def _simplify(text: str) -> str:
    """Return a text with `1,200.50` as `1200.5`, dates apart from times, and paths apart from hosts."""
    return _GLUE.sub(" ", _DECIMAL_ZEROS.sub("", _THOUSANDS.sub("", text)))


def _has_token(text: str, value: str, joined: frozenset[str]) -> bool:
    """Return whether a text holds a value with none of the signs that would join it to more on either side."""
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        if joined.isdisjoint(text[max(at - 1, 0) : at] + text[end : end + 1]):
            return True
        at = text.find(value, at + 1)
    return False


def _find_missing(text: str, evidence: LogEvidence) -> Iterator[tuple[int, int]]:
    """The places of the quotations that the log lacks, and of values outside them."""
    taken = set[int]()
    for quotation in _QUOTED.finditer(text):
        words = quotation[0][1:-1]
        is_one_value = _RUN.fullmatch(words) and _is_value(words.strip(_ENDING))
        if not is_one_value and not evidence.has_words(words):
            yield quotation.span()
            taken.update(range(*quotation.span()))
    for run in _RUN.finditer(text):
        if run.start() not in taken:
            yield from _find_missing_parts(text, run.start(), run.end(), evidence)


def _find_missing_parts(text: str, start: int, end: int, evidence: LogEvidence) -> Iterator[tuple[int, int]]:
    """The places of the values that the log lacks in a run of text, which may join several."""
    opening = _OPENING.match(text, start, end)
    start = opening.end() if opening else start
    value = text[start:end].rstrip(_ENDING)
    end = start + len(value)
    if not _is_value(value) or evidence.has_value(value):
        return
    parts = _split(value, evidence)
    if len(parts) == 1:
        yield start, end
        return
    for part in parts:
        yield from _find_missing_parts(text, start, start + len(part), evidence)
        start += len(part)


def _is_value(text: str) -> bool:
    """Return whether a text must be exact: a name, a code, or a number of two digits or more."""
    if _COUNTED.fullmatch(text):
        return False
    figures = sum(map(str.isdigit, text))
    named = _NAME.search(text) or (_CODE.fullmatch(text) and not is_common(text.lower()))
    return figures > 1 or bool(named) or (figures == 1 and any(map(str.isalpha, text)))


def _split(value: str, evidence: LogEvidence) -> list[str]:
    """Split a value where it joins several, with the joints between them; one that is a single value stays whole."""
    if "://" in value:
        return [value]
    parts = _JOINTS.split(value)
    if len(parts) > 1:
        return parts
    if _RANGE.fullmatch(value):
        return list(value.partition("-"))
    parts = re.split("(/)", value)
    is_list = all(
        _AMOUNT.fullmatch(part) or (part.isalnum() and (is_common(part.lower()) or evidence.has_value(part)))
        for part in parts[::2]
    )
    return parts if is_list else [value]
