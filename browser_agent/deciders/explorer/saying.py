"""What the explorer says of its steps, to whoever reads the session. These are its own words, never a prompt: no model reads them to be told."""

from __future__ import annotations

from collections.abc import Sequence

from browser_agent.deciders.describe import place
from browser_agent.deciders.explorer.frontier import Lead
from browser_agent.deciders.explorer.ranking import Found
from browser_agent.observation import Observation

__all__ = [
    "dead_end",
    "gave_up",
    "listed",
    "lost",
    "no_search",
    "none_found",
    "read",
    "searched",
    "unreadable",
    "will_answer",
    "will_list",
    "will_open",
    "will_search",
]

_EXCERPT = 24


def will_search(query: str) -> str:
    """Why a search is made."""
    return f"Ask the site's search for “{query}”."


def will_list() -> str:
    """Why a search with many words is made."""
    return "Ask the site's search which pages hold any word of the question, or one that means the same."


def listed(pages: int, lead: Lead | None) -> str:
    """What a site's index gave."""
    best = f"; the best is {place(lead.url)}" if lead is not None else ""
    return f"The site's search index lists {pages} pages with words of the question{best}."


def will_open(lead: Lead) -> str:
    """Why a link is followed."""
    text = " ".join(lead.text.split())
    return (
        f"“{_head(text, 10)}” is the most telling link left."
        if text
        else f"{place(lead.url)} is the most telling address left."
    )


def will_answer(found: Found) -> str:
    """Why a passage is given as the answer."""
    return f"The passage under “{_head(found.passage.place.name, 10)}” holds what was asked."


def gave_up() -> str:
    """Why none is given."""
    return "No passage seen is sure enough to be an answer."


def searched(query: str, found: Sequence[Lead], best: Lead | None) -> str:
    """What a search brought."""
    if not found:
        return f"Searched for “{query}”: no result."
    top = f"; most telling: {_head(' '.join(best.text.split()), 10)} ({place(best.url)})" if best is not None else ""
    return f"Searched for “{query}”: {len(found)} results{top}."


def lost(lead: Lead) -> str:
    """What a page that could not be read leaves."""
    return f"{place(lead.url)} could not be read."


def no_search(query: str) -> str:
    """What a search that fails leaves."""
    return f"The site's search for “{query}” did not answer; it is not asked again."


def read(page: Observation, best: Found | None) -> str:
    """What a page held for the question."""
    title = _head(" ".join(page.title.split()), 10) or "untitled"
    if best is None:
        return f"Read {place(page.url)} ({title}): nothing better for the question."
    return f"Read {place(page.url)} ({title}): best so far, under {_head(best.passage.place.name, 6)}: “{_head(best.passage.text, _EXCERPT)}”"


def unreadable(page: Observation) -> str:
    """What an error page was."""
    return f"{place(page.url)} answers with status {page.status}: nothing to read."


def dead_end(steps: Sequence[tuple[int, str]]) -> str:
    """What a stretch without gain read."""
    titles = "; ".join(dict.fromkeys(_head(" ".join(title.split()), 8) for _, title in steps))
    return f"Dead end, failed: {len(steps)} pages held nothing better for the question: {titles}."


def none_found(pages: int, asked: Sequence[str]) -> str:
    """What was looked through in vain."""
    searches = f" and {len(asked)} searches" if len(asked) > 1 else " and 1 search" if asked else ""
    return f"no passage on {pages} page{'' if pages == 1 else 's'}{searches} answers this with enough certainty"


def _head(text: str, most: int) -> str:
    words = text.split()
    return " ".join(words) if len(words) <= most else " ".join(words[:most]) + " …"
