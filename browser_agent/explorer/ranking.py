"""Which passages of the pages seen speak of a question most. It reads no page and decides nothing.

A passage is judged by the question's terms it holds, by the name it stands under, by the headings above, and by whether it holds the kind
of answer asked for. A term tells as much as it is rare on the pages seen so far, so scores are worked out anew as pages come in, from
strengths that were matched once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

from browser_agent.explorer.answers import holds, sets
from browser_agent.explorer.matching import Matcher, Strengths, strongest
from browser_agent.explorer.passages import Passage, Place, places
from browser_agent.explorer.question import Question
from browser_agent.observation import Observation

__all__ = ["Found", "Library", "Weights"]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign is worth. Tuned on the development questions; see CONTRIBUTING."""

    title: float = 0.9
    signature: float = 0.8
    near: float = 0.7
    section: float = 0.45
    path: float = 0.6
    page: float = 0.5
    own: float = 0.5
    named: float = 0.35
    kind: float = 0.45
    first: float = 0.12
    subject: float = 0.45
    code: float = 0.35
    pair: float = 0.15
    short: float = 0.1
    chronicle: float = 0.1
    rarity: float = 1.3
    opening: float = 0.1


@dataclass(frozen=True, slots=True)
class Judged:
    """A passage with how each term is matched where."""

    passage: Passage
    own: Strengths
    named: Strengths
    best: Strengths
    kind: float
    fixed: float
    subject: float


@dataclass(frozen=True, slots=True)
class Found:
    """A passage and what speaks for it.

    Attributes:
        passage: the passage.
        score: the whole, to compare with others of the same question.
        cover: the share of the question's terms it and its surroundings hold, by weight, 0 to 1.
        own: the share it holds itself.
        kind: whether it holds the kind of answer asked for, 0 to 1; 0.5 where none in particular is asked for.
        subject: whether it stands under a name that the question names.
    """

    passage: Passage
    score: float
    cover: float
    own: float
    kind: float
    subject: float


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
        self._judged: list[Judged] = []
        self._sections = 0
        self._holding = [0] * len(question.terms)
        self._pages: set[str] = set()

    def __contains__(self, url: str) -> bool:
        return url.partition("#")[0] in self._pages

    @property
    def pages(self) -> int:
        """How many pages were taken in."""
        return len(self._pages)

    def add(self, observation: Observation) -> None:
        """Take a page in; a page that is here already changes nothing."""
        url = observation.url.partition("#")[0]
        if url in self._pages:
            return
        self._pages.add(url)
        title = self.matcher.strengths(observation.title)
        for place in places(observation):
            self._judged += self._judge(place, title)

    def weights(self) -> tuple[float, ...]:
        """What each term of the question tells: more, the fewer sections hold it."""
        return tuple(
            term.weight * log(1 + (self._sections + 1) / (holding + 0.5)) ** self._weights.rarity
            for term, holding in zip(self.question.terms, self._holding, strict=True)
        )

    def unseen(self) -> tuple[bool, ...]:
        """Of each term, whether no section seen holds it."""
        return tuple(holding == 0 for holding in self._holding)

    def best(self, count: int) -> tuple[Found, ...]:
        """The passages that speak of the question most, one a section, best first."""
        telling = self.weights()
        whole = sum(telling) or 1.0
        top: dict[tuple[str, int], Found] = {}
        for judged in self._judged:
            found = self._found(judged, telling, whole)
            key = (found.passage.place.url, found.passage.place.order)
            if key not in top or found.score > top[key].score:
                top[key] = found
        return tuple(sorted(top.values(), key=lambda found: -found.score)[:count])

    def _found(self, judged: Judged, telling: Sequence[float], whole: float) -> Found:
        w = self._weights
        cover = sum(weight * best for weight, best in zip(telling, judged.best, strict=True)) / whole
        own = sum(weight * best for weight, best in zip(telling, judged.own, strict=True)) / whole
        named = sum(weight * best for weight, best in zip(telling, judged.named, strict=True)) / whole
        score = (
            cover
            + w.own * own
            + w.named * named
            + w.kind * (judged.kind - 0.5)
            + w.subject * judged.subject
            + judged.fixed
        )
        return Found(judged.passage, score, cover, own, judged.kind, judged.subject)

    def _judge(self, place: Place, page: Strengths) -> Iterator[Judged]:
        w, match, none = self._weights, self.matcher.strengths, self.matcher.none
        passages = list(place.passages())
        owns = [match(passage.text) for passage in passages]
        name, signature = _parts(place)
        named = match(name)
        signed = match(signature) if signature else none
        path = strongest((match(title) for title in place.path), none)
        held = strongest((*owns, named, signed), none)
        self._sections += 1
        for index, strength in enumerate(held):
            self._holding[index] += strength >= 0.6
        if not any(held):
            return
        around = strongest(
            (
                tuple(w.title * s for s in named),
                tuple(w.signature * s for s in signed),
                tuple(w.section * s for s in held),
                tuple(w.path * s for s in path),
                tuple(w.page * s for s in page),
            ),
            none,
        )
        subject = self._subject(place, named)
        set_here = "default" in self.question.kinds and sets(self.question, place.section.title)
        for at, passage in enumerate(passages):
            kind = holds(self.question, passage)
            if passage.part == "title" and len(passages) > 1:
                continue
            if set_here:
                kind = max(kind, 1.0) + 0.2
            if not any(owns[at]) and not (any(named) and (kind >= 0.9 or subject)):
                continue
            near = strongest(owns[max(0, at - 2) : at] + owns[at + 1 : at + 2], none)
            best = strongest((owns[at], around, tuple(w.near * s for s in near)), none)
            yield Judged(passage, owns[at], named, best, kind, self._fixed(passage, at), subject)

    def _fixed(self, passage: Passage, at: int) -> float:
        """What speaks for a passage whatever the terms' weights are."""
        w = self._weights
        text = passage.text
        length = text.count(" ") + 1
        score = -w.code if passage.code else 0.0
        defined = passage.place.section.level == 7
        if defined and at <= 2:
            score += w.first * (2 if "meaning" in self.question.kinds else 1) / max(at, 1)
        elif at == 0 and not defined:
            score += w.first / 3
        if length < 6 and passage.part == "text":
            score -= w.short
        if _CHRONICLE.search(passage.place.url + " " + passage.place.page) and "version" not in self.question.kinds:
            score -= w.chronicle
        low = text.lower()
        if any(self.matcher.strengths(low.removeprefix("the ").partition(" ")[0])):
            score += w.opening
        score += w.pair * min(2, sum(f"{one} {two}" in low for one, two in self._pairs()))
        return score

    def _pairs(self) -> tuple[tuple[str, str], ...]:
        found = self.question.terms
        return tuple((one.text.lower(), two.text.lower()) for one, two in pairwise(found))

    def _subject(self, place: Place, named: Strengths) -> float:
        if place.section.level < 7:
            return 0.0
        best = max((named[index] for index, term in enumerate(self.question.terms) if term.name), default=0.0)
        return best if best >= 0.8 else 0.0


_CHRONICLE = re.compile(r"what.?s.?new|change.?log|release.?notes?|/news", re.I)


def _parts(place: Place) -> tuple[str, str]:
    """A section's name, and the rest of the line that defines it."""
    title = place.section.title
    if place.section.level < 7:
        return title, ""
    head, _, rest = title.partition("(")
    return f"{head} {place.section.defined_name or ''}", rest
