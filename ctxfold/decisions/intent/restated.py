"""A slot of something asked for that is stated anew: another time, day, date, size, seat, colour, language, number or code of the same kind. It changes nothing.

An item holds one value of a kind ("the 7:40", "size M", "in German"). A message that holds another of that kind changes it where the old value is said
to be hindered ("the 7:40 is full, the 9:10 has seats"), or where the new one is said to be right ("A5 will do for the flyers", "she's an L") and the
message bears on the item. What only mentions such a value ("size L is what her brother wears") changes nothing.

Source: slots and their values as a dialogue's state (Williams et al., 2013); the kinds and the ways to state one are our own reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from ctxfold.decisions.intent.likeness import content
from ctxfold.decisions.intent.likeness import kind as sort
from ctxfold.text import words
from ctxfold.text.phrases import ALIKE, choices, listed, named, pattern
from ctxfold.workspace.intent import Item

__all__ = ["restated", "slots"]

_CLOCK = r"\b\d{1,2}:\d{2}\b"
_VERSION = re.compile(r"(?<![\w.:])v?\d+(?:\.\d+)+(?![\w:])", re.I)
_SIZE = re.compile(r"(?<![A-Za-z0-9'.])(?:XXS|XS|S|M|L|XL|XXL)(?![A-Za-z0-9'])")
_CODE = re.compile(
    r"(?<![A-Za-z0-9_-])(?=[A-Za-z0-9-]*\d)(?=[A-Za-z0-9-]*[A-Za-z])[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*(?![A-Za-z0-9_-])"
)
_TRANSLATES = "edit"
"""The sort of act that a reader's language makes needless as often as it changes it."""
_HAN = re.compile(r"[\u3400-\u9fff]")


def slots(text: str) -> Mapping[str, frozenset[str]]:
    """The values of a text by kind.

    Args:
        text: a message, a piece of one, or what was asked for.
    """
    found: dict[str, set[str]] = {}
    left = text
    for kind, form in _forms().items():
        for match in form.finditer(left):
            found.setdefault(kind, set()).add(_day_of(match[0]) if kind == "date" else match[0].lower())
        left = form.sub(" ", left)
    for code in _CODE.findall(left):
        found.setdefault(f"code {re.sub('[0-9]+', '9', re.sub('[a-z]+', 'a', code.lower()))}", set()).add(code.lower())
    for kind, form in _lists():
        for match in form.finditer(left):
            found.setdefault(kind, set()).add(match[0].lower())
    return {kind: frozenset(values) for kind, values in found.items()}


def _day_of(date: str) -> str:
    """The day of a date: people name the month once."""
    told: list[str] = re.findall(rf"\d+|{choices('digit')}+", date)
    return told[-1]


def restated(pieces: Sequence[str], items: Sequence[Item]) -> Item | None:
    """The one item whose slot is stated anew; None for none or several.

    Args:
        pieces: a message's phrases, in order.
        items: what is open.
    """
    held = [(item, slots(item.text)) for item in items]
    found = {item.id: item for item, _ in held if _succeeded(item, pieces)}
    for kind, value, piece in _said(pieces):
        for item, own in held:
            if kind == "kind_language" and sort(item.text) == _TRANSLATES:
                continue
            if kind in own and value not in own[kind] and _stands(kind, value, piece, pieces, item, own[kind]):
                found[item.id] = item
    return next(iter(found.values())) if len(found) == 1 else None


def _succeeded(item: Item, pieces: Sequence[str]) -> bool:
    """Whether somebody an item names is said to be hindered, and one other to stand in: "Hansen retired, Weller took over"."""
    named = _names(item.text)
    gone = [piece for piece in pieces if named & _names(piece, first=True) and _says("hinders", piece)]
    others = [_names(piece, first=True) - named for piece in pieces if piece not in gone and _says("steps_in", piece)]
    return bool(gone) and len(others) == 1 and len(others[0]) == 1


def _names(text: str, *, first: bool = False) -> frozenset[str]:
    """The words of a text with a capital: no days, months or words of any sentence; its first word only where that is asked for."""
    rest = text.strip() if first else text.strip().partition(" ")[2]
    return frozenset(
        word
        for word in re.findall(r"\b[A-Z][a-z]+\b", rest)
        if word.lower() not in listed("common") and not any(form.search(f"{word} 1") for form in _forms().values())
    )


def _said(pieces: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Each value of a message that is not the only thing in its phrase that is denied: kind, value, phrase."""
    for piece in pieces:
        for kind, values in slots(piece).items():
            if len(values) == 1:
                yield kind, next(iter(values)), piece


def _stands(kind: str, value: str, piece: str, pieces: Sequence[str], item: Item, held: frozenset[str]) -> bool:
    """Whether a phrase puts a value of a kind in the place of those that an item holds."""
    if _says("hinders", piece) and not _says("stated", piece):
        return False
    barred = any(
        other != piece and slots(other).get(kind, frozenset()) & held and _says("hinders", other) for other in pieces
    )
    if barred or _alone(value, piece) or (kind not in _THINGS and _wanted(value, piece)):
        return True
    if not _says("stated", piece):
        return False
    return _bears(item, " ".join(pieces)) or pattern("clause.stands_for").search(piece) is not None


_THINGS = frozenset({"kind_ride", "kind_meal", "kind_bed", "day", "person"})
"""Kinds whose values are things as well: who wants a bike speaks of no rented car."""


def _wanted(value: str, piece: str) -> bool:
    """Whether a phrase ends on the value, behind a word of wanting or allowing it: "the landlord insists on grey"."""
    found = pattern("clause.insists").search(piece)
    ends = re.search(rf"{re.escape(value)}{choices('trails')}?\W*$", piece, re.I)
    return found is not None and ends is not None and found.end() <= ends.start() + 1


def _alone(value: str, piece: str) -> bool:
    """Whether a phrase is nothing but the value."""
    return not _beside().sub("", piece.lower().replace(value, ""))


def _bears(item: Item, text: str) -> bool:
    """Whether a text names something of an item besides its values."""
    if _HAN.search(text):
        runs = re.findall(r"[\u3400-\u9fff]{2,}", item.text)
        return any(run[at : at + 2] in text for run in runs for at in range(len(run) - 1))
    return bool({word for word in content(item.text) if not word.isdigit()} & set(words(text)))


def _says(cue: str, text: str) -> bool:
    return pattern(f"clause.{cue}").search(text) is not None


@cache
def _beside() -> re.Pattern[str]:
    """What stands beside a value that is all of a phrase."""
    return re.compile(rf"[\W_]+|{pattern('clause.beside').pattern}", ALIKE)


@cache
def _forms() -> Mapping[str, re.Pattern[str]]:
    """The kinds whose values are known by how they are written, in the order they are looked for: what is one of the first is none of the next."""
    return {
        "time": re.compile(f"{_CLOCK}|{pattern('slot.time').pattern}", ALIKE),
        "date": pattern("slot.date"),
        "person": pattern("slot.person"),
        "version": _VERSION,
        "day": pattern("slot.day"),
        "size": _SIZE,
    }


@cache
def _lists() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The kinds whose values are words of a list, each with a pattern of them."""
    return tuple((kind, _either(listed(kind))) for kind in named("kind_"))


def _either(held: frozenset[str]) -> re.Pattern[str]:
    """Any word of a list, the longest first."""
    ordered = sorted(held, key=lambda word: (-len(word), word))
    spaced = "|".join(re.escape(word) for word in ordered if word.isascii())
    east = "|".join(re.escape(word) for word in ordered if not word.isascii())
    return re.compile(f"\\b(?:{spaced})\\b|(?:{east})", re.I)
