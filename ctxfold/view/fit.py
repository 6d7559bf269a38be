"""Within a budget: the pieces of a view take shorter forms, rung by rung, until they fit. Pure; whatever is left out stays at the end of a ref.

Old blocks yield first, then the end and the latest block by degrees, then the user's words; constraints and values last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ctxfold.log.lines import Line
from ctxfold.tokens import count, head
from ctxfold.view.elsewhere import NOTHING, SHARE, VALUES
from ctxfold.view.intent import FORMS, GISTS, closing, gist, within
from ctxfold.view.ladder import WORDS_HEAD, clip, descend, joined
from ctxfold.view.latest import shared, shrunk
from ctxfold.view.parts import Parts
from ctxfold.view.relevance import Query
from ctxfold.workspace.guidance import shown_guidance
from ctxfold.workspace.workspace import Older

__all__ = ["closed", "fit"]


CLOSING = 0.4
"""Of a view's budget, what the intent may take at most before it takes a shorter form."""
HALF = 0.5
"""Of a view's budget, what the latest block keeps before extracts yield to it."""
LATEST = 0.3
"""Of a view's budget, what the latest block keeps before messages of the user yield to it."""
MESSAGE = 0.5
"""Of a view's budget, what one message of the user takes at most where not everything fits."""
LEAST = 0.1
"""Of a view's budget, what the latest block keeps before the words around the user's values do."""


def closed(parts: Parts, form: int) -> Parts:
    """The parts with the intent at their end in one of its forms, behind it what refactorings left."""
    if parts.intent is None or parts.guidance is None:
        return parts
    said = closing(parts.intent, form)
    guided = shown_guidance(parts.guidance, [block.text for block in parts.blocks], form)
    return replace(parts, closing="\n".join(part for part in (parts.now, said, guided) if part))


def _fit_planned(parts: Parts, aim: int, query: Query) -> Parts:
    """Fit where something was planned: old blocks yield first, then the end and the latest block by degrees, then the user's words to what binds in them."""
    form = 0
    while form < FORMS - 1 and count(parts.closing) > CLOSING * aim:
        form += 1
        parts = closed(parts, form)
    if parts.tokens > aim:
        parts = replace(parts, blocks=tuple(descend(parts.blocks, aim - parts.fixed, query)))
    if parts.tokens > aim:
        parts = _merge_stubs(parts)
    parts = _latest_to_share(parts, aim, HALF, query)
    while parts.tokens > aim and form < 2:
        form += 1
        parts = closed(parts, form)
    parts = _latest_to_share(parts, aim, LATEST, query)
    said = {line.ref: line for line in parts.lines if line.kind == "user"}
    for rung in range(GISTS):
        if rung == 2:
            parts = _latest_to_share(parts, aim, LEAST, query)
        if parts.tokens > aim:
            parts = closed(_words_to_gist(parts, aim, rung, said), form)
    while parts.tokens > aim and form < FORMS - 1:
        form += 1
        parts = closed(parts, form)
    return parts


def _latest_to_share(parts: Parts, aim: int, share: float, query: Query) -> Parts:
    """The latest block to no less than a share of the budget, as far as that is needed."""
    if parts.tokens <= aim or not parts.blocks or not parts.blocks[-1].latest:
        return parts
    latest = parts.blocks[-1].tokens
    spare = parts.tokens - latest
    return parts if latest <= share * aim else _latest_to_head(parts, max(aim, spare + int(share * aim)), query)


def _words_to_gist(parts: Parts, aim: int, form: int, said: dict[str, Line]) -> Parts:
    """The user's older words to what binds in them, oldest first; `said` has each message whole."""
    over = parts.tokens - aim

    def shorter(line: Line) -> Line:
        nonlocal over
        if over <= 0 or line.kind != "user":
            return line
        short = gist(said[line.ref], form, line.tokens - over)
        if short.tokens >= line.tokens:
            return line
        over -= line.tokens - short.tokens
        return short

    return _reworded(parts, shorter)


def fit(parts: Parts, aim: int, query: Query) -> Parts:
    """Let parts take shorter forms, rung by rung, until they cost at most `aim`."""
    parts = replace(parts, elsewhere=parts.elsewhere.within(SHARE * aim))
    parts = _messages_to_share(parts, aim)
    if parts.intent is not None:
        parts = _fit_planned(parts, aim, query)
    if parts.tokens <= aim:
        return parts
    parts = replace(parts, blocks=tuple(descend(parts.blocks, aim - parts.fixed, query)))
    if parts.tokens > aim:
        parts = _merge_stubs(parts)
    for yields in (
        _elsewhere_to_values,
        partial(_latest_to_share, share=HALF, query=query),
        _words_to_heads,
        partial(_latest_to_share, share=LATEST, query=query),
        _words_to_refs,
        partial(_latest_to_head, query=query),
        _elsewhere_to_refs,
        _goal_to_head,
        _all_to_stub,
    ):
        if parts.tokens <= aim:
            return parts
        parts = yields(parts, aim)
    return parts


