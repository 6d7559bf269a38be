"""Makes an `Observation` within a token budget from a capture of a page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from browser_agent.observation.addressing import address
from browser_agent.observation.before import NOTHING_BEFORE, Before, find_own, name_all, tell_changes
from browser_agent.observation.blocks import Block, blocks, blocks_under
from browser_agent.observation.capture import Capture
from browser_agent.observation.fields import extract
from browser_agent.observation.finding import find
from browser_agent.observation.heading import write_heading
from browser_agent.observation.hidden import remove_hidden
from browser_agent.observation.inline import REF, clean, cut
from browser_agent.observation.paging import Pages, fitting, paginate
from browser_agent.observation.prune import Interest, prune
from browser_agent.observation.rows import format_extracted
from browser_agent.observation.search_box import find_search
from browser_agent.observation.spacing import respace
from browser_agent.observation.values import BUDGET, Control, Cut, Extracted, Link, Observation, Section
from ctxfold.log.snapshot import Node, parse
from ctxfold.text.words import counted
from ctxfold.tokens import count, head


@dataclass(frozen=True, slots=True)
class Lean:
    """The page pruned to what matters, the task's words first."""


@dataclass(frozen=True, slots=True)
class Part:
    """All of the page, or of the element `ref`, a heading with what stands under it; page `page` of it (from 1), with the addresses of `links` where they are asked for."""

    ref: str | None = None
    page: int = 1
    links: bool = False


@dataclass(frozen=True, slots=True)
class Places:
    """The places that hold one of `queries`, with the addresses of `links` where they are asked for."""

    queries: tuple[str, ...]
    links: bool = False


@dataclass(frozen=True, slots=True)
class Fields:
    """The values the page has for a JSON schema."""

    schema: Mapping[str, Any]


View = Lean | Part | Places | Fields


_VOLATILE = re.compile(r" \[(?:ref=[^\]]*|active|cursor=pointer)\]")
_ADDRESS = 160
_LEAST_ROOM = 24
_STATUS_ROOM = 24


@dataclass(frozen=True, slots=True)
class _Rendered:
    """The text of a view, and what there is to say of it."""

    lines: tuple[str, ...]
    view: Literal["page", "change", "read", "find", "extract"]
    page: int
    pages: int
    cut: tuple[Cut, ...] = ()
    extracted: Extracted | None = None
    places: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Room:
    """o200k tokens of a view's lines, and of one page of the whole."""

    lines: int
    page: int


@dataclass(frozen=True, slots=True)
class _Page:
    """A page as its tree, its lines, its controls and its links."""

    capture: Capture
    root: Node
    blocks: tuple[Block, ...]
    refs: Mapping[str, Control]
    links: tuple[Link, ...]

    def told(self, blocks: tuple[Block, ...], view: View) -> tuple[Block, ...]:
        """`blocks` with where each link leads behind its ref, as a path on the same site, where a view asks for that."""
        if not isinstance(view, Part | Places) or not view.links:
            return blocks
        site = "{0.scheme}://{0.netloc}".format(urlsplit(self.capture.url))

        def lead(ref: re.Match[str]) -> str:
            control = self.refs.get(ref[1])
            url = control.url.removeprefix(site) if control is not None and control.role == "link" else ""
            return f"{ref[0]}({cut(clean(url), _ADDRESS)})" if url else ref[0]

        return tuple(replace(block, text=REF.sub(lead, block.text)) for block in blocks)


