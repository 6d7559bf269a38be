"""Marks the values of a summary that the log does not hold: ids, numbers, paths and quotations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from unicodedata import normalize

from ctxfold.text.words import is_common

MARK = " [not in the log]"
"""What follows a value that the log does not hold."""
_MOST_NAMED = 8
"""The most values that an error or an answer names."""

_EAST = r"\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uffef"
_RUN = re.compile(rf"[^\s;()\[\]{{}}<>\"`|“”‘’«»„…{_EAST}]+")
"""Text between blanks, brackets, quotation marks, and signs of scripts that are written without blanks."""
_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|`[^`\n]{1,400}`")
_WORD = re.compile(r"\w+")
_REF = re.compile(r"s(\d{1,9})(?:\.\d+)?(?::\d+(?:-\d+)?|-s(\d{1,9}))?")
"""The address of a step, a record, lines of it, or a stretch of steps."""
_OPENING = re.compile(r"(?:(?:~|\.+)/|(?<=[…<>})\]])/|[-,:;!?*=–—'’&+~≈≤≥±×$€£¥₹#_^])*")
_ENDING = "-.,:;!?*=–—'’&+~≈≤≥±×$€£¥₹#_^/\\%"
"""Signs before a value and behind it that are no part of it, such as a currency, or what stands for a home folder."""
_CLOSING = "`*_\"'”’»%"
"""Signs behind a value that the mark follows."""

_ESCAPED_BREAK = re.compile(r"\\[nrt]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DECIMAL_ZEROS = re.compile(r"(?<=\d)\.0+(?!\d)|(?<=\.\d)0+(?!\d)|(?<=\.\d\d)0+(?!\d)")
_GLUE = re.compile(r"(?<=\d)t(?=\d\d:)|(?<=://)[^/\s]+(?=/)")
"""What parts a date from its time, and a path from its scheme: the letter T, and the host of a URL."""
_LEAST = 4
"""The length from which a value is looked for in simplified text: days and hours alone are not."""

_COUNTED = re.compile(r"\d[a-z]{0,2}(?:-[a-z]+)*")
"""A number of one digit, with its unit or noun: `2nd`, `3x`, `4-step`."""
_NAME = re.compile(r"[@_/\\]|\w\w\.\w|\w\.\w\w|[a-z][A-Z]")
"""What makes letters a name that must be exact: an address, a path, a file name, `snake_case`, `camelCase`."""
_CODE = re.compile(r"[A-Z]{5,}")
_JOINTS = re.compile(r"(,(?!\d{3}(?!\d))|[=&+×–—|]|\.\.+|:(?=\D)|(?<=\D):|@(?=\d)|['’]s$)")
"""Where several values are joined; a time of day stays in one piece."""
_RANGE = re.compile(r"\D?\d[\d.,]*%?-(?:\D?\d[\d.,]*%?|[a-z]+(?:-[a-z]+)*)")
"""`12-40` or `14-day`."""
_MEMBER = re.compile(r"[A-Z]\w*\.\w+|\w+\.(?:\w*_\w*|[a-z]\w*[A-Z]\w*)")
"""`Class.method`, `module.some_function`: unlike a file name."""


def mark(text: str, log: Sequence[str], steps: Collection[int] = ()) -> tuple[str, tuple[str, ...]]:
    """Return a text with `[not in the log]` behind each value that no text of the log holds, and those values.

    A value is looked for with no letter or digit on either side, in any case. One-digit numbers are not looked for.
    Refs to `steps` need not be in the log.
    """
    text = text.replace(MARK, "")
    evidence = _Evidence(log, steps)
    spans = sorted(_find_missing(text, evidence))
    marked, at = "", 0
    for _, end in spans:
        behind = end + len(text[end:]) - len(text[end:].lstrip(_CLOSING))
        marked, at = f"{marked}{text[at:behind]}{MARK}", behind
    return marked + text[at:], tuple(dict.fromkeys(text[start:end].strip(_CLOSING) for start, end in spans))


def name_marks(marks: Sequence[str]) -> str:
    """Return marked values as a phrase for an error or an answer."""
    more = f" and {len(marks) - _MOST_NAMED} more" if len(marks) > _MOST_NAMED else ""
    return ", ".join(repr(value[:60]) for value in marks[:_MOST_NAMED]) + more


class _Evidence:
    """The log, and the steps that a text may refer to."""

    def __init__(self, log: Sequence[str], steps: Collection[int]) -> None:
        text = normalize("NFKC", "\n".join(log)).lower()
        unescaped = _ESCAPED_BREAK.sub(" ", text)
        self._text = text if unescaped == text else f"{text}\n{unescaped}"
        self._simple = _simplify(unescaped)
        self._steps = steps

    @cached_property
    def _words(self) -> str:
        return f" {' '.join(_WORD.findall(self._text))} "

    def has_value(self, value: str) -> bool:
        """Return whether the log holds a value, its singular or its number in another notation; or it is a ref."""
        value = normalize("NFKC", value).lower()
        forms = dict.fromkeys((value, value.removesuffix("s"), value.removeprefix("v"), f"v{value}"))
        if any(_has_token(self._text, form) for form in forms if form) or self._is_ref(value):
            return True
        simple = _simplify(value)
        in_full = rf"(?<![a-z0-9.]){re.escape(simple)}(?!\.?[a-z0-9])"
        return (simple != value or len(simple) >= _LEAST) and re.search(in_full, self._simple) is not None

    def has_words(self, quotation: str) -> bool:
        """Return whether the log holds each part of a quotation, word for word; dots stand for words left out."""
        parts = (" ".join(_WORD.findall(normalize("NFKC", part).lower())) for part in re.split(r"…|\.\.\.", quotation))
        return all(f" {part} " in self._words for part in parts if part)

    def _is_ref(self, value: str) -> bool:
        ref = _REF.fullmatch(value)
        return ref is not None and all(int(step) in self._steps for step in ref.groups() if step)


def _simplify(text: str) -> str:
    """Return a text with `1,200.50` as `1200.5`, and dates apart from times."""
    return _GLUE.sub(" ", _DECIMAL_ZEROS.sub("", _THOUSANDS.sub("", text)))


def _has_token(text: str, value: str) -> bool:
    """Return whether a text holds a value with no letter or digit on either side."""
    at = text.find(value)
    while at >= 0:
        neighbours = text[max(at - 1, 0) : at] + text[at + len(value) : at + len(value) + 1]
        if not any(sign.isascii() and sign.isalnum() for sign in neighbours):
            return True
        at = text.find(value, at + 1)
    return False


def _find_missing(text: str, evidence: _Evidence) -> Iterator[tuple[int, int]]:
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


def _find_missing_parts(text: str, start: int, end: int, evidence: _Evidence) -> Iterator[tuple[int, int]]:
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
    digits = sum(map(str.isdigit, text))
    named = _NAME.search(text) or (_CODE.fullmatch(text) and not is_common(text.lower()))
    return digits > 1 or bool(named) or (digits == 1 and any(map(str.isalpha, text)))


def _split(value: str, evidence: _Evidence) -> list[str]:
    """Split a value where it joins several, with the joints between them; one that is a single value stays whole."""
    if "://" in value:
        return [value]
    parts = _JOINTS.split(value)
    if len(parts) > 1:
        return parts
    if _RANGE.fullmatch(value):
        return list(value.partition("-"))
    if _MEMBER.fullmatch(value) and all(map(evidence.has_value, value.split("."))):
        return re.split(r"(\.)", value)
    parts = re.split("(/)", value)
    is_list = all(
        part.isalnum() and (part.isdigit() or is_common(part.lower()) or evidence.has_value(part))
        for part in parts[::2]
    )
    return parts if is_list else [value]
