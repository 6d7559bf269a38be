"""The links not followed yet, each with what speaks for it. It follows none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from browser_agent.deciders.explorer.catalogue import PIECE, Catalogue
from browser_agent.deciders.explorer.matching import Matcher, Strengths
from browser_agent.deciders.explorer.question import Question, Term
from browser_agent.deciders.explorer.thesaurus import others
from browser_agent.observation import Link, Observation, SearchBox

__all__ = [
    "Frontier",
    "Lead",
    "catalogued",
    "first",
    "is_results",
    "links",
    "relaxed",
    "results",
    "results_url",
    "wide",
]


_TEXT, _URL, _CONTEXT = 1.0, 0.8, 0.5
_ASIDE, _LISTING = 0.7, 0.4
_RESULT, _FADE = 0.75, 0.15
"""What the best result of a search gets on top, and how fast that fades down the list."""

_CATALOGUED, _RANKED = 40, 0.9
"""The pages of a catalogue that become leads, and what the best of them gets on top."""

_FEW = 12
"""A search with more results than this says less about each."""

_HUB = re.compile(
    r"\b(reference|documentation|docs|manual|guide|handbook|contents|index|tutorial|overview|api)\b", re.I
)
_HUB_CREDIT, _DEEPER, _WHOLE = 0.04, 0.01, 1.5
"""What a link that leads on to much gets on top, and what each link on the way costs."""

_INDEX = re.compile(r"\b(gen)?index\b|\bcontents\b|\btoc\b", re.I)
_INDEX_ALONE = re.compile(r"((general|full|complete|alphabetical|subject) )?index", re.I)
_NO_PAGE = re.compile(
    r"\.(png|jpe?g|gif|svg|ico|css|js|json|xml|zip|gz|bz2|xz|tar|tgz|pdf|epub|exe|msi|dmg|whl|mp[34]|webm|txt|rst|py|c|h)$",
    re.I,
)
_DOORS = re.compile(r"log-?(in|out|on|off)\b|sign-?(in|up|out)\b", re.I)
"""Pages that ask for something or end a visit: they hold no answer, and opening one may change what the site shows."""
_LAST = re.compile(r"copyright|licen[cs]e|privacy|imprint|download|about\.html|bugs\.html", re.I)
_LATER = 0.3
"""What it costs a page to be of those that few questions are about: it is opened when nothing better is left, or where the question names it."""


@dataclass(frozen=True, slots=True)
class Lead:
    """A page that could be opened.

    Attributes:
        url: its address, with the fragment the link had.
        text: the words of the link.
        seen: how each term of the question is matched by link, address and surroundings.
        credit: what a search's ranking speaks for it, and its name against it.
        depth: how many links lead from the start to it.
        hub: how far it leads on to much: 1 for a reference or a guide, more for the index of the whole site.
    """

    url: str
    text: str
    seen: Strengths
    credit: float = 0.0
    depth: int = 0
    hub: float = 0.0

    def score(self, telling: Sequence[float], hubs: float = 0.0) -> float:
        """What speaks for it, given what each term tells, and what a hub gets on top."""
        whole = sum(telling) or 1.0
        matched = sum(weight * strength for weight, strength in zip(telling, self.seen, strict=True)) / whole
        return matched + self.credit + max(hubs, _HUB_CREDIT) * self.hub - _DEEPER * self.depth


@dataclass(frozen=True, slots=True)
class Frontier:
    """Leads by address, and the addresses that were opened or are not worth it. A frozen value: each change gives another."""

    leads: Mapping[str, Lead] = field(default_factory=dict)
    opened: frozenset[str] = frozenset()

    def with_opened(self, url: str) -> Frontier:
        """The frontier without a page that was opened."""
        bare = _bare(url)
        leads = {known: lead for known, lead in self.leads.items() if known != bare}
        return replace(self, leads=leads, opened=self.opened | {bare})

    def with_leads(self, found: Sequence[Lead]) -> Frontier:
        """The frontier with these leads; of two to one page the better stands, and credits add up."""
        leads = dict(self.leads)
        for lead in found:
            bare = _bare(lead.url)
            if bare in self.opened:
                continue
            old = leads.get(bare)
            leads[bare] = lead if old is None else _both(old, lead)
        return replace(self, leads=leads)

    def again(self, lead: Lead) -> Frontier:
        """The frontier with a lead that was opened and could not be read."""
        bare = _bare(lead.url)
        return replace(self, leads={**self.leads, bare: lead}, opened=self.opened - {bare})

    def best(self, telling: Sequence[float], hubs: float = 0.0) -> Lead | None:
        """The lead that most speaks for, given what each term tells and what a hub gets on top; None when there is none."""
        return max(self.leads.values(), key=lambda lead: lead.score(telling, hubs), default=None)


def links(observation: Observation, matcher: Matcher, depth: int) -> Iterator[Lead]:
    """The links of a page that lead to other pages of its site."""
    here = urlsplit(observation.url)
    for link in observation.links:
        there = urlsplit(link.url)
        if there.scheme not in ("http", "https", "file") or there.netloc != here.netloc or _useless(link):
            continue
        seen = _seen(link, matcher, link.section)
        if not link.main:
            seen = tuple(_ASIDE * strength for strength in seen)
        yield Lead(link.url, link.text, seen, credit=_credit(link), depth=depth, hub=_hub(link.text))


def results(observation: Observation, matcher: Matcher) -> tuple[Lead, ...]:
    """The results of a search, in their order, the words around each taken into account."""
    here = urlsplit(observation.url)
    lines = [line for section in observation.sections for line in section.text.split("\n")]
    found = [link for link in observation.links if link.main and _bare(link.url) != _bare(observation.url)]
    found = [link for link in found if urlsplit(link.url).netloc == here.netloc and not _useless(link) and link.text]
    few = min(1.0, _FEW / (len(found) + 1))
    return tuple(
        Lead(
            link.url,
            link.text,
            _seen(link, matcher, _around(link, lines)),
            credit=few * _RESULT / (1 + _FADE * place) + _credit(link),
            depth=1,
        )
        for place, link in enumerate(found)
    )


def catalogued(ranked: Catalogue, matcher: Matcher, here: str) -> tuple[Lead, ...]:
    """The best pages of a site's catalogue, those of the site at `here`."""
    site = urlsplit(here).netloc
    found = (
        Link(ref=None, text=page.title, url=page.url) for page in ranked.pages if urlsplit(page.url).netloc == site
    )
    useful = [link for link in found if not _useless(link)][:_CATALOGUED]
    return tuple(
        Lead(
            link.url,
            link.text,
            matcher.strengths(link.text),
            credit=_RANKED * ranked.marks[link.url] + _credit(link),
            depth=1,
        )
        for link in useful
    )


