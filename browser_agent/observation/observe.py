"""Makes an observation of a page within a token budget: a look, a part, the places of words, or values for a schema."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from browser_agent.observation import (
    BUDGET,
    Control,
    ExtractValues,
    Find,
    Link,
    Observation,
    PageSection,
    Read,
    View,
)
from browser_agent.observation.blocks import Block, blocks, blocks_under, respace
from browser_agent.observation.capture import Capture, Structure, remove_hidden
from browser_agent.observation.find import find
from browser_agent.observation.inline import (
    AROUND,
    FIELDS,
    INTERACTIVE,
    REF,
    clean,
    cut,
    label,
    resolve_url,
    trim_torn_ref,
)
from browser_agent.observation.rows import extract, format_extracted
from browser_agent.observation.shorten import (
    NO_INTEREST,
    Interest,
    cost_of,
    describe_changes,
    find_own,
    indent,
    name_menu_lines,
    prune,
)
from ctxfold.log.page import Node, parse
from ctxfold.text.words import counted
from ctxfold.tokens import count, head

_NAME, _TITLE, _ADDRESS, _QUERY, _MESSAGE, _TAB, _SECTION = 100, 100, 160, 60, 300, 40, 80
"""Characters of a placeholder as a name, of a title, an address, its query, a dialog's message, a tab's title, a
heading.
"""
_TABS = 8
_LEAST, _STATUS = 24, 24
"""o200k tokens that the lines below a heading have at least, and that the line takes which says which part is shown."""
_VOLATILE = re.compile(r" \[(?:ref=[^\]]*|active|cursor=pointer)\]")


def observe(
    capture: Capture,
    *,
    view: View | None = None,
    interest: Interest = NO_INTEREST,
    budget: int = BUDGET,
    pages: int = 0,
) -> Observation:
    """Make an observation of a page.

    Args:
        capture: the page at one moment.
        view: what to show of it; None shows what matters.
        interest: words of the task, whose parts come first; and the lines that its reader has seen: only their changes
            are shown if that is shorter.
        budget: the most o200k tokens of the text.
        pages: the budget by which the pages of the whole are counted, so that a page's number holds if less room is
            left; 0 for `budget`.

    Returns:
        The observation. Its text never costs more than `budget`. The parts left out can be had by page, by ref or by
        search, and every control that the browser reports is in `refs`.
    """
    root, unseen = _read_tree(capture)
    refs, links = find_controls(root, capture)
    lines = respace(blocks(root), capture.structure.sections)
    heading = head(write_heading(capture, unseen), budget // 2)
    shown_as = _with_addresses(lines, refs, capture.url) if isinstance(view, Find | Read) and view.links else lines
    room = max(_LEAST, budget - count(heading) - (_STATUS if view is None or isinstance(view, Read) else 0))
    page_room = max(_LEAST, (pages or budget) - count(heading) - _STATUS)
    read = _PageRead(capture, root, lines, shown_as, room, page_room)
    shown, about = _show(read, view, replace(interest, shown=capture.structure.shown))
    status = _write_status(about, len(lines), view)
    text = head("\n".join(filter(None, (heading, status, *shown))), budget)
    return Observation(
        url=capture.url,
        title=clean(capture.structure.title),
        status=capture.status,
        fingerprint=_compute_fingerprint(capture),
        heading=heading,
        text=text,
        tokens=count(text),
        full=capture.yaml,
        refs=refs,
        links=links,
        sections=tuple(part.model_copy(update={"title": clean(part.title)}) for part in capture.structure.sections),
        search=capture.structure.search,
        index=capture.structure.index,
        dialog=capture.dialog,
        tabs=capture.tabs,
        lines=frozenset(block.text for block in lines),
        menu=tuple(filter(None, name_menu_lines(lines))),
        **about,
    )


_Shown = tuple[Sequence[str], dict[str, Any]]
"""The lines of a view, and the fields of an observation that describe it."""


class _PageRead(NamedTuple):
    """A page as its capture, its tree, its lines, and these as they are shown; the o200k tokens that a view may cost,
    and a page of the whole.
    """

    capture: Capture
    root: Node
    lines: Sequence[Block]
    shown_as: Sequence[Block]
    room: int
    page_room: int


def _show(read: _PageRead, view: View | None, interest: Interest) -> _Shown:
    """Show a view of a page."""
    capture, root, lines, shown_as, room, page_room = read
    own = find_own(lines, interest.known)
    part = [shown_as[place] for place in own]
    whole = paginate(part, page_room)
    about: dict[str, Any] = {"pages": len(whole.pages)}
    match view:
        case Read(ref=None):
            left = len(lines) - len(own)
            note = f"(left out: {counted(left, 'line')} around this page that others of the site show too)"
            return _read(read, view.page, part, (note,) if left else (), interest.lines)
        case Read(ref=ref):
            return _read(read, view.page, blocks_under(shown_as, ref) or _blocks_of(root, ref), (), interest.lines)
        case Find(query=query):
            return find(lines, shown_as, query, room), about | {"view": "find"}
        case ExtractValues(wanted=dict() as schema):
            extracted = extract(root, schema, capture.structure.base or capture.url)
            return format_extracted(extracted, room, capture.url), about | {"view": "extract", "extracted": extracted}
        case _:
            shown, is_cut = prune(lines, interest, room, lambda place: whole.page_of(place, own))
            changes = describe_changes(lines, interest.lines) if interest.lines is not None else None
            if changes is not None and cost_of(changes) <= cost_of(shown):
                return changes, about | {"view": "change"}
            return shown, about | {"is_cut": is_cut}


def list_controls(capture: Capture) -> Mapping[str, Control]:
    """Return every element of a page that can be addressed now, by its ref."""
    return find_controls(_read_tree(capture)[0], capture)[0]


def _read_tree(capture: Capture) -> tuple[Node, int]:
    """Return the page without the texts that nobody sees, and how many these are."""
    return remove_hidden(parse(capture.yaml), capture.structure.hidden, capture.structure.veiled)


def find_controls(root: Node, capture: Capture) -> tuple[Mapping[str, Control], tuple[Link, ...]]:
    """Return every element with a ref, and every link. Addresses are absolute, by the frame that the link is in."""
    refs, links, section = dict[str, Control](), list[Link](), ""
    stack: list[tuple[Node, str, bool]] = [(root, capture.structure.base or capture.url, True)]
    while stack:
        node, base, main = stack.pop()
        main = main and node.role not in AROUND
        if node.role == "iframe" and node.ref is not None:
            base = capture.frames.get(node.ref, base)
        section = label(node) if node.role in {"heading", "term"} else section
        url = resolve_url(base, node.url)
        if node.ref is not None:
            refs[node.ref] = _read_control(node, node.ref, url)
        if node.role == "link" and node.url:
            links.append(Link(ref=node.ref, text=label(node), url=url, section=section, main=main))
        stack.extend((child, base, main) for child in reversed(node.children))
    return refs, tuple(links)


def _read_control(node: Node, ref: str, url: str) -> Control:
    """Return the control of a node: its name, else its placeholder, and the value of a field."""
    is_named = node.role in INTERACTIVE or node.clickable or node.name
    parts = [part for part in (node, *node.children) if part.role in FIELDS | {"text"} and part.text]
    return Control(
        ref=ref,
        role=node.role,
        name=(label(node) or cut(clean(node.placeholder), _NAME)) if is_named else "",
        value=" ".join(clean(part.text) for part in parts) if node.role in FIELDS else "",
        states=node.states,
        url=url,
    )


def _with_addresses(lines: Sequence[Block], refs: Mapping[str, Control], page_url: str) -> tuple[Block, ...]:
    """Return blocks with the address of each link after its ref, as a path on the same site."""
    site = "{0.scheme}://{0.netloc}".format(urlsplit(page_url))

    def add_address(ref: re.Match[str]) -> str:
        control = refs.get(ref[1])
        url = control.url.removeprefix(site) if control is not None and control.role == "link" else ""
        return f"{ref[0]}({cut(clean(url), _ADDRESS)})" if url else ref[0]

    return tuple(replace(block, text=REF.sub(add_address, block.text)) for block in lines)


def write_heading(capture: Capture, unseen: int) -> str:
    """Return the lines that an observation begins with: title, address, dialog, tabs, notes, unseen texts."""
    title = cut(clean(capture.structure.title), _TITLE)
    place, mark, query = clean(capture.url).partition("?")
    address = cut(place, _ADDRESS) + mark + cut(query, _QUERY)  # whoever gave a long query knows it
    status = f" ({capture.status})" if capture.status is not None and capture.status >= 400 else ""
    lines = [f"{title} — {address}{status}" if title else address + status]
    if capture.dialog is not None:
        message = cut(clean(capture.dialog.message), _MESSAGE)
        lines.append(f"An open {capture.dialog.kind} dialog blocks the page: {message!r}; answer it with dialog.")
    if len(capture.tabs) > 1:
        tabs = (
            f"{tab.index}{' (this one)' if tab.current else ''} {cut(clean(tab.title or tab.url), _TAB)}"
            for tab in capture.tabs[:_TABS]
        )
        lines.append(f"tabs: {' · '.join(tabs)}")
    lines.extend(f"({note})" for note in capture.notes)
    if capture.structure.drawn:
        drawn = "; ".join(cut(clean(drawing), _ADDRESS) for drawing in capture.structure.drawn)
        lines.append(f"(drawn, so none of it can be read or addressed: {drawn})")
    if unseen:
        lines.append(f"({counted(unseen, 'unseen text')} left out)")
    return "\n".join(lines)


def drop_repeats(seen: Sequence[Observation]) -> tuple[str, ...]:
    """Return the texts of observations in order, each without the lines of its heading that the one before has."""
    texts, known = list[str](), list[str]()
    for page in seen:
        heading = page.heading.split("\n")
        fresh = [line for line in heading if not any(other.startswith(line) for other in known)]
        texts.append("\n".join([*fresh, page.text[len(page.heading) :].lstrip("\n")]))
        known = heading
    return tuple(filter(None, texts))


@dataclass(frozen=True, slots=True)
class PageParts:
    """The pages of a text, each a tuple of lines; `starts` is the first block on each, counted from 0."""

    pages: tuple[tuple[str, ...], ...]
    starts: tuple[int, ...]

    def page_of(self, block: int, among: Sequence[int]) -> int:
        """Return the page, from 1, on which a block begins; `among` are the numbers of the blocks that have pages."""
        return max(1, bisect_right([among[start] for start in self.starts], block))


def paginate(blocks: Sequence[Block], budget: int) -> PageParts:
    """Split blocks into pages of at most `budget` o200k tokens.

    Returns at least one page. Each block is on one page, or on several if it is larger than a page; no ref is torn.
    """
    room = max(budget, _LEAST)
    pages, starts = list[tuple[str, ...]](), list[int]()
    lines, spent = list[str](), 0
    for number, block in enumerate(blocks):
        text = indent(block, block.text)
        for part in [text] if len(text) < room // 4 else _split_text(text, room - 2):
            cost = count(part) + 1
            if lines and spent + cost > room:
                pages.append(tuple(lines))
                lines, spent = [], 0
            if not lines:
                starts.append(number)
                lead = f"(in: {cut(block.section, _SECTION)})" if pages and block.section and not block.level else ""
                if lead and cost + count(lead) + 1 <= room:
                    lines.append(lead)
                    spent += count(lead) + 1
            lines.append(part)
            spent += cost
    pages.append(tuple(lines))
    return PageParts(tuple(pages), tuple(starts or [0]))


def _split_text(text: str, most: int) -> Iterator[str]:
    """Split a text into parts of at most `most` o200k tokens, between words and never within a ref."""
    while text:
        part = head(text, most)
        if len(part) < len(text):
            part = trim_torn_ref(part) or text[: max(1, most // 4)]
        if part.strip():
            yield part.strip()
        text = text[len(part) :].lstrip()


def _read(
    read: _PageRead, page: int, part: Sequence[Block], note: tuple[str, ...], known: frozenset[str] | None
) -> _Shown:
    """Show one page of a part, or its changes if they are shorter; as many lines as fit the room."""
    whole = paginate(part, read.page_room)
    number = min(page, len(whole.pages))
    lines, kind = (*note, *whole.pages[number - 1]), "read"
    if known is not None:
        start, after = (*whole.starts, len(part))[number - 1 : number + 1]
        changes = describe_changes(read.lines, known, part[start : max(start + 1, after)])
        lines, kind = (changes, "change") if cost_of(changes) <= cost_of(lines) else (lines, kind)
    fits = _fit_lines(lines, read.room)
    if len(fits) < len(lines):
        fits = _fit_lines(lines, read.room - _STATUS)
        fits += (f"… {counted(len(lines) - len(fits), 'more line')} of this page: read it by itself",)
    return fits, {"view": kind, "page": number, "pages": len(whole.pages)}


def _fit_lines(lines: Sequence[str], room: int) -> tuple[str, ...]:
    """Return the first lines that cost no more than `room` o200k tokens together."""
    fits: list[str] = []
    for line in lines:
        room -= count(line) + 1
        if room < 0:
            break
        fits.append(line)
    return tuple(fits)


def _blocks_of(root: Node, ref: str | None) -> tuple[Block, ...]:
    node = next((node for node in root.walk() if node.ref == ref), None)
    return blocks(Node("page", children=(node,))) if node is not None else ()


def _write_status(about: Mapping[str, Any], lines: int, view: View | None) -> str:
    """Return the line that says which part of the page is shown; empty if all of it is."""
    pages = about["pages"]
    if isinstance(view, Read) and about["view"] == "read":
        of = f" of [{view.ref}]" if view.ref else ""
        beyond = f", there is no page {view.page}" if view.page > pages else ""
        return f"(page {about['page']} of {pages}{of}{beyond})"
    return f"(shown in part; whole: {counted(pages, 'page')}, {lines} lines)" if about.get("is_cut") else ""


def _compute_fingerprint(capture: Capture) -> str:
    parts = urlsplit(capture.url)
    address = urlunsplit((parts.scheme, parts.netloc, parts.path, parts.query, ""))
    seen = address + "\n" + _VOLATILE.sub("", capture.yaml) + "\n" + repr(capture.dialog)
    return sha256(seen.encode("utf-8", "replace")).hexdigest()[:16]


_TERM = 7
"""The level of a defined term."""
_DEFINED = re.compile(r"[\w.]+")
_PREFIX = re.compile(r"^(?:#+|-) ")
_APART = frozenset({"nav", "header", "footer", "aside", "search"})
"""The regions of a page that are not its text."""
_LOGGED = 200
"""o200k tokens of the text of a logged page, which nobody is shown."""


def from_log(url: str, snapshot: str) -> Observation:
    """Return a page as it was seen, from its address and its snapshot in the log.

    It has sections and links. A snapshot has no anchors, no search and no title: the first heading is the title.
    """
    sections = tuple(_read_sections(snapshot))
    title = next((section.title for section in sections if section.title), "")
    return observe(Capture(url, None, snapshot, Structure(title=title, sections=sections)), budget=_LOGGED)


def _read_sections(snapshot: str) -> Iterator[PageSection]:
    """Return the text under each heading and each term, without refs."""
    section, lines = PageSection(title="", level=1), list[str]()
    for block in blocks(parse(snapshot)):
        text = _PREFIX.sub("", REF.sub("", block.text))
        if block.region in _APART:
            continue
        if not block.level:
            lines.append(text)
            continue
        yield section.model_copy(update={"text": "\n".join(lines)})
        defined = _DEFINED.match(text) if block.level == _TERM else None
        section, lines = PageSection(title=text, level=block.level, defined_name=defined and defined.group()), []
    yield section.model_copy(update={"text": "\n".join(lines)})
