"""Workspace to view: stable prefix first, latest last, never above the budget. Pure: it reads no store and changes nothing.

The order is the cache's: what is read at every step stands first and only ever grows at its end; what changes stands last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ctxfold.discourse.cues import asks_for_all
from ctxfold.discourse.showing import NOTHING, VALUES, Aside, refs_of
from ctxfold.folding.ladder import WORDS_HEAD, Shown, clip, descend, joined, show
from ctxfold.folding.relevance import Query
from ctxfold.guidance import Guidance, shown_guidance
from ctxfold.intent.showing import FORMS, closing, gist
from ctxfold.intent.values import Intent
from ctxfold.lines import Line
from ctxfold.prompts import prompt
from ctxfold.tokens import Budget, count, head
from ctxfold.workspace import Older, Workspace, spans

__all__ = ["View", "query_of", "render"]


@dataclass(frozen=True, slots=True)
class View:
    """The rendered context for a model.

    Attributes:
        text: all that a model reads.
        messages: the same as Messages API content, one text block a block of the view; marks for the cache are the adapter's.
        stable: how many of those text blocks, from the first, only change when something is folded.
        tokens: o200k tokens of `text`.
        refs: the addresses that stand in it, in order.
        budget: what it had to fit, in tokens of the model named.
        unfolded: o200k tokens the whole path would have cost raw.
    """

    text: str
    messages: list[dict[str, Any]]
    stable: int
    tokens: int
    refs: tuple[str, ...]
    budget: int
    unfolded: int


@dataclass(frozen=True, slots=True)
class _Parts:
    """The pieces of a view in their order."""

    opening: str
    older: tuple[Older, ...]
    words: tuple[Line, ...]
    blocks: tuple[Shown, ...]
    closing: str
    now: str = ""
    intent: Intent | None = None
    guidance: Guidance | None = None
    aside: Aside = NOTHING

    @property
    def end(self) -> str:
        """What changes at every step: what stands elsewhere, then the intent."""
        return "\n".join(part for part in (self.aside.text, self.closing) if part)

    def texts(self) -> list[str]:
        front = [self.opening, *map(_bundle, self.older), *(line.text for line in self.words)]
        return [
            "\n".join(text for text in front if text),
            *(block.text for block in self.blocks),
            *([self.end] if self.end else []),
        ]

    def text(self) -> str:
        return "\n".join(self.texts())

    @property
    def refs(self) -> tuple[str, ...]:
        """The addresses of steps that stand in it, in order."""
        path = (ref for block in self.blocks for ref in spans(block.steps).split(", "))
        return (*map(_where, self.older), *path, *(refs_of(self.aside.around) if self.aside.text else ()))

    @property
    def fixed(self) -> int:
        return (
            count(self.opening)
            + sum(count(_bundle(older)) for older in self.older)
            + count(self.closing)
            + self.aside.tokens
            + sum(line.tokens for line in self.words)
            + 6
        )

    @property
    def tokens(self) -> int:
        return self.fixed + sum(block.tokens for block in self.blocks)


def query_of(workspace: Workspace) -> Query:
    """What the session is about now: the goal, the user's newest words, the latest step."""
    said = [line.text for block in workspace.blocks[-8:] for line in block.lines if line.kind == "user"]
    latest = workspace.latest
    calls = [line.text for line in latest.lines if line.kind in ("call", "say")] if latest else []
    parts = [
        (workspace.goal, 1.0),
        *((text, 1.0) for text in workspace.revisions),
        *((text, 1.0) for text in said[-2:]),
        *((item.text, 0.8) for item in workspace.intent.open),
        *((text, 0.6) for text in calls),
    ]
    return Query.of(parts)


def render(workspace: Workspace, budget: Budget) -> View:
    """Render a workspace within a budget.

    Args:
        workspace: what is shown.
        budget: the most the view may cost.

    Returns:
        The view; `tokens` never exceeds `budget.tokens`. Whatever it leaves out is at the end of a ref.
    """
    query = query_of(workspace)
    workspace = narrowed(workspace, REACH * budget.tokens)
    aim = budget.tokens
    parts = _fit(_settled(workspace), aim, query)
    text = parts.text()
    tokens = count(text)
    while tokens > budget.tokens:
        aim -= tokens - budget.tokens + 4
        parts = _fit(_settled(workspace), aim, query)
        text = parts.text()
        tokens = count(text)
    texts = parts.texts()
    messages = [{"role": "user", "content": [{"type": "text", "text": piece} for piece in texts]}]
    refs = parts.refs
    return View(text, messages, len(texts) - bool(parts.end), tokens, refs, budget.limit, workspace.unfolded)


REACH = 4
"""Times its budget a view looks back over blocks that nobody has consolidated."""


