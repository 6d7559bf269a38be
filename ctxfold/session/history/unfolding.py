"""Reads embedded folds back from the log as full steps, so that they can be folded anew.

A fold of a fold keeps what the first found worth keeping, for a question that has been answered since. Folding again from the log lets what the
session is about now decide over the newest of it, so nothing of that is lost twice. What is opened is bounded, however long the session is: the steps
before stand as they were folded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ctxfold.session.history.load import raw_steps
from ctxfold.session.history.tiles import Outline, is_lost, read_outline, read_tile
from ctxfold.store.sqlite import Reading
from ctxfold.store.values import Path
from ctxfold.workspace.workspace import HEADER, Block, RawStep, Tile, Workspace

__all__ = ["REACH", "unfolded"]

REACH = 4
"""Times the budget of a view that is opened, in o200k tokens of lines, newest first; what lies before stays folded. Recorded conversations lose
nothing by it that opening all of them would keep; a long session in code at a very small budget loses a few values."""
_CHUNK = 16
"""Steps that are read at once."""


def unfolded(tx: Reading, session: int, workspace: Workspace, blocks: Sequence[Block], reach: int) -> tuple[Block, ...]:
    """Blocks of the same steps with the tiles among them opened: the steps they were made of, and the tiles inside them that somebody wrote.

    `reach`: o200k tokens of lines to open, and at most one chunk of steps more. Of a tile that reaches further back, the older steps are one block
    of what it kept of them. Raises CorruptStore: something of them does not read back.
    """
    if all(isinstance(block, RawStep) for block in blocks):
        return tuple(blocks)
    path = tx.log.path(session, workspace.blocks[-1].steps[-1])
    opening = _Opening(tx, session, path, frozenset(number for number, _ in workspace.guidance.depths))
    found: list[Block] = []
    spent = 0
    for block in reversed(blocks):
        parts = [block] if isinstance(block, RawStep) else opening.open(block, reach - spent)
        spent += sum(part.tokens for part in parts)
        found += parts
    return tuple(found[::-1])


@dataclass(frozen=True, slots=True)
class _Opening:
    """What tiles are opened from: the log along a path; tiles in `kept` stay closed."""

    tx: Reading
    session: int
    path: Path
    kept: frozenset[int]

    def open(self, tile: Tile, room: int) -> list[Block]:
        """What a tile was made of, newest first, as far as there is room; what it kept of the rest as one block. A summary in front of a tile speaks for
        all that was written inside it, so that is opened too.
        """
        made: list[Block] = []
        within: list[Outline | range] = [Outline.of(tile)]
        while within and room > 0:
            inner = within.pop()
            if isinstance(inner, range):
                steps = self._steps(inner[-_CHUNK:])
                if len(inner) > _CHUNK:
                    within.append(inner[:-_CHUNK])
                made += reversed(steps)
                room -= sum(step.tokens for step in steps)
            elif (inner.written and not tile.front) or inner.number in self.kept:
                made.append(read_tile(self.tx, self.session, inner.number))
                room -= made[-1].tokens
            else:
                within += self._inside(inner)
        return [*made, _rest(tile, made)] if within else made

    def _inside(self, tile: Outline) -> Iterator[Outline | range]:
        """The tiles a tile was made of and the depths of the steps between them, in path order."""
        at = self._depth(tile.first)
        end = at + tile.size
        for number in tile.children:
            if is_lost(self.tx, self.session, number):
                continue
            child = read_outline(self.tx, self.session, number)
            first = self._depth(child.first)
            if first > at:
                yield range(at, first)
            yield child
            at = first + child.size
        if end > at:
            yield range(at, end)

    def _depth(self, step: int) -> int:
        there = self.tx.log.step(self.session, step)
        return 0 if there is None else there.depth

    def _steps(self, depths: range) -> list[RawStep]:
        steps = self.tx.log.along(self.session, self.path, depths[0], depths[-1])
        return raw_steps(self.tx, self.session, steps)


def _rest(tile: Tile, opened: Sequence[Block]) -> Tile:
    """A tile of the steps that were not opened, with what was kept of them."""
    refs = {line.ref for block in opened for line in block.lines}
    refs |= {block.id for block in opened if isinstance(block, Tile)}
    lines = tuple(line for line in tile.lines if line.ref not in refs and line.kind != "stub")
    steps = tile.steps[: len(tile.steps) - sum(len(block.steps) for block in opened)]
    return replace(
        tile,
        steps=steps,
        lines=lines,
        summary="" if tile.front else tile.summary,
        tokens=HEADER + sum(line.tokens for line in lines),
    )