def observe(
    capture: Capture,
    *,
    view: View = Lean(),
    need: str = "",
    budget: int = BUDGET,
    pages: int = 0,
    before: Before = NOTHING_BEFORE,
) -> Observation:
    """Say what stands on a page.

    Args:
        capture: the page at one moment.
        view: which view of it to show.
        need: what the task is after, in its words; parts that name it come first.
        budget: the most the text may cost, in o200k tokens.
        pages: the budget by which the pages of the whole are counted, so that a number holds where less room is left; 0 for `budget`.
        before: what its reader has seen: of that only what changed is shown, where that is shorter.

    Returns:
        The observation. Its text never costs more than `budget`; what it leaves out can be had by page, by ref or by
        search, and every control the browser reports is in `refs`.
    """
    page, heading = _page(capture)
    room = _Room(_left(budget, heading, view), _left(pages or budget, heading, Lean()))
    shown = _render(page, view, Interest(need, capture.structure.shown, before), room)
    heading = head(heading, budget // 2)
    status = _status_line(shown, len(page.blocks), view)
    text = head("\n".join(filter(None, (heading, status, *shown.lines))), budget)
    return Observation(
        url=capture.url,
        title=clean(capture.structure.title),
        status=capture.status,
        fingerprint=_fingerprint(capture),
        heading=heading,
        text=text,
        tokens=count(text),
        view=shown.view,
        page=shown.page,
        pages=shown.pages,
        full=capture.yaml,
        refs=page.refs,
        links=page.links,
        sections=_sections(capture),
        search=find_search(capture.structure.searches, page.root),
        index=capture.structure.index,
        cut=shown.cut,
        dialog=capture.dialog,
        tabs=capture.tabs,
        extracted=shown.extracted,
        places=shown.places,
        lines=frozenset(block.text for block in page.blocks),
        standing=tuple(filter(None, name_all(page.blocks))),
    )


def _page(capture: Capture) -> tuple[_Page, str]:
    """A page without what nobody sees of it, and its heading."""
    root, unseen = remove_hidden(parse(capture.yaml), capture.structure.hidden, capture.structure.veiled)
    refs, links = address(root, capture)
    lines = respace(blocks(root), capture.structure.sections)
    return _Page(capture, root, lines, refs, links), write_heading(capture, unseen)


def _sections(capture: Capture) -> tuple[Section, ...]:
    return tuple(each.model_copy(update={"title": clean(each.title)}) for each in capture.structure.sections)


def _left(budget: int, heading: str, view: View) -> int:
    """What of a budget the lines below the heading may take, and below the line that says which part they are where there is one."""
    told = _STATUS_ROOM if isinstance(view, Lean | Part) else 0
    return max(_LEAST_ROOM, budget - count(head(heading, budget // 2)) - told)


def _render(page: _Page, view: View, interest: Interest, room: _Room) -> _Rendered:
    capture, told = page.capture, page.told(page.blocks, view)
    own = find_own(page.blocks, interest.before)
    pages = paginate([told[i] for i in own], room.page)
    match view:
        case Lean():
            pruned = prune(page.blocks, interest, room.lines, pages.numbered(own).page_of)
            if (changed := _changes(page.blocks, interest.before, pruned.lines)) is not None:
                return _Rendered(changed, "change", 1, len(pages.pages))
            return _Rendered(pruned.lines, "page", 1, len(pages.pages), pruned.cut)
        case Part(ref=None):
            around, part = _say_around(len(told) - len(own)), tuple(told[i] for i in own)
            return _read(pages, part, view, room.lines, interest.before.above, around)
        case Part(ref=ref):
            part = page.told(blocks_under(page.blocks, ref) or _blocks_of(page.root, ref), view)
            return _read(paginate(part, room.page), part, view, room.lines, interest.before.above)
        case Places(queries=queries):
            found = find(page.blocks, told, queries, room.lines, interest.before.above)
            return _Rendered(found.lines, "find", 1, len(pages.pages), places=found.whole)
        case Fields(schema=schema):
            structure = capture.structure
            extracted = extract(page.root, schema, structure.base or capture.url, structure.cards, structure.amounts)
            lines = format_extracted(extracted, room.lines, capture.url)
            return _Rendered(lines, "extract", 1, len(pages.pages), extracted=extracted)


def _read(
    pages: Pages, part: Sequence[Block], view: Part, room: int, above: frozenset[str], said: tuple[str, ...] = ()
) -> _Rendered:
    """One page of the whole or of an element, or what is new on it since it had the lines `above`; where less room is left than that takes, as many of its lines as fit."""
    number = min(view.page, len(pages.pages))
    lines = (*said, *pages.pages[number - 1])
    if above:
        start, after = (*pages.starts, len(part))[number - 1 : number + 1]
        lines = tell_changes(part, above, part[start : max(start + 1, after)])
    fits = fitting(lines, room)
    if len(fits) < len(lines):
        fits = fitting(lines, room - _STATUS_ROOM)
        fits += (f"… {counted(len(lines) - len(fits), 'more line')} of this page: read it by itself",)
    known = frozenset(block.text for block in part)
    return _Rendered(fits, "change" if above else "read", number, len(pages.pages), places=known)


def _say_around(around: int) -> tuple[str, ...]:
    if not around:
        return ()
    return (f"(left out: {counted(around, 'line')} around this page that others of the site show too)",)


def _blocks_of(root: Node, ref: str | None) -> tuple[Block, ...]:
    node = next((node for node in root.walk() if node.ref == ref), None)
    return blocks(Node("page", children=(node,))) if node is not None else ()


def _changes(page_blocks: tuple[Block, ...], before: Before, instead: tuple[str, ...]) -> tuple[str, ...] | None:
    """What changed on the page, where that is shorter than the page."""
    changed = tell_changes(page_blocks, before.lines) if before.lines is not None else None
    return changed if changed is not None and _cost(changed) <= _cost(instead) else None


def _cost(lines: Sequence[str]) -> int:
    return sum(count(line) + 1 for line in lines)


def _status_line(shown: _Rendered, lines: int, view: View) -> str:
    if isinstance(view, Places) or shown.view == "change":
        return ""
    if isinstance(view, Part):
        of = f" of [{view.ref}]" if view.ref else ""
        beyond = f", there is no page {view.page}" if view.page > shown.pages else ""
        return f"(page {shown.page} of {shown.pages}{of}{beyond})"
    return (
        ""
        if not shown.cut
        else f"(shown in part; whole: {shown.pages} page{'s' if shown.pages > 1 else ''}, {lines} lines)"
    )


def _fingerprint(capture: Capture) -> str:
    parts = urlsplit(capture.url)
    address = urlunsplit((parts.scheme, parts.netloc, parts.path, parts.query, ""))
    seen = address + "\n" + _VOLATILE.sub("", capture.yaml) + "\n" + repr(capture.dialog)
    return sha256(seen.encode("utf-8", "replace")).hexdigest()[:16]
