"""Says which lines of a page hold the words of a query."""

from __future__ import annotations

from collections.abc import Sequence

from browser_agent.observation.blocks import Block
from browser_agent.observation.inline import REF, cut, terms

__all__ = ["NOWHERE", "find_hits", "find_nearest", "say_counts"]

NOWHERE = "no such words on this page"

_NEAR = 6
"""So few places that hold some of the words are shown where none holds all."""
_WORDS, _WORD = 6, 30


def find_hits(blocks: Sequence[Block], query: str) -> list[int]:
    """The places that hold a query as it is written, else those that hold all its words, their heading's included."""
    phrase = " ".join(query.lower().split())
    texts = [REF.sub("", block.text).lower() for block in blocks]
    hits = [place for place, text in enumerate(texts) if phrase in text]
    if hits:
        return hits
    wanted = terms(query)
    if not wanted:
        return []
    whole = [place for place, text in enumerate(texts) if all(word in text for word in wanted)]
    under = [f"{text} {block.section.lower()}" for text, block in zip(texts, blocks, strict=True)]
    return whole or [
        place
        for place, text in enumerate(texts)
        if all(word in under[place] for word in wanted) and any(word in text for word in wanted)
    ]


def say_counts(blocks: Sequence[Block], query: str) -> str:
    """That no place holds all the words, and how many hold each."""
    texts = [block.text.lower() for block in blocks]
    asked = list(dict.fromkeys(query.lower().split()))[:_WORDS]
    counts = {word: sum(all(part in text for part in terms(word)) for text in texts) for word in asked}
    if not any(counts.values()):
        return NOWHERE
    told = ", ".join(f"{cut(word, _WORD)} in {number or 'none'}" for word, number in counts.items())
    return f"no such words in one place of this page: {told}"


def find_nearest(blocks: Sequence[Block], wanted: frozenset[str]) -> tuple[int, list[int]]:
    """How many of the words the places with most of them hold, and these: all where they are few, else the first where it holds several."""
    texts = [REF.sub("", block.text).lower() for block in blocks]
    held = [
        sum(word in text or word in block.section.lower() for word in wanted)
        if any(map(text.__contains__, wanted))
        else 0
        for text, block in zip(texts, blocks, strict=True)
    ]
    most = max(held, default=0)
    places = [place for place, number in enumerate(held) if number == most and most]
    return most, places if len(places) <= _NEAR else places[: most > 1]
