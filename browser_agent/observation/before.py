"""What a reader has seen before: the page as it was, and what stands on every page of a site."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import urlsplit

from browser_agent.observation.blocks import Block
from browser_agent.observation.inline import REF, cut
from browser_agent.observation.values import Observation

__all__ = ["NOTHING_BEFORE", "Before", "Furniture", "find_own", "is_links", "name_all", "tell_changes"]

_MENUS = frozenset({"nav", "header", "footer"})
_BESIDE = frozenset({"body", "aside"})
_INNER = frozenset({"main", "body"})
_OTHERS = 2
"""On so many other pages a line of links in the main part stands before it counts as what a site shows everywhere."""
_MOST_LINES = 4_000
_GONE = 3
_GONE_LENGTH, _SECTION = 48, 80
_VALUE = re.compile(REF.pattern + r'(?: \([^()]*\))?(?: ?="[^"]*")?')
"""A control's ref, and what stands behind it: its states, its value."""
_SAME = "(as last seen but for this)"
_NOTHING = "(nothing on the page changed)"


@dataclass(frozen=True, slots=True)
class Before:
    """What the reader of an observation has seen: `lines` of this page as it was last, None for none; `known`, the lines other pages of the site share with it; `above`, lines of this page that the same answer shows already."""

    lines: frozenset[str] | None = None
    known: frozenset[str] = frozenset()
    above: frozenset[str] = frozenset()


NOTHING_BEFORE = Before()
"""A reader who has seen nothing."""


@dataclass(frozen=True, slots=True)
class Furniture:
    """On which pages of one site lines of menus and of links were seen. A frozen value: each page gives another."""

    origin: tuple[str, str] = ("", "")
    places: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))

    def after(self, page: Observation) -> Furniture:
        """This, after one more page."""
        parts = urlsplit(page.url)
        origin, path = (parts.scheme, parts.netloc), parts.path
        places = dict(self.places) if origin == self.origin else {}
        for line in page.standing[:_MOST_LINES]:
            on = places.get(line, frozenset())
            if len(on) <= _OTHERS:
                places[line] = on | {path}
        return Furniture(origin, MappingProxyType(places))

    def known_on(self, url: str) -> frozenset[str]:
        """The lines that stood on other pages of the site that `url` belongs to: one of them for menus, some for links."""
        parts = urlsplit(url)
        if (parts.scheme, parts.netloc) != self.origin:
            return frozenset()
        others = {text: len(on - {parts.path}) for text, on in self.places.items()}
        return frozenset(text for text, number in others.items() if number >= (1 if text[0] == _MENU else _OTHERS))


_MENU, _LINKS = "m", "l"


def name_furniture(block: Block, apart_from_main: bool) -> str:
    """What a line is called by which it is known again, if it is of a menu or of links alone; empty for any other.

    On a page that has a main part all that stands `apart_from_main` is of its menus, but for the search.
    """
    if block.region in _MENUS or (apart_from_main and block.region in _BESIDE):
        return _MENU + REF.sub("", block.text)
    return _LINKS + REF.sub("", block.text) if not block.controls and not block.level and is_links(block) else ""


def is_links(block: Block) -> bool:
    """Whether a line is of links alone."""
    apart = REF.split(block.text)[::2]
    return bool(block.links) and all(part.strip(" -·|") for part in apart[:-1]) and not apart[-1].strip(" -·|")


def name_all(blocks: Sequence[Block]) -> tuple[str, ...]:
    """What each line of a page is called by which it is known again."""
    has_main = any(block.region == "main" for block in blocks)
    cards = _name_cards(blocks)
    return tuple(cards.get(i) or name_furniture(block, has_main) for i, block in enumerate(blocks))


def _name_cards(blocks: Sequence[Block]) -> dict[int, str]:
    """The lines of entries that stand under a heading each, which is a link, below a heading that all of them share: a name for each entry."""
    named: dict[int, str] = {}
    above = card = ""
    level = 0
    for i, block in enumerate(blocks):
        if block.region not in _INNER or block.controls:
            above = card = ""
        elif block.level and is_links(block) and above and block.level > level:
            card = f"{_LINKS}{above}\n{REF.sub('', block.text)}"
        elif block.level:
            above, level, card = REF.sub("", block.text), block.level, ""
        if card:
            named[i] = card
    return named


def find_own(blocks: Sequence[Block], before: Before) -> tuple[int, ...]:
    """The numbers of the blocks that a page has for itself: without the menus around it that the reader saw on others; all where there is nothing else."""
    names = name_all(blocks) if before.known else [""] * len(blocks)
    own = tuple(i for i, name in enumerate(names) if name[:1] != _MENU or name not in before.known)
    return own or tuple(range(len(blocks)))


def tell_changes(
    blocks: Sequence[Block], lines: frozenset[str], part: Sequence[Block] | None = None
) -> tuple[str, ...]:
    """What is new on a page, or in a `part` of it, since it had these lines, and what is gone. A line that stands there with other values is new alone."""
    now = {block.text for block in blocks}
    fresh = [block for block in (blocks if part is None else part) if block.text not in lines]
    again = {_bare(block.text) for block in fresh}
    refs = {ref for block in fresh for ref in block.refs}
    gone = [line for line in lines if line not in now and _bare(line) not in again and not _keeps(line, refs)]
    return (_SAME, *_news(fresh), *_losses(gone)) if fresh or gone else (_NOTHING,)


def _bare(line: str) -> str:
    """A line without the refs, values and states of its controls."""
    return _VALUE.sub("", line)


def _keeps(line: str, refs: set[str]) -> bool:
    """Whether every element of a line is among `refs`, and there is one."""
    own = REF.findall(line)
    return bool(own) and refs.issuperset(own)


def _news(fresh: Sequence[Block]) -> Iterator[str]:
    section = ""
    for block in fresh:
        if block.section and block.section != section and not block.level:
            yield f"§ {cut(block.section, _SECTION)}"
        section = block.section
        yield " " * min(block.indent, 4) + block.text


def _losses(gone: Sequence[str]) -> Iterator[str]:
    shown = sorted(cut(REF.sub("", line), _GONE_LENGTH) for line in gone)[:_GONE]
    more = f" and {len(gone) - _GONE} more" if len(gone) > _GONE else ""
    if shown:
        yield f"gone: {'; '.join(shown)}{more}"
