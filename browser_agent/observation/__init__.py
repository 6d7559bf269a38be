"""Turns a live page into a frozen `Observation` within a token budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field

BUDGET = 2000
"""What an observation costs at most, in o200k tokens, if not said otherwise."""


class FrozenModel(BaseModel):
    """A value that is checked as it is made, and never changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Control(FrozenModel):
    """One element that can be acted on. The `value` of a password field is dots."""

    ref: str
    role: str
    name: str
    value: str = ""
    states: tuple[str, ...] = ()
    url: str = ""


class Link(FrozenModel):
    """One link.

    `url` is absolute; `section` is the title of its section, "" before the first; `main`: it is in the page's main part
    and not in its navigation, header or footer.
    """

    ref: str | None
    text: str
    url: str
    section: str = ""
    main: bool = True


class PageSection(FrozenModel):
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


class SearchBox(FrozenModel):
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


class IndexedPage(FrozenModel):
    """A page that a site's search index knows."""

    url: str
    title: str


class IndexedWord(FrozenModel):
    """A word of a search, and the pages that have it, by their place in `SiteIndex.pages`; in `titled` as a word of a
    title.
    """

    word: str
    pages: tuple[int, ...]
    titled: tuple[int, ...] = ()


class SiteIndex(FrozenModel):
    """The part of a site's search index that concerns one search: all its pages, and the pages that have each word."""

    pages: tuple[IndexedPage, ...]
    words: tuple[IndexedWord, ...]


class OpenDialog(FrozenModel):
    """A dialog that blocks the page until it is answered. An observation made then holds little else."""

    kind: Literal["alert", "confirm", "prompt", "beforeunload"]
    message: str


class TabInfo(FrozenModel):
    """One open tab; `index` counts from 1."""

    index: int
    url: str
    title: str
    current: bool


class Extracted(FrozenModel):
    """What a page gave for a JSON schema: the value, None if the page has nothing of it, and the names that the page
    does not have.
    """

    value: Any
    missing: tuple[str, ...] = ()


Ref = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description='Element ref such as e12, or name such as Save or button "Save".',
        json_schema_extra={"examples": ["e12"]},
    ),
]
"""An element: its ref from the last observation, or its name on the page when its turn comes."""


class Find(FrozenModel):
    """Show the places of the page that hold these words, with their refs; `links` adds where links lead."""

    # `kind` has no default: the JSON schema shown to a model would call it optional, while validation demands it.
    kind: Literal["find"]
    query: str = Field(min_length=1)
    links: bool = False


class Read(FrozenModel):
    """Show a part of the page in full: element `ref`, or all of it; `page` counts from 1; `links` adds where links
    lead.
    """

    kind: Literal["read"]
    ref: Ref | None = None
    page: int = Field(default=1, ge=1)
    links: bool = False


class ExtractValues(FrozenModel):
    """Take values of a JSON schema, else of the answer's, off the page."""

    kind: Literal["extract"]
    wanted: dict[str, Any] | None = None


View = Find | Read | ExtractValues
"""What to show of a page: places, a heading or element with the text under it, or values. Without one, a page is pruned
to what matters.
"""


class Observation(FrozenModel):
    """One look at a page.

    Attributes:
        fingerprint: equal for two observations of the same address with the same content.
        heading: the first lines of `text`, whatever the view: title, address, notes.
        text: the text that a decider reads, with refs in the form `[e12]`, within the token budget that was asked for.
        tokens: the cost of `text`, in o200k tokens.
        view: the kind of text: the pruned page, its changes, a page of the whole or an element in full, places of some
            words, or values. `extracted` has all values.
        page: which page of the whole it is, from 1; `pages`, how many there are.
        full: the whole snapshot, for the log.
        refs: every control that the browser reports, also those that `text` leaves out. A ref lives for one
            observation.
        index: the site's search index, if the page has it, as some results pages do.
        is_cut: whether `text` leaves stretches of the page out.
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
    is_cut: bool = False
    dialog: OpenDialog | None = None
    tabs: tuple[TabInfo, ...] = ()
    extracted: Extracted | None = None
    lines: frozenset[str] = Field(default=frozenset(), repr=False, exclude=True)
    menu: tuple[str, ...] = Field(default=(), repr=False, exclude=True)
