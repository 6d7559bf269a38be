"""Makes the parts of a view fit a budget: first what stands at the end gets shorter forms, then blocks are shortened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ctxfold.tokens import count_lines, head
from ctxfold.view.condense import condense, gists
from ctxfold.view.elsewhere import NOTHING, SHARE, VALUES
from ctxfold.view.intent import FORMS, closing
from ctxfold.view.parts import Parts
from ctxfold.view.show import Shown, addressed
from ctxfold.workspace.guidance import shown_guidance
from ctxfold.workspace.workspace import Older

__all__ = ["closed", "fit"]

_CLOSING = 0.4
"""Of a view's budget, what the intent may take before it takes a shorter form."""
_LATEST = 0.6
"""Of the room for blocks, what the newest may take where not everything fits."""
_SUMMARIES = 0.5
"""Of the room for blocks, what the summaries may take before their best sentences stand for them."""
_LEAST, _SPARE = 24, 8
_TRIES = 6
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
    for _ in range(_TRIES):
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
