"""Counts texts that stand one under the other from the counts of each, so that what was counted once is not tokenized again. It keeps nothing.

The tokenizer's pattern parts a text into words, numbers, runs of signs and runs of blanks before it looks anything up; what the text costs is the sum
of what they cost. A newline before anything but a blank or a slash ends such a part, and at most a run of signs before it goes on into it. So the whole
costs what the texts cost, and for each newline what it adds to the last few characters before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ctxfold.tokens.counter import count
from ctxfold.tokens.pieces import steady

__all__ = ["count_lines"]

_OPENS = re.compile(r"[^\s/]")
"""What a text begins with that keeps apart from a newline before it."""
_LOOK = 40
"""Characters at the end of a text that are looked at."""
_LAST = re.compile(r"(?:(?<=\S) |(?<=\n))[^\s/]\S*\Z")
"""The end of a text from a place where the pattern parts it whatever follows: before a single blank and a word, or at the start of a line."""


def count_lines(texts: Iterable[str]) -> int:
    """What texts cost with a newline between each two: as many o200k tokens as `count` says of them joined.

    Args:
        texts: any strings. Neighbours that the tokenizer might not keep apart are counted as one.
    """
    parts = list(texts)
    if not all(map(steady, parts)):
        return count("\n".join(parts))
    total, held = 0, parts[0] if parts else ""
    for part in parts[1:]:
        added = _newline(held) if _OPENS.match(part) else None
        if added is None:
            held = f"{held}\n{part}"
        else:
            total += count(held) + added
            held = part
    return total + count(held)


def _newline(text: str) -> int | None:
    """What a newline behind a text adds to its cost; None where that takes a look at more than its end."""
    end = text[-1:]
    if end.isascii() and end.isalnum():
        return 1
    if len(text) <= _LOOK:
        return count(f"{text}\n") - count(text)
    last = _LAST.search(text, len(text) - _LOOK)
    return None if last is None else count(f"{last[0]}\n") - count(last[0])
