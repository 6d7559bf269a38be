"""What to ask a site's own search, most telling first. It reads no result.

Most searches of documentation sites want all words of a query on one page, some the exact name of a thing. So names go first, each alone;
then all telling words together; then fewer and fewer of them, until something is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from browser_agent.explorer.catalogue import PIECE
from browser_agent.explorer.question import Question, Term
from browser_agent.explorer.thesaurus import others
from browser_agent.observation import SearchBox

__all__ = ["first", "is_results", "relaxed", "results_url", "wide"]

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
