"""Workspace to view: stable prefix first, latest last, never above the budget. Pure: it reads no store and changes nothing.

The order is the cache's: what is read at every step stands first and only ever grows at its end; what changes stands last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ctxfold.folding.ladder import WORDS_HEAD, Shown, clip, descend, show
from ctxfold.folding.relevance import Query
from ctxfold.intent.gist import GISTS, gist
from ctxfold.intent.showing import FORMS, closing
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

    def texts(self) -> list[str]:
        front = [self.opening, *map(_bundle, self.older), *(line.text for line in self.words)]
        return [
            "\n".join(text for text in front if text),
            *(block.text for block in self.blocks),
            *([self.closing] if self.closing else []),
        ]

    def text(self) -> str:
        return "\n".join(self.texts())

    @property
    def refs(self) -> tuple[str, ...]:
        """The addresses of steps that stand in it, in order."""
        return (*map(_where, self.older), *(ref for block in self.blocks for ref in spans(block.steps).split(", ")))

    @property
    def fixed(self) -> int:
        return (
            count(self.opening)
            + sum(count(_bundle(older)) for older in self.older)
            + count(self.closing)
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
    return View(text, messages, len(texts) - bool(parts.closing), tokens, refs, budget.limit, workspace.unfolded)


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
    parts = _Parts(opening, older, workspace.words, blocks, now)
    return parts if workspace.intent.empty else _closed(replace(parts, now=now, intent=workspace.intent), 0)


CLOSING = 0.4
"""Of a view's budget, what the intent may take at most before it takes a shorter form."""
HALF = 0.5
"""Of a view's budget, what the latest block keeps before extracts yield to it."""
LATEST = 0.3
"""Of a view's budget, what the latest block keeps before messages of the user yield to it."""
LEAST = 0.1
"""Of a view's budget, what the latest block keeps before the words around the user's values do."""


def _closed(parts: _Parts, form: int) -> _Parts:
    """The parts with the intent at their end in one of its forms."""
    if parts.intent is None:
        return parts
    shown: dict[str, str] = {}
    for line in _lines(parts):
        if line.kind == "user":
            shown[line.ref] = shown.get(line.ref, "") + line.text
    said = closing(parts.intent, shown, form)
    return replace(parts, closing="\n".join(part for part in (parts.now, said) if part))


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
    said = {line.ref: line for line in _lines(parts) if line.kind == "user"}
    for rung in range(GISTS):
        if rung == 2:
            parts = _latest_to_share(parts, aim, LEAST)
        if parts.tokens > aim:
            parts = _closed(_words_to_gist(parts, aim, rung, said), form)
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


def _words_to_gist(parts: _Parts, aim: int, form: int, said: dict[str, Line]) -> _Parts:
    """The user's older words to what binds in them, oldest first; `said` has each message whole."""
    over = parts.tokens - aim

    def shorter(line: Line) -> Line:
        nonlocal over
        if over <= 0 or line.kind != "user":
            return line
        short = gist(said[line.ref], form)
        over -= line.tokens - short.tokens
        return short

    words = tuple(map(shorter, parts.words))
    blocks = (
        block if block.latest else replace(block, lines=tuple(map(shorter, block.lines))) for block in parts.blocks
    )
    return replace(parts, words=words, blocks=tuple(blocks))


def _lines(parts: _Parts) -> Iterator[Line]:
    yield from parts.words
    for block in parts.blocks:
        yield from block.lines


def _where(older: Older) -> str:
    return f"s{older.first}" if older.first == older.last else f"s{older.first}-s{older.last}"


def _bundle(older: Older) -> str:
    """What stands for a long stretch of which nothing else stands."""
    return f"[{_where(older)} | {older.count} steps | {older.raw} tok | recall {_where(older)}]"


def _fit(parts: _Parts, aim: int, query: Query) -> _Parts:
    """Let parts take shorter forms, rung by rung, until they cost at most `aim`."""
    if parts.intent is not None:
        parts = _fit_planned(parts, aim, query)
    if parts.tokens <= aim:
        return parts
    parts = replace(parts, blocks=tuple(descend(parts.blocks, aim - parts.fixed, query)))
    if parts.tokens > aim:
        parts = _merge_stubs(parts)
    for yields in (_words_to_heads, _words_to_refs, _latest_to_head, _goal_to_head, _all_to_stub):
        if parts.tokens <= aim:
            return parts
        parts = yields(parts, aim)
    return parts


def _merge_stubs(parts: _Parts) -> _Parts:
    merged: list[Shown] = []
    for block in parts.blocks:
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
    return replace(parts, blocks=tuple(merged))


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
    words = [line for line in latest.lines if line.kind == "user"]
    least = {id(line): _least(line, room // (2 * len(words))) for line in words}
    for size in (room // 2, room // 4, 64, 24, 8):
        lines = tuple(least.get(id(line)) or clip(line, size) for line in latest.lines)
        short = replace(latest, lines=lines, prose=head(latest.prose, max(size, 0)), cut=True)
        if short.tokens <= room:
            return replace(parts, blocks=(*parts.blocks[:-1], short))
    kept: list[Line] = []
    spent = 24
    for line in sorted(latest.lines, key=lambda line: line.kind != "user"):
        short_line = least.get(id(line)) or clip(line, 16)
        if spent + short_line.tokens <= room:
            kept.append(short_line)
            spent += short_line.tokens
    kept.sort(key=lambda line: [other.ref for other in latest.lines].index(line.ref))
    return replace(parts, blocks=(*parts.blocks[:-1], replace(latest, lines=tuple(kept), prose="", cut=True)))


def _least(line: Line, room: int) -> Line:
    """A message of the user in the fullest form that fits a room; its head where none does."""
    forms = (line, *(gist(line, form) for form in range(GISTS)), clip(line, 16))
    return next((form for form in forms if form.tokens <= room), forms[-1])


def _goal_to_head(parts: _Parts, aim: int) -> _Parts:
    return replace(parts, opening=head(parts.opening, max(aim // 2, 48)) + " …", closing=head(parts.closing, aim // 8))


def _all_to_stub(parts: _Parts, aim: int) -> _Parts:
    """When even stubs are too many: the path as one address, the latest as another."""
    steps = tuple(step for block in parts.blocks for step in block.steps)
    raw = sum(block.raw for block in parts.blocks)
    if not steps:
        return replace(parts, opening=head(parts.opening, max(aim - 8, 0)), words=(), closing="")
    bundle = Older(steps[0], steps[-1], len(steps), raw)
    opening = head(parts.opening, max(aim - 60, 8))
    return replace(parts, opening=opening, older=(*parts.older, bundle), words=(), blocks=(), closing="")
