"""Makes the parts of a view fit a budget: first what stands at the end gets shorter forms, then blocks are shortened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

from ctxfold.log.lines import Line, line, unposed
from ctxfold.log.page import references_in, without_references
from ctxfold.select import GAP, PAGE, Choice, pieces_of_lines, pieces_of_prose, select, write
from ctxfold.select.pieces import Cut, cells_of, cut_line
from ctxfold.tokens import count, count_lines, head
from ctxfold.view.ends import INTENT_FORMS as FORMS
from ctxfold.view.ends import NOTHING, SHARE, VALUES, ElsewhereText, closing, refs_of
from ctxfold.workspace import Block, Guidance, Intent, Older, RawStep, Tile, shown_guidance, spans

_TOLD = ("failed", "partial")
"""The endings a view mentions; what was completed needs no word."""


@dataclass(frozen=True)
class Shown:
    """A block as a view shows it now.

    Attributes:
        steps: the steps it stands for, in path order; none for words kept of a stretch that another address stands for.
        raw: o200k tokens of their raw records.
        summary: what a host or a model wrote in its place; empty where nobody did.
        lines: the lines that stand.
        status: how a tile's stretch ended, None for a raw step.
        untrusted: whether any of it derives from a tool or a page.
        whole: whether nothing of its steps was left out.
    """

    steps: tuple[int, ...]
    raw: int
    summary: str
    lines: tuple[Line, ...]
    status: str | None
    untrusted: bool
    whole: bool

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """What stands for it, one text under the other: each step's lines behind its address."""
        asked = tuple(takewhile(self._opens, self.lines)) if self.summary else ()
        made = addressed(asked)
        if self.summary:
            told = (
                "\n".join(f"< {part}" for part in self.summary.splitlines())
                if self.untrusted
                else unposed(self.summary)
            )
            made.append(f"{self._mark} {told}")
        elif self.status is not None and not self._plain and (not self.lines or self.lines[0].ref != self._mark):
            made.append(f"[{self._mark}]")
        made += addressed(self.lines[len(asked) :])
        return tuple(made) or (f"[{spans(self.steps)} | {self.raw} tok | recall {spans(self.steps)}]",)

    def _opens(self, line: Line) -> bool:
        """Whether a line is what the user said as the block began: a summary stands behind it."""
        return line.kind == "user" and line.ref.partition(".")[0] == f"s{self.steps[0]}"

    @property
    def _plain(self) -> bool:
        """Whether each of its steps stands under its own address, so that the block needs none."""
        return self.whole and len({line.ref.partition(".")[0] for line in self.lines}) >= len(self.steps)

    @property
    def _mark(self) -> str:
        return " ".join([spans(self.steps), *([self.status] if self.status in _TOLD else [])])

    @cached_property
    def text(self) -> str:
        """The same as one text."""
        return "\n".join(self.texts)

    @cached_property
    def tokens(self) -> int:
        """o200k tokens of it, with the seam to what follows."""
        return count_lines(self.texts) + 1

    def with_lines(self, lines: Sequence[Line]) -> Shown:
        """The same block with less of it."""
        return Shown(self.steps, self.raw, self.summary, tuple(lines), self.status, self.untrusted, whole=False)


def addressed(lines: Iterable[Line]) -> list[str]:
    """The texts of lines, the first of each step behind the step's address."""
    made: list[str] = []
    at = ""
    for each in lines:
        step = each.ref.partition(".")[0]
        made.append(each.text if step == at or each.kind == "stub" else f"{step} {each.text}")
        at = step
    return made


def unkept(lines: tuple[Line, ...], lifted: frozenset[str]) -> tuple[Line, ...]:
    """Lines with the findings among them that were lifted as words of the assistant, which stand where there is room."""
    if lifted.isdisjoint(line.ref for line in lines):
        return lines
    return tuple(line._replace(kind="say") if line.kind == "note" and line.ref in lifted else line for line in lines)


def show(block: Block, lifted: frozenset[str] = frozenset()) -> Shown:
    """A block in its settled form. `lifted`: the addresses of findings that hold no more."""
    lines = unkept(block.lines, lifted)
    match block:
        case RawStep():
            untrusted = any(line.untrusted for line in block.lines)
            return Shown(block.steps, block.raw, "", lines, None, untrusted, whole=True)
        case Tile():
            return Shown(block.steps, block.raw, block.summary, lines, block.status, block.untrusted, block.whole)


