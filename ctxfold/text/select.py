"""Selects the sentences of a text that fit a query best, within a number of tokens.

Sentences are ranked by BM25, each lifted by its neighbours, and taken while they fit. Where no word of the query stands in the text, its head is kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ctxfold.text.bm25 import BM25
from ctxfold.text.sentences import Span, sentences
from ctxfold.text.words import query_weights, words
from ctxfold.tokens import count, head

__all__ = ["best_line", "select"]


_AROUND = 1_000
"""Characters before and behind a word in which a long line is judged."""
_PLACES = 64
"""Places in one long line that are judged."""
_MANY = 400_000
"""Characters of all lines from which those that do not hold a word letter by letter are passed over."""


def best_line(lines: Sequence[str], wanted: frozenset[str]) -> tuple[int, int]:
    """The line that holds most of some words, the first of several. Returns its number, from 0, and the place in it round which they stand; 0 and 0 where no line holds any."""
    if not wanted:
        return 0, 0
    some = re.compile("|".join(map(re.escape, sorted(wanted, key=lambda word: (-len(word), word)))))
    sifted = sum(map(len, lines)) > _MANY
    best, place, most = 0, 0, 0
    for at, line in enumerate(lines):
        low = line.lower()
        if sifted and some.search(low) is None:
            continue
        overlap, where = _count_held(line, low, some, wanted)
        if overlap > most:
            best, place, most = at, where, overlap
    return best, place


def _count_held(line: str, low: str, some: re.Pattern[str], wanted: frozenset[str]) -> tuple[int, int]:
    """How many of the words a line, or the best stretch of a long one, holds; and the place of the first of them there."""
    if len(line) <= 2 * _AROUND:
        first = some.search(low)
        return len(wanted & set(words(line))), first.start() if first else 0
    places = [found.start() for _, found in zip(range(_PLACES), some.finditer(low), strict=False)]
    judged = ((len(wanted & set(words(line[max(0, at - _AROUND) : at + _AROUND]))), -at) for at in places)
    most, at = max(judged, default=(0, 0))
    return most, -at


_NEIGHBOURS = 0.8
"""Measured on questions of a FAQ and on section titles of how-to guides: less keeps hits without what explains them."""

_FAINT = 0.1
"""What scores below this share of the best is left out even where it would fit: room is no reason to keep what says nothing."""

_LENGTH_PENALTY = 0.4
"""Sentences are short already: the customary 0.75 would favour fragments."""

_GAP = 80
"""Two kept sentences with at most this much white space between them become one span, white space included."""

_MISFITS = 40
"""After so many sentences in a row that no longer fit, the rest is not tried."""


def select(text: str, query: str, budget: int) -> tuple[Span, ...]:
    """The sentences and lines of a text that say most about a query, within a budget. `budget`: o200k tokens of the slices, joined by newlines.

    Returns:
        Spans in text order, none overlapping; empty when not even a word fits. When no word of the query stands in the text, its
        head.
    """
    units = sentences(text)
    index = BM25((words(unit.of(text)) for unit in units), b=_LENGTH_PENALTY)
    chosen = _fitting(text, units, _ranked(index, query_weights(query)), budget)
    if not chosen:
        end = len(head(text, budget).rstrip())
        return (Span(0, end),) if end else ()
    return _within(text, units, chosen, budget)


def _ranked(index: BM25, query: Mapping[str, float]) -> list[int]:
    """Units by score with their neighbours' bonus, behind the one that fits the query best all by itself."""
    own = index.scores(query)
    lifted = index.scores(query, neighbours=_NEIGHBOURS)
    least = max(lifted, default=0.0) * _FAINT
    ranked = sorted((at for at, score in enumerate(lifted) if score > least), key=lambda at: (-lifted[at], at))
    if ranked:
        best = max(range(len(own)), key=lambda at: (own[at], -at))
        ranked = [best, *(at for at in ranked if at != best)]
    return ranked


def _fitting(text: str, units: list[Span], ranked: list[int], budget: int) -> list[int]:
    """The best units whose costs add up to the budget, best first; what says the same as a better one is left out."""
    chosen: list[int] = []
    said: set[str] = set()
    room, misfits = budget, 0
    for at in ranked:
        plain = " ".join(units[at].of(text).split()).casefold()
        cost = 0 if plain in said else count(units[at].of(text)) + 1
        if cost and cost <= room + 1:
            chosen.append(at)
            said.add(plain)
            room, misfits = room - cost, 0
        else:
            misfits += 1
        if room < 2 or misfits >= _MISFITS:
            break
    return chosen


def _within(text: str, units: list[Span], chosen: list[int], budget: int) -> tuple[Span, ...]:
    """The chosen units as spans in text order; the worst are given up until the whole, counted together, fits."""
    for kept in range(len(chosen), 0, -1):
        spans = _joined(text, [units[at] for at in sorted(chosen[:kept])])
        if count("\n".join(span.of(text) for span in spans)) <= budget:
            return spans
    return ()


def _joined(text: str, units: list[Span]) -> tuple[Span, ...]:
    """Neighbouring units as one span where only a little white space is between them."""
    spans: list[Span] = []
    for unit in units:
        last = spans[-1] if spans else None
        if last is not None and unit.start - last.end <= _GAP and not text[last.end : unit.start].strip():
            spans[-1] = Span(last.start, unit.end)
        else:
            spans.append(unit)
    return tuple(spans)
