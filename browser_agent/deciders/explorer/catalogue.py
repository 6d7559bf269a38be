"""A site's pages ranked by what its own search index lists of a question's words. It reads no page.

The formula is that of BM25 (Robertson and Zaragoza, 2009) as far as an index without counts allows: a word tells more the fewer pages have
it, more in a title, and a large page is held to more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log

from browser_agent.deciders.explorer.question import Question, Term
from browser_agent.deciders.explorer.thesaurus import others
from browser_agent.observation import IndexedPage, Listed, SiteIndex

__all__ = ["PIECE", "Catalogue", "catalogue"]

PIECE = re.compile(r"\w+")
"""The words of a name, as searches split them."""

_ALIKE = 0.45
"""What a word that means the same tells, of what the word itself does."""
_TITLED, _HEADED = 1.5, 0.35
"""What a word tells on top where a page has it in its title, or in that of a section or an entry of the index."""
_SIZE = 0.2
"""How much a large page is held against it, 0 (not) to 1 (in full)."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The pages of a site and the question's terms, as the site's index has them.

    Attributes:
        pages: the pages that have any of the words, best first.
        marks: what speaks for each address, 1 for the best.
        rarity: how much each term of the question tells on this site.
        absent: whether each term stands nowhere on the site, in no form.
    """

    pages: tuple[IndexedPage, ...] = ()
    marks: Mapping[str, float] = field(default_factory=dict)
    rarity: tuple[float, ...] = ()
    absent: tuple[bool, ...] = ()


def catalogue(question: Question, index: SiteIndex) -> Catalogue:
    """Rank a site's pages.

    Args:
        question: what is asked.
        index: what the site's search keeps of its words, and of those that mean the same.
    """
    listed = {word.word: word for word in index.words}
    scores: dict[int, float] = {}
    rarities, absent = [], []
    for term in question.terms:
        told, rarity = _told(term, listed, len(index.pages))
        rarities.append(rarity)
        absent.append(not told)
        for page, worth in told.items():
            scores[page] = scores.get(page, 0.0) + term.weight * worth
    mean = sum(page.size for page in index.pages) / (len(index.pages) or 1) or 1.0
    for page in scores:
        scores[page] /= 1 - _SIZE + _SIZE * index.pages[page].size / mean
    best = sorted(scores, key=lambda page: (-scores[page], page))
    most = scores[best[0]] if best else 1.0
    marks = {index.pages[page].url: scores[page] / (most or 1.0) for page in best}
    return Catalogue(tuple(index.pages[page] for page in best), marks, tuple(rarities), tuple(absent))


def _told(term: Term, listed: Mapping[str, Listed], count: int) -> tuple[dict[int, float], float]:
    """What a term tells of each page that has it, and how much it tells at most."""
    told: dict[int, float] = {}
    own = [listed[word] for word in PIECE.findall(term.text.lower()) if word in listed]
    same = [] if term.name else [listed[word] for word in others(term.key) if word in listed]
    for words, share in ((own, 1.0), (same, _ALIKE)):
        for word in words:
            rare = share * _rarity(len(word.pages), count) / (len(own) if words is own else 1)
            titled, headed = frozenset(word.titled), frozenset(word.headed)
            for page in word.pages:
                worth = rare * (1 + _TITLED * (page in titled) + _HEADED * (page in headed))
                told[page] = told.get(page, 0.0) + worth if term.name else max(told.get(page, 0.0), worth)
    return told, max((_rarity(len(word.pages), count) for word in own), default=_rarity(0, count))


def _rarity(holding: int, count: int) -> float:
    return log(1 + (count - holding + 0.5) / (holding + 0.5)) if holding <= count else 0.0
