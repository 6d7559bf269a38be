"""Decides which page of a site to open next, and ends with the three passages that fit the question best."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from anyio import to_thread

from browser_agent.actions import Action, Answer, GiveUp, Navigate
from browser_agent.deciders.decision import Decision
from browser_agent.deciders.describe import shorten_address
from browser_agent.deciders.explorer.frontier import (
    Frontier,
    Lead,
    is_results,
    rank_index,
    read_links,
    read_results,
    search_address,
)
from browser_agent.deciders.explorer.library import Library
from browser_agent.deciders.explorer.question import Question
from browser_agent.deciders.protocol import Decided, Situation
from browser_agent.deciders.sources import Source
from browser_agent.observation import Observation, SearchBox
from ctxfold.decisions.fold.directive import FoldDirective

__all__ = ["Explorer"]

NAME = "explorer"

MOST_LOADS = 20
"""The most pages a question may cost, searches included."""
MOST_READ = 8
"""Pages read before the explorer ends with what it has."""
LEAST_READ = 3
"""Pages read before a passage counts as sure: the first that fits may not be the best."""
ENOUGH_LEADS = 6
"""Search results that are enough to stop searching with fewer words."""
LOST_IN_A_ROW = 4
"""Pages in a row that could not be read before the site counts as gone."""
CANDIDATES = 3
SURE = 0.8
"""The share of the question that the first passage holds, from which on it is the answer."""
DRY = 4
"""Pages in a row that brought nothing better before they are folded as one failed stretch."""


@dataclass(frozen=True, slots=True)
class Trail:
    """Where the explorer stands besides the passages it has read. A frozen value: each page gives another.

    Attributes:
        frontier: the pages not opened.
        search: the site's search, once a page has shown it; None where it has none or it failed.
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


class Explorer:
    """Decides the steps of one task.

    Args:
        task: what the user asked.
    """

    name = NAME

    def __init__(self, task: str) -> None:
        self._question = Question.read(task)
        self._library = Library(self._question)
        self._trail = Trail()

    async def decide(self, situation: Situation) -> Decided:
        """Read the page that stands there, then open another, answer, or give up."""
        summary = ""
        if situation.observation is not None:
            summary = await to_thread.run_sync(self._read, situation.observation, situation.tip)
        fold = self._fold(situation.tip, summary)
        decision = None
        if situation.steps_left > 1 and self._trail.loads < MOST_LOADS:
            decision = self._go_on(fold)
        if decision is not None:
            return Decided(decision, NAME, "embedded")
        return await to_thread.run_sync(self._end, fold)

    def candidates(self) -> tuple[Source, ...]:
        """The passages that fit best so far, at most three, best first."""
        return tuple(Source(one.passage.quote, one.passage.place.address) for one in self._library.rank(CANDIDATES))

    def _read(self, page: Observation, step: int) -> str:
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
        trail = replace(trail, lost=0, search=trail.search if trail.settled else page.search or trail.search)
        return self._read_results(page, query, trail) if query else self._read_page(page, lead, step, trail)

    def _read_results(self, page: Observation, query: str, trail: Trail) -> str:
        leads = read_results(page) if page.index is None else rank_index(page.index, page.url)
        found = trail.found + len(leads)
        settled = page.index is not None or found >= ENOUGH_LEADS
        self._trail = replace(trail, frontier=trail.frontier.with_leads(leads), found=found, settled=settled)
        top = f"; the first is {shorten_address(leads[0].url)}" if leads else ""
        return f"Searched for “{query}”: {len(leads)} results{top}."

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
            dry=() if better else (*trail.dry, (step, _cut(page.title, 8) or here)),
        )
        title = _cut(page.title, 10) or "untitled"
        if top is None or not better:
            return f"Read {shorten_address(page.url)} ({title}): nothing better for the question."
        name, quote = _cut(top.passage.place.name, 6), _cut(top.passage.quote, 24)
        return f"Read {shorten_address(page.url)} ({title}): best so far, under {name}: “{quote}”"

    def _go_on(self, fold: FoldDirective | None) -> Decision | None:
        """The next page to open; None when it is time to end."""
        trail = self._trail
        if trail.lost >= LOST_IN_A_ROW or trail.read >= MOST_READ:
            return None
        named = trail.frontier.find_named(self._question) if trail.read <= LEAST_READ and not trail.asked else None
        if named is not None:
            self._trail = replace(trail, lead=named)
            return _decide(f"“{named.text}” is named.", fold, Navigate(kind="navigate", url=named.url))
        query = next((query for query in self._question.queries if query not in trail.asked), "")
        if trail.search is not None and not trail.settled and not self._library.has_entry and query:
            self._trail = replace(trail, asked=(*trail.asked, query), query=query)
            thought = f"Ask the site's search for “{query}”."
            return _decide(thought, fold, Navigate(kind="navigate", url=search_address(trail.search, query)))
        lead = trail.frontier.best(self._question)
        if lead is None:
            return None
        self._trail = replace(trail, lead=lead[0])
        text = _cut(lead[0].text, 10) or shorten_address(lead[0].url)
        return _decide(f"“{text}” fits best of the links left.", fold, Navigate(kind="navigate", url=lead[0].url))

    def _end(self, fold: FoldDirective | None) -> Decided:
        found, candidates = self._library.rank(CANDIDATES), self.candidates()
        if found and self._library.cover(found[0].passage) >= SURE:
            answer = Answer(kind="answer", text=candidates[0].quote, quote=candidates[0].quote, url=candidates[0].url)
            thought = f"The passage under “{_cut(found[0].passage.place.name, 10)}” fits the question clearly best."
            return Decided(_decide(thought, fold, answer), NAME, "embedded", candidates=candidates)
        trail = self._trail
        searches = f" and {len(trail.asked)} searches" if trail.asked else ""
        reason = f"no passage on {trail.read} pages{searches} fits the question clearly best"
        give_up = _decide("No passage is sure enough to be the answer.", fold, GiveUp(kind="give_up", reason=reason))
        return Decided(give_up, NAME, "embedded", candidates=candidates)

    def _fold(self, step: int, summary: str) -> FoldDirective | None:
        """What to keep of the last step; of a stretch that brought nothing, one summary for all its steps."""
        if not summary or step < 1:
            return None
        dry = self._trail.dry
        if len(dry) < DRY:
            return FoldDirective(summary=summary)
        self._trail = replace(self._trail, dry=())
        titles = "; ".join(dict.fromkeys(title for _, title in dry))
        text = f"Dead end, failed: {len(dry)} pages held nothing better for the question: {titles}."
        return FoldDirective(summary=text, first_step=dry[0][0])


def _decide(thought: str, fold: FoldDirective | None, action: Action) -> Decision:
    return Decision(thought=thought, fold=fold, actions=(action,))


def _cut(text: str, most: int) -> str:
    words = text.split()
    return " ".join(words) if len(words) <= most else " ".join(words[:most]) + " …"