_USER_WORDS, _AT_MOST = 0.4, 0.5
"""The share of a view's budget that the user's words may take before anything else, and the most it is of the room for older steps."""
_NEWEST = 0.25
"""The share of the room of the user's words that goes to the beginnings and ends of messages."""
_FINDINGS = 0.25
"""The share of it that findings may take before them."""
_SEAMS = 4
_STUB = 0.05
"""Of what a stretch costs, what the word for it may."""
_NAMES = 12


def condense(
    blocks: Sequence[Shown], newest: Sequence[Shown], room: int, budget: int, query: Sequence[str]
) -> list[list[Line]]:
    """The lines that stand for each of some blocks within a room, which holds the addresses of their steps too.

    `newest`: what stands whole behind them, so need not be said again; `budget`: o200k tokens of the view.
    """
    lines, steps, owner = _flat(blocks)
    dead = frozenset(name for each in lines if newest and each.kind == "text" for name in references_in(each.text))
    lines = [_without_references(each, dead) for each in lines] if dead else lines
    behind, after, _ = _flat(newest, len(set(steps)) and max(steps) + 1)
    pieces = pieces_of_lines([*lines, *behind], [*steps, *after])
    choice = Choice(
        pieces, "\n".join(query), standing=[at for at, piece in enumerate(pieces) if piece.line >= len(lines)]
    )
    words = min(_USER_WORDS * budget, _AT_MOST * room)
    said = [at for at, piece in enumerate(pieces) if piece.kind == "user"]
    edges = [
        at
        for at in said
        if any(
            pieces[near].line != pieces[at].line or pieces[near].kind == "head"
            for near in (at - 1, (at + 1) % len(pieces))
        )
    ]
    findings = [at for at, piece in enumerate(pieces) if piece.kind == "note"]
    for share, among in ((_FINDINGS * budget, findings), (_NEWEST * words, edges), (words, said)):
        choice.fill(min(room, int(share)), among)
    chosen = choice.fit(room, lambda places: _cost(write(lines, pieces, places)))
    made: list[list[Line]] = [[] for _ in blocks]
    places = sorted({pieces[place].line for place in chosen} - {-1})
    for place, shown in zip(places, write(lines, pieces, chosen), strict=True):
        made[owner[place]].append(shown)
    return made


def gists(summaries: Sequence[str], room: int, query: Sequence[str]) -> list[str]:
    """Summaries within a room of o200k tokens: where they do not all fit, of each the sentences that are nearest to what the session is about."""
    costs = [count(summary) + 1 if summary else 0 for summary in summaries]
    if sum(costs) <= room:
        return list(summaries)
    asked = "\n".join(query)
    made: list[str] = []
    for summary, cost in zip(summaries, costs, strict=True):
        share = room * cost // sum(costs) - _SEAMS
        pieces = pieces_of_prose(summary)
        chosen = select(pieces, share, asked, weights=PAGE)
        made.append(" ".join(f"{pieces[place].text} {GAP}" for place in chosen))
    return made


def _cost(lines: Sequence[Line]) -> int:
    """o200k tokens of lines as they stand under the addresses of their steps."""
    return count_lines(addressed(lines)) + 1 if lines else 0


def stub(steps: Sequence[int], raw: int, lines: Sequence[Line], said: str = "", full: int | None = None) -> Line | None:
    """What stands for steps of which nothing does: their address, size, and names in them; None where it would cost too much.

    No mark tells it from our words: of what a tool or a page says it names ids and numbers alone, no phrase. Names that `said` holds, which stands beside
    it, need not be said again. `full`: the most that the steps count for, where not all of `raw`.
    """
    most = _STUB * (raw if full is None else min(raw, full))
    where = spans(steps)
    names: dict[str, None] = {}
    for each in lines:
        if each.kind == "call" and not each.depth:
            names[each.text[2 : each.cuts[0] - 1] if each.cuts else each.text[2:]] = None
        for piece in cut_line(each):
            told = [value for value, _ in piece.values if not (each.untrusted and len(value.split()) > 1)]
            names.update((_spelled(value, piece), None) for value in told[:1] if any(map(str.isdigit, value)))
    low = said.lower()
    names = {name: None for name in names if name.lower() not in low}
    for many in (_NAMES, 4, 1):
        text = f"[{where} · {raw} tok · {', '.join(list(names)[:many])}]"
        if names and count(text) + 1 <= most:
            return line("stub", where, text)
    return None


