"""Decides a run's steps without a model: asks the site's search, follows the best links, quotes the passage that fits
the question best.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from urllib.parse import parse_qsl, unquote, urlsplit

from anyio import to_thread

from browser_agent.actions import Answer, GiveUp, Navigate, Terminal
from browser_agent.deciders import DecidedStep, Decision, Situation, Source, trim_address
from browser_agent.observation import Observation, SearchBox, SiteIndex
from ctxfold.config import EXPLORER
from ctxfold.decisions.fold import FoldDirective
from ctxfold.select.score import BM25
from ctxfold.text.sentences import lines, sentences
from ctxfold.text.words import counted, query_weights, words
from ctxfold.tokens import rarity

MOST_LOADS = 20
"""The most pages one question may cost, searches included."""
MOST_WORDS = 80
"""The most words of a quote."""
_MOST_READ = 8
"""Pages read before the explorer ends with what it has, unless the rest of the site is small."""
_LEAST_READ = 3
"""Pages read before a sure passage ends the search: the first that fits may not be the best."""
_ENOUGH_LEADS = 6
"""Search results that are enough to stop searching."""
_LOST_IN_A_ROW = 4
"""Pages in a row that could not be read before the site counts as gone."""
_CANDIDATES = 3
_HALF, _SURE = 0.5, 0.8
"""The share of the question that an answer holds: on a site that was read whole; where other pages may hold more."""
_LENGTH = 0.3
"""How much a long passage is held against it: BM25's b. Passages have at most 80 words."""
_NAME_REPEATS = 4
"""How often the name of a section counts as said in its text."""
_LINK_WORDS = 200
"""The most words that are kept of all links to one page."""
_INDEXED = 40
"""The best pages that are taken from a site's search index."""
_WRAPPED = 90
"""Characters. A text with no longer line was wrapped by hand, as pydoc's is, and its sentences run over lines."""
_NEEDS_MODEL = (
    "an answer to a JSON schema needs a model: name one with --model, such as claude-… or openai:gpt-…; "
    "the passages that fit the task best are listed"
)

