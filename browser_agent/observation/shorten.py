"""Blocks to pieces; prune, find, changes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from urllib.parse import urlsplit

from browser_agent.observation import Cut, Observation
from browser_agent.observation.blocks import Block, Group, leads
from browser_agent.observation.inline import REF, cut, first_mention, terms, trim_torn_ref
from ctxfold.text.words import counted
from ctxfold.tokens import count, head

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


NOWHERE = "no such words on this page"

_NEAR = 6
"""So few places that hold some of the words are shown where none holds all."""
_WORDS, _WORD = 6, 30


def find_hits(blocks: Sequence[Block], query: str) -> list[int]:
    """The places that hold a query as it is written, else those that hold all its words, their heading's included."""
    phrase = " ".join(query.lower().split())
    texts = [REF.sub("", block.text).lower() for block in blocks]
    hits = [place for place, text in enumerate(texts) if phrase in text]
    if hits:
        return hits
    wanted = terms(query)
    if not wanted:
        return []
    whole = [place for place, text in enumerate(texts) if all(word in text for word in wanted)]
    under = [f"{text} {block.section.lower()}" for text, block in zip(texts, blocks, strict=True)]
    return whole or [
        place
        for place, text in enumerate(texts)
        if all(word in under[place] for word in wanted) and any(word in text for word in wanted)
    ]


def say_counts(blocks: Sequence[Block], query: str) -> str:
    """That no place holds all the words, and how many hold each."""
    texts = [block.text.lower() for block in blocks]
    asked = list(dict.fromkeys(query.lower().split()))[:_WORDS]
    counts = {word: sum(all(part in text for part in terms(word)) for text in texts) for word in asked}
    if not any(counts.values()):
        return NOWHERE
    told = ", ".join(f"{cut(word, _WORD)} in {number or 'none'}" for word, number in counts.items())
    return f"no such words in one place of this page: {told}"


def find_nearest(blocks: Sequence[Block], wanted: frozenset[str]) -> tuple[int, list[int]]:
    """How many of the words the places with most of them hold, and these: all where they are few, else the first where it holds several."""
    texts = [REF.sub("", block.text).lower() for block in blocks]
    held = [
        sum(word in text or word in block.section.lower() for word in wanted)
        if any(map(text.__contains__, wanted))
        else 0
        for text, block in zip(texts, blocks, strict=True)
    ]
    most = max(held, default=0)
    places = [place for place, number in enumerate(held) if number == most and most]
    return most, places if len(places) <= _NEAR else places[: most > 1]


_FINDING_SECTION = 80
_HIT = 90
_WIDE = 300
"""Tokens of a line of controls, such as a list with its options, where all places fit so."""
_CONTROLS = 3
_LINK = 40
"""Characters a link takes in a line of links, with its ref; running text has fewer links."""
_FEW = 3
"""So few places are shown with what stands beside them."""
_SMALL = 200
"""Tokens of a table that its head brings whole."""
_AFTER = 4
_MAIN = frozenset({"main", "body", "dialog", "search"})
_FINDING_WORD = 30
_REST, _REST_SHARE = 40, 4
"""Tokens kept for the line that says where the rest stands, and the part of the room that they are at most."""
_MISSES = 8
"""After so many places that do not fit the next are not tried."""
_NAMED = re.compile(rf'\b[a-z]+ "[^"]*"{REF.pattern}')
"""A control with its name."""
_SECTIONS = 3
_ENTRY = "- "
_NAME = 40


@dataclass(frozen=True, slots=True)
class Found:
    """What is shown of a search, and the lines of the page that stand whole in it."""

    lines: tuple[str, ...]
    whole: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Page:
    """A page's blocks, bare and as they are shown, what is looked for, how much of it each place holds, the block each belongs to, and how many tokens of a line of controls or links are shown."""

    bare: Sequence[Block]
    blocks: Sequence[Block]
    queries: tuple[str, ...]
    worth: Mapping[int, float]
    leads: tuple[int | None, ...]
    wide: int = _WIDE


