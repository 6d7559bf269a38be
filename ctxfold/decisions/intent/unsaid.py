"""Changes of mind that no cue word says: a thing asked for is seen to otherwise, hindered, given another value, or needed again. It changes nothing.

People seldom announce that they change their mind; they state a fact that makes what they asked for needless or wrong. Such a fact is read here by
its structure: it bears on the object of one open item, and it says that the need is met ("boxes we got from the neighbours"), or puts another
value of the same measure in its place ("40 won't do, 55"), or names a hindrance and, in a bare phrase, what is wanted in its stead ("Petra is on
leave. Yusuf."). What asks, what tells of the past and what bears on no item changes nothing.

Source: U-Fold's to-do follows the user's intent; the ways to say it are our own reading of how people speak.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from ctxfold.decisions.intent.likeness import content
from ctxfold.decisions.intent.restated import restated
from ctxfold.text import STOP_WORDS, stem, words
from ctxfold.text.phrases import pattern
from ctxfold.workspace.intent import Item

__all__ = ["Turned", "unsaid"]

_LONG = 200
"""Characters above which a message tells rather than changes."""
_FRAGMENT, _EAST_FRAGMENT = 4, 7
"""Words, or signs of a script without blanks, a bare phrase has at most."""
_RATIO = 2.5
"""By what factor a count may change and still be taken for the same thing's."""
_NEAR = 4
"""Words that may stand between an object and what is said of it."""
_CUT = re.compile(r"[,;，。；!！]\s*|[.?？](?:\s+|$)|\s[—–-]\s")
_ASKS = re.compile(r"[?？]|[吗呢]\W*$")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_EDGE = re.compile(r"\b(?:for|at|on|in|to|with|of|near|from|that|which|and|by|about|until|into|around)\b|[,.;:]", re.I)
_DAY = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|(?:周|星期|礼拜)[一二三四五六日天末]|明天|后天", re.I
)
_COUNT = re.compile(
    r"(?<![A-Za-z0-9.])(\d+(?:[.,]\d+)?)\s?([A-Za-z\u3400-\u9fff]*)|([一二两三四五六七八九十]+)([\u3400-\u9fff])(?=([\u3400-\u9fff]?))"
)
_CLOCK = frozenset("点号月日")
"""Signs behind a number that counts nothing: it says when."""
_SPELLED = re.compile(r"\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b", re.I)
_NUMBERS = {
    word: str(at) for at, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)
}
_BARE = frozenset(
    "please and or at in for to fits works has had will would should is are was just then it do does won't wont clashes falls seems may might can".split()
)


@dataclass(frozen=True, slots=True)
class Turned:
    """What a message does to an item without saying so.

    Attributes:
        item: the item.
        does: it is needless now, stands with another value, or is wanted again.
    """

    item: Item
    does: Literal["drop", "amend", "reopen"]


def unsaid(message: str, open_: Sequence[Item], dropped: Sequence[Item]) -> Turned | None:
    """What a message that holds no cue changes; None for nothing, or where it may be about several items.

    Args:
        message: the user's words.
        open_: the items it may be about.
        dropped: items that were given up, the newest last.
    """
    pieces = [piece for piece in (part.strip() for part in _CUT.split(message)) if piece]
    if len(message) > _LONG or not pieces:
        return None
    told = not _ASKS.search(message)
    already = _only(item for item in open_ if told and any(_done_already(item, piece) for piece in pieces))
    if already is not None:
        return Turned(already, "drop")
    if pattern("clause.past").search(message):
        return None
    needed = _only(item for item in dropped if told and any(_recalls(item, piece) for piece in pieces))
    if needed is not None:
        return Turned(needed, "reopen")
    amended = _revalued(message, open_) if told else None
    amended = amended or _stead(pieces, open_) or (restated(pieces, open_) if told else None)
    if amended is not None:
        return Turned(amended, "amend")
    wholes = [
        *pieces,
        *(f"{one}，{other}" for one, other in pairwise(pieces) if _HAN.search(other)),
    ]
    met = _only(item for item in open_ if told and any(_needless(item, piece) for piece in wholes))
    return Turned(met, "drop") if met is not None else None


def _only(items: Iterable[Item]) -> Item | None:
    """The one item there is; None for none or several."""
    found = list(items)
    return found[0] if len(found) == 1 else None


def _says(cue: str, text: str) -> bool:
    return pattern(f"clause.{cue}").search(text) is not None


def _object(item: Item) -> frozenset[str]:
    """The words of what an item is about: behind its verb, up to where and when; in a script without blanks all of them."""
    text = item.text
    verb = pattern("clause.asks").search(text)
    lead = verb.end() if verb is not None and text.isascii() else 0
    rest = text[lead:].strip() if lead else text
    edge = _EDGE.search(rest)
    return frozenset(word for word in content(rest[: edge.start()] if edge else rest) if not word.isdigit())


def _speaks_of(item: Item, text: str) -> bool:
    """Whether a text names an item's object."""
    if _HAN.search(item.text):
        return _common(item.text, text)
    return bool(_object(item) & set(words(text)))


def _recalls(item: Item, piece: str) -> bool:
    """Whether a piece says that what was given up is needed."""
    if not _says("needed", piece) or _says("denies", piece):
        return False
    return _common(item.text, piece) if _HAN.search(piece) else bool(content(item.text) & set(words(piece)))


