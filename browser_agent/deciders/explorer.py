"""The decider of the demo, on the selector."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log
from urllib.parse import parse_qsl, unquote, urlsplit

from anyio import to_thread

from browser_agent.actions import Answer, GiveUp, Navigate, Terminal
from browser_agent.deciders import Decided, Decision, Situation, Source, shorten_address
from browser_agent.observation import Link, Observation, SearchBox, Section, SiteIndex
from ctxfold.decisions.fold import FoldDirective
from ctxfold.select.score import BM25
from ctxfold.text.sentences import Span, lines, sentences
from ctxfold.text.words import counted, query_weights, words
from ctxfold.tokens import rarity

_CODE = re.compile(
    r"`([^`\s]+)`|([^\W\d]\w*(?:\.\w+)+|[^\W\d]\w*_\w*|_\w+|\w+(?=\()|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|--[a-z][\w-]*)"
)
"""What is written as code: in backticks, with dots, underscores, brackets or humps, or as a flag."""
_TOKEN = re.compile(r"[^\W_](?:[\w.-]*\w)?")
_ASKED = re.compile(r"[?？؟][\"'”’»)\]」』]*$")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\(?\d{1,3}[.)])\s+")
_MANY = 2.0
_RARE = 3
"""The words of a search that is made when all words together bring nothing."""


@dataclass(frozen=True, slots=True)
class Question:
    """A task as the explorer looks at it: its words, each with how rare it is in any text, since one that stands everywhere tells little.

    `names`: what it writes as code is written, in lower case: `functools.lru_cache`, `Popen()`, `max_size`.
    """

    text: str
    words: Mapping[str, float]
    names: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> Question:
        """Read a task."""
        told: dict[str, float] = {}
        for token in _TOKEN.findall(text):
            parts = words(token)
            told.update(
                (word, rarity(token.lower() if len(parts) == 1 else word)) for word in parts if word not in told
            )
        names = (next(filter(None, found)).strip("._").lower() for found in _CODE.findall(text))
        return cls(text, told, tuple(dict.fromkeys(filter(None, names))))

    @property
    def queries(self) -> tuple[str, ...]:
        """What a site's search is asked, in order: all words, each name, the rarest words, the rarest."""
        tokens = list(dict.fromkeys(_TOKEN.findall(self.text)))
        rarest = sorted(tokens, key=lambda token: -max(map(rarity, words(token)), default=0.0))
        rare = [token for token in tokens if token in rarest[:_RARE]]
        found = (" ".join(tokens), *self.names, " ".join(rare), *rarest[:1])
        return tuple(dict.fromkeys(filter(None, found)))


def split_task(text: str) -> tuple[str, ...]:
    """The questions of a task, in order: each sentence that ends with a question mark; where none does, each line.

    What stands before a question belongs to it, what stands after the last to that; one that names nothing, as "And why?", to the one before.
    """
    parts = [_ITEM.sub("", span.of(text).strip()) for span in sentences(text)]
    if not any(map(_ASKED.search, parts)):
        return tuple(filter(None, (_ITEM.sub("", line).strip() for line in text.splitlines()))) or (text,)
    found: list[str] = []
    asked = True
    for part in parts:
        if found and not (asked and _names_something(part)):
            found[-1] = f"{found[-1]} {part}"
        else:
            found.append(part)
        asked = bool(_ASKED.search(part))
    return tuple(found) if asked else (*found[:-2], " ".join(found[-2:]))


def _names_something(text: str) -> bool:
    """Whether a text has a word that counts in full, or as much in several."""
    weights = query_weights(text).values()
    return max(weights, default=0.0) >= 1.0 or sum(weights) >= _MANY


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


MOST_WORDS = 80
"""The most words a quote has."""
_WRAPPED = 90
"""No line longer than this: the text was wrapped by hand, and its sentences run over lines."""
_DEFINITION = 7


