"""Decides what of a text a redaction blanks: what a pattern matches, or what a redacted record is quoted by, with the copies of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

from ctxfold.store.codec import encode
from ctxfold.text.copies import Copies, Readings

__all__ = ["LEAST", "MOST", "Mask", "Masks", "mask_matches", "mask_quotes", "stars"]

Mask = Callable[[str], str]

LEAST = 6
"""Characters from which a redacted value is also looked for where it may have been quoted, and in other encodings."""

MOST = 64
"""Values of one redaction that are looked for in other encodings."""

_LEAST_IN_NAME = 4
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Masks:
    """What one redaction blanks: parts of any text, whole lines of the records in `refs`, and names where the name of a branch, topic or the session tells of it.

    `values`: what was found, as it stood.
    """

    text: Mask
    refs: frozenset[str]
    values: frozenset[str]

    def names(self, name: str) -> bool:
        """Whether a name tells of what is redacted. Names are in lower case."""
        told = (value.lower() in name for value in self.values if len(value) >= _LEAST_IN_NAME)
        return self.text(name) != name or any(told)


def stars(text: str) -> str:
    """A tombstone of a text's length in bytes; line ends stay, so line numbers keep their meaning."""
    return "".join(part if part in ("\n", "\r") else "*" * len(encode(part)) for part in re.split(r"([\n\r])", text))


def mask_matches(pattern: re.Pattern[str], found: Iterable[str]) -> Masks:
    """Blank what a pattern matches and each value that it was found to match, with the copies of these in other encodings."""
    values = frozenset(found)
    values |= frozenset(map(_unescape, values))
    ordered = sorted(values, key=len, reverse=True)
    copies = [Copies(value) for value in islice((value for value in ordered if len(value) >= LEAST), MOST)]

    def mask(text: str) -> str:
        text = pattern.sub(lambda match: stars(match[0]), text)
        for value in ordered:
            text = text.replace(value, stars(value))
        return _blank_copies(text, copies) if copies else text

    return Masks(mask, frozenset(), values)


def mask_quotes(quotes: Iterable[str], refs: frozenset[str]) -> Masks:
    """Blank what redacted records are quoted by, as it stands."""
    ordered = sorted(quotes, key=len, reverse=True)

    def mask(text: str) -> str:
        for quote in ordered:
            text = text.replace(quote, stars(quote))
        return text

    return Masks(mask, refs, frozenset(ordered))


def _blank_copies(text: str, wanted: list[Copies]) -> str:
    """Blank the letters and digits of each copy: what stands between them may hold a document together."""
    readings = Readings(text)
    found = sorted(stretch for copies in wanted for copy in copies.find(readings) for stretch in copy.stretches)
    pieces: list[str] = []
    last = 0
    for start, end in found:
        if end > last:
            fresh = max(start, last)
            pieces += (text[last:fresh], _WORD.sub(lambda word: stars(word[0]), text[fresh:end]))
            last = end
    return "".join((*pieces, text[last:]))


def _unescape(value: str) -> str:
    try:
        return str(json.loads(f'"{value}"'))
    except ValueError:
        return value
