"""The links and search results that are not opened yet, ranked by BM25 for one question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log
from urllib.parse import parse_qsl, unquote, urlsplit

from browser_agent.deciders.explorer.question import Question
from browser_agent.observation import Link, Observation, SearchBox, SiteIndex
from ctxfold.text import BM25, words
from ctxfold.tokens.ranks import rarity

__all__ = [
    "Frontier",
    "Lead",
    "asks",
    "bare_address",
    "find_search",
    "is_results",
    "rank_index",
    "read_links",
    "read_results",
]

_RESULT = 0.1
"""How fast the credit of a search result fades down the list."""
_TITLED, _SIZE = 1.0, 0.2
"""What a word tells on top in a page's title or headings, and how much a large page is held against it, 0 to 1."""
_NO_PAGE = re.compile(
    r"\.(png|jpe?g|gif|svg|ico|css|js|json|xml|zip|gz|bz2|xz|tar|tgz|pdf|epub|exe|msi|dmg|whl|mp[34]|webm|txt|rst|py|c|h)$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Lead:
    """A page that could be opened: its address and the words of its link. `words`: what BM25 compares with the question, of both and the heading above;
    `credit`: what the site's own search gives it, 0 to 1; `depth`: how many links lead from the start to it.
    """

    url: str
    text: str
    words: tuple[str, ...] = ()
    credit: float = 0.0
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Frontier:
    """Leads by address without fragment, and the addresses that were opened. A frozen value: each change gives another."""

    leads: Mapping[str, Lead] = field(default_factory=dict)
    opened: frozenset[str] = frozenset()

    def with_opened(self, url: str) -> Frontier:
        """The frontier without a page that was opened."""
        bare = bare_address(url)
        leads = {known: lead for known, lead in self.leads.items() if known != bare}
        return replace(self, leads=leads, opened=self.opened | {bare})

    def with_leads(self, found: Iterable[Lead]) -> Frontier:
        """The frontier with these leads; two to one page become one."""
        leads = dict(self.leads)
        for lead in found:
            bare = bare_address(lead.url)
            if bare in self.opened:
                continue
            old = leads.get(bare)
            leads[bare] = lead if old is None else _join(old, lead)
        return replace(self, leads=leads)

    def find_named(self, question: Question) -> Lead | None:
        """The lead whose first word or file is most of a name in the question: `xml` of `xml.etree`; None where there is none."""
        found = [
            lead
            for lead in self.leads.values()
            for file in [urlsplit(lead.url).path.rpartition("/")[2]]
            for text in (lead.text.partition(" ")[0].lower(), file.removesuffix(".html").lower())
            if text and any(name == text or name.startswith(f"{text}.") for name in question.names)
        ]
        return max(found, key=lambda lead: len(lead.url), default=None)

    def best(self, question: Question) -> tuple[Lead, float] | None:
        """The lead that fits the question best, with how well, 0 to 2: what BM25 gives it beside the best, and its credit."""
        leads = list(self.leads.values())
        if not leads:
            return None
        fits = BM25(lead.words for lead in leads).scores(question.words)
        most = max(fits) or 1.0
        totals = [fit / most + lead.credit for fit, lead in zip(fits, leads, strict=True)]
        at = max(range(len(leads)), key=lambda at: (totals[at], -leads[at].depth, -at))
        return leads[at], totals[at]


def read_links(page: Observation, depth: int) -> list[Lead]:
    """The links of a page that lead to other pages of its site."""
    return [
        Lead(link.url, link.text, _link_words(link), depth=depth) for link in page.links if _is_page(link.url, page.url)
    ]


def read_results(page: Observation) -> list[Lead]:
    """The results of a search, the first with most credit."""
    found = [link for link in page.links if link.main and link.text and _is_page(link.url, page.url)]
    found = [link for link in found if bare_address(link.url) != bare_address(page.url)]
    return [Lead(link.url, link.text, _link_words(link), 1 / (1 + _RESULT * at), 1) for at, link in enumerate(found)]


def rank_index(index: SiteIndex, here: str, most: int = 40) -> list[Lead]:
    """The best pages of a site by what its search index lists of the question's words: BM25 as far as an index without counts allows."""
    scores: dict[int, float] = {}
    for word in index.words:
        holding, count = len(word.pages), len(index.pages)
        weight = rarity(word.word) * log(1 + (count - holding + 0.5) / (holding + 0.5))
        marked = frozenset(word.titled) | frozenset(word.headed)
        for page in word.pages:
            scores[page] = scores.get(page, 0.0) + weight * (1 + _TITLED * (page in marked))
    mean = sum(page.size for page in index.pages) / (len(index.pages) or 1) or 1.0
    for at in scores:
        scores[at] /= 1 - _SIZE + _SIZE * index.pages[at].size / mean
    best = sorted((at for at in scores if _is_page(index.pages[at].url, here)), key=lambda at: (-scores[at], at))[:most]
    top = scores[best[0]] if best else 1.0
    return [Lead(index.pages[at].url, index.pages[at].title, (), 2 * scores[at] / top, 1) for at in best]


def find_search(page: Observation) -> SearchBox | None:
    """The search that a page shows, where its address alone asks it: a form that posts is never sent by the explorer."""
    return page.search if page.search is not None and page.search.address("") is not None else None


def is_results(url: str, search: SearchBox) -> bool:
    """Whether an address is one of a search's results."""
    here, there = urlsplit(url), urlsplit(search.action)
    same = (here.netloc, here.path) == (there.netloc, there.path)
    return same and any(name == search.param for name, _ in parse_qsl(here.query))


def asks(url: str, queries: Sequence[str]) -> bool:
    """Whether an address puts one of these queries to some search."""
    return any(value in queries for _, value in parse_qsl(urlsplit(url).query))


def bare_address(url: str) -> str:
    """An address without its fragment; a folder and its index page are one."""
    return url.partition("#")[0].removesuffix("/index.html").rstrip("/")


def _join(old: Lead, new: Lead) -> Lead:
    better = new if new.credit > old.credit else old
    return Lead(
        better.url, better.text, (*old.words, *new.words)[:200], max(old.credit, new.credit), min(old.depth, new.depth)
    )


def _link_words(link: Link) -> tuple[str, ...]:
    parts = urlsplit(link.url)
    address = unquote("/".join(parts.path.split("/")[-2:]) + " " + parts.fragment)
    plain = re.sub(r"[^\w.]|\.html?\b", " ", address)
    return tuple(words(f"{link.text} {plain} {link.section}"))


def _is_page(url: str, here: str) -> bool:
    there, ours = urlsplit(url), urlsplit(here)
    local = there.scheme in ("http", "https", "file") and there.netloc == ours.netloc
    return local and not _NO_PAGE.search(there.path) and "/_" not in there.path
