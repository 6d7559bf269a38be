"""The passages of all pages read so far, ranked by BM25 for one question."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from browser_agent.deciders.explorer.passages import Passage, Place, cut_passages, find_places
from browser_agent.deciders.explorer.question import Question
from browser_agent.observation import Observation
from ctxfold.text import BM25, words

__all__ = ["Found", "Library"]

_NAME = re.compile(r"\w+")
_SECTION = 0.5
"""What its section's BM25 counts beside a passage's own."""
_NAMES = 4
"""How often a section's name counts as said in its text."""

HALF, SURE = 0.5, 0.8
"""The share of the question that the answer holds: on a site that was read whole, and where more than these pages may hold."""


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
            named = bool(self._names_of(place))
            for passage in cut_passages(place):
                opens = passage.span is not None and passage.span.start == 0
                self._texts.add((*(above if passage.span else ()), *(title if opens else ()), *passage.words))
                self._passages.append(passage)
                self._homes.append(home)
                self._named.append(named)

    @property
    def pages(self) -> int:
        """How many pages were read."""
        return len(self._pages)

    @property
    def has_entry(self) -> bool:
        """Whether the entry of a name that the question names has been read."""
        return any(self._named)

    def _names_of(self, place: Place) -> list[str]:
        """The names in the question that a section is the entry of."""
        section, above = place.section, " ".join(place.path)
        known = (section.defined_name or "", section.anchor, section.title)
        return [
            name for name in self.question.names if any(_names(name, above, each.removesuffix("()")) for each in known)
        ]

    def rank(self, most: int = 3) -> list[Found]:
        """The best passages, none overlapping another: first the best of an entry that the question names, then by BM25."""
        texts = self._texts.scores(self.question.words)
        sections = self._sections.scores(self.question.words)
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

    def is_sure(self, passage: Passage, whole: bool) -> bool:
        """Whether the best passage is the answer, by the words of the question that it and the headings above it hold.

        Where the library has the `whole` site, it is known what each word tells there, those that stand nowhere most: a passage that holds the most
        telling word, and more than it lacks, is the answer, as is anywhere one that holds nearly all.
        """
        place = passage.place
        above = (*place.path, *self._names_of(place), place.name, place.section.title)
        held = {*passage.words, *words(" ".join(above))}
        told = self.question.words
        if _share(told, held) >= SURE:
            return True
        here = {word: rare * self._texts.rarity(word) for word, rare in told.items()}
        return whole and max(here, key=lambda word: here[word], default="") in held and _share(here, held) > HALF


def _share(told: Mapping[str, float], held: set[str]) -> float:
    """How much of what words tell is held."""
    return sum(weight for word, weight in told.items() if word in held) / (sum(told.values()) or 1.0)


def _names(name: str, above: str, entry: str) -> bool:
    """Whether a name is that of an entry, in part or with what stands above it: `xml.parse` names `parse` on the page `xml`."""
    parts, whole = name.split("."), iter(_NAME.findall(f"{above} {entry}".lower()))
    return parts[-1] == entry.lower().rpartition(".")[2] and all(part in whole for part in parts)