def find(
    blocks: Sequence[Block],
    told: Sequence[Block],
    queries: tuple[str, ...],
    budget: int,
    above: frozenset[str] = frozenset(),
) -> Found:
    """Find the blocks that hold one of `queries`, or all words of one, their heading's included. `told`: the blocks as they are shown; `budget`: o200k tokens; `above`: lines that stand in the same answer already.

    Returns:
        How many places are shown of how many, then these in page order under their headings, a row with the head of its
        table, a note with its entry; where not all fit, those with most and the rarest of the queries, a name of a control last; of one query whose words stand in no place together, how often each stands on the page, and the places with most of them.
    """
    each = [find_hits(blocks, query) for query in queries]
    hits = sorted(set().union(*each))
    nothing: tuple[str, ...] = ()
    of = _count_each(queries, each) if len(queries) > 1 else ""
    if not hits:
        nothing = (say_counts(blocks, queries[0]) if len(queries) == 1 else NOWHERE,)
        most, hits = find_nearest(blocks, terms(queries[0])) if len(queries) == 1 else (0, [])
        of = f" with most of them, {most} of {len(terms(queries[0]))}"
    if not hits:
        return Found(nothing)
    page = _Page(blocks, told, queries, _weigh(blocks, queries, hits, each), leads(blocks))
    fresh = [hit for hit in hits if told[hit].text not in above]
    of = f" of {counted(len(hits), 'place')}{of}"
    room = budget - sum(count(line) + 1 for line in (*nothing, of))
    page, shown = _fitting(page, fresh, room)
    rest = [hit for hit in fresh if hit not in shown]
    again = len(hits) - len(fresh)
    of += f", {again} of them above" if again else ""
    places = (*_written(page, shown, frozenset(hits)), *_name_tables(page, shown, frozenset(hits)))
    left = room - sum(count(line) + 1 for line in places)
    lines = (*nothing, f"{len(hits) - len(rest)}{of}", *places, *((_where_else(page, rest, left),) if rest else ()))
    whole = (told[at].text for at in shown if _line(page, at, frozenset(hits)) == told[at].text)
    return Found(lines, frozenset(whole))


def _count_each(queries: Sequence[str], each: Sequence[Sequence[int]]) -> str:
    """How many places each query has."""
    return ": " + ", ".join(
        f"{cut(one, _FINDING_WORD)} {len(own) or 'none'}" for one, own in zip(queries, each, strict=True)
    )


def _weigh(
    blocks: Sequence[Block], queries: Sequence[str], hits: Sequence[int], each: Sequence[Sequence[int]]
) -> dict[int, float]:
    """How much of what is looked for each place holds, what stands in few places weighing more; less than nothing where the names of controls alone hold it."""
    words = terms(" ".join(queries))
    worth = dict.fromkeys(hits, 0.0)
    for own in each:
        for hit in own:
            worth[hit] += 1 / len(own)
    for hit in hits:
        block = blocks[hit]
        said = "" if is_links(block) and not block.level else _NAMED.sub("", block.text).lower()
        if not any(word in said for word in words):
            worth[hit] -= len(queries) + 1
    return worth


