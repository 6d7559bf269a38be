"""Makes an `Observation` within a token budget from a capture of a page."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit, urlunsplit

from browser_agent.observation import BUDGET, Control, Cut, Extracted, Link, Observation, SearchBox, Section
from browser_agent.observation.blocks import Block, blocks, blocks_under, respace
from browser_agent.observation.capture import Capture, SearchFound, Structure, remove_hidden
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
    NOTHING_BEFORE,
    Before,
    Interest,
    describe_changes,
    find,
    find_own,
    name_lines,
    prune,
)
from ctxfold.log.page import Node, parse
from ctxfold.text.words import counted
from ctxfold.tokens import count, head

_NAME = 100


def list_controls(capture: Capture) -> Mapping[str, Control]:
    """Every element of a page that can be addressed now, by its ref."""
    return address(remove_hidden(parse(capture.yaml), capture.structure.hidden, capture.structure.veiled)[0], capture)[
        0
    ]


def address(root: Node, capture: Capture) -> tuple[Mapping[str, Control], tuple[Link, ...]]:
    """Every element with a ref, and every link, with addresses made absolute in the frame they stand in."""
    refs: dict[str, Control] = {}
    links: list[Link] = []
    section = ""
    submits = frozenset(clean(name) for name in capture.structure.submits)
    titles = {
        _squashed(line): clean(found.title) for found in capture.structure.sections for line in found.title.split("\n")
    }
    stack: list[tuple[Node, str, bool]] = [(root, capture.structure.base or capture.url, True)]
    while stack:
        node, base, main = stack.pop()
        main = main and node.role not in AROUND
        if node.role in {"heading", "term"}:
            section = titles.get(_squashed(label(node)), label(node))
        if node.role == "iframe" and node.ref is not None:
            base = capture.frames.get(node.ref, base)
        url = resolve_url(base, node.url)
        if node.ref is not None:
            refs[node.ref] = _control(node, url, submits)
        if node.role == "link" and node.url:
            links.append(Link(ref=node.ref, text=label(node), url=url, section=section, main=main))
        stack.extend((child, base, main) for child in reversed(node.children))
    return refs, tuple(links)


def _squashed(title: str) -> str:
    """A title as the snapshot and the document agree on it: without spaces, which one puts around marked-up words."""
    return "".join(clean(title).split()).lower()


def _control(node: Node, url: str, submits: frozenset[str]) -> Control:
    named = node.role in INTERACTIVE or node.clickable or node.name
    value = ""
    if node.role in FIELDS:
        value = " ".join(
            clean(part.text) for part in (node, *node.children) if part.role in FIELDS | {"text"} and part.text
        )
    return Control(
        ref=node.ref or "",
        role=node.role,
        name=(label(node) or cut(clean(node.placeholder), _NAME)) if named else "",
        value=value,
        states=node.states,
        url=url,
        submits=node.role == "button" and clean(node.name) in submits,
    )


_TITLE = 100
_ADDRESS = 160
_QUERY = 60


def write_heading(capture: Capture, unseen: int) -> str:
    """What an observation of a page begins with; `unseen`: how many texts of it nobody sees."""
    lines = []
    title = cut(clean(capture.structure.title), _TITLE)
    status = f" ({capture.status})" if capture.status is not None and capture.status >= 400 else ""
    lines.append(f"{title} — {_address(capture.url)}{status}" if title else _address(capture.url) + status)
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


def _address(url: str) -> str:
    """An address with the start of its query: whoever gave a long one knows it."""
    place, mark, query = clean(url).partition("?")
    return cut(place, _ADDRESS) + mark + cut(query, _QUERY)


def _tab(index: int, title: str, current: bool) -> str:
    return f"{index}{' (this one)' if current else ''} {cut(clean(title), 40)}"


def without_repeats(seen: Sequence[Observation]) -> tuple[str, ...]:
    """The texts of several observations in the order they are read, each without the lines of its heading that the one before has."""
    texts = (one.text if not at else without_known(one, seen[at - 1]) for at, one in enumerate(seen))
    return tuple(filter(None, texts))


def without_known(seen: Observation, before: Observation) -> str:
    """The text of an observation without the lines of its heading that the one `before` has."""
    known = before.heading.split("\n")
    kept = [line for line in seen.heading.split("\n") if not any(other.startswith(line) for other in known)]
    return "\n".join([*kept, seen.text[len(seen.heading) :].lstrip("\n")])


_LEAST = 24
_SECTION = 80


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a text, each a tuple of lines; `starts` is the first block on each, counted from 0."""

    pages: tuple[tuple[str, ...], ...]
    starts: tuple[int, ...]

    def page_of(self, block: int) -> int:
        """The page, counted from 1, that block number `block` (from 0) begins on."""
        return max(1, bisect_right(self.starts, block))

    def numbered(self, numbers: Sequence[int]) -> Pages:
        """The same pages of a choice of blocks: `numbers` says which each is in the whole, from the first on."""
        return Pages(self.pages, tuple(numbers[start] for start in self.starts) if numbers else self.starts)


