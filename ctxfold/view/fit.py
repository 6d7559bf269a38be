"""The parts of a view in their order: writes blocks and the parts of a memory, and makes all of it fit its budget."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import takewhile

from ctxfold.log import spans
from ctxfold.log.lines import BREAK, COMMANDS, MEMORY, REPORT, UNSAID, USER, Line, line, unposed
from ctxfold.log.page import references_in, without_references
from ctxfold.select.choose import Choice, find_excerpts
from ctxfold.select.pieces import cells_of, pieces_of_lines
from ctxfold.select.write import GAP, write, write_each
from ctxfold.tokens import count, count_lines, head
from ctxfold.view.ends import find_branch_refs, write_ends
from ctxfold.workspace import Block, Memory, Older, Tile, Workspace

_ENDINGS = ("failed", "partial")
"""The endings that a view mentions; a completed tile needs no word."""
_USER_WORDS, _AT_MOST = 0.4, 0.5
"""The share of a view's budget that the user's words get before anything else but findings, and the most of the room
for older steps."""
_EDGES = 0.25
"""The share of that for the beginnings and ends of messages."""
_FINDINGS = 0.25
"""The share of a view's budget that findings get before the user's words."""
_REPLIES = 0.2
"""The share of the room for older steps that replies get, steps of the assistant without a call, if there is no memory.
Readers of recorded sessions answer 28 of 56 questions with it, 20 without; exact recall falls by .003 to .04.
"""
_SEAMS = 4
"""o200k tokens of the marks around a shortened summary."""
_ACTING = (*COMMANDS, "open", "next")
"""The parts of a memory that get room first."""
_ENDS = 0.35
"""The share of a view's budget from which its end is shortened."""
_LATEST = 0.6
"""The share of the room for blocks that the newest gets where not everything fits."""
_SUMMARIES = 0.5
"""The share of the room for blocks from which summaries are shortened."""
_LEAST, _SPARE = 24, 8
"""o200k tokens kept free for the marks of the newest block, and for each new try."""
_TRIES = 6
"""How often blocks are shortened again where the seams between them cost more than was left for them."""


