"""Turns a live page into a frozen `Observation` within a token budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field

BUDGET = 2000
"""What an observation costs at most, in o200k tokens, if not said otherwise."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Control(_Value):
    """One element that can be acted on. The `value` of a password field is dots.

    `submits`: it sends a form by POST, according to the page's document.
    """

    ref: str
    role: str
    name: str
    value: str = ""
    states: tuple[str, ...] = ()
    url: str = ""
    submits: bool = False


class Link(_Value):
    """One link.

    `url` is absolute; `section` is the title of its section, "" before the first; `main`: it is in the page's main part
    and not in its navigation, header or footer.
    """

    ref: str | None
    text: str
    url: str
    section: str = ""
    main: bool = True


class PageSection(_Value):
    """A stretch of the main text under one heading, or under one defined term.

    `level` is 1 to 6 for headings and 7 for a defined term (`dt`/`dd`); `defined_name` is the name a definition
    list defines (`str.split`), else None; `anchor` is the fragment that addresses it ("" if none). `text` has one
    block (paragraph, list item, row, code line) a line, without the text of the sections beneath it.
    """

    title: str
    level: int
    anchor: str = ""
    defined_name: str | None = None
    text: str = ""


class SearchBox(_Value):
    """The site's search, if an address alone asks it: where its form goes, the field's parameter, the form's hidden
    fields.
    """

    action: str
    param: str
    extra: tuple[tuple[str, str], ...] = ()

    def address(self, words: str) -> str:
        """Return the address of a search for words."""
        parts = urlsplit(self.action)
        others = [(name, value) for name, value in (*parse_qsl(parts.query, True), *self.extra) if name != self.param]
        return urlunsplit((*parts[:3], urlencode([*others, (self.param, words)]), ""))


class IndexedPage(_Value):
    """A page that a site's search index knows."""

    url: str
    title: str


class IndexedWord(_Value):
    """A word of a search, and the pages that have it, by their place in `SiteIndex.pages`; in `titled` as a word of a
    title.
    """

    word: str
    pages: tuple[int, ...]
    titled: tuple[int, ...] = ()


class SiteIndex(_Value):
    """The part of a site's search index that concerns one search: all its pages, and the pages that have each word."""

    pages: tuple[IndexedPage, ...]
    words: tuple[IndexedWord, ...]


class PageCut(_Value):
    """A stretch that the text leaves out.

    `what` describes it, `ref` expands it with Read, `page` is its first page when the whole page is read.
    """

    what: str
    ref: str | None = None
    page: int | None = None


class OpenDialog(_Value):
    """A dialog that blocks the page until it is answered. An observation made then holds little else."""

    kind: Literal["alert", "confirm", "prompt", "beforeunload"]
    message: str


class TabInfo(_Value):
    """One open tab; `index` counts from 1."""

    index: int
    url: str
    title: str
    current: bool


class Extracted(_Value):
    """What a page gave for a JSON schema: the value, None if the page has nothing of it, and the names that the page
    does not have.
    """

    value: Any
    missing: tuple[str, ...] = ()


class Observation(_Value):
    """One look at a page.

    Attributes:
        fingerprint: equal for two observations of the same address with the same content.
        heading: the first lines of `text`, whatever the view: title, address, notes.
        text: what a decider reads, with refs in the form `[e12]`, within the token budget that was asked for.
        tokens: the cost of `text`, in o200k tokens.
        view: the kind of text: the pruned page, its changes, a page of the whole or an element in full, found places,
            or values, which `extracted` has all.
        page: which page of the whole it is, from 1; `pages`, how many there are.
        full: the whole snapshot, for the log.
        refs: every control that the browser reports, also those that `text` leaves out. A ref lives for one
            observation.
        index: the site's search index, if the page has it, as some results pages do.
        cut: the stretches that `text` leaves out.
        lines: all lines of the page.
        menu: the lines around its main part, which other pages of the site may have too.
    """

    url: str
    title: str
    status: int | None
    fingerprint: str
    heading: str = Field(default="", exclude=True)
    text: str
    tokens: int
    view: Literal["page", "change", "read", "find", "extract"] = "page"
    page: int = 1
    pages: int = 1
    full: str = Field(repr=False)
    refs: Mapping[str, Control] = Field(repr=False)
    links: tuple[Link, ...] = Field(default=(), repr=False)
    sections: tuple[PageSection, ...] = Field(default=(), repr=False)
    search: SearchBox | None = None
    index: SiteIndex | None = Field(default=None, repr=False)
    cut: tuple[PageCut, ...] = ()
    dialog: OpenDialog | None = None
    tabs: tuple[TabInfo, ...] = ()
    extracted: Extracted | None = None
    lines: frozenset[str] = Field(default=frozenset(), repr=False, exclude=True)
    menu: tuple[str, ...] = Field(default=(), repr=False, exclude=True)
