"""Shortens blocks to a number of tokens, and writes a stub for each long stretch of which nothing stands."""

from __future__ import annotations

from collections.abc import Sequence

from ctxfold.log.lines import Line, line
from ctxfold.log.page import references_in, without_references
from ctxfold.text import select
from ctxfold.tokens import count, count_lines
from ctxfold.view.choose import choose
from ctxfold.view.pieces import Piece, cells_of, pieces_of, words_of
from ctxfold.view.shorten import GAP, shortened
from ctxfold.view.show import Shown, addressed
from ctxfold.view.stretch import Chosen, Stretch
from ctxfold.workspace.workspace import spans

__all__ = ["condense", "gists", "stub"]

_USER_WORDS, _AT_MOST = 0.4, 0.5
"""The share of a view's budget that the user's words may take before anything else, and the most it is of the room for older steps."""
_FINDINGS = 0.25
"""The share of it that findings may take before them."""
_NEAR = 0.015
"""How near to its room a choice comes before it is left as it is."""
_TRIES = 5
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
    whole = [False] * len(lines) + [True] * len(behind)
    stretch = Stretch([*lines, *behind], [*steps, *after], whole)
    near = frozenset(word for text in query for word in words_of(text))
    wanted, fits, over = room, 0, 2 * room + 1
    tried: list[tuple[int, Chosen, list[Line]]] = []
    words = int(min(_USER_WORDS * budget, _AT_MOST * room))
    for _ in range(_TRIES):
        chosen = choose(stretch, wanted, near, words, int(_FINDINGS * budget))
        kept = shortened(stretch, chosen)[: sum(map(bool, chosen.kept[: len(lines)]))]
        cost = _cost(kept)
        tried.append((cost, chosen, kept))
        if cost <= room and (room - cost <= _NEAR * room or kept == lines):
            break
        fits, over = (wanted, over) if cost <= room else (fits, wanted)
        wanted += room - cost if cost <= room else 2 * (room - cost)
        wanted = wanted if fits < wanted < over else (fits + over) // 2
    _, chosen, kept = max(tried, key=lambda each: (each[0] <= room, each[0] if each[0] <= room else -each[0]))
    made: list[list[Line]] = [[] for _ in blocks]
    at = iter(kept)
    for place, where in enumerate(owner):
        if chosen.kept[place]:
            made[where].append(next(at))
    return _without_oldest(made, room)


def gists(summaries: Sequence[str], room: int, query: Sequence[str]) -> list[str]:
    """Summaries within a room of o200k tokens: where they do not all fit, of each the sentences that are nearest to what the session is about."""
    costs = [count(summary) + 1 if summary else 0 for summary in summaries]
    if sum(costs) <= room:
        return list(summaries)
    asked = "\n".join(query)
    made: list[str] = []
    for summary, cost in zip(summaries, costs, strict=True):
        share = room * cost // sum(costs) - _SEAMS
        spans = select(summary, asked, share) if share > 0 else []
        made.append(" ".join([*(f"{span.of(summary)} {GAP}" for span in spans)]))
    return made


def _without_oldest(made: list[list[Line]], room: int) -> list[list[Line]]:
    """The same, without the oldest lines while they cost more than the room."""
    over = _cost([each for lines in made for each in lines]) - room
    for lines in made:
        while lines and over > 0:
            over -= lines.pop(0).tokens
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
        for piece in pieces_of(each):
            told = [value for value, _ in piece.values if not (each.untrusted and len(value.split()) > 1)]
            names.update((_spelled(value, piece), None) for value in told[:1] if any(map(str.isdigit, value)))
    low = said.lower()
    names = {name: None for name in names if name.lower() not in low}
    for many in (_NAMES, 4, 1):
        text = f"[{where} · {raw} tok · {', '.join(list(names)[:many])}]"
        if names and count(text) + 1 <= most:
            return line("stub", where, text)
    return None


def _spelled(value: str, piece: Piece) -> str:
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
