"""The values in a text that must stay exact: numbers, dates, names, addresses, ids."""

from __future__ import annotations

import re
from functools import lru_cache

from ctxfold.text.entities import entities
from ctxfold.text.sentences import Span
from ctxfold.text.words import STOP_WORDS

__all__ = ["facts_of"]

_NAME = re.compile(r"(?<![\w.])[A-Z][\w'’-]*[A-Za-z](?:[ ](?:(?:de|la|of|van|von|del|da|di) )?[A-Z][\w'’-]*)*")
_DIGITS = re.compile(r"(?:[€£¥₹$#]|(?<![A-Za-z_]))[A-Za-z_]*+\d[\w.,:/-]*\w|\d", re.ASCII)
"""A run of letters is tried from its beginning alone, not again from each of them."""
_LEADING = STOP_WORDS | {"i"}
"""Words that are no name where they stand in capitals before one."""


def facts_of(text: str) -> list[str]:
    """The numbers, dates, names and other values in a text that must stay exact, in order, each once.

    Args:
        text: words of a user.
    """
    return list(_facts(text) if len(text) <= _REMEMBERED else _facts.__wrapped__(text))


_REMEMBERED = 2_000


@lru_cache(maxsize=8_192)
def _facts(text: str) -> tuple[str, ...]:
    spans = [*entities(text)]
    spans += [Span(found.start(), found.end()) for found in _DIGITS.finditer(text)]
    for found in _NAME.finditer(text):
        words = found[0].split(" ")
        start = found.start()
        while words and words[0].lower().replace("’", "'").partition("'")[0] in _LEADING:
            start += len(words[0]) + 1
            words = words[1:]
        if words and ((start > 0 and not _opens(text, start)) or len(words) > 1):
            spans.append(Span(start, found.end()))
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if kept and span.start < kept[-1].end:
            kept[-1] = Span(kept[-1].start, max(span.end, kept[-1].end))
        else:
            kept.append(span)
    return tuple(dict.fromkeys(span.of(text) for span in kept))


def _opens(text: str, at: int) -> bool:
    """Whether a sentence begins there: a capital then says nothing."""
    before = text[:at].rstrip(" \"'“‘(*-•")
    return not before or before[-1] in ".!?:;\n。！？"
