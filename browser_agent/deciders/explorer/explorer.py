"""The embedded decider: reads a site for the passage that answers a question, with no model, no key and no network of its own.

It asks the site's search where there is one and follows the most telling links, best first; each page it reads goes into a library of
passages. It ends when a passage is sure enough, or its reading is used up. It performs nothing and records nothing.
"""

from __future__ import annotations

from dataclasses import replace

from anyio import to_thread

from browser_agent.actions import Action, Answer, GiveUp, Navigate
from browser_agent.deciders.decision import Decision
from browser_agent.deciders.explorer import saying
from browser_agent.deciders.explorer.catalogue import Catalogue, catalogue
from browser_agent.deciders.explorer.confidence import IN_FULL, SURE, confidence, trusted
from browser_agent.deciders.explorer.frontier import (
    Lead,
    catalogued,
    first,
    is_results,
    links,
    relaxed,
    results,
    results_url,
    wide,
)
from browser_agent.deciders.explorer.meaning import Encoder
from browser_agent.deciders.explorer.notebook import Notebook
from browser_agent.deciders.explorer.passages import Quoting
from browser_agent.deciders.explorer.question import parse
from browser_agent.deciders.explorer.ranking import Found, Library
from browser_agent.deciders.protocol import Decided, Situation
from browser_agent.deciders.sources import Source
from browser_agent.observation import Observation
from ctxfold.decisions.fold.directive import FoldDirective

__all__ = ["Explorer"]

NAME = "explorer"

MOST_LOADS = 40
"""The most pages a question may cost, searches included."""
MOST_SEARCHES = 9
ENOUGH_LEADS = 6
"""Search results that are enough to stop searching with fewer words."""
READ_FIRST, READ_LONG = 12, 24
"""Pages read before settling for a passage that is trusted, and before giving up."""
LEAST_READ = 3
"""Pages read before a passage counts as sure: the first that fits may not be the best."""
NAMED_SURE = 0.6
"""How sure a passage under the very name asked about must be for nothing further to be read: from 0.7 down to here our own questions lose no
answer."""
FAINT, FAINT_READ = 0.06, 6
"""A link that matches less of the question than this is followed only while fewer pages than that were read."""
HUB = 0.2
"""What an index or a table of contents gets on top where a site has no search to ask."""
STRAIGHT = 0.7
"""A link that matches a name of the question, or all of it, this well goes before a search."""
LOST_IN_A_ROW, LOST_TRUSTED = 4, 2
"""Pages in a row that could not be read, searches included, before the site counts as gone, and before a passage that is trusted is given."""
LISTED, LINKED = 40, 0.6
"""A page with more links than this, and more of its text in them than this share, is a listing."""
NEAREST = 3
"""Passages shown where none answers."""
DEAD_END = 4
"""Pages in a row that brought nothing better before they are folded as a failed stretch."""


