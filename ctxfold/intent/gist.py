"""A message of the user in shorter and shorter forms, for a view that has no room for all of it. Its values stand to the last; it decides no budget.

What goes first is what a later step needs least: small talk and what was said before, then what neither asks nor holds a value, then the words far from a value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ctxfold.excerpt import excerpt, read
from ctxfold.intent.cues import Clause, clauses, facts_of
from ctxfold.lines import Line
from ctxfold.text import Span, sentences, windows
from ctxfold.tokens import count

__all__ = ["GISTS", "gist", "within"]

GISTS = 4
"""How many forms there are, the last but values."""

_IN_WORDS = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty|hundred|thousand|noon|midnight|half past|quarter (?:to|past)|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|named|called)\b"
    r"|[一二两三四五六七八九十百千万]+(?:[个位人张点号月日年天晚周度桌条棵块元折次份箱件台套间]|分钟)|周[一二三四五六日末]|星期[一二三四五六日天]|明天|后天"
    r"|[\u3400-\u9fff](?:先生|女士|医生|老师|经理|律师|太太|小姐|教授)|名叫|名字",
    re.I,
)
"""Values in plain words: they are told from others by sense alone, so they only decide what of a message goes first."""
_READ = 3_000
"""Tokens for which a message is read at least, whatever its room."""
_TOLD = 20_000
"""Letters of a message's beginning, and as many of its end, whose sentences are told apart by what they do."""
_AROUND = (200, 100, 50, 24)
"""Letters that stay on both sides of a value when the rest of its clause goes: as many as there is room for."""


def gist(line: Line, form: int, room: int = 0) -> Line:
    """A message in one of its shorter forms: never longer than it was.

    Args:
        line: the message as a view shows it.
        form: 0 keeps every sentence that asks, binds or changes something, once; 1 those that ask, change or hold a value; 2 the values with the
            words around them; 3 the values alone.
        room: o200k tokens the message may cost: as far as a form leaves some of it, the first two keep more sentences and the third more words.
    """
    mark, text, tail = _parted(line, room)
    left = room - count(mark) - count(tail) - 2
    match form:
        case 0 | 1:
            kept = _kept(text, form)
            short = excerpt(text, max(left, _price(text, kept)), kept)
        case 2:
            forms = (_near_values(text, around) for around in _AROUND)
            short = next((words for words in forms if count(words) <= left), "") or _near_values(text, _AROUND[-1])
        case _:
            short = "; ".join(dict.fromkeys(facts_of(text)))
    return _reworded(line, f"{mark} {short}{tail}")


def within(line: Line, room: int) -> Line:
    """A message in a room: first what asks, changes something or holds a value, from its beginning and its end; then more of both.

    Args:
        line: the message as a view shows it.
        room: o200k tokens it may cost.

    Returns:
        The message, where it fits as it is; else slices of it with marks between.
    """
    if line.tokens <= room:
        return line
    mark, text, tail = _parted(line, room)
    return _reworded(line, f"{mark} {excerpt(text, room - count(mark) - count(tail) - 2, _kept(text, 1))}{tail}")


def _parted(line: Line, room: int) -> tuple[str, str, str]:
    """The marker of a message, what is read of its words for a room, and the ref that stands behind what is left of them."""
    mark, _, text = line.text.partition(" ")
    return mark, read(text, max(room, _READ)), f" […{line.ref}]"


def _reworded(line: Line, text: str) -> Line:
    tokens = count(text) + 1
    return line.reworded(text, tokens, line.keys) if tokens < line.tokens else line


@lru_cache(maxsize=64)
def _kept(text: str, form: int) -> tuple[Span, ...]:
    """The sentences of a text that a form keeps: those of which some clause does. Of a long text its beginning and its end are told apart so."""
    return tuple(
        span
        for span in sentences(text)
        if (span.start < _TOLD or span.start > len(text) - _TOLD)
        and any(_keeps(clause, form) for clause in clauses(span.of(text)))
    )


def _keeps(clause: Clause, form: int) -> bool:
    return _acts(clause) or _tells(clause.text) or (form == 0 and clause.binds)


def _price(text: str, kept: Sequence[Span]) -> int:
    """Tokens in which an excerpt of a text has room for what is kept."""
    return sum(count(words) + 2 for words in {span.of(text) for span in kept})


def _acts(clause: Clause) -> bool:
    return clause.asks or clause.corrects or clause.cancels or clause.returns or clause.settles


def _tells(text: str) -> bool:
    """Whether a clause holds a value, be it one in plain words."""
    return bool(facts_of(text)) or _IN_WORDS.search(text) is not None


def _near_values(text: str, around: int) -> str:
    """The values of a text, each with some letters of the words around it."""
    return " … ".join(dict.fromkeys(span.of(text) for span in windows(text, _values(text), around, around)))


@lru_cache(maxsize=64)
def _values(text: str) -> tuple[Span, ...]:
    """Wherever the values of a text stand in it, those in plain words among them."""
    found: set[Span] = set()
    for value in dict.fromkeys((*facts_of(text), *(match[0] for match in _IN_WORDS.finditer(text)))):
        at = text.find(value)
        while at >= 0:
            found.add(Span(at, at + len(value)))
            at = text.find(value, at + len(value))
    return tuple(sorted(found, key=lambda span: (span.start, -span.end)))
