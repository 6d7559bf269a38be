"""What a report shows, as frozen values. They hold plain text: what it means in a page is the page's matter."""

from __future__ import annotations

from dataclasses import dataclass

from ctxfold.forest.tree import Topic

__all__ = ["Chapter", "Curve", "Piece", "Report", "StepShown", "TileShown"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One record: its address, what it is, its text, whether it is data of a tool or page, and how many characters were left out."""

    ref: str
    what: str
    text: str
    untrusted: bool
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class StepShown:
    """A step: its number, a line that tells of it, its raw cost (o200k tokens), its records, the blocks it is folded in, and a picture as a data URL."""

    n: int
    title: str
    raw: int
    pieces: tuple[Piece, ...]
    blocks: tuple[str, ...] = ()
    picture: str = ""


@dataclass(frozen=True, slots=True)
class TileShown:
    """A block: its address, the steps it stands for (as addresses and as numbers), what stands in the view, and what it costs in view and raw."""

    block: str
    where: str
    steps: tuple[int, ...]
    text: str
    tokens: int
    raw: int
    untrusted: bool


@dataclass(frozen=True, slots=True)
class Chapter:
    """The steps and blocks that are a branch's own."""

    topic: str
    branch: str
    current: bool
    forked_at: int
    steps: tuple[StepShown, ...]
    tiles: tuple[TileShown, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """What was on record and what a view cost, step by step: parallel numbers, in o200k tokens."""

    steps: tuple[int, ...]
    whole: tuple[int, ...]
    view: tuple[int, ...]

    @property
    def highest(self) -> int:
        """The largest number in it, at least 1."""
        return max((*self.whole, *self.view, 1))

    @property
    def widest(self) -> int:
        """The most a view cost, at least 1."""
        return max((*self.view, 1))

    def points(self, line: tuple[int, ...], top: int) -> str:
        """A line of it as the points of an SVG polyline, in a drawing of 1000 by 300.

        Args:
            line: `whole` or `view`.
            top: the number that touches the top.
        """
        last = max(len(line) - 1, 1)
        return " ".join(f"{at * 1000 / last:.1f},{300 - value * 300 / top:.1f}" for at, value in enumerate(line))


@dataclass(frozen=True, slots=True)
class Report:
    """A session as a page shows it; `view` is what its view costs now at that budget."""

    name: str
    goal: str
    budget: int
    view: int
    topics: tuple[Topic, ...]
    curve: Curve
    chapters: tuple[Chapter, ...]

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return sum(len(chapter.steps) for chapter in self.chapters)

    @property
    def raw(self) -> int:
        """What all of them cost raw, in o200k tokens."""
        return sum(step.raw for chapter in self.chapters for step in chapter.steps)
