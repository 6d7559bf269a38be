"""A text in less room than it needs: some of its sentences in their order, each as it stands there, a mark where others are left out.

It ranks nothing: whoever asks says which sentences come first. What they leave of the room goes to the text's beginning and to its end.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from math import inf
from typing import NamedTuple

from ctxfold.log.compact.prose import CUT
from ctxfold.text import Span, sentences
from ctxfold.tokens import count, head

__all__ = ["excerpt", "joined", "read"]

_LONG = 6
"""Characters that a token has at most, in most texts: more of a text than that a token is not read for."""
_BLANK = re.compile(r"\s")
_WORD = 40
"""Characters within which a word ends, so that none is cut in two."""
_BEGINNING, _END = 0.5, 0.3
"""Of a room what the beginning and the end get before the rest goes to what follows the beginning."""
_MARK = 2
"""Tokens that a sentence may cost beside its own: the mark before it, or the seam."""


def read(text: str, room: int) -> str:
    """What is looked at of a text for a room in o200k tokens: all of it, or of a long one its beginning and its end with a mark between.

    It grows by doublings, so that a room a little larger or smaller finds what was worked out for the last.
    """
    most = _LONG << max(room, 1).bit_length()
    if len(text) <= 2 * most:
        return text
    start = _BLANK.search(text, most, most + _WORD)
    end = _BLANK.search(text, len(text) - most - _WORD, len(text) - most)
    first, last = start.start() if start else most, end.end() if end else len(text) - most
    return f"{text[:first]}\n\n{CUT}\n\n{text[last:]}"


def excerpt(text: str, room: int, first: Collection[Span] = ()) -> str:
    """The sentences of a text that fit a room, none twice.

    Args:
        text: any text; `read` has been applied where it is long.
        room: o200k tokens the excerpt may cost.
        first: sentences of it that come before the others.

    Returns:
        Slices of the text with marks between; its head where no sentence fits; the text where all do.
    """
    told = _told(text)
    wanted = frozenset(first)
    chosen: set[int] = set()
    left: float = room
    for places in ([at for at, each in enumerate(told) if (each.span in wanted) is asked] for asked in (True, False)):
        left = _take(told, places, chosen, left)
    return joined(text, [each.span for each in told], chosen) if chosen else head(text, room)


class _Told(NamedTuple):
    """A sentence and what it costs with the mark before it; one said before, and the mark that `read` left, cost too much for any room."""

    span: Span
    price: float


@lru_cache(maxsize=32)
def _told(text: str) -> tuple[_Told, ...]:
    said = {CUT}
    found = []
    for span in sentences(text):
        words = span.of(text)
        found.append(_Told(span, inf if words in said else count(words) + _MARK))
        said.add(words)
    return tuple(found)


def _take(told: Sequence[_Told], places: Sequence[int], chosen: set[int], room: float) -> float:
    """Choose of some places from the beginning, from the end and again from the beginning what a room has; what is left of it."""
    for order, share in ((places, _BEGINNING), (places[::-1], _END), (places, 1.0)):
        least = room - room * share
        for at in order:
            price = told[at].price
            if at in chosen or price == inf:
                continue
            if price > room - least:
                if least:
                    break
                continue
            chosen.add(at)
            room -= price
    return room


def joined(text: str, spans: Sequence[Span], chosen: Iterable[int]) -> str:
    """Sentences in their order: neighbours as they stand in the text, a mark between the others."""
    return f" {CUT} ".join(Span(spans[low].start, spans[high].end).of(text) for low, high in _runs(chosen))


def _runs(places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Stretches of neighbouring places, each by its first and its last."""
    low = high = -1
    for at in sorted(places):
        if low >= 0 and at == high + 1:
            high = at
            continue
        if low >= 0:
            yield low, high
        low = high = at
    if low >= 0:
        yield low, high
