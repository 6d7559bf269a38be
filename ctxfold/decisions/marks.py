"""Marks what a summary says and its log does not hold."""

from __future__ import annotations

import calendar
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import accumulate
from typing import Any

from ctxfold.errors import RefError, Ungrounded
from ctxfold.log import BlockRef, RangeRef, RecordRef, StepRef, StretchRef, parse_ref
from ctxfold.text.values import entities
from ctxfold.text.words import counted, is_common
from ctxfold.tokens import rarity
from ctxfold.workspace import Block, Tile, Workspace

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


_EAST = r"\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uffef"
_RUN = re.compile(rf"[^\s;()\[\]{{}}<>\"`|“”‘’«»„…{_EAST}]+")
_SPLIT = re.compile(r",(?!\d{3}(?!\d))|=|:(?=[^\d/])|'s?$|[–—]")
_EDGES = ".,:;!?*=–—'&-+~≈≤≥±×"
_VERIFY_NUMBER = re.compile(r"([€£¥₹$+-]?)(\d[\d,]*(?:\.\d+)?)(%|st|nd|rd|th|[kKM])?")
_UNIT = re.compile(r"\s?(?:[A-Z]{2,4}\b|[%€£$¥₹°])")
_BEFORE = re.compile(r"(?:\b[A-Z]{2,4}|[€£$¥₹#])\s?$")
"""What makes a small number an amount: a sign of money or measure, or a code in capitals, beside it."""
_VERIFY_CLOCK = re.compile(r"\d{1,2}:\d\d(?::\d\d)?")
_HALF = re.compile(r" [ap]\.?m\b", re.IGNORECASE)
"""What says behind a time of twelve hours which half of the day it is."""
_SMALL = 20
_JOINED = re.compile(r"[@_/\\]|\w\.\w")
_HUMP = re.compile(r"[a-z][A-Z]")
_QUOTED = re.compile(r"\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|«([^»\n]{1,400})»|`([^`\n]{1,400})`")
_VERIFY_WORD = re.compile(r"\w+")
_KNOWN = 0.8
"""How rare a word in capitals may be that is a word of every language, such as URL."""
_TIMES = {"k": 1_000, "K": 1_000, "M": 1_000_000}
_SUMMED = 60
"""Numbers of a summary that are looked at for sums, the first."""
_VERIFY_NAMED = 8


def list_known_texts(workspace: Workspace, blocks: Sequence[Block]) -> list[str]:
    """What a summary of blocks may say beside their log: the goal, the register, the user's words, and what was written of the blocks before."""
    intent = workspace.intent
    said = (*workspace.words, *(line for block in workspace.blocks for line in block.said))
    written = (block.summary for block in blocks if isinstance(block, Tile))
    statements = (*intent.constraints, *intent.decisions)
    register = (*(item.text for item in intent.items), *(each.text for each in statements))
    return [note.text for note in workspace.notes] + [
        *register,
        intent.summary,
        *written,
        *(line.text for line in said),
    ]


def check_summary(what: str, text: str, source: Sequence[str], steps: frozenset[int]) -> None:
    """Hold a text, which is called `what`, against the records it may say something of and the steps it may point at.

    Raises Ungrounded: it holds ids, numbers, addresses or quotations that stand nowhere there.
    """
    values = find_invented(text, source, steps)
    if values:
        named = ", ".join(repr(value[:60]) for value in values[:_VERIFY_NAMED])
        fault = f"inventing {counted(len(values), 'value')}"
        raise Ungrounded(f"the {what} holds {named}, not in the log; copy values exactly, or leave them out", fault)


def find_invented(summary: str, source: str | Sequence[str], steps: frozenset[int]) -> tuple[str, ...]:
    """The values of a summary that its source does not hold, each once, in its order; it may point at `steps` by `s12` and the like."""
    ground = Ground([source] if isinstance(source, str) else source)
    found: dict[str, None] = {}
    known: list[Decimal] = []
    few: set[Decimal] = set()
    open_: list[str] = []
    for value, small in _values(summary):
        if small:
            few.update(_number_verify(value))
        elif _stands(value, ground, steps):
            known += _number_verify(value)
        else:
            open_.append(value)
    told = [number for value in open_ for number in _number_verify(value) if number in ground.derived]
    sums = _sums([*known, *told][:_SUMMED], few)
    for value in open_:
        if not any(number in ground.derived or number in sums for number in _number_verify(value)):
            found[value] = None
    found.update((date, None) for date, read in named_dates(summary) if not _is_dated(read, ground))
    found.update((quote, None) for quote in _quotes(summary) if not _is_quoted(quote, ground))
    return tuple(found)


def _stands(value: str, ground: Ground, steps: frozenset[int]) -> bool:
    """Whether a value stands in the ground as it is, in another notation, or part by part."""
    if _holds(ground.lowered, value.lower()) or _is_ref(value, steps) or _is_timed(value, ground):
        return True
    if any(number in ground.stated for number in _number_verify(value)):
        return True
    if value[0] == "#" and value[1:]:
        return _stands(value[1:], ground, steps)
    parts = _joined(value)
    return len(parts) > 1 and all(_stands(part, ground, steps) for part in parts)