@dataclass(frozen=True, slots=True)
class Place:
    """One section of one page. `path`: the page's title and the headings above, outermost first; `whole`: whether no definition stands between its lines."""

    url: str
    section: Section
    path: tuple[str, ...]
    whole: bool

    @property
    def address(self) -> str:
        """The address with the section's anchor."""
        return f"{self.url}#{self.section.anchor}" if self.section.anchor else self.url

    @property
    def name(self) -> str:
        """What the section defines, else its title."""
        return self.section.defined_name or self.section.title


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of sentences, or the line that defines a name without text. `span`: where it stands in its section's text; None for the section's title."""

    place: Place
    span: Span | None
    words: tuple[str, ...]

    @property
    def quote(self) -> str:
        """The characters themselves, at most 80 words of them."""
        section = self.place.section
        return _head(section.title if self.span is None else self.span.of(section.text))

    def overlaps(self, other: Passage) -> bool:
        """Whether two passages share characters, or say the same."""
        if self.quote == other.quote:
            return True
        if self.place != other.place or self.span is None or other.span is None:
            return False
        return self.span.start < other.span.end and other.span.start < self.span.end


def find_places(page: Observation) -> Iterator[Place]:
    """The sections of a page in order, each with the headings it stands under."""
    url = page.url.partition("#")[0]
    above: list[Section] = []
    sections = _share_texts(_drop_link_lists(page))
    for section, after in zip(sections, [*sections[1:], None], strict=False):
        while above and not _contains(above[-1], section):
            above.pop()
        path = (page.title, *(parent.defined_name or parent.title for parent in above))
        yield Place(url, section, path, after is None or not _is_within(section, after))
        above.append(section)


def cut_passages(place: Place) -> Iterator[Passage]:
    """The passages of a section: from each sentence on as many as fit into a quote; where it has none, the line that defines its name."""
    section, text = place.section, place.section.text
    if section.level == _DEFINITION and not text.strip():
        yield Passage(place, None, tuple(words(section.title)))
    spans = _find_sentences(text)
    held = [words(span.of(text)) for span in spans]
    sizes = [len(span.of(text).split()) for span in spans]
    reached = 0
    for first in range(len(spans)):
        last, size = first + 1, sizes[first]
        while last < len(spans) and size + sizes[last] <= MOST_WORDS and _follows(place, spans[last - 1], spans[last]):
            size += sizes[last]
            last += 1
        if last > reached:  # a run that ends where the one before does says less
            yield Passage(
                place,
                Span(spans[first].start, spans[last - 1].end),
                tuple(w for each in held[first:last] for w in each),
            )
            reached = last


def _find_sentences(text: str) -> Sequence[Span]:
    """The sentences of a text whose blocks stand a line each, or that was wrapped by hand."""
    rows = lines(text)
    if len(rows) > 1 and max(row.end - row.start for row in rows) <= _WRAPPED:
        return sentences(text)
    return [Span(row.start + span.start, row.start + span.end) for row in rows for span in sentences(row.of(text))]


def _follows(place: Place, before: Span, after: Span) -> bool:
    between = place.section.text[before.end : after.start]
    return between.count("\n") < (2 if place.whole else 1)


def _drop_link_lists(page: Observation) -> list[Section]:
    """The sections without the lines that are nothing but a link's words: they lead to answers and hold none."""
    linked = {" ".join(link.text.split()) for link in page.links}
    return [
        section.model_copy(
            update={"text": "\n".join("" if " ".join(line.split()) in linked else line for line in rows)}
        )
        for section in page.sections
        for rows in [section.text.split("\n")]
    ]


def _share_texts(sections: Sequence[Section]) -> list[Section]:
    """The sections; one that defines another name for the text below it gets that text, as `-h` and `--help`."""
    found: list[Section] = []
    for section in reversed(sections):
        below = found[-1] if found else None
        bare = section.level == _DEFINITION and not section.text
        if bare and below is not None and below.level == _DEFINITION and not _contains(section, below):
            found.append(section.model_copy(update={"text": below.text}))
        else:
            found.append(section)
    return found[::-1]


def _contains(parent: Section, section: Section) -> bool:
    """Whether a section stands beneath another: a lower heading, or a definition within a definition."""
    if parent.level == section.level == _DEFINITION and parent.defined_name and section.defined_name:
        return section.defined_name.startswith(f"{parent.defined_name}.")
    return parent.level < section.level


