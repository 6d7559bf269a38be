"""The text of a page in passages: sentence by sentence, each with where it stands. It knows no question.

A passage never leaves its section: its span slices the section's title or its text exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from browser_agent.deciders.explorer.answers import holds
from browser_agent.deciders.explorer.matching import Matcher, Strengths, strongest
from browser_agent.deciders.explorer.question import Question
from browser_agent.observation import Observation, Section
from ctxfold.text import Span, lines, sentences

__all__ = ["MOST_WORDS", "Passage", "Place", "Quoting", "places", "units"]


_WRAPPED = 90
"""The longest line of a text that was wrapped by hand."""

_CODE = re.compile(
    r"^(?:>>>|\.\.\. |\$ |[#%@]\s?\w)|^\s{2,}(?!-)\S|[;{}]\s*$|^[\w.]+ = "
    r"|^(?:import|from|def|class|return|for|if|while|with|print)\b.*[:)(=\w]$|^[<\[{(].*[>\]})]$"
)


@dataclass(frozen=True, slots=True)
class Place:
    """One section of one page, and what stands above it.

    Attributes:
        url: the page's address without fragment.
        page: the page's title.
        section: the section itself.
        path: the titles above it, outermost first; a definition counts by its name.
        order: its number on the page.
        leaf: whether no definition stands within it, so that its text is one stretch of the page.
    """

    url: str
    page: str
    section: Section
    path: tuple[str, ...]
    order: int
    leaf: bool

    @property
    def address(self) -> str:
        """Where a reader finds it."""
        return f"{self.url}#{self.section.anchor}" if self.section.anchor else self.url

    @property
    def name(self) -> str:
        """What it defines, else its title."""
        return self.section.defined_name or self.section.title

    def passages(self) -> Iterator[Passage]:
        """Its passages in order: the line that defines it, then its sentences."""
        if self.section.level == 7:
            yield Passage(self, "title", Span(0, len(self.section.title)), False)
        for span in units(self.section.text):
            yield Passage(self, "text", span, bool(_CODE.search(span.of(self.section.text))))


@dataclass(frozen=True, slots=True)
class Passage:
    """One sentence, line of code or row, or the line that defines a name.

    Attributes:
        place: its section.
        part: whether `span` slices the section's title or its text.
        span: where in that.
        code: whether it looks like code rather than prose.
    """

    place: Place
    part: Literal["title", "text"]
    span: Span
    code: bool

    @property
    def text(self) -> str:
        """The characters themselves."""
        return self.span.of(self.place.section.title if self.part == "title" else self.place.section.text)


def units(text: str) -> list[Span]:
    """The sentences, lines of code and rows of a section's text.

    A block a line is how pages are read; where no line is long, the text was wrapped by hand, and its sentences run over lines.
    """
    rows = lines(text)
    if len(rows) > 1 and max(row.end - row.start for row in rows) <= _WRAPPED:
        return sentences(text)
    found: list[Span] = []
    for row in rows:
        line = row.of(text)
        inner = [Span(0, len(line))] if _CODE.search(line) else sentences(line)
        found += (Span(row.start + span.start, row.start + span.end) for span in inner)
    return found


def places(observation: Observation) -> Iterator[Place]:
    """The sections of a page, each under the headings and definitions it belongs to.

    Args:
        observation: the page.
    """
    url = observation.url.partition("#")[0]
    above: list[Section] = []
    sections = _shared(_headed(observation.sections))
    for order, section in enumerate(sections):
        while above and not _holds(above[-1], section):
            above.pop()
        path = tuple(parent.defined_name or parent.title for parent in above)
        after = sections[order + 1] if order + 1 < len(sections) else None
        leaf = after is None or not (section.level == 7 and after.level == 7 and _holds(section, after))
        yield Place(url, observation.title, section, path, order, leaf)
        above.append(section)


def _headed(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The sections, the text of a heading given to the bare definition of the same name below it: some sites describe a thing after defining it."""
    found: list[Section] = []
    for section in sections:
        above = found[-1] if found else None
        name = (section.defined_name or "").rpartition(".")[2]
        bare = section.level == 7 and name and not section.text
        if bare and above is not None and above.level < 7 and above.title.removesuffix("()") == name:
            found[-1] = above.model_copy(update={"text": ""})
            found.append(section.model_copy(update={"text": above.text}))
        else:
            found.append(section)
    return tuple(found)


def _shared(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The sections, those that define one more name for the same text with that text: `-h` and `--help`."""
    found: list[Section] = []
    for section in reversed(sections):
        below = found[-1] if found else None
        if (
            section.level == 7
            and not section.text
            and below is not None
            and below.level == 7
            and not _holds(section, below)
        ):
            found.append(section.model_copy(update={"text": below.text}))
        else:
            found.append(section)
    return tuple(reversed(found))


def _holds(parent: Section, section: Section) -> bool:
    """Whether a section stands beneath another: a lower heading, or a definition within a definition."""
    if parent.level < section.level:
        return True
    if parent.level == section.level == 7 and parent.defined_name and section.defined_name:
        return section.defined_name.startswith(f"{parent.defined_name}.")
    return False


MOST_WORDS = 80
"""The most words a quote has."""

_HARD, _SOFT, _PICKED, _CODE_quoting, _FIRST, _LENGTH = 0.35, 0.2, 0.5, 0.1, 0.06, 0.05
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
        worth: float = held + _HARD * hard + _SOFT * soft - _CODE_quoting * code
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
