"""What the explorer knows of a run besides the passages it has read. It decides nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

from browser_agent.deciders.explorer.catalogue import Catalogue
from browser_agent.deciders.explorer.frontier import Frontier, Lead
from browser_agent.observation import SearchBox

__all__ = ["Notebook"]


@dataclass(frozen=True, slots=True)
class Notebook:
    """What the explorer knows besides the library. A frozen value: each step gives another.

    Attributes:
        frontier: the links not followed.
        search: the site's search, once a page has shown it.
        asked: the queries asked.
        found: how many leads searches brought.
        lists: whether the site's search says of each word where it stands.
        catalogue: the site's pages as its index ranks them, once it was asked for all words.
        read: pages read, searches not counted.
        loads: pages opened, searches counted.
        best: the score of the best passage so far.
        dry: the steps in a row that brought nothing better, oldest first, each with what it read.
        searching: whether the last decision was a search.
        search_fails: whether the site's search once did not answer.
        lost: addresses that could not be read.
        lost_in_a_row: how many of the last ones could not.
        lead: the link the last decision followed.
    """

    frontier: Frontier = field(default_factory=Frontier)
    search: SearchBox | None = None
    asked: tuple[str, ...] = ()
    found: int = 0
    lists: bool = False
    catalogue: Catalogue | None = None
    read: int = 0
    loads: int = 0
    best: float = 0.0
    dry: tuple[tuple[int, str], ...] = ()
    searching: bool = False
    search_fails: bool = False
    lost: frozenset[str] = frozenset()
    lost_in_a_row: int = 0
    lead: Lead | None = None
