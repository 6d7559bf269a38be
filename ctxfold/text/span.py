"""A stretch of a text by character offsets. It holds no text: whoever has the text slices it."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Span"]


class Span(NamedTuple):
    """Characters `start` to `end` of some text, `end` excluded.

    Attributes:
        start: offset of the first character, 0-based.
        end: offset just past the last one; never below `start`.
    """

    start: int
    end: int

    def of(self, text: str) -> str:
        """The characters themselves, byte for byte.

        Args:
            text: the text the span was made from; another text gives other characters.
        """
        return text[self.start : self.end]
