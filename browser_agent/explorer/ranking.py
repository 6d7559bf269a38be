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

from browser_agent.explorer.catalogue import Catalogue
from browser_agent.explorer.matching import Matcher, Strengths, strongest
from browser_agent.explorer.meaning import Encoder, Meaning
from browser_agent.explorer.passages import Passage, places
from browser_agent.explorer.question import Question
from browser_agent.explorer.signs import Signs, section_signs
from browser_agent.observation import Observation

__all__ = ["MEANT", "Found", "Library", "Weights"]

MEANT = 2.0
"""What nearness in meaning is worth beside the words, where it is compared."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign is worth.

    Those that make up a term's cover, and those of rarity, were set by hand. The others are fitted by a conditional logit over the 120 best passages
    of each of 218 answerable questions of our own about three documentations, none below zero, with a quadratic penalty. Fitted on five sixths of
    them, they put a right passage first for 111; weights set by search on most of them did for 100.
    """

    title: float = 0.85
    signature: float = 0.7
    near: float = 0.9
    section: float = 0.3
    path: float = 0.55
    page: float = 0.9
    covered: float = 0.50
    own: float = 0.91
    named: float = 0.66
    key: float = 0.11
    held: float = 0.74
    above: float = 0.34
    page_title: float = 0.95
    subject: float = 0.19
    beside: float = 1.16
    hard: float = 0.37
    soft: float = 0.57
    titled: float = 0.92
    defines: float = 0.11
    first: float = 0.09
    opens: float = 0.60
    hanging: float = 0.05
    code: float = 0.41
    short: float = 0.11
    long: float = 0.08
    chronicle: float = 1.04
    rarity: float = 0.9
    everywhere: float = 0.3
    hard_near: float = 0.49
    seen: float = 1.31
    decides: float = 0.57
    units: float = 0.08
    titles: float = 0.38
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
            + self.hard_near * (signs.hard_near - 0.5)
            + self.seen * signs.seen
            + self.decides * signs.decides
            - self.units * log(1 + signs.units)
            + self.titled * signs.titled
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
        meant: how near it is to the question in meaning, -1 to 1; None where that was not compared. The score counts it.
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
    meant: float | None = None


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
            replace(found, score=found.score + MEANT * cosine, meant=cosine)
            for found, cosine in zip(first, near, strict=True)
        )
        return sorted(told, key=lambda found: -found.score) + others

    def _found(self, read: _Read, shares: Sequence[float], there: Sequence[float], key: int) -> Found:
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
        titles = strongest((signs.named, signs.path, signs.page), self.matcher.none)
        score = (
            w.covered * cover
            + w.own * own
            + w.named * told(signs.named)
            + w.held * told(signs.held)
            + w.above * told(signs.path)
            + w.page_title * told(signs.page)
            + w.subject * subject
            + w.beside * beside
            + w.titles * sum(share * strength for share, strength in zip(there, titles, strict=True))
            - w.key * signs.own[key]
            + w.mark * self._catalogue.marks.get(signs.passage.place.url, 0.0)
            + read.fixed
        )
        return Found(signs.passage, score, cover, own, lacks, beside, signs.hard, subject, signs.partless)


_KEPT = 20
_COMPARED = 30
"""Passages whose meaning is compared: some hundredths of a second each."""
_ENTRY = re.compile(r"\b(documentation|docs|manual|handbook|home|wiki|help|welcome)\b", re.I)
_FAINT = 0.35
"""A term held less well than this is not held."""
_PAGES, _MOST = 3, 0.8
"""A term that stands in the titles of most pages, three at least, names the site and tells little."""
_CLOSE, _NAMESAKE = 0.02, 0.4
"""Where a name is defined in full somewhere, one that only ends alike counts little."""