def _fitting(page: _Page, hits: Sequence[int], whole: int) -> tuple[_Page, set[int]]:
    """The places that fit, of menus and margins only where the main part has none; long lines of controls whole where all fit so."""
    order = [place for place in hits if page.blocks[place].region in _MAIN] or list(hits)
    order.sort(key=lambda place: (-page.worth[place], place))
    less = whole - min(_REST, whole // _REST_SHARE)
    shown = _shown(page, order, less if len(order) < len(hits) else whole)
    if all(hit in shown for hit in order):
        return page, shown
    page = replace(page, wide=_HIT)
    return page, _shown(page, order, less)


def _shown(page: _Page, order: Sequence[int], room: int) -> set[int]:
    """The first places that fit; with few, also what stands beside them."""
    shown: set[int] = set()
    misses = 0
    for hit in order:
        wider = {*shown, hit, *_belonging(page, hit)}
        if _cost(page, wider, order) <= room:
            shown = wider
        elif not shown:
            shown = {hit}
        else:
            misses += 1
        if misses == _MISSES:
            break
    for hit in [hit for hit in order if hit in shown]:
        rows = _rows_below(page, hit)
        whole = shown | set(rows)
        if _cost(page, set(rows), order) <= _SMALL and _cost(page, whole, order) <= room:
            shown = whole
    if len(order) > _FEW:
        return shown
    around = _around_one if len(order) == 1 else _beside
    for beside in (place for hit in order if hit in shown for place in around(page, hit)):
        if _cost(page, shown | {beside}, order) > room:
            break
        shown |= {beside}
    return shown


def _belonging(page: _Page, hit: int) -> Iterator[int]:
    """What a place means nothing without: the entry it is nested in, the head of its table."""
    above = page.leads[hit]
    if above is not None:
        yield above
    if (head_row := _head_of(page, hit)) is not None:
        yield head_row


def _head_of(page: _Page, hit: int) -> int | None:
    """The row that heads the columns of the table a place is in."""
    group = page.blocks[hit].group
    for place in range(hit - 1, -1, -1) if group is not None else ():
        block = page.blocks[place]
        if block.group == group and block.head:
            return place
    return None


def _rows_below(page: _Page, hit: int) -> list[int]:
    """The rows of the table that a place heads."""
    group = page.blocks[hit].group
    if not page.blocks[hit].head or group is None:
        return []
    return [place for place in range(hit + 1, len(page.blocks)) if page.blocks[place].group == group]


def _around_one(page: _Page, hit: int) -> Iterator[int]:
    """What stands beside the only place: the line before and the line after too, but for a row that its head explains, and an entry of a list."""
    block = page.blocks[hit]
    if _head_of(page, hit) is None and not block.head and not block.text.startswith(_ENTRY):
        for place in (hit - 1, hit + 1):
            if 0 <= place < len(page.blocks) and _together(page, place, hit):
                yield place
    yield from _beside(page, hit)


def _beside(page: _Page, hit: int) -> Iterator[int]:
    """What follows a heading or an entry, else the neighbours of a place under the same heading."""
    block = page.blocks[hit]
    if block.group is not None and page.leads[hit] is None and not block.indent and block.row:
        after = range(hit + 1, min(hit + 1 + _AFTER, len(page.blocks)))
        for place in after:
            if page.blocks[place].indent <= block.indent:
                return
            yield place
        return
    for place in range(hit + 1, len(page.blocks)) if block.level else (hit + 1, hit - 1):
        if not 0 <= place < len(page.blocks) or not _together(page, place, hit):
            return
        yield place


def _together(page: _Page, one: int, other: int) -> bool:
    """Whether two places stand under the same heading, in the same part of the page."""
    first, second = page.blocks[one], page.blocks[other]
    return (first.section, first.region) == (second.section, second.region)


def _cost(page: _Page, places: set[int], hits: Sequence[int]) -> int:
    return sum(count(line) + 1 for line in _written(page, places, frozenset(hits)))


def _written(page: _Page, places: set[int], hits: frozenset[int]) -> Iterator[str]:
    """These places in page order, each heading once, with the ref by which its part of the page is read."""
    section = ""
    for place in sorted(places):
        block = page.blocks[place]
        if block.level:
            yield f"§ {_line(page, place, hits).lstrip('# ')}{_mark(block)}"
        else:
            if block.section != section and block.section:
                yield f"§ {_name_section(page, place)}"
            yield " " * min(block.indent, 4) + _line(page, place, hits)
        section = block.section


def _line(page: _Page, place: int, hits: frozenset[int]) -> str:
    """A place's text, of a long one what stands around what was found."""
    block = page.blocks[place]
    if place not in hits:
        return cut(block.text, _HIT * 4)
    bar = block.controls >= _CONTROLS or block.links * _LINK >= len(page.bare[place].text) > _LINK
    return _part(block.text, page.queries, page.wide if bar else _HIT)


def _name_section(page: _Page, place: int, most: int = _FINDING_SECTION) -> str:
    """The heading above a place, with its ref."""
    section = page.blocks[place].section
    above = (page.blocks[at] for at in range(place, -1, -1))
    heading = next((block for block in above if block.level and block.section == section), None)
    return cut(section, most) + (_mark(heading) if heading is not None else "")


def _mark(heading: Block) -> str:
    return f"[{heading.ref}]" if heading.ref and heading.ref not in heading.refs else ""


def _name_tables(page: _Page, shown: set[int], hits: frozenset[int]) -> Iterator[str]:
    """Where the rows stand of tables of which not much more than the head is shown."""
    for hit in sorted(shown & hits):
        left, group = set(_rows_below(page, hit)) - shown, page.blocks[hit].group
        if left and group is not None and group.ref:
            yield f"… {counted(len(left), 'row')} below that head: read [{group.ref}]"


def _where_else(page: _Page, rest: Sequence[int], room: int) -> str:
    """How many more places there are, and under which headings, of these as many as fit."""
    names = list(dict.fromkeys(filter(None, (_name_place(page, at) for at in rest))))
    for named in range(min(len(names), _SECTIONS), 0, -1):
        more = f" +{len(names) - named}" if len(names) > named else ""
        line = f"… {len(rest)} more in {'; '.join(names[:named])}{more}"
        if count(line) < room:
            return line
    return f"… {len(rest)} more"


def _name_place(page: _Page, place: int) -> str:
    """What a place is read by: its heading with a ref, else its own."""
    block = page.blocks[place]
    return _name_section(page, place, _NAME) if block.section else f"[{block.ref}]" if block.ref else ""


def _part(text: str, queries: tuple[str, ...], most: int) -> str:
    """`text`, where it costs more than `most` tokens the part of it around what was found."""
    if len(text) <= most * 2 or count(text) <= most:
        return text
    low = text.lower()
    found = [at for query in queries if (at := low.find(" ".join(query.lower().split()))) >= 0]
    at = min(found) if found else first_mention(text, terms(" ".join(queries)))
    start = text.rfind(" ", 0, max(0, at - 120)) + 1 if at > 160 else 0
    part = trim_torn_ref(head(text[start:], most))
    return ("… " if start else "") + part + (" …" if start + len(part) < len(text) else "")


_WHOLE = 0.55
"""A page that takes no more of the budget is shown as it is."""
_SHARE = 0.51
"""How much of the budget goes to what the page itself puts first; the rest only to what the task asks for."""
_SMALL_TABLE = 12
"""So many rows come with the head or the caption of their table."""
_HALF = 0.5
"""A line is asked for that names so much of what the line with most of it does."""
_CLEAR, _NEARLY = 0.6, 0.75
"""Where a line names so much of what is needed, those are asked for that name nearly as much."""
_CLEAR_SHARE = 0.3
"""How much then goes to what the page puts first."""

_LONG = 130
_LONG_WANTED = 260
_GAP = 16
_MARKER = 10
_PRUNE_INNER = frozenset({"main", "body", "dialog"})
_NAMES = 3
_PRUNE_NAME = 48
_LEADING = 5
_AGAIN = 100.0
"""What a line loses that stands on the page already, or stood on pages of the site before."""
_FRESH = 6.0
"""What a line gains that an action brought."""
_ROWS = 12
"""So many rows of the page's main table or list come before its filters, and before what stands around it."""
_FEWEST_ROWS = 4
_ROWS_SHARE = 0.3
"""What share of the main part a table or list takes that is what the page is about."""
_START = 24
_NO_WORDS = re.compile(REF.pattern + r"|\b(?:button|link|checkbox|textbox)\b|[\W_]+")

_REGION = {"dialog": 12.0, "main": 5.0, "body": 4.5, "search": 4.5, "header": 2.5, "nav": 2.0, "aside": 1.5,
           "footer": 0.5}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pruned:
    """The lines to show, and what was cut between them."""

    lines: tuple[str, ...]
    cut: tuple[Cut, ...]


@dataclass(frozen=True, slots=True)
class Interest:
    """What this look is for: `need` in the task's words, `shown`, starts of the lines on screen after a scroll, and what the reader has seen `before`."""

    need: str = ""
    shown: tuple[str, ...] = ()
    before: Before = NOTHING_BEFORE


def prune(blocks: Sequence[Block], interest: Interest, budget: int, page_of: Callable[[int], int]) -> Pruned:
    """Choose blocks. `page_of`: the page a block stands on when the whole is read.

    Returns:
        Chosen blocks in page order, with a line for each stretch cut. Where even that does not fit, fewer, down to one
        line that says what there is.
    """
    wanted = _wanted(blocks, interest.need)
    scores = _scores(blocks, wanted, interest)
    texts = _fitting_prune(blocks, wanted, interest.need, budget)
    costs = [count(text) + 1 for text in texts]
    if sum(costs) <= budget * _WHOLE and min(scores, default=0.0) > -_AGAIN / 2:
        return _lay_out(blocks, texts, set(range(len(blocks))), page_of)
    ranked = sorted((i for i in range(len(blocks)) if scores[i] > -_AGAIN / 2), key=lambda i: (-scores[i], i))
    rows = _main_rows(blocks) if interest.need else frozenset()
    asked_for = _with_rows(blocks, _asked_for(wanted)) | rows
    clear = max(wanted, default=0.0) >= _CLEAR and not rows
    taken = _take(ranked, costs, asked_for, budget, _CLEAR_SHARE if clear else _SHARE)
    by_worth = [i for i in ranked if i in taken]
    above = leads(blocks)
    while True:
        chosen = set(by_worth)
        chosen |= {lead for i in chosen if (lead := above[i]) is not None}  # a note never without its entry
        laid = _lay_out(blocks, texts, _without_small_gaps(chosen, costs), page_of)
        over = count("\n".join(laid.lines)) - budget
        if over <= 0 or not by_worth:
            return laid
        while over > 0 and by_worth:
            over -= costs[by_worth.pop()]


def _wanted(blocks: Sequence[Block], need: str) -> list[float]:
    """For each block, 0 to 1: how much of what is needed it names, rare words weighing more, its heading's included."""
    asked = terms(need)
    if not asked:
        return [0.0] * len(blocks)
    texts = [block.text.lower() for block in blocks]
    sections = {block.section: block.section.lower() for block in blocks}
    weight = {word: math.log((1 + len(texts)) / (1 + sum(word in text for text in texts))) for word in asked}
    whole = sum(weight.values()) or 1.0
    under = {section: sum(weight[word] for word in asked if word in text) / whole for section, text in sections.items()}
    found = [sum(weight[word] for word in asked if word in text) / whole for text in texts]
    return [min(1.0, own + 0.5 * under[block.section]) for own, block in zip(found, blocks, strict=True)]


def _scores(blocks: Sequence[Block], wanted: Sequence[float], interest: Interest) -> list[float]:
    scores: list[float] = []
    starts = tuple(start for start in (_bare_prune(line)[:_START] for line in interest.shown) if start)
    known, lines = interest.before.known, interest.before.lines
    seen_main = 0
    rows = sorted(_main_rows(blocks))[:_ROWS]
    again: set[str] = set()
    names = name_all(blocks) if known else ()
    for i, (block, want) in enumerate(zip(blocks, wanted, strict=True)):
        score = _REGION.get(block.region, 4.0) + 9.0 * want
        if block.level:
            score += {1: 3.0, 2: 1.6}.get(block.level, 0.6)
        if block.controls:
            score += 2.5
        if block.region in {"main", "body"}:
            score += 2.5 * math.exp(-seen_main / 12)
            seen_main += 1
        if block.controls and (bare := _bare_prune(block.text)):  # such as a search field at both ends of a page
            score -= _AGAIN if bare in again else 0.0
            again.add(bare)
        if starts and _bare_prune(block.text).startswith(starts):
            score += 5.0
        elif i in rows:
            score += 3.0
        elif block.group is not None and not block.head:
            score -= min(4.0, 0.45 * max(0, block.row - _LEADING))
        if known and not want and names[i] in known:
            score -= _AGAIN
        if lines is not None and block.text not in lines:
            score += _FRESH
        scores.append(score)
    return scores


def _bare_prune(text: str) -> str:
    """The words of a line alone, so that a line of the snapshot and the same line of the document compare."""
    return " ".join(_NO_WORDS.sub(" ", text).lower().split())


def _asked_for(wanted: Sequence[float]) -> frozenset[int]:
    """The blocks that name most of what is needed."""
    most = max(wanted, default=0.0)
    threshold = most * (_NEARLY if most >= _CLEAR else _HALF)
    return frozenset(i for i, want in enumerate(wanted) if threshold > 0 and want >= threshold)


def _main_rows(blocks: Sequence[Block]) -> frozenset[int]:
    """The rows of the largest table or list of the main part; none where it has but a few."""
    rows: dict[int, list[int]] = {}
    for i, block in enumerate(blocks):
        if block.group is not None and block.region in _PRUNE_INNER and not block.indent:
            rows.setdefault(block.group.id, []).append(i)
    most = max(rows.values(), key=len, default=[])
    main = sum(block.region in _PRUNE_INNER for block in blocks)
    return frozenset(most) if len(most) >= max(_FEWEST_ROWS, main * _ROWS_SHARE) else frozenset()


def _with_rows(blocks: Sequence[Block], asked_for: frozenset[int]) -> frozenset[int]:
    """These blocks, and the rows of each small table whose head or caption is among them."""
    tables: dict[Group, list[int]] = {}
    for i, block in enumerate(blocks):
        if block.group is not None and block.group.kind == "row":
            tables.setdefault(block.group, []).append(i)
    small = [(group, rows) for group, rows in tables.items() if len(rows) <= _SMALL_TABLE + 1]
    heads = [[i for i in rows if blocks[i].head] + ([rows[0] - 1] if group.name else []) for group, rows in small]
    meant = (rows for (_, rows), above in zip(small, heads, strict=True) if asked_for.intersection(above))
    return asked_for.union(*meant)


def _take(
    ranked: Sequence[int], costs: Sequence[int], asked_for: frozenset[int], budget: int, common: float
) -> set[int]:
    """The best blocks, as many as fit: the first, more up to the common share, and beyond it those the task asks for."""
    taken: set[int] = set()
    spent = 0
    for i in ranked:
        cost = costs[i] + _MARKER * (1 - (i - 1 in taken) - (i + 1 in taken))  # it splits a gap, shortens or closes it
        if spent + cost <= budget * (1 if i in asked_for or not taken else common):
            taken.add(i)
            spent += cost
    return taken


def _without_small_gaps(taken: set[int], costs: Sequence[int]) -> set[int]:
    """Also take a gap that costs no more than the line that would stand for it."""
    filled = set(taken)
    gap: list[int] = []
    for i in range(len(costs)):
        if i in taken:
            if gap and sum(costs[j] for j in gap) <= _GAP:
                filled.update(gap)
            gap = []
        else:
            gap.append(i)
    return filled


def _lay_out(blocks: Sequence[Block], texts: Sequence[str], taken: set[int], page_of: Callable[[int], int]) -> Pruned:
    lines: list[str] = []
    cuts: list[Cut] = []
    gap: list[int] = []

    def close_gap() -> None:
        if gap:
            missing = _missing([blocks[j] for j in gap], page_of(gap[0]))
            cuts.append(missing)
            lines.append(_format_cut(missing))
            gap.clear()

    for i, text in enumerate(texts):
        if i in taken:
            close_gap()
            lines.append(" " * min(blocks[i].indent, 4) + text)
        else:
            gap.append(i)
    close_gap()
    return Pruned(tuple(lines), tuple(cuts))


def _missing(gap: Sequence[Block], page: int) -> Cut:
    """What a stretch that is cut holds, in our words and a few of its headings."""
    groups = {block.group for block in gap}
    group: Group | None = next(iter(groups)) if len(groups) == 1 else None
    if group is not None and group.ref is not None:
        return Cut(what=f"{counted(len(gap), f'more {group.kind}')}{_name_headings(gap)}", ref=group.ref, page=page)
    links = sum(block.links for block in gap)
    controls = sum(block.controls for block in gap)
    parts = [counted(len(gap), "line"), *([counted(links, "link")] if links else [])]
    parts += [counted(controls, "control")] if controls else []
    return Cut(what=", ".join(parts) + _name_headings(gap), page=page)


def _name_headings(gap: Sequence[Block]) -> str:
    headings = [block for block in gap if block.level]
    inner = [block for block in headings if block.region in _PRUNE_INNER] or headings
    top = min((block.level for block in inner), default=0)
    titles = [cut(block.section, _PRUNE_NAME) for block in inner if block.level == top]
    if not titles:
        return ""
    more = f" +{len(titles) - _NAMES}" if len(titles) > _NAMES else ""
    return ": " + "; ".join(titles[:_NAMES]) + more


def _format_cut(missing: Cut) -> str:
    where = f"read [{missing.ref}]" if missing.ref else f"read page {missing.page}"
    return f"… {missing.what} ({where})"


def _fitting_prune(blocks: Sequence[Block], wanted: Sequence[float], need: str, budget: int) -> list[str]:
    """The text of each block: as it is where the page fits as a whole, else no longer than one line may be."""
    room = budget
    for block in blocks:
        room -= count(block.text) + 1 if room > 0 else 0
    if room >= 0:
        return [block.text for block in blocks]
    return [_shortened(block, wanted[i] > 0, need) for i, block in enumerate(blocks)]


def _shortened(block: Block, wanted: bool, need: str) -> str:
    """A block's text, or as much of it as one line may cost, the needed words within it if it has them."""
    most = _LONG_WANTED if wanted or block.controls > 1 else _LONG
    if len(block.text) <= most * 2 or count(block.text) <= most:
        return block.text
    place = f" [{block.ref}]" if block.ref else ""
    start = first_mention(block.text, terms(need)) if wanted else 0
    if start > most * 3:
        lead = trim_torn_ref(head(block.text, most // 4))
        part = trim_torn_ref(head(block.text[block.text.rfind(" ", 0, start - 80) + 1 :], most - most // 4))
        return f"{lead} … {part} …(cut: read{place or ' the page'})"
    return f"{trim_torn_ref(head(block.text, most))} …(cut: read{place or ' the page'})"