def _is_within(section: Section, after: Section) -> bool:
    """Whether a definition after a section may stand between its lines: beneath it, or not named under what its own name is."""
    if after.level < _DEFINITION:
        return False
    ours, theirs = section.defined_name or "", after.defined_name or ""
    return not theirs or _contains(section, after) or theirs.count(".") < ours.count(".")


def _head(text: str) -> str:
    """The first 80 words of a text, as they stand there."""
    seen, inside = 0, False
    for at, letter in enumerate(text):
        if letter.isspace():
            inside = False
        elif not inside:
            inside, seen = True, seen + 1
            if seen > MOST_WORDS:
                return text[:at].rstrip()
    return text


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


MOST_LOADS = 20
"""The most pages a question may cost, searches included."""
MOST_READ = 8
"""Pages read before the explorer ends with what it has."""
LEAST_READ = 3
"""Pages read before a passage that is sure ends the search, where it stands in no entry that the question names: the first that fits may not be the best."""
ENOUGH_LEADS = 6
"""Search results that are enough to stop searching with fewer words."""
LOST_IN_A_ROW = 4
"""Pages in a row that could not be read before the site counts as gone."""
CANDIDATES = 3
DRY = 4
"""Pages in a row that brought nothing better before they are folded as one stretch."""


@dataclass(frozen=True, slots=True)
class Trail:
    """Where the explorer stands besides the passages it has read. A frozen value: each page gives another.

    Attributes:
        frontier: the pages not opened.
        search: the site's search, once a page has shown one that its address asks; None where it has none or it failed.
        query: the search asked last, while its results are awaited.
        lead: the link followed last.
        asked: the searches made.
        found: leads that searches brought.
        settled: whether no further search is worth making.
        read: pages read.
        loads: pages opened, searches included.
        lost: pages in a row that could not be read.
        dry: the steps in a row that brought nothing better, each with the title it read.
        best: the score of the best passage so far.
    """

    frontier: Frontier = field(default_factory=Frontier)
    search: SearchBox | None = None
    query: str = ""
    lead: Lead | None = None
    asked: tuple[str, ...] = ()
    found: int = 0
    settled: bool = False
    read: int = 0
    loads: int = 0
    lost: int = 0
    dry: tuple[tuple[int, str], ...] = ()
    best: float = 0.0


