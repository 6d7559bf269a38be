"""Counts plain text by its words, each counted once: most of what an agent reads is the same few thousand words, keys and signs again. It tokenizes nothing itself.

The tokenizer's pattern parts a text into words, groups of digits, runs of signs and runs of blanks before it looks anything up; what the text costs is the
sum of what they cost. The same pattern for ASCII, said so that no step back is ever taken, parts it here, a word with the signs behind it as one. Looking
such a unit up costs less than tokenizing it, the more so where the tokenizer's large tables are not in the processor's cache.
"""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["Units"]

_LONG = 24
"""Characters from which a unit is not kept: it hardly comes again."""
_SIGN = r"[^\sA-Za-z0-9]"
_ENDING = r"(?:'(?i:s|t|re|ve|m|ll|d))?+"
_SIGNS = rf"(?: {_SIGN}++[\r\n/]*+|{_SIGN}(?:{_SIGN}++[\r\n/]*+|(?![A-Za-z])[\r\n/]*+))*+"
"""Runs of signs behind a unit. A single sign before a letter belongs to the word that begins there."""
_UNIT = re.compile(
    "|".join(
        (
            rf"[a-z]++{_ENDING}{_SIGNS}",
            rf" ?[0-9]{{1,3}}+{_SIGNS}",
            rf" [a-z]++{_ENDING}{_SIGNS}",
            rf"[A-Z]++[a-z]*+{_ENDING}{_SIGNS}",
            rf"[^\r\nA-Za-z0-9](?:[A-Z]++[a-z]*+|[a-z]++){_ENDING}{_SIGNS}",
            rf" ?{_SIGN}++[\r\n/]*+{_SIGNS}",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
    re.ASCII,
)


class Units(dict[str, int]):
    """What units cost, in two halves: when the newer is full, what was not asked for since the older was is forgotten.

    Safe among threads without a lock: a lost count is counted again.

    Args:
        counted: tells the tokens of a unit.
        most: how many are kept at most.
    """

    def __init__(self, counted: Callable[[str], int], most: int) -> None:
        super().__init__()
        self._counted = counted
        self._half = most // 2
        self._older: dict[str, int] = {}

    def of(self, text: str) -> int:
        """Tokens of an ASCII text: as many as the tokenizer says."""
        return sum(map(self.__getitem__, _UNIT.findall(text)))

    def __missing__(self, unit: str) -> int:
        tokens = self._older.get(unit)
        if tokens is None:
            tokens = self._counted(unit)
            if len(unit) >= _LONG:
                return tokens
        if len(self) >= self._half:
            self._older = self.copy()
            self.clear()
        self[unit] = tokens
        return tokens