def narrowed(workspace: Workspace, tokens: int) -> Workspace:
    """The newest blocks that cost at most `tokens`; what lies before them as one stretch, the user's words in it kept. Pure."""
    at, left = len(workspace.blocks), tokens
    while at > 0 and (left > 0 or at == len(workspace.blocks)):
        at -= 1
        left -= workspace.blocks[at].tokens
    if at == 0:
        return workspace
    gone = workspace.blocks[:at]
    words = tuple(line for block in gone for line in block.lines if line.kind == "user")
    before = workspace.older
    steps = sum(len(block.steps) for block in gone)
    older = Older(
        before.first if before else gone[0].steps[0],
        gone[-1].steps[-1],
        steps + (before.count if before else 0),
        sum(block.raw for block in gone) + (before.raw if before else 0),
    )
    return replace(workspace, older=older, words=(*workspace.words, *words)[-WORDS:], blocks=workspace.blocks[at:])


WORDS = 60
"""Messages of the user that outlive the blocks they stood in."""


def _settled(workspace: Workspace) -> _Parts:
    """Everything in its settled form."""
    goal = f"goal: {workspace.goal}" if workspace.goal else ""
    opening = "\n".join(text for text in (prompt("legend").strip(), goal) if text)
    older = () if workspace.older is None else (workspace.older,)
    last = len(workspace.blocks) - 1
    blocks = tuple(show(block, at == last) for at, block in enumerate(workspace.blocks))
    now = "\n".join(f"goal now: {text}" for text in workspace.revisions)
    parts = _Parts(opening, older, workspace.words, blocks, now, now)
    if not workspace.elsewhere.empty:
        parts = replace(parts, aside=Aside.of(workspace.elsewhere, asks_for_all(workspace.asked)))
    guidance = workspace.guidance.at(workspace.path_length)
    if workspace.intent.empty and guidance.silent:
        return parts
    return _closed(replace(parts, intent=workspace.intent, guidance=guidance), 0)


CLOSING = 0.4
"""Of a view's budget, what the intent may take at most before it takes a shorter form."""
HALF = 0.5
"""Of a view's budget, what the latest block keeps before extracts yield to it."""
LATEST = 0.3
"""Of a view's budget, what the latest block keeps before messages of the user yield to it."""


def _closed(parts: _Parts, form: int) -> _Parts:
    """The parts with the intent at their end in one of its forms, behind it what refactorings left."""
    if parts.intent is None or parts.guidance is None:
        return parts
    lines = (*parts.words, *(line for block in parts.blocks for line in block.lines))
    standing = frozenset(line.ref for line in lines if line.kind == "user")
    said = closing(parts.intent, standing, form)
    guided = shown_guidance(parts.guidance, [block.text for block in parts.blocks], form)
    return replace(parts, closing="\n".join(part for part in (parts.now, said, guided) if part))


def _fit_planned(parts: _Parts, aim: int, query: Query) -> _Parts:
    """Fit where something was planned: old blocks yield first, then the end and the latest block by degrees, then the user's words to what binds in them."""
    form = 0
    while form < FORMS - 1 and count(parts.closing) > CLOSING * aim:
        form += 1
        parts = _closed(parts, form)
    if parts.tokens > aim:
        parts = replace(parts, blocks=tuple(descend(parts.blocks, aim - parts.fixed, query)))
    if parts.tokens > aim:
        parts = _merge_stubs(parts)
    parts = _latest_to_share(parts, aim, HALF)
    while parts.tokens > aim and form < 2:
        form += 1
        parts = _closed(parts, form)
    parts = _latest_to_share(parts, aim, LATEST)
    for rung in (0, 1):
        parts = _words_to_gist(parts, aim, rung)
    while parts.tokens > aim and form < FORMS - 1:
        form += 1
        parts = _closed(parts, form)
    return parts


def _latest_to_share(parts: _Parts, aim: int, share: float) -> _Parts:
    """The latest block to no less than a share of the budget, as far as that is needed."""
    if parts.tokens <= aim or not parts.blocks or not parts.blocks[-1].latest:
        return parts
    latest = parts.blocks[-1].tokens
    spare = parts.tokens - latest
    return parts if latest <= share * aim else _latest_to_head(parts, max(aim, spare + int(share * aim)))


def _words_to_gist(parts: _Parts, aim: int, form: int) -> _Parts:
    """The user's older words to what binds in them, oldest first."""
    over = parts.tokens - aim
    words = list(parts.words)
    for at in range(len(words)):
        if over > 0:
            short = gist(words[at], form)
            over -= words[at].tokens - short.tokens
            words[at] = short
    blocks = list(parts.blocks)
    for at, block in enumerate(blocks):
        if over > 0 and not block.latest:
            lines = tuple(gist(line, form) if line.kind == "user" else line for line in block.lines)
            over -= block.tokens - (shorter := replace(block, lines=lines)).tokens
            blocks[at] = shorter
    return replace(parts, words=tuple(words), blocks=tuple(blocks))


def _where(older: Older) -> str:
    return f"s{older.first}" if older.first == older.last else f"s{older.first}-s{older.last}"


def _bundle(older: Older) -> str:
    """What stands for a long stretch of which nothing else stands."""
    return f"[{_where(older)} | {older.count} steps | {older.raw} tok | recall {_where(older)}]"