class Quest:
    """The way of one question. `pages`: what was read of the site before, for other questions or in an earlier run."""

    def __init__(self, question: Question, pages: Sequence[Observation] = ()) -> None:
        self.question = question
        self._library = Library(question)
        self._trail = Trail()
        for page in pages:
            if not asks(page.url, question.queries):  # the results of its own search have its words, and answer nothing
                self._library.add(page)
            opened = self._trail.frontier.with_opened(page.url).with_leads(read_links(page, 1))
            self._trail = replace(self._trail, frontier=opened, search=find_search(page) or self._trail.search)

    @property
    def told(self) -> str:
        """How much was looked at, in words."""
        searches = f" and {counted(len(self._trail.asked), 'search', 'searches')}" if self._trail.asked else ""
        return f"{counted(self._library.pages, 'page')}{searches}"

    def candidates(self) -> tuple[Source, ...]:
        """The passages that fit best so far, at most three, best first."""
        return tuple(Source(one.passage.quote, one.passage.place.address) for one in self._library.rank(CANDIDATES))

    def is_sure(self) -> bool:
        """Whether the first of them is the answer."""
        found = self._library.rank(1)
        return bool(found) and self._library.is_sure(found[0].passage, whole=not self._trail.frontier.leads)

    def read(self, page: Observation, step: int) -> str:
        """Take a page in. Returns what is worth keeping of the step that brought it."""
        trail = replace(self._trail, loads=self._trail.loads + 1, query="", lead=None)
        query, lead = self._trail.query, self._trail.lead
        refused = page.status is not None and page.status >= 400
        blank = not page.links and page.search is None and not any(section.text for section in page.sections)
        if query and (refused or blank or trail.search is None or not is_results(page.url, trail.search)):
            self._trail = replace(trail, search=None, settled=True, lost=trail.lost + 1)
            return f"The site's search for “{query}” did not answer; it is not asked again."
        opened = trail.frontier.with_opened(page.url)
        trail = replace(trail, frontier=opened if lead is None else opened.with_opened(lead.url))
        if refused or blank:
            self._trail = replace(trail, lost=trail.lost + 1)
            return f"{shorten_address(page.url if lead is None else lead.url)} could not be read."
        trail = replace(trail, lost=0, search=trail.search if trail.settled else find_search(page) or trail.search)
        return self._read_results(page, query, trail) if query else self._read_page(page, lead, step, trail)

    def _read_results(self, page: Observation, query: str, trail: Trail) -> str:
        leads = read_results(page) if page.index is None else rank_index(page.index, page.url)
        found = trail.found + len(leads)
        settled = page.index is not None or found >= ENOUGH_LEADS
        self._trail = replace(trail, frontier=trail.frontier.with_leads(leads), found=found, settled=settled)
        top = f"; the first is {shorten_address(leads[0].url)}" if leads else ""
        return f"Searched for “{query}”: {counted(len(leads), 'result')}{top}."

    def _read_page(self, page: Observation, lead: Lead | None, step: int, trail: Trail) -> str:
        self._library.add(page)
        top = next(iter(self._library.rank(1)), None)
        here = page.url.partition("#")[0]
        better = top is not None and top.passage.place.url == here and top.score > trail.best
        self._trail = replace(
            trail,
            frontier=trail.frontier.with_leads(read_links(page, (lead.depth if lead is not None else 0) + 1)),
            read=trail.read + 1,
            best=top.score if top is not None else 0.0,
            dry=() if better else (*trail.dry, (step, cut(page.title, 8) or here)),
        )
        title = cut(page.title, 10) or "untitled"
        if top is None or not better:
            return f"Read {shorten_address(page.url)} ({title}): nothing better for the question."
        name, quote = cut(top.passage.place.name, 6), cut(top.passage.quote, 24)
        where = f", under {name}" if name else ""
        return f"Read {shorten_address(page.url)} ({title}): best so far{where}: “{quote}”"

    def _stands(self) -> bool:
        """Whether no page left to read is likely to hold a better passage: the entry that the question names was read, or the best is sure."""
        found = self._library.rank(1)
        if not found:
            return False
        if found[0].named and self._trail.frontier.find_named(self.question) is None:
            return True
        enough = found[0].named or self._trail.read >= LEAST_READ
        return enough and self._library.is_sure(found[0].passage, whole=False)

    def next(self) -> tuple[str, str] | None:
        """Why and what to open next; None when it is time to end."""
        trail = self._trail
        left = len(trail.frontier.leads)
        if self._stands() or trail.lost >= LOST_IN_A_ROW or trail.loads >= MOST_LOADS:
            return None
        if trail.read >= MOST_READ and trail.loads + left > MOST_LOADS:  # a smaller site is read to its end
            return None
        named = trail.frontier.find_named(self.question) if trail.read <= LEAST_READ and not trail.asked else None
        if named is not None:
            return self._follow(named, f"“{named.text}” is named.")
        query = next((query for query in self.question.queries if query not in trail.asked), "")
        asking = trail.search.address(query) if trail.search is not None and query else None
        if asking is not None and not trail.settled and not self._library.has_entry:
            self._trail = replace(trail, asked=(*trail.asked, query), query=query)
            return f"Ask the site's search for “{query}”.", asking
        lead = trail.frontier.best(self.question)
        if lead is None:
            return None
        text = cut(lead[0].text, 10) or shorten_address(lead[0].url)
        return self._follow(lead[0], f"“{text}” fits best of the links left.")

    def _follow(self, lead: Lead, why: str) -> tuple[str, str]:
        self._trail = replace(self._trail, lead=lead)
        return why, lead.url

    def take_dry(self) -> tuple[int, str] | None:
        """The first step of a long stretch that brought nothing better, with a summary for all of it; None where there is none, or it was taken."""
        dry = self._trail.dry
        if len(dry) < DRY:
            return None
        self._trail = replace(self._trail, dry=())
        titles = "; ".join(dict.fromkeys(title for _, title in dry))
        return dry[0][0], f"{counted(len(dry), 'page')} held nothing better for the question: {titles}."


def cut(text: str, most: int) -> str:
    """The first words of a text, at most `most`."""
    words = text.split()
    return " ".join(words) if len(words) <= most else " ".join(words[:most]) + " …"