@dataclass(frozen=True)
class Shown:
    """A block as a view shows it.

    Attributes:
        steps: its steps, in path order; none for words that were kept of steps under another address.
        raw: o200k tokens of their raw records.
        summary: the text of a host or a model about them; or empty.
        lines: the lines that are shown.
        status: how a tile ended, None for a raw step.
        untrusted: whether any of it comes from a tool or a page.
        whole: whether nothing of its steps was left out.
        memory: the memory of its steps, shown before the lines.
        as_of: the latest step that the author of the memory had read.
        todo: the item of the to-do that a tile served.
        closed: whether more than the user's words is chosen of it only after all other blocks.
    """

    steps: tuple[int, ...]
    raw: int
    summary: str
    lines: tuple[Line, ...]
    status: str | None
    untrusted: bool
    whole: bool
    memory: Memory | None = None
    as_of: int = 0
    todo: str = ""
    closed: bool = False

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Its texts, one below the other: each step's lines after its address, a summary after the words that it
        answers.
        """
        if self.memory is not None:
            return (write_memory(self.steps, self.as_of, self.memory, self.summary), *address_lines(self.lines))
        first = f"s{self.steps[0]}" if self.steps else ""
        asked = tuple(takewhile(lambda each: each.kind == "user" and _step_of(each) == first, self.lines))
        asked = asked if self.summary else ()
        texts = address_lines(asked)
        if self.summary:
            rows = "\n".join(f"< {row}" for row in self.summary.splitlines())
            texts.append(f"{self._mark} {rows if self.untrusted else unposed(self.summary)}")
        elif self.status is not None and not self._is_plain and (not self.lines or self.lines[0].ref != self._mark):
            texts.append(f"[{self._mark}]")
        texts += address_lines(self.lines[len(asked) :])
        return tuple(texts) or (f"[{spans(self.steps)} | {self.raw} tok | recall {spans(self.steps)}]",)

    @property
    def _is_plain(self) -> bool:
        """Whether each of its steps is shown under its own address, so that the block needs none."""
        return self.whole and len(set(map(_step_of, self.lines))) >= len(self.steps)

    @property
    def _mark(self) -> str:
        words = [spans(self.steps), *([self.status] if self.status in _ENDINGS else [])]
        return ", ".join(filter(None, (" ".join(words), self.todo)))

    @cached_property
    def text(self) -> str:
        """Its texts as one."""
        return "\n".join(self.texts)

    @cached_property
    def tokens(self) -> int:
        """o200k tokens of its text, with the newline to the next."""
        return count(f"{self.text}\n")


def write_account(tile: Tile) -> str:
    """Return what a tile says of its steps in prose: its goal and outcome, then its summary."""
    subject = " → ".join(" ".join(text.split()) for text in (tile.goal, tile.outcome) if text)
    return "\n".join(filter(None, (subject, tile.summary)))


@lru_cache(maxsize=2_048)
def show(block: Block, lifted: frozenset[str] = frozenset()) -> Shown:
    """A block with all its lines. `lifted`: the refs of findings that were taken back.

    The last ones are kept, so that a view counts only the tokens of blocks that changed since the view before.
    """
    lines = demote_lifted(block.lines, lifted)
    if isinstance(block, Tile):
        past = lines, block.status, block.untrusted, block.whole, block.memory, block.as_of, block.todo
        return Shown(block.steps, block.raw, write_account(block), *past)
    untrusted = any(each.untrusted for each in block.lines)
    return Shown(block.steps, block.raw, "", lines, None, untrusted, whole=True)


_HEADINGS = re.compile(
    rf"(?<={BREAK})(?=\s*(?:{'|'.join(Memory.model_fields).replace('_', '[ _]')}|after s\d+|{REPORT[:-1]})\s*:)",
    re.IGNORECASE,
)
"""Where a row of a text begins as a heading of a memory does."""


def write_memory(steps: Sequence[int], as_of: int, memory: Memory, later: str = "") -> str:
    """Write a memory as a view shows it: what the user wants and laid down, then the report of the rest.

    Args:
        steps: the steps that it replaces.
        as_of: the latest step that its author had read.
        memory: its parts.
        later: summaries of steps after that one.
    """
    parts = memory.parts
    headings = [name.replace("_", " ") for name in COMMANDS]
    commands = [_write_part(name, text) for name, text in parts if name in headings]
    reports = [_write_part(name, text) for name, text in parts if name not in headings]
    reports += [_escape_headings(memory.report)] if memory.report else []
    reports += [f"after s{as_of}:\n{_escape_headings(later)}"] if later else []
    reports = [REPORT, *reports] if reports else []
    known = spans([step for step in steps if step <= as_of])
    return "\n".join([f"[{known} {MEMORY}, as of s{as_of}; later steps overrule it]", *commands, *reports])


def _write_part(name: str, text: str) -> str:
    return f"{name}:\n{_escape_headings(text)}"


def _escape_headings(text: str) -> str:
    """A part's text in which no row begins as a heading, as another speaker's words or as an address does."""
    return _HEADINGS.sub(r"\\", unposed(f"\n{text}"))[1:]


def shorten_memory(memory: Memory, room: int, query: Sequence[str]) -> Memory:
    """Return a memory within a room of o200k tokens: the parts that act first, then the report. Rows that do not fit
    keep their best sentences, with the mark at their end.
    """
    kept: dict[str, str] = {}
    for name in (*_ACTING, *(name for name in Memory.model_fields if name not in _ACTING)):
        rows: list[str] = []
        for row in getattr(memory, name).splitlines():
            shown, cost = row, count(row) + 1
            if cost > room:
                best = find_excerpts(row, "\n".join(query), max(room - 2 * _SEAMS, 0))
                mark = f" {UNSAID}" if row.endswith(UNSAID) else ""
                shown = f"{best[0].of(row).removesuffix(UNSAID)} {GAP}{mark}" if best else ""
                cost = count(shown) + 1
            if shown and cost <= room:
                rows.append(shown)
                room -= cost
        kept[name] = "\n".join(rows)
    return Memory(**kept)


def demote_lifted(lines: tuple[Line, ...], lifted: frozenset[str]) -> tuple[Line, ...]:
    """Lines in which the findings that were taken back count as words of the assistant."""
    if lifted.isdisjoint(each.ref for each in lines):
        return lines
    return tuple(each._replace(kind="say") if each.kind == "note" and each.ref in lifted else each for each in lines)


def address_lines(lines: Iterable[Line]) -> list[str]:
    """The texts of lines, the first of each step after the step's address."""
    texts: list[str] = []
    before = ""
    for each in lines:
        step = _step_of(each)
        texts.append(each.text if step == before or each.kind == "stub" else f"{step} {each.text}")
        before = step
    return texts


