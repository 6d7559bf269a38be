"""Finds the values in a summary (ids, codes, numbers, addresses, quotations) that stand nowhere in its source.

A name in plain letters ("Lisbon") and a number written out ("three") are words here, and pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from ctxfold.errors import RefError
from ctxfold.log.refs import BlockRef, RangeRef, RecordRef, StepRef, StretchRef, parse_ref
from ctxfold.text import entities, is_common

__all__ = ["invented"]

_EAST = r"\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uffef"
_RUN = re.compile(rf"[^\s;()\[\]{{}}<>\"`|“”‘’«»„…{_EAST}]+")
_SPLIT = re.compile(r",(?!\d{3}(?!\d))|=|:(?=[^\d/])|'s?$")
_EDGES = ".,:;!?*=–—'&-"
_NUMBER = re.compile(r"[€£¥₹$+-]?(\d[\d,]*(?:\.\d+)?)(?:%|st|nd|rd|th)?")
_ANY_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])\d[\d,]*(?:\.\d+)?(?![A-Za-z0-9_])")
_GROUPED = re.compile(r"\d{1,3},\d{3}|\d{1,3}(?:,\d{3})+\.\d+")
"""Numbers whose commas group their digits; more groups without decimals may be a list."""
_TIMED = re.compile(r"(?<=\d)t(?=\d)")
_JOINED = re.compile(r"[@_/\\]|\w\.\w")
_HUMP = re.compile(r"[a-z][A-Z]")
_QUOTED = re.compile(r"\"([^\"\n]{2,400})\"|“([^”\n]{2,400})”|«([^»\n]{2,400})»|`([^`\n]{2,400})`")


def invented(summary: str, source: str, steps: frozenset[int]) -> tuple[str, ...]:
    """The values of a summary that its source does not hold.

    Args:
        summary: what a model wrote.
        source: all that it was shown.
        steps: the steps it may point at by `s12` and the like.

    Returns:
        Each value once, in the order of the summary; empty when it invents none.
    """
    lowered = source.lower()
    lowered += "\n" + _TIMED.sub(" ", lowered)
    numbers = {number for found in _ANY_NUMBER.finditer(source) for number in _numbers(found[0])}
    plain = " ".join(lowered.split())
    found: dict[str, None] = {}

    def stands(value: str) -> bool:
        return _holds(lowered, value.lower()) or _is_known_number(value, numbers) or _is_ref(value, steps)

    for value in _values(summary):
        if not stands(value) and not all(map(stands, _beside_a_slash(value))):
            found[value] = None
    for match in _QUOTED.finditer(summary):
        quote = next(part for part in match.groups() if part is not None)
        if " ".join(quote.lower().split()).strip(_EDGES) not in plain:
            found[quote] = None
    return tuple(found)


def _values(summary: str) -> Iterator[str]:
    """The parts of a summary that must be exact: whatever has a digit, is joined of several parts, or stands in capitals."""
    joined = frozenset(at for span in entities(summary) for at in range(span.start, span.end))
    for run in _RUN.finditer(summary):
        at = run.start()
        for part in _parts(run[0]):
            kept = part.strip(_EDGES)
            exact = any(letter.isdigit() for letter in kept) or _is_code(kept)
            if exact or (at in joined and _JOINED.search(kept)):
                yield kept


def _parts(run: str) -> list[str]:
    """A run at the commas, equals signs and colons that join two values; an address stays whole."""
    return [run] if "://" in run else _SPLIT.split(run)


def _beside_a_slash(value: str) -> list[str]:
    """What stands on the two sides of a slash between two values; the value itself where it is anything else."""
    parts = value.split("/")
    both = len(parts) == 2 and all(any(letter.isdigit() for letter in part) for part in parts)
    return parts if both else [value]


def _is_code(word: str) -> bool:
    """Whether a word of letters alone is written as a code: in capitals, or with one inside."""
    if not word.isalpha() or not word.isascii() or len(word) < 2:
        return False
    return (word.isupper() and not is_common(word)) or _HUMP.search(word) is not None


def _holds(lowered: str, value: str) -> bool:
    """Whether a value stands in a text with no letter, digit or decimal running on at its ends."""
    number = not value.strip("0123456789.,")
    at = lowered.find(value)
    while at >= 0:
        end = at + len(value)
        before, behind = lowered[max(0, at - 2) : at][::-1], lowered[end : end + 2]
        if not _runs_on(before, value[0], number) and not _runs_on(behind, value[-1], number):
            return True
        at = lowered.find(value, at + 1)
    return False


def _runs_on(beside: str, edge: str, number: bool) -> bool:
    """Whether the two characters beside an end of a value, the nearer first, belong to it."""
    if not beside or not edge.isalnum():
        return False
    if beside[0].isascii() and beside[0].isalnum():
        return True
    return edge.isdigit() and beside[1:].isdigit() and (beside[0] == "." or (number and beside[0] == ","))


def _numbers(text: str) -> Iterator[Decimal]:
    """A number; where its commas may as well part several, those too."""
    yield Decimal(text.replace(",", "")).normalize()
    if "," in text and not _GROUPED.fullmatch(text):
        yield from (Decimal(part).normalize() for part in text.split(",") if part)


def _is_known_number(value: str, numbers: set[Decimal]) -> bool:
    """Whether a value is a number that the source holds, written in another way."""
    found = _NUMBER.fullmatch(value)
    return found is not None and found[1].isascii() and Decimal(found[1].replace(",", "")).normalize() in numbers


def _is_ref(value: str, steps: frozenset[int]) -> bool:
    try:
        ref = parse_ref(value)
    except RefError:
        return False
    match ref:
        case StepRef(step=step) | RecordRef(step=step) | RangeRef(step=step):
            return step in steps
        case StretchRef(first=first, last=last):
            return first in steps and last in steps
        case BlockRef():
            return False
