"""Makes an `Observation` within a token budget from a capture of a page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from browser_agent.observation.addressing import address
from browser_agent.observation.before import NOTHING_BEFORE, Before, find_changes, find_own, name_all
from browser_agent.observation.blocks import Block, blocks
from browser_agent.observation.capture import Capture
from browser_agent.observation.fields import extract, format_extracted
from browser_agent.observation.finding import find
from browser_agent.observation.hidden import remove_hidden
from browser_agent.observation.inline import REF, clean, cut
from browser_agent.observation.paging import paginate
from browser_agent.observation.prune import Interest, prune
from browser_agent.observation.search_box import find_search
from browser_agent.observation.spacing import respace
from browser_agent.observation.values import BUDGET, Control, Cut, Extracted, Observation
from ctxfold.log.snapshot import Node, parse
from ctxfold.text.words import counted
from ctxfold.tokens import count, head


@dataclass(frozen=True, slots=True)
class Lean:
    """The page pruned to what matters, the task's words first."""


@dataclass(frozen=True, slots=True)
class Part:
    """All of the page, or of the element `ref`, page `page` of it (from 1), with the addresses of `links` where they are asked for."""

    ref: str | None = None
    page: int = 1
    links: bool = False


@dataclass(frozen=True, slots=True)
class Places:
    """The places that hold `query`, with the addresses of `links` where they are asked for."""

    query: str
    links: bool = False


@dataclass(frozen=True, slots=True)
class Fields:
    """The values the page has for a JSON schema."""

    schema: Mapping[str, Any]


View = Lean | Part | Places | Fields


_VOLATILE = re.compile(r" \[(?:ref=[^\]]*|active|cursor=pointer)\]")
_TITLE = 100
_ADDRESS = 160
_LEAST_ROOM = 24
_STATUS_ROOM = 40


@dataclass(frozen=True, slots=True)
class _Rendered:
    """The text of a view, and what there is to say of it."""

    lines: tuple[str, ...]
    view: Literal["page", "change", "read", "find", "extract"]
    page: int
    pages: int
    cut: tuple[Cut, ...] = ()
    extracted: Extracted | None = None