class Explorer:
    """Decides the steps of one task.

    Args:
        task: what the user asked.
        encoder: a sentence encoder that helps to rank passages; None where words alone do.
    """

    name = NAME

    def __init__(self, task: str, encoder: Encoder | None = None) -> None:
        self._question = parse(task)
        self._library = Library(self._question, encoder)
        self._notes = Notebook()
        self._queries = list(first(self._question))
        self._fewer = relaxed(self._question)
        self._wide = wide(self._question)

    @property
    def library(self) -> Library:
        """The passages read so far, ranked."""
        return self._library

    async def decide(self, situation: Situation) -> Decided:
        """Take in the page that stands there, then go on, answer, or give up."""
        summary = None
        if situation.observation is not None:
            summary = await to_thread.run_sync(self._take_in, situation)
        fold = self._fold(situation, summary)
        if situation.steps_left > 1 and self._notes.loads < MOST_LOADS:
            decision = self._go_on(fold)
            if decision is not None:
                return Decided(decision, NAME, "embedded")
        return self._end(fold)

    def nearest(self) -> tuple[Source, ...]:
        """The passages that came nearest so far, at most three."""
        quoting = self._quoting()
        sources: dict[str, Source] = {}
        for found in self._library.best(NEAREST * 3):
            words = quoting.quote(found.passage)
            sources.setdefault(words, Source(words, found.passage.place.address))
        return tuple(sources.values())[:NEAREST]

    # Taking in

    def _take_in(self, situation: Situation) -> str:
        """Read the page that stands there. Returns what is worth keeping of the step that brought it."""
        page = situation.observation
        assert page is not None
        notes = replace(self._notes, loads=self._notes.loads + 1)
        blank = not page.links and not any(section.text for section in page.sections)
        refused = page.status is not None and page.status >= 400
        if notes.searching and (blank or refused or not is_results(page.url, notes.search)):
            lost = notes.lost_in_a_row + (blank and not refused)
            self._notes = replace(notes, searching=False, search=None, search_fails=True, lost_in_a_row=lost)
            return saying.no_search(notes.asked[-1])
        if not notes.search_fails:
            notes = replace(notes, search=page.search or notes.search)
        frontier = notes.frontier.with_opened(page.url)
        notes = replace(notes, frontier=frontier.with_opened(notes.lead.url) if notes.lead is not None else frontier)
        if notes.lead is not None and blank and not refused:
            return self._lost(notes.lead, notes)
        notes = replace(notes, lost_in_a_row=0)
        if refused:
            self._notes = notes
            return saying.unreadable(page)
        if notes.searching:
            return self._take_results(page, notes)
        return self._take_page(page, notes, situation.tip)

    def _lost(self, lead: Lead, notes: Notebook) -> str:
        """A page that could not be read: it is tried once more, after what else is as telling."""
        frontier = notes.frontier
        if lead.url not in notes.lost:
            frontier = frontier.again(replace(lead, credit=lead.credit - 0.1))
        self._notes = replace(
            notes, frontier=frontier, lost=notes.lost | {lead.url}, lost_in_a_row=notes.lost_in_a_row + 1
        )
        return saying.lost(lead)

    def _take_results(self, page: Observation, notes: Notebook) -> str:
        if page.index is not None:
            notes = replace(notes, lists=True)
            if notes.asked[-1] == self._wide:
                return self._take_catalogue(page.url, catalogue(self._question, page.index), notes)
        found = results(page, self._library.matcher)
        self._notes = replace(notes, frontier=notes.frontier.with_leads(found), found=notes.found + len(found))
        return saying.searched(notes.asked[-1], found, self._notes.frontier.best(self._library.weights()))

    def _take_catalogue(self, url: str, ranked: Catalogue, notes: Notebook) -> str:
        self._library.know(ranked)
        frontier = notes.frontier.with_leads(catalogued(ranked, self._library.matcher, url))
        self._notes = replace(notes, frontier=frontier, catalogue=ranked)
        return saying.listed(len(ranked.pages), frontier.best(self._library.weights()))

    def _take_page(self, page: Observation, notes: Notebook, step: int) -> str:
        if notes.lead is None and not notes.read:
            self._library.enter(page)
        if not _is_listing(page):
            self._library.add(page)
        depth = (notes.lead.depth if notes.lead is not None else 0) + 1
        notes = replace(
            notes,
            frontier=notes.frontier.with_leads(tuple(links(page, self._library.matcher, depth))),
            read=notes.read + 1,
        )
        top = next(iter(self._library.best(1)), None)
        here = page.url.partition("#")[0]
        better = top is not None and top.score > notes.best and top.passage.place.url == here
        dry = () if better else (*notes.dry, (step, page.title or here))
        self._notes = replace(notes, best=top.score if top is not None else 0.0, dry=dry)
        return saying.read(page, top if better else None)

    # Deciding

    def _go_on(self, fold: FoldDirective | None) -> Decision | None:
        """The next page to open; None when it is time to end."""
        if self._settled():
            return None
        search = self._notes.search
        query = self._next_query() if search is not None and not self._straight_on() else None
        if search is not None and query is not None:
            self._notes = replace(self._notes, asked=(*self._notes.asked, query), searching=True, lead=None)
            url = results_url(search, query)
            thought = saying.will_list() if query == self._wide else saying.will_search(query)
            return _decision(thought, fold, Navigate(kind="navigate", url=url))
        lead = self._notes.frontier.best(self._library.weights(), HUB if search is None else 0.0)
        if lead is None or self._enough(lead):
            return None
        self._notes = replace(self._notes, searching=False, lead=lead)
        return _decision(saying.will_open(lead), fold, Navigate(kind="navigate", url=lead.url))

    def _straight_on(self) -> bool:
        """Whether a page seen links straight to what is asked about, so that a search would only cost time."""
        lead = self._notes.frontier.best(self._library.weights())
        if lead is None or self._notes.asked or self._notes.read > LEAST_READ:
            return False
        named = max((s for s, term in zip(lead.seen, self._question.terms, strict=True) if term.name), default=0.0)
        return named >= STRAIGHT or lead.score(self._library.weights()) >= STRAIGHT

    def _next_query(self) -> str | None:
        notes = self._notes
        if len(notes.asked) >= MOST_SEARCHES or notes.catalogue is not None:
            return None
        while self._queries:
            query = self._queries.pop(0)
            if query not in notes.asked:
                return query
        if notes.lists:
            return self._wide
        if notes.found >= ENOUGH_LEADS or notes.read > LEAST_READ:
            return None
        return next((query for query in self._fewer if query not in notes.asked), None)

    def _enough(self, lead: Lead) -> bool:
        """Whether to stop reading, given the best link that is left."""
        notes = self._notes
        if notes.lost_in_a_row >= LOST_IN_A_ROW or notes.read >= READ_LONG:
            return True
        if (notes.read >= READ_FIRST or notes.lost_in_a_row >= LOST_TRUSTED) and self._trusted():
            return True
        faint = FAINT_READ if notes.search is not None else FAINT_READ * 2
        return notes.read >= faint and lead.score(self._library.weights()) < FAINT

    def _settled(self) -> bool:
        """Whether the best passage is sure enough to read no further: soon, where it stands under the very name asked about."""
        top = next(iter(self._library.best(1)), None)
        if top is None:
            return False
        sure, named = self._sure(), top.subject >= IN_FULL
        if named or not self._question.names:
            return (sure >= SURE and self._notes.read > LEAST_READ) or (
                named and sure >= NAMED_SURE and self._notes.read > 1
            )
        return False

    def _sure(self) -> float:
        return confidence(self._library.best(NEAREST * 3), self._library.missing())

    def _trusted(self) -> bool:
        return trusted(self._library.best(NEAREST * 3), self._library.missing())

    def _end(self, fold: FoldDirective | None) -> Decided:
        if self._trusted():
            return Decided(self._answer(self._library.best(1)[0], fold), NAME, "embedded")
        reason = saying.none_found(self._notes.read, self._notes.asked)
        decision = _decision(saying.gave_up(), fold, GiveUp(kind="give_up", reason=reason))
        return Decided(decision, NAME, "embedded", nearest=self.nearest())

    def _answer(self, found: Found, fold: FoldDirective | None) -> Decision:
        quoting, passage = self._quoting(), found.passage
        answer = Answer(
            kind="answer", text=quoting.answer(passage), quote=quoting.quote(passage), url=passage.place.address
        )
        return _decision(saying.will_answer(found), fold, answer)

    def _quoting(self) -> Quoting:
        return Quoting(self._question, self._library.matcher, self._library.shares())

    # Folding

    def _fold(self, situation: Situation, summary: str | None) -> FoldDirective | None:
        """What to keep of the last step; of a dead end, one summary for all its steps."""
        if summary is None or situation.tip < 1:
            return None
        if len(self._notes.dry) >= DEAD_END:
            (begin, _), *_ = self._notes.dry
            stretch = FoldDirective(summary=saying.dead_end(self._notes.dry), first_step=begin)
            self._notes = replace(self._notes, dry=())
            return stretch
        return FoldDirective(summary=summary)


def _is_listing(page: Observation) -> bool:
    """Whether a page is little else but links, an index for one: it leads to answers and holds none."""
    linked = sum(len(link.text) for link in page.links if link.main)
    return len(page.links) > LISTED and linked > LINKED * sum(len(section.text) for section in page.sections)


def _decision(thought: str, fold: FoldDirective | None, action: Action) -> Decision:
    return Decision(thought=thought, fold=fold, actions=(action,))
