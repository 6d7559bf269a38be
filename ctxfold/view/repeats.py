"""Shows a result that came before as what changed of it, where the earlier one stands whole before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ctxfold.log.lines import Line
from ctxfold.text.similarity import changed_lines
from ctxfold.view.pieces import shape_of
from ctxfold.workspace.workspace import Block, RawStep

__all__ = ["without_repeats"]

_LONG = 60
"""o200k tokens of a result from which it is worth a look whether it stands already."""
_MOST = 0.5
"""Of what a result costs, the most that what changed of it may."""
_HEAD, _READ = 3, 2_000
"""Lines by which a text is known again, and characters in which they are looked for."""


def without_repeats(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Blocks in which a result that stands in a step before it, in full and word for word, is one line that names it, and one that differs in a few lines
    from the last that began alike is those lines. Only steps in full are looked at: what a tile shows may be a part.
    """
    same: dict[str, Line] = {}
    alike: dict[str, Line] = {}
    made: list[Block] = []
    for block in blocks:
        lines = _step(block.lines, same, alike) if isinstance(block, RawStep) else block.lines
        if lines == block.lines or not isinstance(block, RawStep):
            made.append(block)
        else:
            saved = sum(line.tokens for line in block.lines) - sum(line.tokens for line in lines)
            made.append(replace(block, lines=lines, tokens=block.tokens - saved))
    return tuple(made)


def _step(lines: tuple[Line, ...], same: dict[str, Line], alike: dict[str, Line]) -> tuple[Line, ...]:
    """The lines of a step, what stands in `same` or nearly in `alike` before it said as that; what stands whole in it is added to them."""
    made: list[Line] = []
    for line in lines:
        if line.kind != "text" or line.tokens < _LONG:
            made.append(line)
            continue
        body = _body(line)
        head = _head(body)
        shorter = _again(line, body, same.get(body), alike.get(head))
        made.append(shorter or line)
        if shorter is None:
            same[body] = alike[head] = line
    return tuple(made)


def _again(line: Line, body: str, twin: Line | None, before: Line | None) -> Line | None:
    if twin is not None:
        return line.reworded(f"< as {twin.ref}, word for word")
    changed = changed_lines(_body(before), body) if before is not None else None
    if before is None or not changed:
        return None
    rows = "\n".join(changed)
    shorter = line.reworded(f"<<{line.ref} as {before.ref}, but:\n{rows}\n{line.ref}>>")
    return shorter if shorter.tokens <= _MOST * line.tokens else None


def _head(body: str) -> str:
    """By what a text is known again: its first lines, without what varies in them."""
    rows = [row for row in body[:_READ].splitlines() if row.strip()]
    return "\n".join(map(shape_of, rows[:_HEAD]))


def _body(line: Line) -> str:
    """The text of a result without the fence round it."""
    return line.text.partition("\n")[2].rpartition("\n")[0] if line.text.startswith("<<") else line.text
