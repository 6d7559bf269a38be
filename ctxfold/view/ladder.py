"""The budget ladder: how blocks take shorter and shorter forms until a view fits. It commits nothing and removes nothing without a ref.

Rungs, in order, each from the oldest block to the newest: repeats and superseded reads; prose to its head; old steps to their micro form;
prose of tiles, of which as much comes back as there is room for then; facts by relevance; a stub. The user's words and the latest block yield
after all of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain

from ctxfold.log.compact.ditto import spelled
from ctxfold.log.lines import Line, LineKind, texts_of, unposed
from ctxfold.tokens import count, head
from ctxfold.view.attributed import GHOST_TOKENS, attributed, calls_of
from ctxfold.view.gathering import begins
from ctxfold.view.left_out import MARK, marked
from ctxfold.view.relevance import Query
from ctxfold.workspace.workspace import HEADER, Block, RawStep, Tile, spans

__all__ = ["FENCED", "Shown", "above", "clip", "descend", "joined", "show"]

PROSE_HEAD = 48
"""Tokens a long text keeps on the rung of heads."""
MICRO_HEAD = 16
"""Tokens it keeps on the micro rung."""
WORDS_HEAD = 16
"""Tokens an old message of the user keeps when its words must yield."""


_FACTS = ("user", "data")
"""The lines that stay where prose goes."""
TOLD = ("failed", "partial")
"""The endings a view mentions; what was completed needs no word."""


@dataclass(frozen=True)
class Shown:
    """A block as a view shows it now.

    Attributes:
        steps: the steps it stands for, in path order.
        raw: o200k tokens of their raw records.
        prose: the summary of a tile, empty for a raw step.
        lines: the lines that stand.
        cut: whether anything was left out.
        status: how a tile's stretch ended, None for a raw step.
        untrusted: whether any of it derives from a tool or a page.
        latest: whether it is the last block of the path.
    """

    steps: tuple[int, ...]
    raw: int
    prose: str
    lines: tuple[Line, ...]
    cut: bool
    status: str | None
    untrusted: bool
    latest: bool = False

    def cut_to(self, lines: tuple[Line, ...], prose: str) -> Shown:
        """The same block with less of it."""
        return Shown(self.steps, self.raw, prose, lines, True, self.status, self.untrusted, self.latest)

    @property
    def stub(self) -> bool:
        """Whether nothing of it stands but its address."""
        return not self.prose and not self.lines and self.cut

    @cached_property
    def told(self) -> str:
        """The summary as it stands, in which no line poses as another speaker's."""
        return "\n".join(f"< {part}" for part in self.prose.splitlines()) if self.untrusted else unposed(self.prose)

    @cached_property
    def tokens(self) -> int:
        """o200k tokens, header included."""
        prose = count(self.told) + 1 if self.prose else 0
        status = 2 * (self.status in TOLD)
        return HEADER + (8 if self.stub else 3 * self.cut) + status + prose + sum([line.tokens for line in self.lines])

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """What stands in the view for it, one text under the other."""
        if self.stub:
            where = spans(self.steps)
            return (f"[{where} | {self.raw} tok | recall {where}]",)
        mark = f"{spans(self.steps)}{'…' if self.cut else ''}" + (f" {self.status}" if self.status in TOLD else "")
        first, *rest = (*([self.told] if self.told else []), *texts_of(self.lines)) or ("",)
        return (f"{mark} {first}", *rest)

    @cached_property
    def text(self) -> str:
        """The same as one text."""
        return "\n".join(self.texts)


def show(block: Block, latest: bool = False) -> Shown:
    """A block in its settled form."""
    match block:
        case RawStep():
            untrusted = any(line.untrusted for line in block.lines)
            return Shown(block.steps, block.raw, "", block.lines, False, None, untrusted, latest)
        case Tile():
            status = None if block.whole else block.status
            return Shown(
                block.steps, block.raw, block.summary, block.lines, not block.whole, status, block.untrusted, latest
            )