def _spelled(value: str, piece: Cut) -> str:
    """A value in the letters of its piece."""
    at = piece.text.lower().find(value)
    found = piece.text[at : at + len(value)]
    return found if found.lower() == value else value


def _flat(blocks: Sequence[Shown], start: int = 0) -> tuple[list[Line], list[int], list[int]]:
    """The lines of blocks, of each the place of its step on the path and of its block."""
    lines: list[Line] = []
    steps: list[int] = []
    owner: list[int] = []
    at, before = start - 1, ""
    for number, block in enumerate(blocks):
        for each in block.lines:
            if each.kind == "stub":
                continue
            if _step(each) != before:
                at, before = at + 1, _step(each)
            lines.append(each)
            steps.append(at)
            owner.append(number)
    return lines, steps, owner


def _without_references(line: Line, dead: frozenset[str]) -> Line:
    """A line of steps whose pages are no longer the newest without the references to their elements: they can be acted on no more."""
    if line.kind == "text":
        bare = without_references(line.text, dead)
    elif line.kind == "call" and line.cuts:
        cells = cells_of(line)
        kept = [cell for cell in cells if cell.partition("=")[2] not in dead]
        bare = line.text if len(kept) == len(cells) else f"{line.text[: line.cuts[0]]}{', '.join([*kept, GAP])})"
    else:
        return line
    return line if bare == line.text else line.reworded(bare)


def _step(line: Line) -> str:
    return line.ref.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Parts:
    """The pieces of a view.

    Attributes:
        opening: legend and goal.
        older: stretches of which nothing but an address stands.
        blocks: the cover, each block as it is shown.
        closing: what the end says of the goal's revisions, the intent and guidance.
        now: the goal's revisions alone.
        intent: what `closing` is made of; None where nothing was ever planned or guided.
        guidance: the same.
        elsewhere: what stands elsewhere in the forest.
    """

    opening: str
    older: tuple[Older, ...]
    blocks: tuple[Shown, ...]
    closing: str
    now: str = ""
    intent: Intent | None = None
    guidance: Guidance | None = None
    elsewhere: ElsewhereText = NOTHING

    @property
    def end(self) -> str:
        """What changes at every step: what stands elsewhere, then the intent."""
        return "\n".join(part for part in (self.elsewhere.text, self.closing) if part)

    def texts(self) -> list[str]:
        """The text blocks of the view, in order."""
        front = [self.opening, *map(_bundle, self.older)]
        return [
            "\n".join(text for text in front if text),
            *(block.text for block in self.blocks),
            *([self.end] if self.end else []),
        ]

    @property
    def refs(self) -> tuple[str, ...]:
        """The addresses of steps that stand in it, in order."""
        path = (ref for block in self.blocks if block.steps for ref in spans(block.steps).split(", "))
        return (*map(_where, self.older), *path, *(refs_of(self.elsewhere.held) if self.elsewhere.text else ()))

    @property
    def fixed(self) -> int:
        """o200k tokens of all but the blocks, their seams included."""
        return (
            count(self.opening)
            + sum(count(_bundle(older)) for older in self.older)
            + count(self.closing)
            + self.elsewhere.tokens
            + 6
        )

    @property
    def tokens(self) -> int:
        """o200k tokens of all of it, never less than its text costs but for seams."""
        return self.fixed + sum(block.tokens for block in self.blocks)


def _where(older: Older) -> str:
    return f"s{older.first}" if older.first == older.last else f"s{older.first}-s{older.last}"


def _bundle(older: Older) -> str:
    """What stands for a long stretch of which nothing else stands."""
    return f"[{_where(older)} | {older.count} {'step' if older.count == 1 else 'steps'} | {older.raw} tok | recall {_where(older)}]"


_CLOSING = 0.4
"""Of a view's budget, what the intent may take before it takes a shorter form."""
_LATEST = 0.6
"""Of the room for blocks, what the newest may take where not everything fits."""
_SUMMARIES = 0.5
"""Of the room for blocks, what the summaries may take before their best sentences stand for them."""
_LEAST, _SPARE = 24, 8
_FIT_TRIES = 6
"""How often blocks are shortened anew where the seams between them cost more than was left for them."""


def closed(parts: Parts, form: int) -> Parts:
    """The parts with the intent at their end in one of its forms, behind it what refactorings left."""
    if parts.intent is None or parts.guidance is None:
        return parts
    said = closing(parts.intent, form)
    guided = shown_guidance(parts.guidance, [block.text for block in parts.blocks], form)
    return replace(parts, closing="\n".join(part for part in (parts.now, said, guided) if part))


