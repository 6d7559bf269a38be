"""Checks summaries against the log: finds ids, numbers, dates and quotations that the log does not hold."""

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
"""A number with commas between groups of digits; without decimals, several commas may part a list."""
EUROPEAN = re.compile(r"(?<![\w.,])\d{1,3}(?:\.\d{3})*,\d{2}(?![\w,])")
"""An amount with a decimal comma."""
_TIMED = re.compile(r"(?<=\d)t(?=\d)")
_ESCAPED = re.compile(r"\\[nrt]")
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_WRITTEN = re.compile(r"(?<![\d.,/-])(\d{1,2})[./-](\d{1,2})[./-](\d{4})(?!\d)")
_MONTHS = {
    name.lower(): at for names in (calendar.month_name, calendar.month_abbr) for at, name in enumerate(names) if name
}
_NAME = "|".join(sorted(map(str.capitalize, _MONTHS), reverse=True))
_NAMED = re.compile(
    rf"(?:\b(\d{{1,2}})(?:st|nd|rd|th)?[ .]+)?\b({_NAME})\b\.?"
    r"(?: (\d{1,2})(?!\d)(?:st|nd|rd|th)?)?(?:,? (\d{4})\b)?"
)
_CLOCK = re.compile(
    r"(?<![\d:.])(\d{1,2}):(\d\d)(?::(\d\d))?(?: ?([ap])\.?m)?|\b(\d{1,2}) ?([ap])\.?m\b", re.IGNORECASE
)
LONGEST_NUMBER = 24
"""Signs of a number that is compared by its value; a longer one must be in the log as it is written."""
_LARGEST = 200_000
"""Characters of a record that are read as JSON for its lists and columns."""


class Ground:
    """The records that a summary may use, as one source."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._source = "\n".join(texts)

    @cached_property
    def lowered(self) -> str:
        """The source in lower case; again with dates and times apart; again without the escaped line breaks of JSON."""
        low = self._source.lower()
        return "\n".join((low, _TIMED.sub(" ", low), _ESCAPED.sub(" ", low) if "\\" in low else ""))

    @cached_property
    def words(self) -> str:
        """Its words, between blanks."""
        return f" {' '.join(_WORD.findall(self.lowered))} "

    @cached_property
    def stated(self) -> frozenset[Decimal]:
        """Its numbers, and the parts of its dates."""
        found = {number for run in _NUMBER.finditer(self._source) for number in _numbers_in(run[0])}
        found |= {
            Decimal(run[0].replace(".", "").replace(",", ".")).normalize() for run in EUROPEAN.finditer(self._source)
        }
        found |= {Decimal(part).normalize() for date in self.dates for part in date if part}
        return frozenset(found)

    @cached_property
    def derived(self) -> frozenset[Decimal]:
        """The counts of its records, lines, entries and calls, and the sums of the columns of its lists."""
        counts: Counter[str] = Counter({"records": len(self._texts)})
        found: set[Decimal] = set()
        sums: dict[str, Decimal] = {}
        for text in self._texts:
            found.add(Decimal(sum(map(bool, map(str.strip, text.splitlines())))))
            tree = _read_json(text)
            if isinstance(tree, Mapping) and isinstance(tree.get("name"), str):
                counts[tree["name"]] += 1
            counts["entries"] += len(tree) if isinstance(tree, list) else 0
            for size, columns in _sum_lists(tree):
                found |= {Decimal(size), *columns.values()}
            for name, value in _list_numbers(tree):
                sums[name] = sums.get(name, Decimal(0)) + value
        return frozenset(number.normalize() for number in (*found, *map(Decimal, counts.values()), *sums.values()))

    @cached_property
    def dates(self) -> frozenset[tuple[int, int, int]]:
        """Its dates as year, month and day; 0 for a part that is missing."""
        return frozenset(dates_in(self._source))

    @cached_property
    def times(self) -> frozenset[tuple[int, int, int]]:
        """Its times of day as hour, minute and second."""
        return frozenset(times_in(self._source))


def _numbers_in(text: str) -> Iterator[Decimal]:
    """A number; if its commas may part several numbers, those too."""
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
    """Dates with the name of a month: as written, and as year, month and day; 0 for a missing year."""
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


def _read_json(text: str) -> Any:
    if len(text) > _LARGEST or text[:64].lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text, parse_float=_read_number, parse_int=_read_number)
    except (ValueError, RecursionError):
        return None


def _read_number(text: str) -> Decimal | None:
    """A number of JSON that can be summed."""
    return Decimal(text) if len(text) <= LONGEST_NUMBER and text.lower().count("e") == 0 else None


def _sum_lists(tree: Any) -> Iterator[tuple[int, dict[str, Decimal]]]:
    """Each list and object of a tree: how many entries it has, and the sums of the numbers its entries hold under one
    name.
    """
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
        yield from _sum_lists(entry)


def _list_numbers(tree: Any) -> Iterator[tuple[str, Decimal]]:
    """The numbers of an object, each with its name."""
    if isinstance(tree, dict):
        yield from ((name, value) for name, value in tree.items() if isinstance(value, Decimal))


_EAST = r"\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uffef"
_RUN = re.compile(rf"[^\s;()\[\]{{}}<>\"`|“”‘’«»„…{_EAST}]+")
_SPLIT = re.compile(r",(?!\d{3}(?!\d))|=|:(?=[^\d/])|'s?$|[–—]")
_EDGES = ".,:;!?*=–—'&-+~≈≤≥±×"
_AMOUNT = re.compile(r"([€£¥₹$+-]?)(\d[\d,]*(?:\.\d+)?)(%|st|nd|rd|th|[kKM])?")
_UNIT = re.compile(r"\s?(?:[A-Z]{2,4}\b|[%€£$¥₹°])")
_BEFORE = re.compile(r"(?:\b[A-Z]{2,4}|[€£$¥₹#])\s?$")
"""A sign of money or measure, or a code in capitals, before or after a number: it makes a small number an amount."""
_TIME = re.compile(r"\d{1,2}:\d\d(?::\d\d)?")
_HALF = re.compile(r" [ap]\.?m\b", re.IGNORECASE)
"""The half of the day, after a time."""
_SMALL = 20
_JOINED = re.compile(r"[@_/\\]|\w\.\w")
_HUMP = re.compile(r"[a-z][A-Z]")
_QUOTED = re.compile(r"\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|«([^»\n]{1,400})»|`([^`\n]{1,400})`")
_WORD = re.compile(r"\w+")
_KNOWN = 0.8
"""The rarity up to which a word in capitals counts as a common word, such as URL."""
_TIMES = {"k": 1_000, "K": 1_000, "M": 1_000_000}
_SUMMED = 60
"""The numbers of a summary, the first, of which sums are formed."""
_MOST_NAMED = 8


def list_known_texts(workspace: Workspace, blocks: Sequence[Block]) -> list[str]:
    """Return the texts that a summary may use besides the log: goal, register, the user's words, earlier summaries."""
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
    """Check a text, named `what` in errors, against the texts it may use and the steps it may refer to.

    Raises Ungrounded: it holds ids, numbers, addresses or quotations that are not there.
    """
    values = find_invented(text, source, steps)
    if values:
        named = ", ".join(repr(value[:60]) for value in values[:_MOST_NAMED])
        fault = f"inventing {counted(len(values), 'value')}"
        raise Ungrounded(f"the {what} holds {named}, not in the log; copy values exactly, or leave them out", fault)


