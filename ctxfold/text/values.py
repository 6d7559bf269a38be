"""Finds the values in a text that must stay exact: numbers, dates, names, addresses, ids."""

from __future__ import annotations

import re
from functools import lru_cache

from ctxfold.text.entities import entities
from ctxfold.text.sentences import Span
from ctxfold.text.words import is_common

__all__ = ["facts_of"]

_NAME = re.compile(r"(?<![\w.])[A-Z][\w'’-]*[A-Za-z](?:[ ][A-Z][\w'’-]*)*")
_CONTRACTED = re.compile(r"I['’][a-z]+")
_DIGITS = re.compile(r"(?:[€£¥₹$#]|(?<![A-Za-z_]))[A-Za-z_]*+\d[\w.,:/-]*\w|\d", re.ASCII)
"""A run of letters is tried from its beginning alone, not again from each of them."""
_ORDINARY = 0.36
"""Rarity up to which the word that opens a sentence is taken for no part of the name behind it."""
_REMEMBERED = 2_000
"""Characters up to which a text's values are remembered."""


def facts_of(text: str) -> list[str]:
    """The numbers, dates, names and other values in a text that must stay exact, in order, each once."""
    return list(_facts(text) if len(text) <= _REMEMBERED else _facts.__wrapped__(text))


@lru_cache(maxsize=8_192)
def _facts(text: str) -> tuple[str, ...]:
    spans = [*entities(text), *_names(text)]
    spans += [Span(found.start(), found.end()) for found in _DIGITS.finditer(text)]
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if kept and span.start < kept[-1].end:
            kept[-1] = Span(kept[-1].start, max(span.end, kept[-1].end))
        else:
            kept.append(span)
    return tuple(dict.fromkeys(span.of(text) for span in kept))


def _names(text: str) -> list[Span]:
    """Runs of capitalised words. The word that opens a sentence counts where it stands capitalised within one too, or is rare and goes before another."""
    runs = [Span(found.start(), found.end()) for found in _NAME.finditer(text) if not _CONTRACTED.fullmatch(found[0])]
    within = {span.of(text) for span in runs if not _opens_sentence(text, span.start)}
    found: list[Span] = []
    for span in runs:
        run = span.of(text)
        first, _, rest = run.partition(" ")
        if run in within or (rest and rest not in within and not is_common(first, _ORDINARY)):
            found.append(span)
        elif rest:
            found.append(Span(span.end - len(rest), span.end))
    return found


def _opens_sentence(text: str, at: int) -> bool:
    before = text[:at].rstrip(" \"'“‘(*-•")
    return not before or before[-1] in ".!?:;\n。！？"
