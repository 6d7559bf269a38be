"""A passage becomes a quote: an exact slice of the page's text, at most 80 words, that holds most of what was asked. It ranks no section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from browser_agent.explorer.answers import holds
from browser_agent.explorer.matching import Matcher, Strengths, strongest
from browser_agent.explorer.passages import Passage
from browser_agent.explorer.question import Question

__all__ = ["MOST_WORDS", "Quoting"]

MOST_WORDS = 80
"""The most words a quote has."""

_HARD, _SOFT, _PICKED, _CODE, _FIRST, _LENGTH = 0.35, 0.2, 0.5, 0.1, 0.06, 0.05
"""What a stretch gets for holding the kind of answer asked for, for holding the passage that was ranked first, for beginning its section, and
for its length; and what code costs it."""
_ABOVE = 0.9
"""What the title of a section says counts for its text, almost as if that said it too."""
_MEANING = 0.5
"""What it gets for beginning its section where that defines what is asked for: a definition begins with what a thing does."""


@dataclass(frozen=True, slots=True)
class Quoting:
    """Quotes for one question.

    Attributes:
        question: what is asked.
        matcher: its terms.
        shares: what each term tells, adding up to 1.
    """

    question: Question
    matcher: Matcher
    shares: tuple[float, ...]

    def quote(self, passage: Passage) -> str:
        """The stretch of at most 80 words of a passage's section that holds most of what is asked; the passage itself where it defines a name.

        Where definitions stand within the section, its text is not one stretch of the page: the quote then keeps to one paragraph.

        Returns:
            A slice of the section's text, or of the line that defines it.
        """
        if passage.part == "title":
            return _cut(passage.text)
        text = passage.place.section.text
        units = [unit for unit in passage.place.passages() if unit.part == "text"]
        first, last = self._stretch(passage, units, text)
        return _cut(text[units[first].span.start : units[last].span.end])

    def answer(self, passage: Passage) -> str:
        """The answer in words: what the passage stands under, and the quote."""
        place = passage.place
        words = " ".join(self.quote(passage).split())
        if passage.part == "title":
            return words
        above = (
            [place.section.title] if place.section.level == 7 else [place.page, *place.path[1:], place.section.title]
        )
        titles = " › ".join(dict.fromkeys(" ".join(title.split()) for title in above if title.strip()))
        return f"{titles}: {words}" if titles else words

    def _stretch(self, picked: Passage, units: Sequence[Passage], text: str) -> tuple[int, int]:
        """The first and the last unit of the best stretch."""
        owns = [self.matcher.strengths(unit.text) for unit in units]
        kinds = [holds(self.question, unit) for unit in units]
        lengths = [len(unit.text.split()) for unit in units]
        at = next((n for n, unit in enumerate(units) if unit.span == picked.span), 0)
        opening = _MEANING if "meaning" in self.question.kinds and picked.place.section.level == 7 else _FIRST
        best, found = -1.0, (at, at)
        above = tuple(_ABOVE * strength for strength in self.matcher.strengths(picked.place.section.title))
        for first in range(len(units)):
            words, covered = 0, above
            for last in range(first, len(units)):
                words += lengths[last]
                if last > first and (words > MOST_WORDS or not _joins(units[last - 1], units[last], text)):
                    break
                covered = strongest((covered, owns[last]), self.matcher.none)
                worth = self._worth(units[first : last + 1], covered, kinds[first : last + 1])
                worth += (
                    _PICKED * (first <= at <= last)
                    + opening * (first == 0)
                    + _LENGTH * min(words, MOST_WORDS) / MOST_WORDS
                )
                if worth > best:
                    best, found = worth, (first, last)
        return found

    def _worth(self, units: Sequence[Passage], covered: Strengths, kinds: Sequence[tuple[float, float]]) -> float:
        held: float = sum(share * strength for share, strength in zip(self.shares, covered, strict=True))
        hard, soft = (max(kind) for kind in zip(*kinds, strict=True))
        code = sum(unit.code for unit in units) / len(units)
        worth: float = held + _HARD * hard + _SOFT * soft - _CODE * code
        return worth


def _joins(one: Passage, two: Passage, text: str) -> bool:
    """Whether two neighbouring units stand on the page as they do in the section."""
    return one.place.leaf or "\n" not in text[one.span.end : two.span.start]


def _cut(text: str) -> str:
    """The first 80 words of a text, as they stand there."""
    seen, inside = 0, False
    for at, letter in enumerate(text):
        if letter.isspace():
            inside = False
        elif not inside:
            inside, seen = True, seen + 1
            if seen > MOST_WORDS:
                return text[:at].rstrip()
    return text