def condense(
    blocks: Sequence[Shown], newest: Sequence[Shown], room: int, budget: int, query: Sequence[str], known: str = ""
) -> list[list[Line]]:
    """Choose the lines of blocks within a room: findings, the user's words and replies first, then the rest by worth.

    Args:
        blocks: the blocks, in path order.
        newest: the blocks after them, which are shown whole, so that nothing in them need be said again.
        room: the most o200k tokens, the addresses of the steps included.
        budget: o200k tokens of the view.
        query: texts about the present task, the goal first; without one the first request is chosen first.
        known: a memory of these blocks that is shown before them.

    Returns:
        The lines of each block.
    """
    lines, steps, owners = _join_lines(blocks)
    dead = frozenset(name for each in lines if newest and each.kind == "text" for name in references_in(each.text))
    lines = [_drop_references(each, dead) for each in lines] if dead else lines
    after, later, _ = _join_lines(newest, steps[-1] + 1 if steps else 0)
    if known:
        after, later = [*after, line("say", "", known)], [*later, (later or steps or [0])[-1]]
    pieces = pieces_of_lines([*lines, *after], [*steps, *later])
    standing = [place for place, piece in enumerate(pieces) if piece.line >= len(lines)]
    choice = Choice(pieces, "\n".join(query), standing=standing)
    findings = [place for place, piece in enumerate(pieces) if piece.kind == "note"]
    said = [place for place, piece in enumerate(pieces) if piece.kind == "user"]
    ends: dict[int, list[int]] = {}
    for place in said:
        ends.setdefault(pieces[place].line, [place, place])[1] = place
    words = min(_USER_WORDS * budget, room if known else _AT_MOST * room)
    acting = set(steps) if known else {step for each, step in zip(lines, steps, strict=True) if each.kind == "call"}
    closing = {at for at, step in enumerate(steps) if step not in acting}
    own = [at for at, piece in enumerate(pieces) if piece.kind != "head" and piece.line < len(lines)]
    active = [at for at in own if not blocks[owners[pieces[at].line]].closed]
    replies = {pieces[at].text: at for at in active if pieces[at].kind == "say" and pieces[at].line in closing}
    first = [place for place in said if pieces[place].line == pieces[said[0]].line and not query[0]]
    edges = [place for places in ends.values() for place in sorted(set(places))]
    for most, among in (
        (_FINDINGS * budget, findings),
        (_EDGES * words, first),
        (_EDGES * words, edges),
        (words, said),
        (words + _REPLIES * room, replies.values()),
        (room if len(active) < len(own) else 0, active),
    ):
        choice.fill(min(room, int(most)), among)
    chosen = choice.fit(room, lambda places: _count_addressed(write(lines, pieces, places)))
    return write_each(lines, pieces, chosen, owners, len(blocks))