def find_invented(summary: str, source: str | Sequence[str], steps: frozenset[int]) -> tuple[str, ...]:
    """Return the values of a summary that its source lacks, each once, in order; refs to `steps` are allowed."""
    ground = Ground([source] if isinstance(source, str) else source)
    found: dict[str, None] = {}
    known: list[Decimal] = []
    few: set[Decimal] = set()
    open_: list[str] = []
    for value, small in _find_values(summary):
        if small:
            few.update(_read_numbers(value))
        elif _is_held(value, ground, steps):
            known += _read_numbers(value)
        else:
            open_.append(value)
    told = [number for value in open_ for number in _read_numbers(value) if number in ground.derived]
    sums = _form_sums([*known, *told][:_SUMMED], few)
    for value in open_:
        if not any(number in ground.derived or number in sums for number in _read_numbers(value)):
            found[value] = None
    found.update((date, None) for date, read in named_dates(summary) if not _is_dated(read, ground))
    found.update((quote, None) for quote in _find_quotes(summary) if not _is_quoted(quote, ground))
    return tuple(found)


def _is_held(value: str, ground: Ground, steps: frozenset[int]) -> bool:
    """Whether the source holds a value as it is, in another notation, or part by part."""
    if _has_value(ground.lowered, value.lower()) or _is_ref(value, steps) or _is_timed(value, ground):
        return True
    if any(number in ground.stated for number in _read_numbers(value)):
        return True
    if value[0] == "#" and value[1:]:
        return _is_held(value[1:], ground, steps)
    parts = _split_joined(value)
    return len(parts) > 1 and all(_is_held(part, ground, steps) for part in parts)