def fit(parts: Parts, aim: int, query: Sequence[str]) -> Parts:
    """The parts at a cost of at most `aim` o200k tokens. `query`: texts that say what the session is about now."""
    parts = replace(parts, elsewhere=parts.elsewhere.within(int(SHARE * aim)))
    if parts.tokens <= aim:
        return parts
    for form in range(1, FORMS):
        if parts.fixed <= _CLOSING * aim:
            break
        parts = closed(parts, form)
    if parts.fixed > _CLOSING * aim:
        parts = replace(parts, elsewhere=parts.elsewhere.within(aim // 16, VALUES))
    if parts.fixed > (1 - _CLOSING) * aim:
        parts = _cut_ends(parts, aim)
    room = aim - parts.fixed
    for _ in range(_FIT_TRIES):
        fitted = _without_bare(parts, _shorten(parts.blocks, room, aim, query)) if parts.tokens > aim else parts
        if fitted.tokens <= aim:
            return fitted
        room -= 2 * (fitted.tokens - aim) + _SPARE
    return _address_only(parts, aim)


def _shorten(blocks: Sequence[Shown], room: int, budget: int, query: Sequence[str]) -> tuple[Shown, ...]:
    """Blocks at a cost of at most `room`: the newest first, within its share, then all before it."""
    blocks = _with_gists(blocks, int(_SUMMARIES * room), query)
    latest, older = blocks[-1], list(blocks[:-1])
    summaries = sum(block.tokens - _lines_cost(block) for block in blocks)
    most = max(int(_LATEST * room), room - sum(block.tokens for block in older))
    if latest.tokens > most:
        lines = condense([latest], [], most - (latest.tokens - _lines_cost(latest)) - _LEAST, 2 * budget, query)
        latest = latest.with_lines(lines[0])
    left = max(room - latest.tokens - (summaries - (blocks[-1].tokens - _lines_cost(blocks[-1]))), 0)
    made = condense(older, [latest], left, budget, query)
    kept = [
        block if len(lines) == len(block.lines) and list(block.lines) == lines else block.with_lines(lines)
        for block, lines in zip(older, made, strict=True)
    ]
    return (*kept, latest)


def _with_gists(blocks: Sequence[Shown], room: int, query: Sequence[str]) -> list[Shown]:
    """Blocks whose summaries together keep to a room: their best sentences where they are longer."""
    said = gists([block.summary for block in blocks], room, query)
    return [
        block if text == block.summary else replace(block, summary=text)
        for block, text in zip(blocks, said, strict=True)
    ]


def _lines_cost(block: Shown) -> int:
    """What a block's lines cost with the addresses of their steps."""
    return count_lines(addressed(block.lines)) + 1 if block.lines else 0


def _without_bare(parts: Parts, blocks: Sequence[Shown]) -> Parts:
    """The parts with blocks of which something stands; the stretch from the first to the last of the others is one address before them."""
    bare = [block for block in blocks if block.steps and not (block.lines or block.summary)]
    kept = tuple(block for block in blocks if block.lines or block.summary)
    if not bare:
        return replace(parts, blocks=kept)
    first = parts.older[0].first if parts.older else bare[0].steps[0]
    count = sum(older.count for older in parts.older) + sum(len(block.steps) for block in bare)
    raw = sum(older.raw for older in parts.older) + sum(block.raw for block in bare)
    return replace(parts, blocks=kept, older=(Older(first, bare[-1].steps[-1], count, raw),))


def _cut_ends(parts: Parts, aim: int) -> Parts:
    """The goal and what stands at the end cut to their beginnings."""
    return replace(
        parts,
        opening=head(parts.opening, max(aim // 3, 48)) + " …",
        closing=head(parts.closing, aim // 8),
        elsewhere=parts.elsewhere.head(aim // 8),
    )


def _address_only(parts: Parts, aim: int) -> Parts:
    """Where nothing else fits: the path as one address."""
    steps = tuple(step for block in parts.blocks for step in block.steps)
    opening = head(parts.opening, max(aim - 60, 8))
    if not steps:
        return replace(parts, opening=head(parts.opening, max(aim - 8, 0)), closing="", elsewhere=NOTHING)
    bundle = Older(steps[0], steps[-1], len(steps), sum(block.raw for block in parts.blocks))
    return replace(
        parts,
        opening=opening,
        older=(*parts.older, bundle),
        blocks=(),
        closing="",
        elsewhere=parts.elsewhere.head(aim // 8),
    )
