"""One question's way through a site: the pages read for it, the page to open next, the passages that fit it best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from browser_agent.deciders.describe import shorten_address
from browser_agent.deciders.explorer.frontier import (
    Frontier,
    Lead,
    asks,
    find_search,
    is_results,
    rank_index,
    read_links,
    read_results,
)
from browser_agent.deciders.explorer.library import Library
from browser_agent.deciders.explorer.question import Question
from browser_agent.deciders.sources import Source
from browser_agent.observation import Observation, SearchBox
from ctxfold.text.words import counted

__all__ = ["MOST_LOADS", "Quest"]

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
