"""`Ground`: what the log of a stretch holds, so that values written in another notation, and counts and sums of it, are known."""

from __future__ import annotations

import calendar
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any

__all__ = ["EUROPEAN", "LONGEST_NUMBER", "Ground", "dates_in", "named_dates", "times_in"]

_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])\d[\d,]*(?:\.\d+)?(?![A-Za-z0-9_])")
_GROUPED = re.compile(r"\d{1,3},\d{3}|\d{1,3}(?:,\d{3})+\.\d+")
"""Numbers whose commas group their digits; more groups without decimals may be a list."""
EUROPEAN = re.compile(r"(?<![\w.,])\d{1,3}(?:\.\d{3})*,\d{2}(?![\w,])")
"""An amount with a decimal comma."""
_TIMED = re.compile(r"(?<=\d)t(?=\d)")
_ESCAPED = re.compile(r"\\[nrt]")
_WORD = re.compile(r"\w+")
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_WRITTEN = re.compile(r"(?<![\d.,/-])(\d{1,2})[./-](\d{1,2})[./-](\d{4})(?!\d)")
_MONTHS = {
    name.lower(): at for names in (calendar.month_name, calendar.month_abbr) for at, name in enumerate(names) if name
}
_NAME = "|".join(sorted(map(str.capitalize, _MONTHS), reverse=True))
_NAMED = re.compile(
    rf"(?:\b(\d{{1,2}})(?:st|nd|rd|th)?[ .]+)?\b({_NAME})\b\.?(?: (\d{{1,2}})(?!\d)(?:st|nd|rd|th)?)?(?:,? (\d{{4}})\b)?"
)
_CLOCK = re.compile(
    r"(?<![\d:.])(\d{1,2}):(\d\d)(?::(\d\d))?(?: ?([ap])\.?m)?|\b(\d{1,2}) ?([ap])\.?m\b", re.IGNORECASE
)
LONGEST_NUMBER = 24
"""Digits and marks of a number that is compared by its value; a longer one stands as it is written, or not at all."""
_LARGEST = 200_000
"""Characters of a record that are read as JSON for its lists and columns."""


class Ground:
    """Records of the log as one source."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._source = "\n".join(texts)

    @cached_property
    def lowered(self) -> str:
        """All of it in lower case, dates and times apart too, and with the escaped line breaks of JSON as blanks."""
        low = self._source.lower()
        return "\n".join((low, _TIMED.sub(" ", low), _ESCAPED.sub(" ", low) if "\\" in low else ""))

    @cached_property
    def words(self) -> str:
        """Its words alone, between blanks."""
        return f" {' '.join(_WORD.findall(self.lowered))} "

    @cached_property
    def stated(self) -> frozenset[Decimal]:
        """The numbers that stand in it, and the parts of its dates."""
        found = {number for run in _NUMBER.finditer(self._source) for number in _numbers_in(run[0])}
        found |= {
            Decimal(run[0].replace(".", "").replace(",", ".")).normalize() for run in EUROPEAN.finditer(self._source)
        }
        found |= {Decimal(part).normalize() for date in self.dates for part in date if part}
        return frozenset(found)

    @cached_property
    def derived(self) -> frozenset[Decimal]:
        """How many records, lines, entries and calls it has, and what the columns of its lists sum up to."""
        counts: Counter[str] = Counter({"records": len(self._texts)})
        found: set[Decimal] = set()
        sums: dict[str, Decimal] = {}
        for text in self._texts:
            found.add(Decimal(sum(map(bool, map(str.strip, text.splitlines())))))
            tree = _tree(text)
            if isinstance(tree, Mapping) and isinstance(tree.get("name"), str):
                counts[tree["name"]] += 1
            counts["entries"] += len(tree) if isinstance(tree, list) else 0
            for size, columns in _lists(tree):
                found |= {Decimal(size), *columns.values()}
            for name, value in _leaves(tree):
                sums[name] = sums.get(name, Decimal(0)) + value
        return frozenset(number.normalize() for number in (*found, *map(Decimal, counts.values()), *sums.values()))

    @cached_property
    def dates(self) -> frozenset[tuple[int, int, int]]:
        """Its dates as year, month and day; 0 for what was not said."""
        return frozenset(dates_in(self._source))

    @cached_property
    def times(self) -> frozenset[tuple[int, int, int]]:
        """Its times of day as hour, minute and second; 0 for seconds that are not said."""
        return frozenset(times_in(self._source))


def _numbers_in(text: str) -> Iterator[Decimal]:
    """A number; where its commas may as well part several, those too."""
    yield Decimal(text.replace(",", "")).normalize()
    if "," in text and not _GROUPED.fullmatch(text):
        yield from (Decimal(part).normalize() for part in text.split(",") if part)


def dates_in(text: str) -> Iterator[tuple[int, int, int]]:
    """Dates in figures or with the name of a month, each way they can be read."""
    for year, month, day in _ISO.findall(text):
        yield int(year), int(month), int(day)
    for one, other, year in _WRITTEN.findall(text):
        yield int(year), int(one), int(other)
        yield int(year), int(other), int(one)
    yield from (date for _, date in named_dates(text))


def named_dates(text: str) -> Iterator[tuple[str, tuple[int, int, int]]]:
    """Dates with the name of a month: as they are written, and as year, month and day; 0 for a year that is not said."""
    for found in _NAMED.finditer(text):
        before, name, behind, year = found.groups()
        if before or behind:
            yield found[0], (int(year or 0), _MONTHS[name.lower()], int(behind or before))


def times_in(text: str) -> Iterator[tuple[int, int, int]]:
    """Times of day, each way they can be read."""
    for hour, minute, seconds, first, alone, second in _CLOCK.findall(text):
        at, half = int(hour or alone), (first or second).lower()
        if half:
            yield at % 12 + 12 * (half == "p"), int(minute or 0), int(seconds or 0)
        else:
            yield at, int(minute), int(seconds or 0)


def _tree(text: str) -> Any:
    if len(text) > _LARGEST or text[:64].lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text, parse_float=_number, parse_int=_number)
    except (ValueError, RecursionError):
        return None


def _number(text: str) -> Decimal | None:
    """A number of JSON that can be summed."""
    return Decimal(text) if len(text) <= LONGEST_NUMBER and text.lower().count("e") == 0 else None


def _lists(tree: Any) -> Iterator[tuple[int, dict[str, Decimal]]]:
    """Each list and object of a tree: how many entries it has, and the sums of the numbers its entries hold under one name."""
    if not isinstance(tree, (dict, list)):
        return
    inner = list(tree.values()) if isinstance(tree, dict) else tree
    sums: dict[str, Decimal] = {}
    for entry in inner:
        for name, value in entry.items() if isinstance(entry, dict) else ():
            if isinstance(value, Decimal):
                sums[name] = sums.get(name, Decimal(0)) + value
    yield len(inner), sums
    for entry in inner:
        yield from _lists(entry)


def _leaves(tree: Any) -> Iterator[tuple[str, Decimal]]:
    """The numbers of an object that is no list, each under its name."""
    if isinstance(tree, dict):
        yield from ((name, value) for name, value in tree.items() if isinstance(value, Decimal))
