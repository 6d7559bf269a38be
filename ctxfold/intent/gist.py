"""A message of the user in shorter and shorter forms, for a view that has no room for all of it. Its values stand to the last; it decides no budget.

What goes first is what a later step needs least: small talk and what was said before, then what neither asks nor holds a value, then the words far from a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ctxfold.intent.cues import Clause, clauses, facts_of
from ctxfold.lines import Line
from ctxfold.text import Span, sentences, windows
from ctxfold.tokens import count

__all__ = ["GISTS", "gist"]

GISTS = 4
"""How many forms there are, the last but values."""

_READ = 20_000
_IN_WORDS = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty|hundred|thousand|noon|midnight|half past|quarter (?:to|past)|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|named|called)\b"
    r"|[一二两三四五六七八九十百千万]+(?:[个位人张点号月日年天晚周度桌条棵块元折次份箱件台套间]|分钟)|周[一二三四五六日末]|星期[一二三四五六日天]|明天|后天"
    r"|[\u3400-\u9fff](?:先生|女士|医生|老师|经理|律师|太太|小姐|教授)|名叫|名字",
    re.I,
)
"""Values in plain words: they are told from others by sense alone, so they only decide what of a message goes first."""
_AROUND = 24
"""Letters that stay on both sides of a value when the rest of its clause goes."""


def gist(line: Line, form: int) -> Line:
    """A message in one of its shorter forms: never longer than it was.

    Args:
        line: the message as a view shows it.
        form: 0 keeps every sentence that asks, binds or changes something, once; 1 those that ask, change or hold a value; 2 the values with the
            words around them; 3 the values alone.
    """
    mark, _, text = line.text.partition(" ")
    tail = f" […{line.ref}]"
    text = text[:_READ]
    match form:
        case 0:
            kept = _sentences(text, lambda clause: clause.binds or _acts(clause) or _tells(clause.text))
        case 1:
            kept = _sentences(text, lambda clause: _acts(clause) or _tells(clause.text))
        case 2:
            kept = _near_values(text)
        case _:
            kept = facts_of(text)
    short = f"{mark} {(' … ' if form < GISTS - 1 else '; ').join(dict.fromkeys(kept))}{tail}"
    tokens = count(short) + 1
    return line.reworded(short, tokens, line.keys) if tokens < line.tokens else line


def _sentences(text: str, keeps: Callable[[Clause], bool]) -> list[str]:
    """The sentences of a text of which some clause is kept."""
    found = (span.of(text) for span in sentences(text))
    return [sentence for sentence in found if any(map(keeps, clauses(sentence)))]


def _acts(clause: Clause) -> bool:
    return clause.asks or clause.corrects or clause.cancels or clause.returns or clause.settles


def _tells(text: str) -> bool:
    """Whether a clause holds a value, be it one in plain words."""
    return bool(facts_of(text)) or _IN_WORDS.search(text) is not None


def _near_values(text: str) -> list[str]:
    """The values of a text, each with the words around it."""
    found: list[Span] = []
    for value in (*facts_of(text), *(match[0] for match in _IN_WORDS.finditer(text))):
        at = text.find(value)
        while at >= 0:
            found.append(Span(at, at + len(value)))
            at = text.find(value, at + len(value))
    ordered = sorted(set(found), key=lambda span: (span.start, -span.end))
    return [span.of(text) for span in windows(text, ordered, _AROUND, _AROUND)]
