"""A passage becomes a quote: an exact slice of the page's text, at most 80 words, with what stands round it. It ranks nothing."""

from __future__ import annotations

from browser_agent.explorer.passages import Passage, units
from browser_agent.explorer.ranking import Found
from ctxfold.text import Span

__all__ = ["MOST_WORDS", "answer_text", "quote"]

MOST_WORDS = 80
"""The most words a quote has."""


def quote(passage: Passage) -> str:
    """The passage with as much of what follows it, and then of what precedes it, as 80 words hold.

    Where definitions stand within the section, its text is not one stretch of the page: the quote then keeps to one paragraph.

    Returns:
        A slice of the section's text, or of the line that defines it.
    """
    if passage.part == "title":
        return _cut(passage.text)
    text = passage.place.section.text
    spans = units(text)
    at = next((n for n, span in enumerate(spans) if span.start <= passage.span.start < span.end), None)
    if at is None:
        return _cut(passage.text)
    first, last = at, at
    while True:
        if last + 1 < len(spans) and _joins(passage, text, spans[first : last + 2], at_end=True):
            last += 1
        elif first > 0 and _joins(passage, text, spans[first - 1 : last + 1], at_end=False):
            first -= 1
        else:
            return _cut(text[spans[first].start : spans[last].end])


def answer_text(found: Found) -> str:
    """The answer in words: what the passage stands under, and the passage."""
    place = found.passage.place
    words = " ".join(quote(found.passage).split())
    above = (
        place.section.title
        if place.section.level == 7
        else " › ".join([place.page, *place.path[1:], place.section.title])
    )
    return f"{' '.join(above.split())}: {words}" if found.passage.part == "text" else words


def _joins(passage: Passage, text: str, spans: list[Span], *, at_end: bool) -> bool:
    """Whether one more unit, at the end or the beginning of these, still makes a quote."""
    if len(text[spans[0].start : spans[-1].end].split()) > MOST_WORDS:
        return False
    left, right = (spans[-2], spans[-1]) if at_end else (spans[0], spans[1])
    return passage.place.leaf or "\n" not in text[left.end : right.start]


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
