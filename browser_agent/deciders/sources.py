"""Keeps the text of the pages a run has seen, and finds the page a quote stands on."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass

from browser_agent.observation import Observation
from ctxfold.errors import InputError

__all__ = ["REMEMBERED", "Evidence", "Source", "address"]

REMEMBERED = 60
"""Pages whose text is kept, the newest. A quote from an older one is taken once it was opened again."""


_MARKS = re.compile(r"(?<=\s)\|(?=\s)|\[(?:f\d+)?e\d+\]")
"""What stands between cells and behind controls in what a model is shown of a page, and is no text of it."""
_NAMED = 80


@dataclass(frozen=True, slots=True)
class Source:
    """A passage and where it stands.

    Attributes:
        quote: an exact slice of the page's text, at most 80 words where the explorer chose it.
        url: the page, with the anchor where there is one.
        ref: the page's snapshot in the session's log, for `ctxfold recall`; empty where the session holds none.
        question: which question it answers, where a task asks several.
    """

    quote: str
    url: str
    ref: str = ""
    question: str = ""


@dataclass(frozen=True, slots=True)
class _Page:
    ref: str
    texts: tuple[tuple[str, str], ...]  # anchor, text


class Evidence:
    """The text of the last pages seen, by address. It grows by `add`."""

    def __init__(self) -> None:
        self._pages: OrderedDict[str, _Page] = OrderedDict()

    def add(self, observation: Observation, ref: str) -> None:
        """Take a page in."""
        texts = [(s.anchor, text) for s in observation.sections for text in (s.title, s.text) if text]
        if not texts:
            texts = [("", observation.full)]
        url = address(observation.url)
        self._pages[url] = _Page(ref, tuple(texts))
        self._pages.move_to_end(url)
        while len(self._pages) > REMEMBERED:
            self._pages.popitem(last=False)

    def ref(self, url: str) -> str:
        """The ref of a page's snapshot; empty where the page was not seen."""
        page = self._pages.get(address(url))
        return page.ref if page is not None else ""

    def source(self, quote: str, url: str | None) -> Source:
        """A quote as the exact slice of the page it is from: white space aside, and the marks that a model is shown between cells and behind controls.

        `url`: the page it is said to be from; None where that was not said. Raises InputError: it stands on no page that was seen.
        """
        words = _MARKS.sub(" ", quote).split()
        pattern = re.compile(r"[\s|]+".join(re.escape(word) for word in words)) if words else None
        named = self._pages.get(address(url)) if url else None
        pages = [(address(url or ""), named)] if named else list(reversed(self._pages.items()))
        for where, page in pages:
            for anchor, text in page.texts if pattern else ():
                match = pattern.search(text) if pattern else None
                if match:
                    return Source(match.group(), f"{where}#{anchor}" if anchor else where, page.ref)
        raise InputError(
            f"the quote {quote[:_NAMED]!r} stands on no page seen: copy it from the page word for word, from one paragraph, "
            "row or line, or leave it out"
        )


def address(url: str) -> str:
    """An address without its fragment."""
    return url.partition("#")[0]