@lru_cache(maxsize=16_384)
def clip(line: Line, tokens: int) -> Line:
    """A line cut to its head, with its ref behind; itself when it is short enough already."""
    if line.tokens <= tokens + 8:
        return line
    tail = f" […{line.tokens} tok {line.ref}]"
    if not line.text.startswith("<<"):
        text = head(line.text, tokens) + tail
    elif tokens >= FENCED:
        text = f"{head(line.text, tokens)}\n{line.ref}>>{tail}"
    else:
        body = line.text[line.text.index("\n") + 1 : line.text.rindex("\n")]
        text = f"< {head(' '.join(body[: tokens * 40].split()), max(tokens, 1))}{tail}"
    return line.reworded(text, count(text) + 1, line.keys)


FENCED = 32
"""Tokens below which a fenced text is cut to one line."""


def descend(shown: Sequence[Shown], budget: int, query: Query) -> list[Shown]:
    """Let blocks take shorter forms until they fit.

    Args:
        shown: blocks in path order, in their settled forms.
        budget: o200k tokens they may cost together.
        query: what the session is about now, to rank facts.

    Returns:
        As many blocks, in order; their cost is within the budget unless even stubs of all exceed it.
    """
    blocks = list(shown)
    total = sum(block.tokens for block in blocks)
    repeated = _repeated(blocks)
    rungs: tuple[Callable[[int], Shown], ...] = (
        lambda at: _without(blocks[at], repeated[at]),
        lambda at: _heads(blocks[at], PROSE_HEAD),
        lambda at: _micro(blocks[at]),
    )
    for rung in rungs:
        for at in range(len(blocks)):
            if total <= budget:
                return blocks
            if blocks[at].latest:
                continue
            lower = rung(at)
            total += lower.tokens - blocks[at].tokens
            blocks[at] = lower
    full = list(blocks)
    for at, block in enumerate(full):
        if total > budget and not block.latest:
            blocks[at] = _without_prose(block)
            total += blocks[at].tokens - block.tokens
    return _by_relevance(blocks, budget, query) if total > budget else _refilled(full, blocks, budget - total, query)


def _refilled(full: Sequence[Shown], blocks: list[Shown], left: int, query: Query) -> list[Shown]:
    """Blocks that lost all but facts and the user's words at one step, with as much of the rest as there is room for: what fits best what the session is about.

    A line comes back with the call it is of and the row it stands under, or not at all.
    """
    lowered = [at for at, block in enumerate(blocks) if block is not full[at]]
    kept = {at: {i for i, line in enumerate(full[at].lines) if line.kind in _FACTS} for at in lowered}
    open_ = [(at, i) for at in lowered for i in range(len(full[at].lines)) if i not in kept[at]]
    scores = query.scores([full[at].lines[i].text for at, i in open_])
    calls = {at: calls_of(full[at].lines) for at in lowered}
    rows = {at: above(full[at].lines, "text") for at in lowered}
    ghosts = {at: GHOST_TOKENS * len({calls[at][i] for i in kept[at]} - {None}) for at in lowered}
    for _, (at, i) in sorted(zip(scores, open_, strict=True), reverse=True):
        call = calls[at][i]
        needed = {i, *rows[at][i], *(() if call is None else (call,))} - kept[at]
        price = ghosts[at] + sum(full[at].lines[place].tokens + MARK for place in needed)
        if price <= left:
            kept[at] |= needed
            left, ghosts[at] = left - price, 0
    back = {at: full[at].cut_to(tuple(attributed(full[at].lines, kept[at])), "") for at in lowered}
    return [
        back.get(at, block) if len(block.lines) < len(kept.get(at, ())) else block for at, block in enumerate(blocks)
    ]


def _repeated(blocks: Sequence[Shown]) -> list[frozenset[int]]:
    """Of each block, the places of the lines whose every fact stands again in a later block."""
    found: list[frozenset[int]] = []
    later: set[int] = set()
    for block in reversed(blocks):
        lines = block.lines
        found.append(
            frozenset(
                [
                    at
                    for at, line in enumerate(lines)
                    if line.keys and line.kind != "user" and not begins(line) and later.issuperset(line.keys)
                ]
            )
        )
        later.update(chain.from_iterable([line.keys for line in lines]))
    return found[::-1]


