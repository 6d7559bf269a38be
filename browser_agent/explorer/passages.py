"""The text of a page in passages: sentence by sentence, each with where it stands. It knows no question.

A passage never leaves its section: its span slices the section's title or its text exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from browser_agent.observation import Observation, Section
from ctxfold.text import Span, lines, sentences

__all__ = ["Passage", "Place", "places", "units"]

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
