"""Which passages of the pages seen speak of a question most. It reads no page and decides nothing.

A passage is judged by the question's terms it holds, by the name it stands under, by the headings above, and by whether it holds the kind
of answer asked for. A term tells as much as it is rare on the pages seen so far, so scores are worked out anew as pages come in, from
signs that were read once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

from browser_agent.deciders.explorer.catalogue import Catalogue
from browser_agent.deciders.explorer.matching import Matcher, Strengths, strongest
from browser_agent.deciders.explorer.meaning import Encoder, Likeness, Meaning
from browser_agent.deciders.explorer.passages import Passage, places
from browser_agent.deciders.explorer.question import Question
from browser_agent.deciders.explorer.signs import Signs, section_signs
from browser_agent.deciders.explorer.weights import Weights, fixed
from browser_agent.observation import Observation

__all__ = ["MEANT", "Found", "Library"]

MEANT = 2.5
"""What nearness in meaning is worth beside the words, where it is compared. Fitted by `tests/benchmarks/questions/fit.py` with a MiniLM on 225 questions of
our own: it puts a right passage first for 156 of them, where words alone do for 144, each tenth ranked by fits on the others."""


@dataclass(frozen=True, slots=True)
class Found:
    """A passage and what speaks for it.

    Attributes:
        passage: the passage.
        score: the whole, to compare with others of the same question.
        cover: the share of the question's terms it and its surroundings hold, by weight, 0 to 1.
        own: the share it holds itself.
        lacks: the share of the term that tells most among those neither it nor its surroundings hold.
        beside: the share of the terms that stand beside their neighbours in it as in the question, by weight.
        kind: how far it holds the kind of answer asked for, where an answer cannot do without it; 0.5 elsewhere.
        subject: how surely it stands under a name that the question names.
        partless: whether its section nowhere holds the parameter or option that the question is about.
        meant: how near it is to the question in meaning; None where that was not compared. The score counts it as a whole.
    """

    passage: Passage
    score: float
    cover: float
    own: float
    lacks: float
    beside: float
    kind: float
    subject: float
    partless: bool
    meant: Likeness | None = None


@dataclass(frozen=True, slots=True)
class _Read:
    signs: Signs
    cover: Strengths
    fixed: float


class Library:
    """The passages of every page seen that have to do with one question.

    Args:
        question: what is asked.
        encoder: tells how near a passage is in meaning; None where words alone tell.
    """

    def __init__(self, question: Question, encoder: Encoder | None = None) -> None:
        self.question = question
        self.matcher = Matcher(question)
        self._meaning = Meaning(question.text, encoder) if encoder is not None else None
        self._weights = Weights()
        self._read: list[_Read] = []
        self._sections = 0
        self._holding = [0] * len(question.terms)
        self._titled = [0] * len(question.terms)
        self._pages: set[str] = set()
        self._site = self.matcher.none
        self._surest = 0.0
        self._catalogue = Catalogue()
        self._ranked: tuple[Found, ...] | None = None

    def know(self, catalogue: Catalogue) -> None:
        """Note how the site's own index ranks its pages, and how rare the question's words are on it."""
        self._catalogue = catalogue
        self._ranked = None

    def add(self, observation: Observation) -> None:
        """Take a page in; a page that is here already changes nothing."""
        url = observation.url.partition("#")[0]
        if url in self._pages:
            return
        self._pages.add(url)
        self._ranked = None
        page = self.matcher.strengths(observation.title)
        self._titled = [seen + (strength >= 0.6) for seen, strength in zip(self._titled, page, strict=True)]
        for place in places(observation):
            held, found = section_signs(self.question, self.matcher, place, page)
            self._sections += 1
            for index, strength in enumerate(held):
                self._holding[index] += strength >= 0.6
            self._surest = max(self._surest, *(s.subject for s in found), 0.0)
            self._read += (_Read(s, self._weights.cover(s, self.matcher.none), self._weights.fixed(s)) for s in found)

    def enter(self, observation: Observation) -> None:
        """Note what the site calls itself where it is entered: such a word tells little, wherever it stands."""
        heading = next((section.title for section in observation.sections if section.title), "")
        if _ENTRY.search(f"{observation.title} {heading}"):
            self._site = self.matcher.strengths(f"{observation.title} {heading}")

    def weights(self) -> tuple[float, ...]:
        """What each term of the question tells: more, the fewer sections hold it, and pages of the site where that is known."""
        rarity = self._catalogue.rarity or (1.0,) * len(self.question.terms)
        return tuple(
            term.weight
            * (self._weights.everywhere if site >= 0.6 or titled >= max(_PAGES, _MOST * len(self._pages)) else 1.0)
            * log(1 + (self._sections + 1) / (holding + 0.5)) ** self._weights.rarity
            * rare**self._weights.site
            for term, holding, titled, site, rare in zip(
                self.question.terms, self._holding, self._titled, self._site, rarity, strict=True
            )
        )

    def shares(self) -> tuple[float, ...]:
        """The same, as shares of the whole."""
        telling = self.weights()
        whole = sum(telling) or 1.0
        return tuple(weight / whole for weight in telling)

    def _shares_there(self) -> tuple[float, ...]:
        """The same among the terms that any section seen holds."""
        held = [share if holding else 0.0 for share, holding in zip(self.shares(), self._holding, strict=True)]
        whole = sum(held) or 1.0
        return tuple(share / whole for share in held)

    @property
    def surest(self) -> float:
        """How surely the name asked about is one that a page seen defines."""
        return self._surest

    def missing(self) -> float:
        """The share of the question's terms, by weight, that no section seen holds."""
        return sum(share for share, holding in zip(self.shares(), self._holding, strict=True) if not holding)

    def best(self, count: int) -> tuple[Found, ...]:
        """The passages that speak of the question most, one a section, best first."""
        if self._ranked is None:
            self._ranked = self._rank()
        return self._ranked[:count]

    def _rank(self) -> tuple[Found, ...]:
        shares, there = self.shares(), self._shares_there()
        key = max(range(len(shares)), key=shares.__getitem__, default=0)
        ranked = sorted((self._found(read, shares, there, key) for read in self._read), key=lambda one: -one.score)
        top: dict[tuple[str, int], Found] = {}
        for found in self._by_meaning(ranked):
            place = found.passage.place
            top.setdefault((place.url, place.order), found)
        return tuple(top.values())[:_KEPT]

    def _by_meaning(self, ranked: list[Found]) -> list[Found]:
        """The same, those that words rank best put in order by what they mean as well; the others after them."""
        if self._meaning is None:
            return ranked
        first, others = ranked[:_COMPARED], ranked[_COMPARED:]
        near = self._meaning.near([found.passage for found in first])
        told = (
            replace(found, score=found.score + MEANT * likeness.whole, meant=likeness)
            for found, likeness in zip(first, near, strict=True)
        )
        return sorted(told, key=lambda found: -found.score) + others

    def _found(self, read: _Read, shares: Sequence[float], there: Sequence[float], key: int) -> Found:
        signs = read.signs
        heard = self._heard(read, shares, there, key)
        lacks = max(
            (share for share, strength in zip(shares, read.cover, strict=True) if strength < _FAINT), default=0.0
        )
        score = self._weights.told(heard) + read.fixed
        return Found(
            signs.passage,
            score,
            heard["covered"],
            heard["own"],
            lacks,
            heard["beside"],
            signs.hard,
            heard["subject"],
            signs.partless,
        )

    def _heard(self, read: _Read, shares: Sequence[float], there: Sequence[float], key: int) -> dict[str, float]:
        """What the terms of the question tell of a passage, by the names of the weights."""
        signs = read.signs

        def told(strengths: Strengths) -> float:
            return sum(share * strength for share, strength in zip(shares, strengths, strict=True))

        titles = strongest((signs.named, signs.path, signs.page), self.matcher.none)
        return {
            "covered": told(read.cover),
            "own": told(signs.says),
            "named": told(signs.named),
            "held": told(signs.held),
            "above": told(signs.path),
            "page_title": told(signs.page),
            "subject": signs.subject if signs.subject >= self._surest - _CLOSE else signs.subject * _NAMESAKE,
            "beside": sum(
                (one + two) / 2 * strength for one, two, strength in zip(shares, shares[1:], signs.beside, strict=False)
            ),
            "titles": sum(share * strength for share, strength in zip(there, titles, strict=True)),
            "key": -signs.own[key],
            "mark": self._catalogue.marks.get(signs.passage.place.url, 0.0),
        }

    def signs(self, count: int) -> list[tuple[Found, dict[str, float]]]:
        """The passages whose words speak of the question most, several of a section among them, each with every sign by the name of its weight.

        Where meaning is compared each has its likeness, which the score does not count yet.
        """
        shares, there = self.shares(), self._shares_there()
        key = max(range(len(shares)), key=shares.__getitem__, default=0)
        ranked = sorted(
            ((self._found(read, shares, there, key), read) for read in self._read), key=lambda pair: -pair[0].score
        )
        first = [
            (found, {**self._heard(read, shares, there, key), **fixed(read.signs)}) for found, read in ranked[:count]
        ]
        if self._meaning is None:
            return first
        near = self._meaning.near([found.passage for found, _ in first])
        return [(replace(found, meant=likeness), signs) for (found, signs), likeness in zip(first, near, strict=True)]


_KEPT = 20
_COMPARED = 30
"""Passages whose meaning is compared: a right one is among them for 206 questions of 225, among twenty for 202, among forty for 208."""
_ENTRY = re.compile(r"\b(documentation|docs|manual|handbook|home|wiki|help|welcome)\b", re.I)
_FAINT = 0.35
"""A term held less well than this is not held."""
_PAGES, _MOST = 3, 0.8
"""A term that stands in the titles of most pages, three at least, names the site and tells little."""
_CLOSE, _NAMESAKE = 0.02, 0.4
"""Where a name is defined in full somewhere, one that only ends alike counts little."""
