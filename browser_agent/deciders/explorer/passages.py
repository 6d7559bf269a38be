"""A page's sections cut into passages of at most 80 words, each an exact slice of the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from browser_agent.observation import Observation, Section
from ctxfold.text import Span, lines, sentences, words

__all__ = ["MOST_WORDS", "Passage", "Place", "cut_passages", "find_places"]

MOST_WORDS = 80
"""The most words a quote has."""
_WRAPPED = 90
"""No line longer than this: the text was wrapped by hand, and its sentences run over lines."""
_DEFINITION = 7


@dataclass(frozen=True, slots=True)
class Place:
    """One section of one page. `path`: the page's title and the headings above, outermost first; `whole`: whether no definition stands between its lines."""

    url: str
    section: Section
    path: tuple[str, ...]
    whole: bool

    @property
    def address(self) -> str:
        """The address with the section's anchor."""
        return f"{self.url}#{self.section.anchor}" if self.section.anchor else self.url

    @property
    def name(self) -> str:
        """What the section defines, else its title."""
        return self.section.defined_name or self.section.title


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of sentences, or the line that defines a name without text. `span`: where it stands in its section's text; None for the section's title."""

    place: Place
    span: Span | None
    words: tuple[str, ...]

    @property
    def quote(self) -> str:
        """The characters themselves, at most 80 words of them."""
        section = self.place.section
        return _head(section.title if self.span is None else self.span.of(section.text))

    def overlaps(self, other: Passage) -> bool:
        """Whether two passages share characters, or say the same."""
        if self.quote == other.quote:
            return True
        if self.place != other.place or self.span is None or other.span is None:
            return False
        return self.span.start < other.span.end and other.span.start < self.span.end


def find_places(page: Observation) -> Iterator[Place]:
    """The sections of a page in order, each with the headings it stands under."""
    url = page.url.partition("#")[0]
    above: list[Section] = []
    sections = _share_texts(_drop_link_lists(page))
    for section, after in zip(sections, [*sections[1:], None], strict=False):
        while above and not _contains(above[-1], section):
            above.pop()
        path = (page.title, *(parent.defined_name or parent.title for parent in above))
        yield Place(url, section, path, after is None or not _is_within(section, after))
        above.append(section)


def cut_passages(place: Place) -> Iterator[Passage]:
    """The passages of a section: from each sentence on as many as fit into a quote; where it has none, the line that defines its name."""
    section, text = place.section, place.section.text
    if section.level == _DEFINITION and not text.strip():
        yield Passage(place, None, tuple(words(section.title)))
    spans = _find_sentences(text)
    held = [words(span.of(text)) for span in spans]
    sizes = [len(span.of(text).split()) for span in spans]
    reached = 0
    for first in range(len(spans)):
        last, size = first + 1, sizes[first]
        while last < len(spans) and size + sizes[last] <= MOST_WORDS and _follows(place, spans[last - 1], spans[last]):
            size += sizes[last]
            last += 1
        if last > reached:  # a run that ends where the one before does says less
            yield Passage(
                place,
                Span(spans[first].start, spans[last - 1].end),
                tuple(w for each in held[first:last] for w in each),
            )
            reached = last


def _find_sentences(text: str) -> Sequence[Span]:
    """The sentences of a text whose blocks stand a line each, or that was wrapped by hand."""
    rows = lines(text)
    if len(rows) > 1 and max(row.end - row.start for row in rows) <= _WRAPPED:
        return sentences(text)
    return [Span(row.start + span.start, row.start + span.end) for row in rows for span in sentences(row.of(text))]


def _follows(place: Place, before: Span, after: Span) -> bool:
    between = place.section.text[before.end : after.start]
    return between.count("\n") < (2 if place.whole else 1)


def _drop_link_lists(page: Observation) -> list[Section]:
    """The sections without the lines that are nothing but a link's words: they lead to answers and hold none."""
    linked = {" ".join(link.text.split()) for link in page.links}
    return [
        section.model_copy(
            update={"text": "\n".join("" if " ".join(line.split()) in linked else line for line in rows)}
        )
        for section in page.sections
        for rows in [section.text.split("\n")]
    ]


def _share_texts(sections: Sequence[Section]) -> list[Section]:
    """The sections; one that defines another name for the text below it gets that text, as `-h` and `--help`."""
    found: list[Section] = []
    for section in reversed(sections):
        below = found[-1] if found else None
        bare = section.level == _DEFINITION and not section.text
        if bare and below is not None and below.level == _DEFINITION and not _contains(section, below):
            found.append(section.model_copy(update={"text": below.text}))
        else:
            found.append(section)
    return found[::-1]


def _contains(parent: Section, section: Section) -> bool:
    """Whether a section stands beneath another: a lower heading, or a definition within a definition."""
    if parent.level == section.level == _DEFINITION and parent.defined_name and section.defined_name:
        return section.defined_name.startswith(f"{parent.defined_name}.")
    return parent.level < section.level


def _is_within(section: Section, after: Section) -> bool:
    """Whether a definition after a section may stand between its lines: beneath it, or not named under what its own name is."""
    if after.level < _DEFINITION:
        return False
    ours, theirs = section.defined_name or "", after.defined_name or ""
    return not theirs or _contains(section, after) or theirs.count(".") < ours.count(".")


def _head(text: str) -> str:
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