def _values(summary: str) -> Iterator[tuple[str, bool]]:
    """The parts of a summary that must be exact: whatever has a digit, is joined of several parts, or stands in capitals. Each with whether it is a small
    number without a unit, which counts something.
    """
    joined = frozenset(at for span in entities(summary) for at in range(span.start, span.end))
    for run in _RUN.finditer(summary):
        at = run.start()
        for part in _parts(run[0]):
            kept = part.strip(_EDGES)
            exact = any(letter.isdigit() for letter in kept) or _is_code(kept)
            half = _HALF.match(summary, run.end()) if _VERIFY_CLOCK.fullmatch(kept) and run[0].endswith(part) else None
            if half:
                yield kept + half[0], False
            elif exact or (at in joined and _JOINED.search(kept)):
                alone = not _UNIT.match(summary, run.end()) and not _BEFORE.search(summary[max(0, at - 8) : at])
                yield kept, alone and _is_small(kept)


def _parts(run: str) -> list[str]:
    """A run at the commas, equals signs, colons and dashes that join two values; an address and an amount with a decimal comma stay whole."""
    return [run] if "://" in run or EUROPEAN.fullmatch(run.strip(_EDGES)) else _SPLIT.split(run)


def _joined(value: str) -> list[str]:
    """What stands on the sides of slashes between values, or of a hyphen between numbers; the value itself where it is anything else."""
    if any(True for _ in dates_in(value)):
        return [value]
    slashed, dashed = value.split("/"), value.split("-")
    if len(slashed) > 1 and all(any(letter.isdigit() for letter in part) or _JOINED.search(part) for part in slashed):
        return slashed
    return dashed if len(dashed) == 2 and all(map(_VERIFY_NUMBER.fullmatch, dashed)) else [value]


def _is_small(value: str) -> bool:
    found = _VERIFY_NUMBER.fullmatch(value)
    return (
        found is not None
        and not found[1]
        and (found[3] or "st") in ("st", "nd", "rd", "th")
        and found[2].isascii()
        and found[2].isdecimal()
        and len(found[2]) <= 2
        and int(found[2]) <= _SMALL
    )


def _is_code(word: str) -> bool:
    """Whether a word of letters alone is written as a code: in capitals, or with one inside."""
    if not word.isalpha() or not word.isascii() or len(word) < 2:
        return False
    return (word.isupper() and not is_common(word) and rarity(word) > _KNOWN) or _HUMP.search(word) is not None


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


def _number_verify(value: str) -> list[Decimal]:
    """The numbers that a value may be: none where it is no number, or so long that it is an id."""
    if len(value) > LONGEST_NUMBER:
        return []
    if EUROPEAN.fullmatch(value) and value.isascii():
        return [Decimal(value.replace(".", "").replace(",", ".")).normalize()]
    found = _VERIFY_NUMBER.fullmatch(value)
    if found is None or not found[2].isascii():
        return []
    if found[3] in _TIMES:
        return [(Decimal(found[2].replace(",", "")) * _TIMES[found[3]]).normalize()]
    numbers = [Decimal(found[2].replace(",", "")).normalize()]
    return [*numbers, (numbers[0] / 100).normalize()] if found[3] == "%" else numbers


def _sums(known: Sequence[Decimal], few: Iterable[Decimal]) -> frozenset[Decimal]:
    """The sums and differences of two numbers that a summary names, their products by a small one, and the sums of several in a row."""
    found = {one * small for one in known for small in few}
    for at, one in enumerate(known):
        found.update(accumulate(known[at:]))
        found.update(each for other in known[at + 1 :] for each in (one + other, abs(one - other)))
    return frozenset(number.normalize() for number in found)


def _is_timed(value: str, ground: Ground) -> bool:
    """Whether a value is a date or a time of day that the ground holds in another notation."""
    dates, times = list(dates_in(value)), list(times_in(value))
    if not dates and not times:
        return False
    known = not dates or any(_is_dated(date, ground) for date in dates)
    return known and all(time in ground.times for time in times)


def _is_dated(date: tuple[int, int, int], ground: Ground) -> bool:
    """Whether a date stands in the ground: in the same year, or where one side names none in a year that stands there."""
    same = [other[0] for other in ground.dates if other[1:] == date[1:]]
    return any(year == date[0] or not date[0] or (not year and date[0] in ground.stated) for year in same)


def _quotes(summary: str) -> Iterator[str]:
    for match in _QUOTED.finditer(summary):
        yield next(part for part in match.groups() if part is not None)


def _is_quoted(quote: str, ground: Ground) -> bool:
    """Whether each part of a quotation stands in the ground, word for word; one without words says nothing."""
    parts = (" ".join(_VERIFY_WORD.findall(part.lower())) for part in re.split(r"…|\.\.\.", quote))
    return all(f" {part} " in ground.words for part in parts if part)


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
