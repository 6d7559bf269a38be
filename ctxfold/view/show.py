"""`Shown`: a block of the cover as the text that stands for it in a view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from ctxfold.log.lines import Line, unposed
from ctxfold.tokens import count_lines
from ctxfold.workspace.workspace import Block, RawStep, Tile, spans

__all__ = ["Shown", "addressed", "show", "unkept"]

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
    for line in lines:
        step = line.ref.partition(".")[0]
        made.append(line.text if step == at or line.kind == "stub" else f"{step} {line.text}")
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