def paginate(blocks: Sequence[Block], budget: int) -> Pages:
    """Split a page's blocks into pages. `budget`: o200k tokens of one page. Returns at least one page. Every block is on one whole, or on several if it is larger than a page; no ref is torn."""
    room = max(budget, _LEAST)
    pages: list[tuple[str, ...]] = []
    starts: list[int] = []
    lines: list[str] = []
    spent = 0
    for number, block in enumerate(blocks):
        text = " " * min(block.indent, 4) + block.text
        for part in [text] if len(text) < room // 4 else _parts(text, room):
            cost = count(part) + 1
            if lines and spent + cost > room:
                pages.append(tuple(lines))
                lines, spent = [], 0
            if not lines:
                starts.append(number)
                lead = _context(block) if pages else ""
                if lead and cost + count(lead) + 1 <= room:
                    lines.append(lead)
                    spent += count(lead) + 1
            lines.append(part)
            spent += cost
    pages.append(tuple(lines))
    return Pages(tuple(pages), tuple(starts or [0]))


def fitting(lines: Sequence[str], room: int) -> tuple[str, ...]:
    """The first of some lines that cost no more than `room` o200k tokens together."""
    fits: list[str] = []
    for line in lines:
        room -= count(line) + 1
        if room < 0:
            break
        fits.append(line)
    return tuple(fits)


def _context(block: Block) -> str:
    return f"(in: {cut(block.section, _SECTION)})" if block.section and not block.level else ""


def _parts(text: str, room: int) -> list[str]:
    """`text` in parts of less than `room` tokens, cut between words and never within a ref."""
    parts: list[str] = []
    most = room - 2
    while text:
        part = head(text, most)
        if len(part) < len(text):
            part = trim_torn_ref(part) or text[: max(1, most // 4)]
        parts.append(part.strip())
        text = text[len(part) :].lstrip()
    return [part for part in parts if part]


def find_search(searches: Sequence[SearchFound], root: Node) -> SearchBox | None:
    """The first search form of a page, with the ref of its field; None where there is none."""
    if not searches:
        return None
    found = searches[0]
    action = found.action
    if found.extra and action:
        action += ("&" if "?" in action else "?") + urlencode(found.extra)
    method: Literal["get", "post"] = "post" if found.method == "post" else "get"
    return SearchBox(ref=_search_ref(root, found), action=action, param=found.param, method=method)


def _search_ref(root: Node, found: SearchFound) -> str | None:
    """The field of the search form in the snapshot: one called as the form's is, else one in a search landmark."""
    wanted = clean(found.label)
    inside: str | None = None
    stack = [(root, False)]
    while stack:
        node, searching = stack.pop()
        searching = searching or node.role == "search"
        if node.ref is not None and node.role in {"textbox", "searchbox", "combobox"}:
            if wanted and wanted in {clean(node.name), clean(node.placeholder)}:
                return node.ref
            if inside is None and (searching or node.role == "searchbox"):
                inside = node.ref
        stack.extend((child, searching) for child in reversed(node.children))
    return inside


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
_OBSERVE_ADDRESS = 160
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
            return f"{ref[0]}({cut(clean(url), _OBSERVE_ADDRESS)})" if url else ref[0]

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
        standing=tuple(filter(None, name_lines(page.blocks))),
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
            extracted = extract(page.root, schema, capture.structure.base or capture.url)
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
        lines = describe_changes(part, above, part[start : max(start + 1, after)])
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
    changed = describe_changes(page_blocks, before.lines) if before.lines is not None else None
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


_TERM = 7
_DEFINED = re.compile(r"[\w.]+")
_PREFIX = re.compile(r"^(?:#+|-) ")
_APART = frozenset({"nav", "header", "footer", "aside", "search"})
"""The parts of a page that are none of its text."""
_LOGGED_LEAST = 200
"""Tokens of its text, which nobody is shown."""


def from_log(url: str, snapshot: str) -> Observation:
    """A page as it was seen.

    Args:
        url: its address.
        snapshot: its accessibility tree, as the log has it.

    Returns:
        The page with its sections and links. What a snapshot lacks, it lacks: anchors, the site's search, and the page's title, in whose place its first heading stands.
    """
    sections = tuple(_sections_logged(snapshot))
    title = next((section.title for section in sections if section.title), "")
    return observe(Capture(url, None, snapshot, Structure(title=title, sections=sections)), budget=_LOGGED_LEAST)


def _sections_logged(snapshot: str) -> Iterator[Section]:
    """The text under each heading and each term, without the references to its elements."""
    section, held = Section(title="", level=1), list[str]()
    for block in blocks(parse(snapshot)):
        text = _PREFIX.sub("", REF.sub("", block.text))
        if block.region in _APART:
            continue
        if not block.level:
            held.append(text)
            continue
        yield section.model_copy(update={"text": "\n".join(held)})
        defined = _DEFINED.match(text) if block.level == _TERM else None
        section = Section(title=text, level=block.level, defined_name=defined and defined.group())
        held = []
    yield section.model_copy(update={"text": "\n".join(held)})