def _fit(parts: _Parts, aim: int, query: Query) -> _Parts:
    """Let parts take shorter forms, rung by rung, until they cost at most `aim`."""
    parts = replace(parts, aside=parts.aside.within(parts.aside.share * aim))
    if parts.intent is not None:
        parts = _fit_planned(parts, aim, query)
    if parts.tokens <= aim:
        return parts
    parts = replace(parts, blocks=tuple(descend(parts.blocks, aim - parts.fixed, query)))
    if parts.tokens > aim:
        parts = _merge_stubs(parts)
    for yields in (
        _aside_to_values,
        _words_to_heads,
        _words_to_refs,
        _latest_to_head,
        _aside_to_refs,
        _goal_to_head,
        _all_to_stub,
    ):
        if parts.tokens <= aim:
            return parts
        parts = yields(parts, aim)
    return parts


def _aside_to_values(parts: _Parts, aim: int) -> _Parts:
    """What stands elsewhere as far down as the values the user said, where that is needed."""
    return replace(parts, aside=parts.aside.within(parts.aside.tokens - (parts.tokens - aim), VALUES))


def _aside_to_refs(parts: _Parts, aim: int) -> _Parts:
    return replace(parts, aside=parts.aside.within(aim // 16))


def _merge_stubs(parts: _Parts) -> _Parts:
    return replace(parts, blocks=joined(parts.blocks))


def _words_to_heads(parts: _Parts, aim: int) -> _Parts:
    """The user's older words to their heads, oldest first."""
    over = parts.tokens - aim
    words = list(parts.words)
    for at in range(len(words)):
        if over <= 0:
            break
        short = clip(words[at], WORDS_HEAD)
        over -= words[at].tokens - short.tokens
        words[at] = short
    blocks = list(parts.blocks)
    for at, block in enumerate(blocks):
        if over <= 0:
            break
        if not block.latest:
            blocks[at] = replace(
                block, lines=tuple(clip(line, WORDS_HEAD) if line.kind == "user" else line for line in block.lines)
            )
            over -= block.tokens - blocks[at].tokens
    return replace(parts, words=tuple(words), blocks=tuple(blocks))


def _words_to_refs(parts: _Parts, aim: int) -> _Parts:
    """The user's older words to the refs of their steps, oldest first."""
    over = parts.tokens - aim
    words = list(parts.words)
    while words and over > 0:
        over -= words.pop(0).tokens
    blocks = list(parts.blocks)
    for at, block in enumerate(blocks):
        if over <= 0:
            break
        if not block.latest:
            blocks[at] = replace(block, lines=(), prose="", cut=True, status=None)
            over -= block.tokens - blocks[at].tokens
    return _merge_stubs(replace(parts, words=tuple(words), blocks=tuple(blocks)))


def _latest_to_head(parts: _Parts, aim: int) -> _Parts:
    """The latest block: its long texts first, then every line, to what is left."""
    if not parts.blocks or not parts.blocks[-1].latest:
        return parts
    latest = parts.blocks[-1]
    room = max(aim - (parts.tokens - latest.tokens) - 12, 0)
    for size in (room // 2, room // 4, 64, 24, 8):
        lines = tuple(clip(line, size) for line in latest.lines)
        short = replace(latest, lines=lines, prose=head(latest.prose, max(size, 0)), cut=True)
        if short.tokens <= room:
            return replace(parts, blocks=(*parts.blocks[:-1], short))
    kept: list[Line] = []
    spent = 24
    for line in sorted(latest.lines, key=lambda line: line.kind != "user"):
        short_line = clip(line, 16)
        if spent + short_line.tokens <= room:
            kept.append(short_line)
            spent += short_line.tokens
    kept.sort(key=lambda line: [other.ref for other in latest.lines].index(line.ref))
    return replace(parts, blocks=(*parts.blocks[:-1], replace(latest, lines=tuple(kept), prose="", cut=True)))


def _goal_to_head(parts: _Parts, aim: int) -> _Parts:
    return replace(
        parts,
        opening=head(parts.opening, max(aim // 2, 48)) + " …",
        closing=head(parts.closing, aim // 8),
        aside=parts.aside.head(aim // 8),
    )


def _all_to_stub(parts: _Parts, aim: int) -> _Parts:
    """When even stubs are too many: the path as one address, the latest as another."""
    steps = tuple(step for block in parts.blocks for step in block.steps)
    raw = sum(block.raw for block in parts.blocks)
    if not steps:
        return replace(parts, opening=head(parts.opening, max(aim - 8, 0)), words=(), closing="", aside=NOTHING)
    bundle = Older(steps[0], steps[-1], len(steps), raw)
    opening = head(parts.opening, max(aim - 60, 8))
    return replace(
        parts,
        opening=opening,
        older=(*parts.older, bundle),
        words=(),
        blocks=(),
        closing="",
        aside=parts.aside.head(aim // 8),
    )
