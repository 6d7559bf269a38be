"""Finds the values in a summary (ids, codes, numbers, addresses, quotations) that stand nowhere in its source.

A name in plain letters ("Lisbon"), a number written out ("three") and a small one without a unit are words here, and pass; so do counts and sums of
what the source holds, and its dates, times and amounts in another notation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import accumulate

from ctxfold.decisions.fold.ground import EUROPEAN, LONGEST_NUMBER, Ground, dates_in, named_dates, times_in
from ctxfold.errors import RefError, Ungrounded
from ctxfold.log.refs import BlockRef, RangeRef, RecordRef, StepRef, StretchRef, parse_ref
from ctxfold.text import entities, is_common
from ctxfold.text.words import counted
from ctxfold.tokens.ranks import rarity
from ctxfold.workspace.workspace import Block, Tile, Workspace

__all__ = ["check_summary", "invented", "known_texts"]

_EAST = r"\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uffef"
_RUN = re.compile(rf"[^\s;()\[\]{{}}<>\"`|“”‘’«»„…{_EAST}]+")
_SPLIT = re.compile(r",(?!\d{3}(?!\d))|=|:(?=[^\d/])|'s?$|[–—]")
_EDGES = ".,:;!?*=–—'&-+~≈≤≥±×"
_NUMBER = re.compile(r"([€£¥₹$+-]?)(\d[\d,]*(?:\.\d+)?)(%|st|nd|rd|th|[kKM])?")
_UNIT = re.compile(r"\s?(?:[A-Z]{2,4}\b|[%€£$¥₹°])")
_BEFORE = re.compile(r"(?:\b[A-Z]{2,4}|[€£$¥₹#])\s?$")
"""What makes a small number an amount: a sign of money or measure, or a code in capitals, beside it."""
_CLOCK = re.compile(r"\d{1,2}:\d\d(?::\d\d)?")
_HALF = re.compile(r" [ap]\.?m\b", re.IGNORECASE)
"""What says behind a time of twelve hours which half of the day it is."""
_SMALL = 20
_JOINED = re.compile(r"[@_/\\]|\w\.\w")
_HUMP = re.compile(r"[a-z][A-Z]")
_QUOTED = re.compile(r"\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|«([^»\n]{1,400})»|`([^`\n]{1,400})`")
_WORD = re.compile(r"\w+")
_KNOWN = 0.8
"""How rare a word in capitals may be that is a word of every language, such as URL."""
_TIMES = {"k": 1_000, "K": 1_000, "M": 1_000_000}
_SUMMED = 60
"""Numbers of a summary that are looked at for sums, the first."""
_NAMED = 8


def known_texts(workspace: Workspace, blocks: Sequence[Block]) -> list[str]:
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
    values = invented(text, source, steps)
    if values:
        named = ", ".join(repr(value[:60]) for value in values[:_NAMED])
        fault = f"inventing {counted(len(values), 'value')}"
        raise Ungrounded(f"the {what} holds {named}, not in the log; copy values exactly, or leave them out", fault)


def invented(summary: str, source: str | Sequence[str], steps: frozenset[int]) -> tuple[str, ...]:
    """The values of a summary that its source does not hold, each once, in its order; it may point at `steps` by `s12` and the like."""
    ground = Ground([source] if isinstance(source, str) else source)
    found: dict[str, None] = {}
    known: list[Decimal] = []
    few: set[Decimal] = set()
    open_: list[str] = []
    for value, small in _values(summary):
        if small:
            few.update(_number(value))
        elif _stands(value, ground, steps):
            known += _number(value)
        else:
            open_.append(value)
    told = [number for value in open_ for number in _number(value) if number in ground.derived]
    sums = _sums([*known, *told][:_SUMMED], few)
    for value in open_:
        if not any(number in ground.derived or number in sums for number in _number(value)):
            found[value] = None
    found.update((date, None) for date, read in named_dates(summary) if not _is_dated(read, ground))
    found.update((quote, None) for quote in _quotes(summary) if not _is_quoted(quote, ground))
    return tuple(found)


def _stands(value: str, ground: Ground, steps: frozenset[int]) -> bool:
    """Whether a value stands in the ground as it is, in another notation, or part by part."""
    if _holds(ground.lowered, value.lower()) or _is_ref(value, steps) or _is_timed(value, ground):
        return True
    if any(number in ground.stated for number in _number(value)):
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
            half = _HALF.match(summary, run.end()) if _CLOCK.fullmatch(kept) and run[0].endswith(part) else None
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
    return dashed if len(dashed) == 2 and all(map(_NUMBER.fullmatch, dashed)) else [value]


def _is_small(value: str) -> bool:
    found = _NUMBER.fullmatch(value)
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


def _number(value: str) -> list[Decimal]:
    """The numbers that a value may be: none where it is no number, or so long that it is an id."""
    if len(value) > LONGEST_NUMBER:
        return []
    if EUROPEAN.fullmatch(value) and value.isascii():
        return [Decimal(value.replace(".", "").replace(",", ".")).normalize()]
    found = _NUMBER.fullmatch(value)
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
