"""The passages of the pages read, ranked for one question by BM25."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from browser_agent.deciders.explorer.passages import Passage, Place, cut_passages, find_places
from browser_agent.deciders.explorer.question import Question
from browser_agent.observation import Observation, SiteIndex
from ctxfold.text import BM25, words

__all__ = ["Found", "Library"]

_SECTION = 0.5
"""What its section's BM25 counts beside a passage's own."""
_NAMES = 4
"""How often a section's name counts as said in its text."""


@dataclass(frozen=True, slots=True)
class Found:
    """A passage, what BM25 gives it, and whether it stands in the entry of a name that the question names."""

    passage: Passage
    score: float
    named: bool


class Library:
    """The passages of every page read, for one question."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._passages: list[Passage] = []
        self._homes: list[int] = []
        self._named: list[bool] = []
        self._texts, self._sections = BM25(b=0.3), BM25(b=0.3)
        self._pages: set[str] = set()
        self._site: dict[str, float] = {}
        self._unlisted = 1.0

    def add(self, page: Observation) -> None:
        """Take a page in; one that is here already changes nothing."""
        url = page.url.partition("#")[0]
        if url in self._pages:
            return
        self._pages.add(url)
        for place in find_places(page):
            above = words(" ".join((*place.path, *([place.name] * _NAMES))))
            home = self._sections.add([*above, *words(f"{place.section.title} {place.section.text}")])
            title = words(place.section.title)
            named = self._is_named(place)
            for passage in cut_passages(place):
                opens = passage.span is not None and passage.span.start == 0
                self._texts.add((*(above if passage.span else ()), *(title if opens else ()), *passage.words))
                self._passages.append(passage)
                self._homes.append(home)
                self._named.append(named)

    def know(self, index: SiteIndex) -> None:
        """Take in how rare the question's words are on the whole site: on the pages read, what they are about is common."""
        self._site = {
            word: _idf(len(listed.pages), len(index.pages)) for listed in index.words for word in words(listed.word)
        }
        self._unlisted = _idf(1, len(index.pages))

    def _weigh(self, index: BM25) -> dict[str, float]:
        """What each word of the question counts in an index: by the site where that is known, else by the pages read."""
        if not self._site:
            return dict(self.question.words)
        return {
            word: rare * self._site.get(word, self._unlisted) / index.rarity(word)
            for word, rare in self.question.words.items()
        }

    def _is_named(self, place: Place) -> bool:
        """Whether a section is the entry of a name that the question names."""
        section = place.section
        known = (section.defined_name or "", section.anchor, section.title)
        return any(_names(name, each.lower().removesuffix("()")) for name in self.question.names for each in known)

    def rank(self, most: int = 3) -> list[Found]:
        """The best passages, none overlapping another: first the best of an entry that the question names, then by BM25."""
        texts = self._texts.scores(self._weigh(self._texts))
        sections = self._sections.scores(self._weigh(self._sections))
        total = [text + _SECTION * sections[home] for text, home in zip(texts, self._homes, strict=True)]
        order = sorted(range(len(total)), key=lambda at: -total[at])
        entry = next((at for at in order if self._named[at]), None)
        if entry is not None:
            order = [entry, *order]
        found: list[Found] = []
        for at in order:
            passage = self._passages[at]
            if len(found) >= most or not total[at]:
                break
            if not any(passage.overlaps(one.passage) for one in found):
                found.append(Found(passage, total[at], self._named[at]))
        return found

    def cover(self, passage: Passage) -> float:
        """The share of the question that a passage and the headings above it hold, 0 to 1: each word by how rare it is."""
        place = passage.place
        held = {*passage.words, *words(" ".join((*place.path, place.name, place.section.title)))}
        told = {word: rare * (self._site.get(word) or self._unlisted) for word, rare in self.question.words.items()}
        return sum(weight for word, weight in told.items() if word in held) / (sum(told.values()) or 1.0)


def _idf(holding: int, count: int) -> float:
    """How rare a word is that so many of the pages hold; 0 for one that none does, as search indexes leave out what stands everywhere."""
    return log(1 + (count - holding + 0.5) / (holding + 0.5)) if holding else 0.0


def _names(name: str, entry: str) -> bool:
    """Whether a name is that of an entry, in full or in part: `multiprocessing.pool` names `multiprocessing.pool.pool`."""
    parts, whole = name.split("."), iter(entry.split("."))
    return parts[-1] == entry.rpartition(".")[2] and all(part in whole for part in parts)
