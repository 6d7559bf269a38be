"""What a user's clause does, read from cue phrases (`ctxfold/phrases`): asks, corrects, cancels, returns, settles, binds. It keeps no state.

Source: U-Fold refolds on a change of intent; its signs are words such as "actually", "instead", "cancel", "back to" and their Chinese counterparts. Cues say
what a clause may do; whether it does is decided against the to-do, elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ctxfold.text import Span, sentences
from ctxfold.text.phrases import choices, pattern
from ctxfold.text.values import facts_of

__all__ = ["Clause", "asks", "clauses"]


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of a user's message that does one thing.

    Attributes:
        text: its words, a slice of the message.
        asks: it asks for something to be done.
        corrects: it takes the place of something said before.
        cancels: it takes something back.
        returns: it goes back to something given up.
        settles: it says that something is done.
        binds: it sets a bound or forbids, or holds a value that must stay exact.
        vague: it names nothing itself and leans on what was said just before.
        again: it prefers something, perhaps what was given up before (还是…吧).
        complains: it finds something too much of a kind: a correction of what is there, and no wish by itself.
    """

    text: str
    asks: bool = False
    corrects: bool = False
    cancels: bool = False
    returns: bool = False
    settles: bool = False
    binds: bool = False
    vague: bool = False
    again: bool = False
    complains: bool = False


def clauses(text: str) -> list[Clause]:
    """What each stretch of a user's message does, in order.

    Args:
        text: the message.

    Returns:
        Clauses, each an exact slice; small talk gives none.
    """
    found: list[Clause] = []
    for span in sentences(text):
        for piece in _pieces(text, span):
            words = piece.of(text)
            if _idle().match(words):
                continue
            found.append(_clause(words))
    return found


def _clause(words: str) -> Clause:
    cancel = pattern("clause.cancels").search(words)
    cancels = cancel is not None
    asks = (
        (cancel is None or pattern("clause.undoes").match(cancel[0]) is not None)
        and _says("asks", words)
        and not _says("forbids", words)
    )
    complains = _says("complains", words)
    settles = _settles(words) and not _says("unsettled", words)
    return Clause(
        words,
        asks=asks and not settles,
        corrects=_says("corrects", words) or complains,
        cancels=cancels,
        returns=_says("returns", words) and not cancels,
        settles=settles,
        binds=_says("binds", words) or bool(facts_of(words)),
        vague=_says("leans", words),
        again=_says("again", words),
        complains=complains,
    )


def _settles(words: str) -> bool:
    """Whether it says that something is done; behind a wish that only says of which thing: "return the lamp I bought"."""
    done = pattern("clause.settles").search(words)
    wish = pattern("clause.asks").search(words)
    return done is not None and (wish is None or done.start() < wish.start())


@cache
def _idle() -> re.Pattern[str]:
    """Small talk, from its first word to its last."""
    return re.compile(rf"^\W*(?:{choices('idle')}[\s,.!。，！]*)+$", re.I)


@cache
def _joints() -> re.Pattern[str]:
    """Where one clause may end and another begin."""
    return re.compile(rf"[;；]\s*|{pattern('clause.joins').pattern}", re.I)


def asks(words: str) -> bool:
    """Whether a clause asks for something to be done."""
    return _clause(words).asks


def _pieces(text: str, span: Span) -> list[Span]:
    """A sentence cut where another clause begins that does something of its own; what does nothing stays with the one before it."""
    cuts = [span.start]
    for found in _joints().finditer(text, span.start, span.end):
        if found.end() < span.end and found.start() > cuts[-1]:
            cuts.append(found.end())
    pieces: list[Span] = []
    for at, start in enumerate(cuts):
        end = cuts[at + 1] if at + 1 < len(cuts) else span.end
        piece = _trimmed(text, start, end)
        if piece.end <= piece.start:
            continue
        if pieces and (not _acts(piece.of(text)) or _leans(pieces[-1].of(text), piece.of(text))):
            pieces[-1] = Span(pieces[-1].start, piece.end)
        else:
            pieces.append(piece)
    return pieces


def _leans(before: str, words: str) -> bool:
    """Whether a piece is the other half of the one before: a cue that stands alone, or what a correction no longer means."""
    return pattern("clause.lone").match(before) is not None or (
        _says("corrects", before) and pattern("clause.gives_up").match(words) is not None
    )


def _trimmed(text: str, start: int, end: int) -> Span:
    while end > start and text[end - 1] in " \t\r\n,;，；":
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    if text[start:end].endswith(" and"):
        end -= 4
    if text[start:end].startswith("and "):
        start += 4
    return Span(start, end)


_ACTING = ("asks", "forbids", "corrects", "complains", "cancels", "returns", "settles", "binds")


def _acts(words: str) -> bool:
    return any(_says(cue, words) for cue in _ACTING)


def _says(cue: str, words: str) -> bool:
    return pattern(f"clause.{cue}").search(words) is not None