_CODE = re.compile(
    r"`([^`\s]+)`|([^\W\d]\w*(?:\.\w+)+|[^\W\d]\w*_\w*|_\w+|\w+(?=\()|[a-z]+[A-Z]\w*"
    r"|[A-Z][a-z0-9]+[A-Z]\w*|--[a-z][\w-]*)"
)
"""A name in code: in backticks, with dots, underscores, brackets or humps, or a flag."""
_TOKEN = re.compile(r"[^\W_](?:[\w.-]*\w)?")
_NO_PAGE = re.compile(
    r"\.(png|jpe?g|gif|svg|ico|css|js|json|xml|zip|gz|bz2|xz|tar|tgz|pdf|epub|exe|msi|dmg|whl"
    r"|mp[34]|webm|txt|rst|py|c|h)$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its words with what each counts, and the names that it writes as code, such as
    `functools.lru_cache`.
    """

    text: str
    words: Mapping[str, float]
    names: tuple[str, ...]
    queries: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> Question:
        """Read a question. Its queries for a site's search are all its words, then each name."""
        found = (next(filter(None, groups)).strip("._").lower() for groups in _CODE.findall(text))
        names = tuple(dict.fromkeys(filter(None, found)))
        return cls(text, query_weights(text), names, tuple(dict.fromkeys((" ".join(_TOKEN.findall(text)), *names))))


@dataclass(frozen=True, slots=True)
class Lead:
    """A page that could be opened: its address, the text of its link, the words to compare with the question, and what
    the site's search gives it, 0 to 2.
    """

    url: str
    text: str
    words: tuple[str, ...]
    credit: float = 0.0


def find_leads(page: Observation, *, are_results: bool = False) -> list[Lead]:
    """Find the links of a page to other pages of its site; of a search's results, the first with most credit."""
    if are_results and page.index is not None:
        return _rank_index(page.index, page.url)
    return [
        Lead(
            link.url, link.text, tuple(words(f"{link.text} {_name_page(link.url)} {link.section}")), float(are_results)
        )
        for link in page.links
        if _is_page(link.url, page.url) and (link.main or not are_results)
    ]


def _rank_index(index: SiteIndex, here: str) -> list[Lead]:
    """Return the best pages by a site's search index: the idf of each word, twice where it is in a title."""
    scores: dict[int, float] = {}
    for word in index.words:
        weight = rarity(word.word) * log(1 + (len(index.pages) - len(word.pages) + 0.5) / (len(word.pages) + 0.5))
        for page in word.pages:
            scores[page] = scores.get(page, 0.0) + weight * (1 + (page in word.titled))
    best = sorted((at for at in scores if _is_page(index.pages[at].url, here)), key=lambda at: (-scores[at], at))
    pages = [(index.pages[at], 2 * scores[at] / (scores[best[0]] or 1.0)) for at in best[:_INDEXED]]
    return [Lead(page.url, page.title, (), credit) for page, credit in pages]


def strip_address(url: str) -> str:
    """Return an address without its fragment; a folder and its index page are one."""
    return url.partition("#")[0].removesuffix("/index.html").rstrip("/")


def _name_page(url: str) -> str:
    """Return the words of an address: its folder, its file and its fragment."""
    parts = urlsplit(url)
    return re.sub(r"[^\w.]|\.html?\b", " ", unquote("/".join(parts.path.split("/")[-2:]) + " " + parts.fragment))


def _is_page(url: str, here: str) -> bool:
    there = urlsplit(url)
    is_local = there.scheme in ("http", "https", "file") and there.netloc == urlsplit(here).netloc
    return is_local and not _NO_PAGE.search(there.path) and "/_" not in there.path


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of sentences of a section.

    Attributes:
        quote: an exact slice of the page, at most 80 words.
        url: the page, with the section's anchor.
        words: of the quote, the heading and the page's title.
        is_named: whether the section defines a name that the question has.
    """

    quote: str
    url: str
    words: frozenset[str]
    is_named: bool


class Library:
    """The passages of every page read, for one question."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._passages: dict[str, Passage] = {}
        self._texts = BM25(b=_LENGTH)
        self.pages: set[str] = set()

    def add(self, page: Observation) -> None:
        """Take a page in, once."""
        url = page.url.partition("#")[0]
        if url in self.pages:
            return
        self.pages.add(url)
        links = {" ".join(link.text.split()) for link in page.links}
        for section in page.sections:
            name = section.defined_name or section.title
            above, title = words(" ".join((page.title, *([name] * _NAME_REPEATS)))), words(section.title)
            is_named = any(_is_entry(wanted, page.title, section.defined_name) for wanted in self._question.names)
            anchor = f"{url}#{section.anchor}" if section.anchor else url
            for at, quote in enumerate(_cut_passages(section.text or section.title, links)):
                if quote not in self._passages:
                    own = words(quote)
                    self._texts.add([*above, *(() if at else title), *own])
                    held = frozenset((*own, *above, *title))
                    self._passages[quote] = Passage(quote, anchor, held, is_named)

    def rank(self) -> list[Passage]:
        """Return the three passages that fit best; first one of the entry that the question names."""
        passages, scores = list(self._passages.values()), self._texts.scores(self._question.words)
        order = sorted((at for at, score in enumerate(scores) if score), key=lambda at: -scores[at])
        entry = [at for at in order if passages[at].is_named][:1]
        return [passages[at] for at in dict.fromkeys((*entry, *order))][:_CANDIDATES]

    def is_sure(self, passage: Passage, *, whole: bool) -> bool:
        """Return whether a passage is the answer, by the share of the question that it holds with its headings.

        Where the `whole` site was read, each word counts by its rarity on the site too, and half of the question is
        enough.
        """
        weights = self._question.words
        here = {word: weight * self._texts.rarity(word) for word, weight in weights.items()}
        return _share(weights, passage.words) >= _SURE or (whole and _share(here, passage.words) > _HALF)


def _share(weights: Mapping[str, float], held: frozenset[str]) -> float:
    return sum(weight for word, weight in weights.items() if word in held) / (sum(weights.values()) or 1.0)


def _is_entry(name: str, above: str, entry: str | None) -> bool:
    """Return whether a name is that of an entry, in part or with the headings above: `xml.parse` is `parse` on the page
    `xml`.
    """
    if not entry:
        return False
    parts, whole = name.split("."), iter(re.findall(r"\w+", f"{above} {entry}".lower()))
    return parts[-1] == entry.lower().rpartition(".")[2] and all(part in whole for part in parts)


def _cut_passages(text: str, links: set[str]) -> Iterator[str]:
    """Cut each paragraph of a text into runs of sentences of at most 80 words. Lines of a link alone are left out."""
    rows = [line.of(text) for line in lines(text)]
    prose = [row for row in rows if row.strip() not in links]
    if len(prose) == len(rows) > 1 and max(map(len, rows)) <= _WRAPPED:
        prose = [text]
    for paragraph in prose:
        start = end = 0
        for sentence in sentences(paragraph):
            if end and len(paragraph[start : sentence.end].split()) > MOST_WORDS:
                yield paragraph[start:end]
                start = sentence.start
            end = sentence.end
        if end:
            yield _head(paragraph[start:end])


def _head(text: str) -> str:
    """Return the first 80 words of a text."""
    ends = [word.end() for word in re.finditer(r"\S+", text)]
    return text if len(ends) <= MOST_WORDS else text[: ends[MOST_WORDS - 1]]


class Explorer:
    """Decides the steps of one task: which pages to open, and which passage of those read is the answer.

    Args:
        task: the task, in words.
        pages: pages that earlier runs have seen for it.
        needs_model: the answer has a JSON schema, which the explorer cannot fill: it gives up with the best passages.
    """

    name = EXPLORER

    def __init__(self, task: str, pages: Sequence[Observation] = (), *, needs_model: bool = False) -> None:
        self._question = Question.read(task)
        self._library = Library(self._question)
        self._needs_model = needs_model
        self._leads: dict[str, Lead] = {}
        self._opened: set[str] = set()
        self._search: SearchBox | None = None
        self._queries = list(self._question.queries)
        self._query = ""
        self._url = ""
        self._loads = self._lost = self._read = 0
        for page in pages:
            if not {value for _, value in parse_qsl(urlsplit(page.url).query)}.intersection(self._queries):
                self._library.add(page)  # results hold the words of their query, and no answer
            self._add_leads(page, find_leads(page))

    async def decide(self, situation: Situation) -> DecidedStep:
        """Read the current page, then open another, answer, or give up."""
        return await to_thread.run_sync(self._decide, situation)

    def candidates(self) -> tuple[Source, ...]:
        """Return the passages that fit best so far, at most three, best first."""
        return tuple(Source(passage.quote, passage.url) for passage in self._library.rank())

    def _decide(self, situation: Situation) -> DecidedStep:
        summary = "" if situation.observation is None else self._read_page(situation.observation)
        fold = FoldDirective(summary=summary) if summary and situation.tip > 0 else None
        following = self._choose_next() if situation.steps_left > 1 else None
        if following is not None:
            why, url = following
            decision = Decision(thought=why, fold=fold, actions=(Navigate(kind="navigate", url=url),))
            return DecidedStep(decision, EXPLORER, "embedded")
        thought, end = self._choose_end()
        decision = Decision(thought=thought, fold=fold, actions=(end,))
        return DecidedStep(decision, EXPLORER, "embedded", candidates=self.candidates())

    def _read_page(self, page: Observation) -> str:
        """Take a page in. Returns a summary of the step that opened it."""
        query, url = self._query, self._url or page.url
        self._query = self._url = ""
        self._loads += 1
        self._opened.add(strip_address(url))
        self._leads.pop(strip_address(url), None)
        is_blank = not page.links and page.search is None and not any(section.text for section in page.sections)
        if is_blank or (page.status is not None and page.status >= 400):
            self._lost += 1
            self._queries = [] if query else self._queries
            return f"{trim_address(url)} could not be read."
        self._lost = 0
        leads = find_leads(page, are_results=bool(query))
        self._add_leads(page, leads)
        if query:
            if page.index is not None or len(leads) >= _ENOUGH_LEADS:
                self._queries = []
            return f"Searched for “{query}”: {counted(len(leads), 'result')}."
        self._library.add(page)
        self._read += 1
        return f"Read {trim_address(page.url)} ({_cut(page.title, 10) or 'untitled'})."

    def _choose_next(self) -> tuple[str, str] | None:
        """Return why and which address to open next; None when it is time to end."""
        is_spent = self._read >= _MOST_READ and self._loads + len(self._leads) > MOST_LOADS
        if is_spent or self._lost >= _LOST_IN_A_ROW or self._loads >= MOST_LOADS:
            return None
        best = next(iter(self._library.rank()), None)
        if best is not None and best.is_named:
            return None  # the entry that the question names was read
        if best is not None and self._read >= _LEAST_READ and self._library.is_sure(best, whole=False):
            return None
        if self._search is not None and self._queries:
            self._query = self._queries.pop(0)
            self._url = self._search.address(self._query)
            return f"Ask the site's search for “{self._query}”.", self._url
        lead = self._find_best_lead()
        if lead is None:
            return None
        self._url = lead.url
        return f"“{_cut(lead.text, 10) or trim_address(lead.url)}” fits best of the links left.", lead.url

    def _find_best_lead(self) -> Lead | None:
        """Return the lead with the best sum of its BM25, relative to the highest, and its credit."""
        leads = list(self._leads.values())
        fits = BM25(lead.words for lead in leads).scores(self._question.words)
        most = max(fits, default=0.0) or 1.0
        pairs = zip(leads, fits, strict=True)
        return max(pairs, key=lambda pair: pair[1] / most + pair[0].credit, default=(None, 0.0))[0]

    def _add_leads(self, page: Observation, leads: Iterable[Lead]) -> None:
        """Add a page's leads to pages not opened yet, and the site's search if its address alone asks it.

        The explorer sends no form that posts.
        """
        self._opened.add(strip_address(page.url))
        self._leads.pop(strip_address(page.url), None)
        for lead in leads:
            url = strip_address(lead.url)
            old = self._leads.get(url)
            if url not in self._opened:
                words = lead.words if old is None else (*old.words, *lead.words)[:_LINK_WORDS]
                self._leads[url] = replace(lead if old is None or lead.credit > old.credit else old, words=words)
        self._search = page.search or self._search

    def _choose_end(self) -> tuple[str, Terminal]:
        """Return why the run ends, and its answer; without a sure one it gives up."""
        if self._needs_model:
            return "A schema needs a model.", GiveUp(kind="give_up", reason=_NEEDS_MODEL)
        best = next(iter(self._library.rank()), None)
        if best is not None and self._library.is_sure(best, whole=not self._leads):
            answer = Answer(kind="answer", text=best.quote, quote=best.quote, url=best.url)
            return "The first passage fits the question clearly best.", answer
        pages = counted(len(self._library.pages), "page")
        reason = f"no passage on {pages} fits the question clearly best: {self._question.text}"
        return "No passage is sure enough to be the answer.", GiveUp(kind="give_up", reason=reason)


def _cut(text: str, most: int) -> str:
    """Return the first words of a text, at most `most`."""
    parts = text.split()
    return " ".join(parts) if len(parts) <= most else " ".join(parts[:most]) + " …"