def _find_values(summary: str) -> Iterator[tuple[str, bool]]:
    """The parts of a summary that must be exact: with a digit, joined of parts, or in capitals.

    Each comes with whether it is a small number without a unit, which counts something.
    """
    joined = frozenset(at for span in entities(summary) for at in range(span.start, span.end))
    for run in _RUN.finditer(summary):
        at = run.start()
        for part in _split_run(run[0]):
            kept = part.strip(_EDGES)
            exact = any(letter.isdigit() for letter in kept) or _is_code(kept)
            half = _HALF.match(summary, run.end()) if _TIME.fullmatch(kept) and run[0].endswith(part) else None
            if half:
                yield kept + half[0], False
            elif exact or (at in joined and _JOINED.search(kept)):
                alone = not _UNIT.match(summary, run.end()) and not _BEFORE.search(summary[max(0, at - 8) : at])
                yield kept, alone and _is_small(kept)


def _split_run(run: str) -> list[str]:
    """Split a run at commas, equals signs, colons and dashes; an address or a decimal comma stays whole."""
    return [run] if "://" in run or EUROPEAN.fullmatch(run.strip(_EDGES)) else _SPLIT.split(run)


def _split_joined(value: str) -> list[str]:
    """Split values at slashes, or two numbers at a hyphen; anything else stays whole."""
    if any(True for _ in dates_in(value)):
        return [value]
    slashed, dashed = value.split("/"), value.split("-")
    if len(slashed) > 1 and all(any(letter.isdigit() for letter in part) or _JOINED.search(part) for part in slashed):
        return slashed
    return dashed if len(dashed) == 2 and all(map(_AMOUNT.fullmatch, dashed)) else [value]


def _is_small(value: str) -> bool:
    found = _AMOUNT.fullmatch(value)
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
    """Whether a word of letters is written as a code: in capitals, or with a capital inside."""
    if not word.isalpha() or not word.isascii() or len(word) < 2:
        return False
    return (word.isupper() and not is_common(word) and rarity(word) > _KNOWN) or _HUMP.search(word) is not None


def _has_value(lowered: str, value: str) -> bool:
    """Whether a text holds a value that is not part of a longer word or number."""
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
    """Whether the two characters next to an end of a value, the nearer first, belong to it."""
    if not beside or not edge.isalnum():
        return False
    if beside[0].isascii() and beside[0].isalnum():
        return True
    return edge.isdigit() and beside[1:].isdigit() and (beside[0] == "." or (number and beside[0] == ","))


def _read_numbers(value: str) -> list[Decimal]:
    """The numbers that a value may mean; none if it is not a number, or as long as an id."""
    if len(value) > LONGEST_NUMBER:
        return []
    if EUROPEAN.fullmatch(value) and value.isascii():
        return [Decimal(value.replace(".", "").replace(",", ".")).normalize()]
    found = _AMOUNT.fullmatch(value)
    if found is None or not found[2].isascii():
        return []
    if found[3] in _TIMES:
        return [(Decimal(found[2].replace(",", "")) * _TIMES[found[3]]).normalize()]
    numbers = [Decimal(found[2].replace(",", "")).normalize()]
    return [*numbers, (numbers[0] / 100).normalize()] if found[3] == "%" else numbers


def _form_sums(known: Sequence[Decimal], few: Iterable[Decimal]) -> frozenset[Decimal]:
    """The sums and differences of two numbers, their products with a small one, and the sums of several in a row."""
    found = {one * small for one in known for small in few}
    for at, one in enumerate(known):
        found.update(accumulate(known[at:]))
        found.update(each for other in known[at + 1 :] for each in (one + other, abs(one - other)))
    return frozenset(number.normalize() for number in found)


def _is_timed(value: str, ground: Ground) -> bool:
    """Whether a value is a date or a time of day that the source holds in another notation."""
    dates, times = list(dates_in(value)), list(times_in(value))
    if not dates and not times:
        return False
    known = not dates or any(_is_dated(date, ground) for date in dates)
    return known and all(time in ground.times for time in times)


def _is_dated(date: tuple[int, int, int], ground: Ground) -> bool:
    """Whether the source holds a date: with the same year, or with a year that one side does not name."""
    same = [other[0] for other in ground.dates if other[1:] == date[1:]]
    return any(year == date[0] or not date[0] or (not year and date[0] in ground.stated) for year in same)


def _find_quotes(summary: str) -> Iterator[str]:
    for match in _QUOTED.finditer(summary):
        yield next(part for part in match.groups() if part is not None)


def _is_quoted(quote: str, ground: Ground) -> bool:
    """Whether the source holds each part of a quotation, word for word."""
    parts = (" ".join(_WORD.findall(part.lower())) for part in re.split(r"…|\.\.\.", quote))
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
