"""Which passages of the pages seen speak of a question most. It reads no page and decides nothing.

A passage is judged by the question's terms it holds, by the name it stands under, by the headings above, and by whether it holds the kind
of answer asked for. A term tells as much as it is rare on the pages seen so far, so scores are worked out anew as pages come in, from
signs that were read once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from browser_agent.explorer.catalogue import Catalogue
from browser_agent.explorer.matching import Matcher, Strengths, strongest
from browser_agent.explorer.passages import Passage, places
from browser_agent.explorer.question import Question
from browser_agent.explorer.signs import Signs, section_signs
from browser_agent.observation import Observation

__all__ = ["Found", "Library", "Weights"]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign is worth: those of a page and of a rare word set by hand, the others found by search on questions of our own about four documentation sites."""

    title: float = 0.85
    signature: float = 0.7
    near: float = 0.9
    section: float = 0.3
    path: float = 0.55
    page: float = 0.9
    covered: float = 1.04
    own: float = 0.41
    named: float = 0.52
    key: float = 0.07
    held: float = 0.39
    above: float = 0.27
    page_title: float = 0.28
    lacks: float = 0.23
    subject: float = 0.52
    beside: float = 0.45
    hard: float = 0.51
    soft: float = 0.4
    titled: float = 0.17
    defines: float = 0.19
    tells: float = 0.11
    first: float = 0.17
    opens: float = 0.22
    hanging: float = 0.15
    code: float = 0.1
    short: float = 0.32
    long: float = 0.13
    chronicle: float = 0.31
    rarity: float = 0.9
    everywhere: float = 0.3
    mark: float = 0.45
    site: float = 0.5

    def cover(self, signs: Signs, none: Strengths) -> Strengths:
        """How each term is matched by a passage or, at a discount, by what stands round it."""
        fields = (
            (self.title, signs.named),
            (self.signature, signs.signed),
            (self.near, signs.near),
            (self.section, signs.held),
            (self.path, signs.path),
            (self.page, signs.page),
        )
        return strongest((signs.own, *(tuple(w * s for s in strengths) for w, strengths in fields)), none)

    def fixed(self, signs: Signs) -> float:
        """What speaks for a passage whatever its terms tell."""
        soft = max(signs.soft, 1.0) if signs.sets else signs.soft
        return (
            self.hard * (signs.hard - 0.5)
            + self.soft * (soft - 0.5)
            + self.titled * signs.titled
            + self.tells * signs.tells
            + self.first * signs.first
            + self.opens * signs.opens
            - self.hanging * signs.hanging
            - self.defines * signs.defines
            - self.code * signs.code
            - self.short * signs.short
            - self.long * log(1 + signs.words)
            - self.chronicle * signs.chronicle
        )


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


@dataclass(frozen=True, slots=True)
class _Read:
    signs: Signs
    cover: Strengths
    fixed: float


class Library:
    """The passages of every page seen that have to do with one question.

    Args:
        question: what is asked.
        weights: what each sign is worth.
    """

    def __init__(self, question: Question, weights: Weights | None = None) -> None:
        self.question = question
        self.matcher = Matcher(question)
        self._weights = weights or Weights()
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
        shares = self.shares()
        key = max(range(len(shares)), key=shares.__getitem__, default=0)
        top: dict[tuple[str, int], Found] = {}
        for read in self._read:
            found = self._found(read, shares, key)
            place = found.passage.place
            if (place.url, place.order) not in top or found.score > top[place.url, place.order].score:
                top[place.url, place.order] = found
        return tuple(sorted(top.values(), key=lambda found: -found.score)[:_KEPT])

    def _found(self, read: _Read, shares: Sequence[float], key: int) -> Found:
        w, signs = self._weights, read.signs

        def told(strengths: Strengths) -> float:
            return sum(share * strength for share, strength in zip(shares, strengths, strict=True))

        cover, own = told(read.cover), told(signs.says)
        lacks = max(
            (share for share, strength in zip(shares, read.cover, strict=True) if strength < _FAINT), default=0.0
        )
        subject = signs.subject if signs.subject >= self._surest - _CLOSE else signs.subject * _NAMESAKE
        beside = sum(
            (one + two) / 2 * strength for one, two, strength in zip(shares, shares[1:], signs.beside, strict=False)
        )
        score = (
            w.covered * cover
            + w.own * own
            + w.named * told(signs.named)
            + w.held * told(signs.held)
            + w.above * told(signs.path)
            + w.page_title * told(signs.page)
            + w.subject * subject
            + w.beside * beside
            - w.lacks * lacks
            - w.key * signs.own[key]
            + w.mark * self._catalogue.marks.get(signs.passage.place.url, 0.0)
            + read.fixed
        )
        return Found(signs.passage, score, cover, own, lacks, beside, signs.hard, subject, signs.partless)


_KEPT = 20
_ENTRY = re.compile(r"\b(documentation|docs|manual|handbook|home|wiki|help|welcome)\b", re.I)
_FAINT = 0.35
"""A term held less well than this is not held."""
_PAGES, _MOST = 3, 0.8
"""A term that stands in the titles of most pages, three at least, names the site and tells little."""
_CLOSE, _NAMESAKE = 0.02, 0.4
"""Where a name is defined in full somewhere, one that only ends alike counts little."""