def _common(item: str, text: str) -> bool:
    """Whether two texts without blanks share a word: two signs in a row that are no date, or the sign the item ends with at the text's beginning."""
    plain, said = _DAY.sub(" ", item), _DAY.sub(" ", text)
    pairs = {run[at : at + 2] for run in _HAN.findall(plain) for at in range(len(run) - 1)}
    if any(pair in said for pair in pairs):
        return True
    runs = _HAN.findall(plain)
    return bool(runs) and said.lstrip().startswith(runs[-1][-1])


def _needless(item: Item, piece: str) -> bool:
    """Whether a piece says that an item's need is met or barred: of its object itself, not of something beside it."""
    met, barred = pattern("clause.met").search(piece), pattern("clause.barred").search(piece)
    if _HAN.search(piece):
        return met is not None and _common(item.text, piece)
    named = _object(item)
    if barred is not None:
        beside = [*words(piece[: barred.start()])[-_NEAR:], *words(piece[barred.end() :])[:_NEAR]]
        return bool(named & set(beside))
    if met is None or _says("denies", piece):
        return False
    behind = words(piece[met.end() :])[:_NEAR]
    before = words(piece[: met.start()])
    return bool(named & set(behind)) or (bool(named & set(before[:_NEAR])) and _subject(piece, met))


def _done_already(item: Item, piece: str) -> bool:
    """Whether a piece says that just what an item asks for was done: "she already refilled it"."""
    found = re.search(r"\balready (?:been )?([a-z]+)((?: [a-z']+){0,3})", piece.lower())
    verb = pattern("clause.asks").search(item.text)
    if found is None or verb is None or _says("denies", piece):
        return False
    behind = set(words(f"{found[2]} {piece[: found.start()]}"))
    named = _object(item)
    return stem(found[1]) == stem(verb[0].split()[-1].lower()) and bool(
        {"it", "that", "them"} & set(found[2].split()) or named & behind
    )


def _subject(piece: str, met: re.Match[str]) -> bool:
    """Whether somebody does it: "boxes we got", "the cake: my sister bakes", not "the cake has nuts"."""
    return pattern("clause.somebody").search(f"{piece[: met.start()]} {met[0]}") is not None


def _revalued(message: str, items: Sequence[Item]) -> Item | None:
    """The item that is given another value of a measure it has: a day for a day, a count for a count of the same."""
    days, counts = _days(message), _counts(message)
    by_day = [item for item in items if days and _days(item.text) and days - _days(item.text)]
    named = _only(item for item in by_day if days & _days(item.text) or _speaks_of(item, message))
    if named is not None:
        return named
    becomes = _says("becomes", message) or _says("insists", message)
    other = [item for item in items if _other_count(counts, _counts(item.text), becomes=becomes)]
    if len(other) == 1:
        return other[0]
    return None


def _days(text: str) -> frozenset[str]:
    return frozenset(day.lower() for day in _DAY.findall(text))


def _counts(text: str) -> tuple[tuple[str, str], ...]:
    """The counts of a text, each with what is counted; empty for a bare one."""
    found = []
    plain = _SPELLED.sub(lambda word: _NUMBERS[word[1].lower()], text)
    for number, unit, east, sign, behind in _COUNT.findall(plain):
        if east == "一" or (sign or unit[:1]) in _CLOCK:
            continue
        if east and sign == "个" and behind:
            found.append((east, behind))
        counted = (unit[:1] if _HAN.match(unit) else stem(unit.lower())) or sign
        found.append((number or east, "" if unit.lower() in _BARE else counted))
    return tuple(found)


def _other_count(said: Sequence[tuple[str, str]], held: Sequence[tuple[str, str]], *, becomes: bool) -> bool:
    """Whether a message's counts put another in place of one that is held: the old one is named beside the new, the unit is the same, or it is said
    what a plain number comes to, of like size.
    """
    numbers = {number for number, _ in held}
    new = [(number, unit) for number, unit in said if number not in numbers]
    if not new or not held:
        return False
    if any(number in numbers for number, _ in said):
        return any(not unit for _, unit in new) or bool({unit for _, unit in new} & {unit for _, unit in held})
    if {unit for _, unit in new if unit} & {unit for _, unit in held if unit}:
        return True
    return becomes and len(said) == 1 and not new[0][1] and any(_like(new[0][0], number) for number in numbers)


def _like(one: str, other: str) -> bool:
    if not (one.isdecimal() and other.isdecimal() and int(one) and int(other)):
        return False
    return 1 / _RATIO <= int(one) / int(other) <= _RATIO


def _stead(pieces: Sequence[str], items: Sequence[Item]) -> Item | None:
    """The item whose word is hindered in one piece, where the next is a bare phrase that names something new."""
    for before, piece in pairwise(pieces):
        if not _says("hinders", before) or not _fragment(piece):
            continue
        about = set(content(before))
        item = _only(
            item
            for item in items
            if (_common(item.text, before) if _HAN.search(before) else about & content(item.text))
        )
        if item is not None and not content(piece) <= content(item.text):
            return item
    return None


def _fragment(piece: str) -> bool:
    """Whether a piece is a phrase without a sentence around it."""
    if _HAN.search(piece):
        return len(piece) <= _EAST_FRAGMENT
    plain = [
        word for word in re.findall(r"[\w'-]+", piece.lower()) if word not in ("it", "is", "then", "maybe", "please")
    ]
    return 0 < len(plain) <= _FRAGMENT and not any(word in STOP_WORDS or word in _BARE for word in plain[:2])
