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
    """One element that can be acted on. `value` is never a password: those read as dots.

    `submits` says that it sends a form off by POST, as the page's own document has it.
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

    `url` is absolute, `section` the title of the section it stands in ("" before the first); `main` says whether it is
    in the page's main part rather than its navigation, header or footer.
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
    """The site's search, if an address alone asks it: where its form goes, the field's parameter, the form's hidden fields."""

    action: str
    param: str
    extra: tuple[tuple[str, str], ...] = ()

    def address(self, words: str) -> str:
        """Return the address of a search for words."""
        parts = urlsplit(self.action)
        others = [(name, value) for name, value in (*parse_qsl(parts.query, True), *self.extra) if name != self.param]
        return urlunsplit((*parts[:3], urlencode([*others, (self.param, words)]), ""))


class IndexedPage(_Value):
    """A page that a site's search index knows; `size` is how many different words it keeps of it."""

    url: str
    title: str
    size: int


class Listed(_Value):
    """One word of a search, and the pages listed under it, by their place in `SiteIndex.pages`.

    `titled` are those whose title has the word, `headed` those with a section title or an entry of the site's index that does.
    """

    word: str
    pages: tuple[int, ...]
    titled: tuple[int, ...] = ()
    headed: tuple[int, ...] = ()


class SiteIndex(_Value):
    """What the site's own search keeps of the words it was asked for: every page it knows, and where each of these words stands."""

    pages: tuple[IndexedPage, ...]
    words: tuple[Listed, ...]


class PageCut(_Value):
    """A stretch the text leaves out.

    `what` says what it holds, `ref` expands it with Read, `page` is where it begins when the whole page is read.
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
    """What a page gave for a JSON schema: the value, None if the page has nothing of it, and the names that the page does not have."""

    value: Any
    missing: tuple[str, ...] = ()


class Observation(_Value):
    """What stands on the page now.

    `text` is what a decider reads: it never exceeds the token budget it was asked for, `tokens` is its cost (o200k),
    and it holds refs in the form `[e12]`. `view` says what kind of text it is: the pruned page, what changed on it, one page of the whole,
    one element in full, what was found, or what was extracted (then `extracted` holds it whole). `full` is the whole snapshot, for the log. `fingerprint` is equal for two
    observations of the same address with the same content. `refs` holds every control the browser reports, also those
    that `text` leaves out; a ref lives for one observation. `pages` is how many pages reading the whole takes. `index` is there where
    the page holds the site's search index itself, as some results pages do. `heading` is what `text` begins with, whatever the view: title, address, notes.
    `lines` are all lines of the page, `places` those that the next of its kind in one answer leaves out: what was found and stands whole in `text`, what was read, and
    `standing` those of menus and of links alone, by which they are known again on other pages.
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
    places: frozenset[str] = Field(default=frozenset(), repr=False, exclude=True)
    standing: tuple[str, ...] = Field(default=(), repr=False, exclude=True)