def _messages_to_share(parts: Parts, aim: int) -> Parts:
    """No message of the user in more than its share and what all else leaves, where not everything fits: a pasted document would leave nothing else."""
    over = parts.tokens - aim
    if over <= 0:
        return parts

    def shorter(line: Line) -> Line:
        return within(line, max(int(MESSAGE * aim), line.tokens - over)) if line.kind == "user" else line

    return _reworded(parts, shorter, latest=True)


def _reworded(parts: Parts, shorter: Callable[[Line], Line], *, latest: bool = False) -> Parts:
    """The parts with the messages of the user in shorter forms, oldest first; those of the latest block only where that is said."""
    words = tuple(map(shorter, parts.words))
    blocks = [
        block if block.latest and not latest else replace(block, lines=tuple(map(shorter, block.lines)))
        for block in parts.blocks
    ]
    return replace(parts, words=words, blocks=tuple(blocks))


def _elsewhere_to_values(parts: Parts, aim: int) -> Parts:
    """What stands elsewhere as far down as the values the user said, where that is needed."""
    return replace(parts, elsewhere=parts.elsewhere.within(parts.elsewhere.tokens - (parts.tokens - aim), VALUES))


def _elsewhere_to_refs(parts: Parts, aim: int) -> Parts:
    return replace(parts, elsewhere=parts.elsewhere.within(aim // 16))


def _merge_stubs(parts: Parts) -> Parts:
    return replace(parts, blocks=joined(parts.blocks))


def _words_to_heads(parts: Parts, aim: int) -> Parts:
    """The user's older words to their heads, oldest first; none further than is needed."""
    over = parts.tokens - aim

    def shorter(line: Line) -> Line:
        nonlocal over
        if over <= 0 or line.kind != "user":
            return line
        short = _least(line, max(line.tokens - over, WORDS_HEAD + 8))
        over -= line.tokens - short.tokens
        return short

    return _reworded(parts, shorter)


def _words_to_refs(parts: Parts, aim: int) -> Parts:
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


def _latest_to_head(parts: Parts, aim: int, query: Query) -> Parts:
    """The latest block to what is left: its long texts and its rows first, then every line."""
    if not parts.blocks or not parts.blocks[-1].latest:
        return parts
    latest = parts.blocks[-1]
    room = max(aim - (parts.tokens - latest.tokens) - 12, 0)
    words = {at: line.tokens for at, line in enumerate(latest.lines) if line.kind == "user"}
    other = latest.tokens - sum(words.values())
    shares = shared(words, max(room // 2, room - other))
    least = {id(latest.lines[at]): _least(latest.lines[at], share) for at, share in shares.items()}
    spoken = tuple(least.get(id(line)) or line for line in latest.lines)
    asked = shrunk(replace(latest, lines=spoken), room, query)
    if asked is not None:
        return replace(parts, blocks=(*parts.blocks[:-1], asked))
    for size in (64, 24, 8):
        lines = tuple(least.get(id(line)) or clip(line, size) for line in latest.lines)
        short = replace(latest, lines=lines, prose=head(latest.prose, size), cut=True)
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
    if line.tokens <= room:
        return line
    forms = (gist(line, form, room) for form in range(GISTS))
    return next((form for form in forms if form.tokens <= room), clip(line, WORDS_HEAD))


def _goal_to_head(parts: Parts, aim: int) -> Parts:
    return replace(
        parts,
        opening=head(parts.opening, max(aim // 2, 48)) + " …",
        closing=head(parts.closing, aim // 8),
        elsewhere=parts.elsewhere.head(aim // 8),
    )


def _all_to_stub(parts: Parts, aim: int) -> Parts:
    """When even stubs are too many: the path as one address, the latest as another."""
    steps = tuple(step for block in parts.blocks for step in block.steps)
    raw = sum(block.raw for block in parts.blocks)
    if not steps:
        return replace(parts, opening=head(parts.opening, max(aim - 8, 0)), words=(), closing="", elsewhere=NOTHING)
    bundle = Older(steps[0], steps[-1], len(steps), raw)
    opening = head(parts.opening, max(aim - 60, 8))
    return replace(
        parts,
        opening=opening,
        older=(*parts.older, bundle),
        words=(),
        blocks=(),
        closing="",
        elsewhere=parts.elsewhere.head(aim // 8),
    )