def _without(block: Shown, places: frozenset[int]) -> Shown:
    if not places:
        return block
    return block.cut_to(tuple(line for at, line in enumerate(block.lines) if at not in places), block.prose)


def _heads(block: Shown, tokens: int) -> Shown:
    lines = tuple(
        [
            clip(line, tokens) if line.tokens > tokens and line.kind in ("text", "say", "call", "note") else line
            for line in block.lines
        ]
    )
    prose = block.prose
    if count(prose) > tokens * 2:
        prose = head(prose, tokens * 2) + " …"
    if lines == block.lines and prose == block.prose:
        return block
    return block.cut_to(lines, prose)


def _micro(block: Shown) -> Shown:
    lowered = _heads(block, MICRO_HEAD)
    kept = tuple([line for line in lowered.lines if line.kind != "say" or len(lowered.lines) == 1])
    return lowered if len(kept) == len(lowered.lines) else lowered.cut_to(kept, lowered.prose)


def _without_prose(block: Shown) -> Shown:
    kept = tuple([line for line in block.lines if line.kind in _FACTS])
    if len(kept) == len(block.lines) and not block.prose:
        return block
    return block.cut_to(kept, "")


@lru_cache(maxsize=4_096)
def _spelled(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    return tuple(spelled(lines))


def _spelled_block(block: Shown) -> Shown:
    lines = block.lines if block.latest else _spelled(block.lines)
    return block if lines == block.lines else replace(block, lines=lines)


def _by_relevance(blocks: Sequence[Shown], budget: int, query: Query) -> list[Shown]:
    """Keep the facts that fit what the session is about; every block without one becomes a stub around the user's words."""
    blocks = [_spelled_block(block) for block in blocks]
    bare = [
        block if block.latest else block.cut_to(tuple(line for line in block.lines if line.kind == "user"), block.prose)
        for block in blocks
    ]
    left = budget - sum(block.tokens for block in bare)
    open_ = [
        (at, index)
        for at, block in enumerate(blocks)
        if not block.latest
        for index, line in enumerate(block.lines)
        if line.kind != "user"
    ]
    scores = query.scores([blocks[at].lines[index].text for at, index in open_])
    ranked = sorted(
        ((score + at / (1 + len(blocks)), at, index) for score, (at, index) in zip(scores, open_, strict=True)),
        reverse=True,
    )
    chosen = [{index for index, line in enumerate(block.lines) if line.kind == "user"} for block in blocks]
    parents = [above(block.lines) for block in blocks]
    for _, at, index in ranked:
        needed = [place for place in (index, *parents[at][index]) if place not in chosen[at]]
        price = sum(blocks[at].lines[place].tokens + MARK for place in needed)
        if price <= left:
            chosen[at].update(needed)
            left -= price
    return [
        block if block.latest else block.cut_to(tuple(marked(block.lines, chosen[at])), "")
        for at, block in enumerate(blocks)
    ]


def above(lines: Sequence[Line], kind: LineKind = "data") -> list[tuple[int, ...]]:
    """Of each line of a kind the places of the rows it stands under, which it cannot be read without."""
    found: list[tuple[int, ...]] = []
    open_: list[int] = []
    for at, line in enumerate(lines):
        while open_ and (line.ref != lines[open_[-1]].ref or line.indent <= lines[open_[-1]].indent):
            open_.pop()
        found.append(tuple(open_) if line.kind == kind else ())
        if line.kind == kind:
            open_.append(at)
    return found


def joined(blocks: Sequence[Shown]) -> tuple[Shown, ...]:
    """Blocks in order, neighbouring stubs as one.

    Args:
        blocks: in path order.
    """
    merged: list[Shown] = []
    for block in blocks:
        if merged and merged[-1].stub and block.stub and not block.latest:
            front = merged[-1]
            merged[-1] = replace(
                front,
                steps=front.steps + block.steps,
                raw=front.raw + block.raw,
                untrusted=front.untrusted or block.untrusted,
                status=None,
            )
        else:
            merged.append(replace(block, status=None) if block.stub else block)
    return tuple(merged)