NAME = "explorer"
_NEEDS_MODEL = (
    "an answer to a JSON schema needs a model: name one with --model, such as "
    "claude-… or openai:gpt-…; the passages that fit the task best are listed"
)


class Explorer:
    """Decides the steps of one task; the questions of one that asks several are answered one by one, each with its source.

    `pages`: what earlier runs have seen for it. `needs_model`: the answer has a JSON schema, which the explorer cannot
    fill, so it gives up with the passages that fit best.
    """

    name = NAME

    def __init__(self, task: str, pages: Sequence[Observation] = (), *, needs_model: bool = False) -> None:
        self._needs_model = needs_model
        first, *self._later = split_task(task)
        self._pages = list(pages)
        self._quests = [Quest(Question.read(first), pages)]

    async def decide(self, situation: Situation) -> Decided:
        """Read the page that stands there, then open another, answer, or give up."""
        summary = ""
        if situation.observation is not None:
            summary = await to_thread.run_sync(self._read, situation.observation, situation.tip)
        fold = self._fold(situation.tip, summary)
        while situation.steps_left > 1:
            following = self._quests[-1].next()
            if following is not None:
                why, url = following
                return _decide(Decision(thought=why, fold=fold, actions=(Navigate(kind="navigate", url=url),)))
            if not self._later:
                break
            await to_thread.run_sync(self._begin_next)
        return await to_thread.run_sync(self._end, fold)

    def candidates(self) -> tuple[Source, ...]:
        """The passages that fit best so far, at most three a question, best first."""
        several = len(self._quests) + len(self._later) > 1
        return tuple(
            replace(source, question=quest.question.text if several else "")
            for quest in self._quests
            for source in quest.candidates()
        )

    def _read(self, page: Observation, step: int) -> str:
        self._pages.append(page)
        return self._quests[-1].read(page, step)

    def _begin_next(self) -> None:
        """Turn to the next question, with what was read for those before."""
        self._quests.append(Quest(Question.read(self._later.pop(0)), self._pages))

    def _end(self, fold: FoldDirective | None) -> Decided:
        while self._later:  # no steps are left for it: what was read must do
            self._begin_next()
        candidates = self.candidates()
        if self._needs_model:
            no_model: Terminal = GiveUp(kind="give_up", reason=_NEEDS_MODEL)
            return _decide(Decision(thought=_NEEDS_MODEL, fold=fold, actions=(no_model,)), candidates)
        unsure = [quest for quest in self._quests if not quest.is_sure()]
        if unsure:
            told = f"no passage on {unsure[0].told} fits the question clearly best"
            if len(self._quests) > 1:
                told += f": {'; '.join(quest.question.text for quest in unsure)}"
            end: Terminal = GiveUp(kind="give_up", reason=told)
            thought = "No passage is sure enough to be the answer."
            return _decide(Decision(thought=thought, fold=fold, actions=(end,)), candidates)
        firsts = _firsts(candidates)
        text = "\n\n".join("\n".join(filter(None, (source.question, source.quote))) for source in firsts)
        end = Answer(kind="answer", text=text, quote=firsts[0].quote, url=firsts[0].url)
        thought = "The first passage fits the question clearly best."
        return _decide(Decision(thought=thought, fold=fold, actions=(end,)), candidates, firsts)

    def _fold(self, step: int, summary: str) -> FoldDirective | None:
        """What to keep of the last step; of a stretch that brought nothing, one summary for all its steps."""
        if not summary or step < 1:
            return None
        dry = self._quests[-1].take_dry()
        return FoldDirective(summary=summary) if dry is None else FoldDirective(summary=dry[1], first_step=dry[0])


def _firsts(candidates: tuple[Source, ...]) -> tuple[Source, ...]:
    """The best candidate of each question."""
    found: dict[str, Source] = {}
    for source in candidates:
        found.setdefault(source.question, source)
    return tuple(found.values())


def _decide(decision: Decision, candidates: tuple[Source, ...] = (), sources: tuple[Source, ...] = ()) -> Decided:
    return Decided(decision, NAME, "embedded", candidates=candidates, sources=sources)