def observe(
    capture: Capture, *, view: View = Lean(), need: str = "", budget: int = BUDGET, before: Before = NOTHING_BEFORE
) -> Observation:
    """Say what stands on a page.

    Args:
        capture: the page at one moment.
        view: which view of it to show.
        need: what the task is after, in its words; parts that name it come first.
        budget: the most the text may cost, in o200k tokens.
        before: what its reader has seen: of that only what changed is shown, where that is shorter.

    Returns:
        The observation. Its text never costs more than `budget`; what it leaves out can be had by page, by ref or by
        search, and every control the browser reports is in `refs`.
    """
    root, unseen = remove_hidden(parse(capture.yaml), capture.structure.hidden, capture.structure.veiled)
    page_blocks = respace(blocks(root), capture.structure.sections)
    heading = head(_heading(capture, unseen), budget // 2)
    room = max(_LEAST_ROOM, budget - count(heading) - _STATUS_ROOM)
    interest = Interest(need, capture.structure.shown, before)
    refs, links = address(root, capture)
    shown = _render(root, page_blocks, view, interest, room, capture)
    if isinstance(view, Part | Places) and view.links:
        shown = replace(shown, lines=_with_addresses(shown.lines, refs, capture.url))
    text = "\n".join(filter(None, (heading, _status_line(shown, len(page_blocks), view), *shown.lines)))
    text = text if count(text) <= budget else head(text, budget)
    return Observation(
        url=capture.url,
        title=clean(capture.structure.title),
        status=capture.status,
        fingerprint=_fingerprint(capture),
        text=text,
        tokens=count(text),
        view=shown.view,
        page=shown.page,
        pages=shown.pages,
        full=capture.yaml,
        refs=refs,
        links=links,
        sections=tuple(each.model_copy(update={"title": clean(each.title)}) for each in capture.structure.sections),
        search=find_search(capture.structure.searches, root),
        index=capture.structure.index,
        cut=shown.cut,
        dialog=capture.dialog,
        tabs=capture.tabs,
        extracted=shown.extracted,
        lines=frozenset(block.text for block in page_blocks),
        standing=tuple(filter(None, name_all(page_blocks))),
    )


def _heading(capture: Capture, unseen: int) -> str:
    lines = []
    title = cut(clean(capture.structure.title), _TITLE)
    status = f" ({capture.status})" if capture.status is not None and capture.status >= 400 else ""
    lines.append(
        f"{title} — {cut(clean(capture.url), _ADDRESS)}{status}"
        if title
        else cut(clean(capture.url), _ADDRESS) + status
    )
    if capture.dialog is not None:
        message = cut(clean(capture.dialog.message), 300)
        lines.append(f"An open {capture.dialog.kind} dialog blocks the page: {message!r}; answer it with dialog.")
    if len(capture.tabs) > 1:
        lines.append(
            "tabs: " + " · ".join(_tab(tab.index, tab.title or tab.url, tab.current) for tab in capture.tabs[:8])
        )
    lines.extend(f"({note})" for note in capture.notes)
    if capture.structure.drawn:
        drawn = "; ".join(cut(clean(one), _ADDRESS) for one in capture.structure.drawn)
        lines.append(f"(drawn, so none of it can be read or addressed: {drawn})")
    if unseen:
        lines.append(f"({unseen} unseen text{'s' if unseen > 1 else ''} left out)")
    return "\n".join(lines)


def _tab(index: int, title: str, current: bool) -> str:
    return f"{index}{' (this one)' if current else ''} {cut(clean(title), 40)}"


def _render(
    root: Node, page_blocks: tuple[Block, ...], view: View, interest: Interest, room: int, capture: Capture
) -> _Rendered:
    room = room // 2 if isinstance(view, Part | Places) and view.links else room  # addresses take as much as the words
    own = find_own(page_blocks, interest.before)
    pages = paginate([page_blocks[i] for i in own], room).numbered(own)
    match view:
        case Lean():
            pruned = prune(page_blocks, interest, room, pages.page_of)
            if (changed := _changes(page_blocks, interest.before, pruned.lines)) is not None:
                return _Rendered(changed, "change", 1, len(pages.pages))
            return _Rendered(pruned.lines, "page", 1, len(pages.pages), pruned.cut)
        case Part(ref=None, page=page):
            number = min(page, len(pages.pages))
            around = len(page_blocks) - len(own)
            said = (
                (f"(left out: {counted(around, 'line')} around this page that others of the site show too)",)
                if around
                else ()
            )
            return _Rendered((*said, *pages.pages[number - 1]), "read", number, len(pages.pages))
        case Part(ref=ref, page=page):
            node = next((node for node in root.walk() if node.ref == ref), None)
            part = paginate(blocks(Node("page", children=(node,))) if node is not None else (), room)
            number = min(page, len(part.pages))
            return _Rendered(part.pages[number - 1], "read", number, len(part.pages))
        case Places(query=query):
            return _Rendered(find(page_blocks, query, room, pages.page_of), "find", 1, len(pages.pages))
        case Fields(schema=schema):
            structure = capture.structure
            extracted = extract(root, schema, structure.base or capture.url, structure.cards, structure.amounts)
            return _Rendered(
                format_extracted(extracted, room, capture.url), "extract", 1, len(pages.pages), extracted=extracted
            )


def _with_addresses(lines: tuple[str, ...], refs: Mapping[str, Control], here: str) -> tuple[str, ...]:
    """`lines` with where each link leads behind its ref, as a path on the same site."""
    site = "{0.scheme}://{0.netloc}".format(urlsplit(here))

    def lead(ref: re.Match[str]) -> str:
        control = refs.get(ref[1])
        url = control.url.removeprefix(site) if control is not None and control.role == "link" else ""
        return f"{ref[0]}({cut(clean(url), _ADDRESS)})" if url else ref[0]

    return tuple(REF.sub(lead, line) for line in lines)


def _changes(page_blocks: tuple[Block, ...], before: Before, instead: tuple[str, ...]) -> tuple[str, ...] | None:
    """What changed on the page, where that is shorter than the page."""
    if before.lines is None:
        return None
    return find_changes(page_blocks, before.lines, sum(count(line) + 1 for line in instead))


def _status_line(shown: _Rendered, lines: int, view: View) -> str:
    if isinstance(view, Places):
        return ""
    if isinstance(view, Part):
        of = f" of [{view.ref}]" if view.ref else ""
        beyond = f", there is no page {view.page}" if view.page > shown.pages else ""
        return f"(page {shown.page} of {shown.pages}{of}{beyond})"
    if not shown.cut or shown.view == "change":
        return ""
    return f"(shown in part; whole: {shown.pages} page{'s' if shown.pages > 1 else ''}, {lines} lines)"


def _fingerprint(capture: Capture) -> str:
    parts = urlsplit(capture.url)
    address = urlunsplit((parts.scheme, parts.netloc, parts.path, parts.query, ""))
    seen = address + "\n" + _VOLATILE.sub("", capture.yaml) + "\n" + repr(capture.dialog)
    return sha256(seen.encode("utf-8", "replace")).hexdigest()[:16]