def _both(old: Lead, new: Lead) -> Lead:
    seen = tuple(max(pair) for pair in zip(old.seen, new.seen, strict=True))
    better = new if sum(new.seen) > sum(old.seen) else old
    credit = max(old.credit, new.credit) + 0.3 * min(old.credit, new.credit)
    return Lead(better.url, better.text, seen, credit, min(old.depth, new.depth), max(old.hub, new.hub))


def _seen(link: Link, matcher: Matcher, context: str) -> Strengths:
    parts = urlsplit(link.url)
    words = re.sub(r"[^\w.-]|\.html?\b", " ", unquote("/".join(parts.path.split("/")[-2:]) + " " + parts.fragment))
    fields = ((_TEXT, link.text), (_URL, words.replace("-", " ")), (_CONTEXT, context))
    share = _LISTING if _INDEX.search(link.text) or _INDEX.search(parts.path.rsplit("/", 1)[-1]) else 1.0
    file = re.sub(r"\.html?$", "", parts.path.rsplit("/", 1)[-1])
    matched = [matcher.owners(link.text), matcher.owners(file)]
    matched += [tuple(share * weight * strength for strength in matcher.strengths(text)) for weight, text in fields]
    return tuple(max(column) for column in zip(*matched, strict=True))


def _around(link: Link, lines: Sequence[str]) -> str:
    """The line of a results page a link stands in, and the one below, where searches put an excerpt."""
    for at, line in enumerate(lines):
        if link.text in line:
            return f"{line} {lines[at + 1] if at + 1 < len(lines) else ''}"
    return ""


def _hub(text: str) -> float:
    """How far a link leads on to much, by its words."""
    return _WHOLE if _INDEX_ALONE.fullmatch(text.strip()) else 1.0 if _HUB.search(text) else 0.0


def _useless(link: Link) -> bool:
    path = urlsplit(link.url).path
    name = path.rsplit("/", 1)[-1]
    return bool(
        _NO_PAGE.search(path)
        or "/_" in path
        or (_INDEX.search(name.replace("-", " ").replace("_", " ")) and "genindex" in name)
        or _DOORS.search(name)
    )


def _credit(link: Link) -> float:
    """What a page's name speaks against it."""
    return -_LATER if _LAST.search(urlsplit(link.url).path.rsplit("/", 1)[-1]) else 0.0


def _bare(url: str) -> str:
    return url.partition("#")[0].removesuffix("/index.html").rstrip("/")


_SHORTEST = 3
"""Letters a word needs to be searched for alone: shorter ones match everything, or nothing."""

_MOST_WORDS = 96
"""Words that one search may hold."""


def first(question: Question) -> tuple[str, ...]:
    """The queries to begin with: each name alone, then everything that tells."""
    names = [term.text.lstrip("-") for term in question.names]
    found = [name for name in names if len(name) >= _SHORTEST][:2]
    found.append(_joined(question.telling))
    return _each_once(found)


def relaxed(question: Question) -> Iterator[str]:
    """Queries with fewer of the telling words, for when too little was found."""
    telling = [term for term in question.telling if len(term.text.lstrip("-")) >= _SHORTEST]
    if len(telling) > 4:
        yield _joined(telling[:3])
        yield _joined(telling[-3:])
    for size in (3, 2):
        if size < len(telling):
            for some in list(combinations(telling, size))[:4]:
                yield _joined(some)
    for term in sorted(telling, key=lambda term: -len(term.text)):
        yield _joined([term])


def wide(question: Question) -> str:
    """All words of the question and the words that mean the same, for a search that says of each where it stands."""
    found: dict[str, None] = {}
    for term in question.terms:
        found.update(dict.fromkeys(PIECE.findall(term.text.lower())))
    for term in question.terms:
        if not term.name:
            found.update(dict.fromkeys(others(term.key)))
    return " ".join(list(found)[:_MOST_WORDS])


def results_url(search: SearchBox, query: str) -> str:
    """The address of a search's results."""
    parts = urlsplit(search.action)
    fields = [*((name, value) for name, value in parse_qsl(parts.query) if name != search.param), (search.param, query)]
    return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(fields), ""))


def is_results(url: str, search: SearchBox | None) -> bool:
    """Whether an address is one of a search's results."""
    if search is None:
        return False
    here, there = urlsplit(url), urlsplit(search.action)
    same = (here.netloc, here.path) == (there.netloc, there.path)
    return same and any(name == search.param for name, _ in parse_qsl(here.query))


def _joined(terms: Sequence[Term]) -> str:
    return " ".join(term.text.lstrip("-") for term in terms)


def _each_once(queries: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(query for query in queries if query.strip()))
