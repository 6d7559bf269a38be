"""`Stretch`, the lines that are chosen from, and `Chosen`, what was chosen of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctxfold.log.lines import Line

HEAD = -1
"""Stands among the places of a line of which nothing but its beginning is kept, for the sake of lines under it."""


@dataclass(frozen=True)
class Stretch:
    """Lines to choose from, in path order.

    Attributes:
        lines: all of them.
        steps: of each line the place on the path of the step it stands in, from 0.
        whole: of each whether it stands whole, whatever is chosen.
    """

    lines: Sequence[Line]
    steps: Sequence[int]
    whole: Sequence[bool]


@dataclass(frozen=True)
class Chosen:
    """What stands of each line: its pieces by their places, in order; and what that costs in o200k tokens."""

    kept: tuple[tuple[int, ...], ...]
    tokens: int