def shorten_summaries(summaries: Sequence[str], room: int, query: Sequence[str]) -> list[str]:
    """Summaries within a room of o200k tokens; if they do not all fit, of each the sentences nearest to the query."""
    costs = [count(summary) + 1 if summary else 0 for summary in summaries]
    if sum(costs) <= room:
        return list(summaries)
    shares = [room * cost // sum(costs) - _SEAMS for cost in costs]
    return [
        " ".join(f"{span.of(summary)} {GAP}" for span in find_excerpts(summary, "\n".join(query), share))
        for summary, share in zip(summaries, shares, strict=True)
    ]


def query_of(workspace: Workspace) -> list[str]:
    """Texts about the present task: the goal, the open to-do, the user's newest words, the latest step."""
    said = [line.text for block in workspace.blocks[-8:] for line in block.said]
    latest = workspace.latest
    calls = [line.text for line in latest.lines if line.kind in ("call", "say")] if latest else []
    return [workspace.goal, *workspace.goals[1:], *(item.text for item in workspace.intent.open), *said[-2:], *calls]


def _is_command(text: str) -> bool:
    """Whether a message is a host's command without an argument, such as `/model`: it says nothing of the work."""
    word = text.removeprefix(USER).strip()
    return word.startswith("/") and word[1:].isalpha()


def _count_addressed(lines: Sequence[Line]) -> int:
    """o200k tokens of lines under the addresses of their steps."""
    return count_lines(address_lines(lines)) + 1 if lines else 0


def _join_lines(blocks: Sequence[Shown], start: int = 0) -> tuple[list[Line], list[int], list[int]]:
    """The lines of blocks, with the place of each one's step on the path and of its block."""
    lines: list[Line] = []
    steps: list[int] = []
    owners: list[int] = []
    at, before = start - 1, ""
    for number, block in enumerate(blocks):
        for each in block.lines:
            if each.kind == "stub" or (each.kind == "user" and _is_command(each.text)):
                continue
            if _step_of(each) != before:
                at, before = at + 1, _step_of(each)
            lines.append(each)
            steps.append(at)
            owners.append(number)
    return lines, steps, owners


def _drop_references(each: Line, dead: frozenset[str]) -> Line:
    """A line without references to elements of pages that are no longer the newest: nothing can be done with them."""
    if each.kind == "text":
        bare = without_references(each.text, dead)
    elif each.kind == "call" and each.cuts:
        cells = cells_of(each)
        kept = [cell for cell in cells if cell.partition("=")[2] not in dead]
        bare = each.text if kept == list(cells) else f"{each.text[: each.cuts[0]]}{', '.join([*kept, GAP])})"
    else:
        return each
    return each if bare == each.text else each.reword(bare)


def _step_of(each: Line) -> str:
    return each.ref.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a view.

    Attributes:
        workspace: the working context.
        opening: legend and goal.
        older: stretches of which only an address is shown.
        blocks: the blocks.
        end: other branches, the register, extracts and notes.
    """

    workspace: Workspace
    opening: str
    older: tuple[Older, ...]
    blocks: tuple[Shown, ...]
    end: str = field(default="")

    def texts(self) -> list[str]:
        """The text blocks of the view, in order."""
        front = "\n".join(text for text in (self.opening, *map(_write_older, self.older)) if text)
        return [front, *(block.text for block in self.blocks), *([self.end] if self.end else [])]

    @property
    def refs(self) -> tuple[str, ...]:
        """The refs of the steps shown or named in it, in order."""
        path = (ref for block in self.blocks if block.steps for ref in spans(block.steps).split(", "))
        return (
            *map(_address_older, self.older),
            *path,
            *(find_branch_refs(self.workspace.elsewhere) if self.end else ()),
        )

    @property
    def fixed(self) -> int:
        """o200k tokens of all but the blocks, their seams included."""
        return count(self.opening) + sum(count(_write_older(each)) for each in self.older) + count(self.end) + 6

    @property
    def tokens(self) -> int:
        """o200k tokens of all of it, never less than its text costs but for seams."""
        return self.fixed + sum(block.tokens for block in self.blocks)

    def count(self) -> int:
        """o200k tokens of its text. No text begins with a blank or a slash, so each can be counted with its newline."""
        front, *texts = self.texts()
        if not texts:
            return count(front)
        tokens = count(f"{front}\n") + sum(block.tokens for block in self.blocks)
        return tokens + (count(self.end) if self.end else count(texts[-1]) - self.blocks[-1].tokens)


def _address_older(older: Older) -> str:
    return f"s{older.first}" if older.first == older.last else f"s{older.first}-s{older.last}"


def _write_older(older: Older) -> str:
    """A line for a long stretch of which nothing is shown."""
    where = _address_older(older)
    return f"[{where} | {older.count} {'step' if older.count == 1 else 'steps'} | {older.raw} tok | recall {where}]"


def fit(parts: Parts, aim: int, query: Sequence[str]) -> Parts:
    """The parts at a cost of at most `aim` o200k tokens. `query`: texts about the present task."""
    if count(parts.end) > _ENDS * aim:
        texts = [block.text for block in parts.blocks]
        parts = replace(parts, end=write_ends(parts.workspace, texts, int(_ENDS * aim), "\n".join(query)))
    if parts.tokens <= aim:
        return parts
    if parts.fixed > (1 - _ENDS) * aim:
        opening = head(parts.opening, max(aim // 3, 48)) + " …"
        parts = replace(parts, opening=opening, end=head(parts.end, aim // 6))
    room = aim - parts.fixed
    for _ in range(_TRIES):
        fitted = _drop_bare(parts, _shorten(parts.blocks, room, aim, query)) if parts.tokens > aim else parts
        if fitted.tokens <= aim:
            return fitted
        room -= 2 * (fitted.tokens - aim) + _SPARE
    return _keep_address(parts, aim)


def _shorten(blocks: Sequence[Shown], room: int, budget: int, query: Sequence[str]) -> tuple[Shown, ...]:
    """Blocks at a cost of at most `room`: the newest within its share, then all before it."""
    said = shorten_summaries([block.summary for block in blocks], int(_SUMMARIES * room), query)
    *older, latest = [
        replace(block, summary=text, memory=_shorten_part(block.memory, int(_SUMMARIES * room), query))
        for block, text in zip(blocks, said, strict=True)
    ]
    overheads = [block.tokens - _count_addressed(block.lines) for block in (*older, latest)]
    most = max(int(_LATEST * room), room - sum(block.tokens for block in older))
    if latest.tokens > most:
        lines = condense([latest], [], most - overheads[-1] - _LEAST, 2 * budget, query)
        latest = replace(latest, lines=tuple(lines[0]), whole=False)
    left = max(room - latest.tokens - sum(overheads[:-1]), 0)
    kept = condense(older, [latest], left, budget, query)
    shorter = [
        block if tuple(lines) == block.lines else replace(block, lines=tuple(lines), whole=False)
        for block, lines in zip(older, kept, strict=True)
    ]
    return (*shorter, latest)


def _shorten_part(memory: Memory | None, room: int, query: Sequence[str]) -> Memory | None:
    """A memory within a room, if there is one that is larger."""
    return memory if memory is None or count(memory.text) <= room else shorten_memory(memory, room, query)


def _drop_bare(parts: Parts, blocks: Sequence[Shown]) -> Parts:
    """The parts with the blocks of which something is shown; from the first to the last of the others is one address
    before them.
    """
    kept = tuple(block for block in blocks if block.lines or block.summary or block.memory)
    bare = [block for block in blocks if block.steps and not (block.lines or block.summary or block.memory)]
    if not bare:
        return replace(parts, blocks=kept)
    return replace(parts, blocks=kept, older=(join_older(parts.older, bare),))


def join_older(older: Sequence[Older], gone: Sequence[Block | Shown]) -> Older:
    """One stretch for the steps of which only an address is shown and the blocks after them."""
    first = older[0].first if older else gone[0].steps[0]
    many = sum(each.count for each in older) + sum(len(block.steps) for block in gone)
    return Older(first, gone[-1].steps[-1], many, sum(each.raw for each in (*older, *gone)))


def _keep_address(parts: Parts, aim: int) -> Parts:
    """The path as one address, where nothing else fits."""
    blocks = [block for block in parts.blocks if block.steps]
    if not blocks:
        return replace(parts, opening=head(parts.opening, max(aim - 8, 0)), end="")
    opening, end = head(parts.opening, max(aim - 60, 8)), head(parts.end, aim // 8)
    return replace(parts, opening=opening, older=(*parts.older, join_older((), blocks)), blocks=(), end=end)
