"""Shows one result of a tool within a budget."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ctxfold.errors import BudgetError
from ctxfold.log.json import tree_of
from ctxfold.log.lines import lines_of_tree
from ctxfold.prompts import prompt
from ctxfold.select.choose import Choice
from ctxfold.select.pieces import Piece, find_above, pieces_of_lines, pieces_of_rows, pieces_of_text, read_piece
from ctxfold.select.score import find_promising
from ctxfold.select.write import GAP, write, write_rows
from ctxfold.text.words import changed_lines, counted
from ctxfold.tokens import count, head

LEAST = 128
"""The least budget of one result, in o200k tokens."""
NOWHERE = "s999999.99"
"""The address of a result that is not recorded yet; `BoundedResult.at` replaces it."""
_SHARE, _LEAST_SHARE, _SLOPE = 0.08, 0.2, 0.4
"""A large result gets this share of its size, but at least a fifth of the budget; one a little above the budget gets
more."""
_DENSE = 12
"""Characters for a token, generously: rows of a longer text are not counted to see whether all of them fit."""

_READ = 4
"""A room's worth of lines is chosen from this many rooms' worth that a look at each finds promising."""

Form = Literal["whole", "change", "rows", "part"]
"""As it is; as the lines that differ from the tool's last answer; as exact rows, nothing left out; as a part."""


@dataclass(frozen=True, slots=True)
class EarlierResult:
    """The last answer of the same tool: its text and its address."""

    text: str
    ref: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A text that a tool returned.

    Attributes:
        text: the exact text.
        ref: the address under which it is recorded.
        tool: the name of the tool that gives it back, such as `recall`.
        earlier: the tool's last answer, if there is one.
    """

    text: str
    ref: str
    tool: str = "recall"
    earlier: EarlierResult | None = None


@dataclass(frozen=True, slots=True)
class BoundedResult:
    """A result within its budget.

    Attributes:
        text: the text that is shown.
        ref: the address of the whole result.
        form: how it is shown.
        tokens: o200k tokens of `text`.
        raw: o200k tokens of the whole result.
    """

    text: str
    ref: str
    form: Form
    tokens: int
    raw: int

    @property
    def body(self) -> str:
        """The text without the line that names the address."""
        return self.text if self.form == "whole" else self.text.partition("\n")[2]

    def at(self, ref: str) -> BoundedResult:
        """The same under the address that it was recorded at, which must not be longer than the one before."""
        if self.form == "whole":
            return replace(self, ref=ref)
        first, mark, rest = self.text.partition("\n")
        text = first.replace(self.ref, ref) + mark + rest
        return replace(self, text=text, ref=ref, tokens=count(text))


def shorten_result(result: ToolResult, need: str = "", budget: int = 2_000) -> BoundedResult:
    """Show a result within a budget.

    Args:
        result: the result.
        need: the reader's need of it, in words.
        budget: the most o200k tokens it may cost.

    Returns:
        The result as it is where it fits. If not: the lines that changed since the tool's last answer, all its records
        as exact rows if those fit the budget, or the parts of it that are worth most, each gap marked.

    Raises:
        BudgetError: the budget is below `LEAST`.
    """
    if budget < LEAST:
        raise BudgetError(f"a budget of {budget} tokens is too small for a result: give at least {LEAST}")
    raw = count(result.text)
    if raw <= budget:
        return BoundedResult(result.text, result.ref, "whole", raw, raw)
    room = min(budget, int(max(_LEAST_SHARE * budget, _SHARE * raw, budget - _SLOPE * raw)))
    form, text = _write_change(result, raw, room) or _write_rows(result, need, raw, room, budget)
    return BoundedResult(text, result.ref, form, count(text), raw)


def _write_change(result: ToolResult, raw: int, room: int) -> tuple[Form, str] | None:
    """The lines that differ from the tool's last answer; None if none or all do, or they do not fit."""
    earlier = result.earlier
    changed = changed_lines(earlier.text, result.text) if earlier and earlier.text != result.text else None
    if earlier is None or changed is None:
        return None
    words = prompt("bounded_change", ref=result.ref, raw=f"{raw:,}", before=earlier.ref, tool=result.tool)
    text = "\n".join([words, *changed])
    return ("change", text) if count(text) <= room else None


def _write_rows(result: ToolResult, need: str, raw: int, room: int, budget: int) -> tuple[Form, str]:
    """The records of a result as rows: all of them if they fit the budget, else those worth most within the room."""
    tree = tree_of(result.text)
    if tree is None:
        return "part", _choose_lines(result, need, raw, room)
    lines = list(lines_of_tree(tree, result.ref))
    if len(result.text) <= _DENSE * budget:
        rows = "\n".join(line.text.removeprefix("< ") for line in lines)
        text = f"{_write_head(result, raw, count(rows), numbered=False)}\n{rows}"
        if count(text) <= budget:
            return "rows", text
    above = find_above(lines)
    promising = {place for at in _find_promising(pieces_of_rows(lines), need, room) for place in (at, *above[at])}
    read = [lines[at] for at in sorted(promising)]
    pieces = pieces_of_lines(read)
    first = _write_head(result, raw, room, numbered=False)

    def write_chosen(places: Sequence[int]) -> str:
        shown = [line.text.removeprefix("< ") for line in write(read, pieces, places)]
        gone = len(lines) - len(shown)
        return "\n".join([first, *shown, *([f"{GAP} {counted(gone, 'row')} left out whole"] if gone else [])])

    return "part", _choose(pieces, range(len(pieces)), need, room, write_chosen)


def _choose_lines(result: ToolResult, need: str, raw: int, room: int) -> str:
    """The lines of a text that are worth most, each gap marked with the numbers of its lines."""
    text = result.text
    pieces = pieces_of_text(text)
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    numbers = [*(bisect_right(starts, piece.span.start) for piece in pieces), len(starts) + 1]
    first = _write_head(result, raw, room, numbered=True)
    places = _find_promising(pieces, need, room)
    for place in places:
        pieces[place] = read_piece(pieces[place])

    def write_chosen(chosen: Sequence[int]) -> str:
        return "\n".join([first, *write_rows(text, pieces, sorted(chosen), numbers, _mark_gap)])

    return _choose(pieces, places, need, room, write_chosen)


def _find_promising(lines: Sequence[Piece], need: str, room: int) -> set[int]:
    """The places of the first two lines, of the last, and of those that may be chosen."""
    places = range(len(lines))
    return {*places[:2], *places[-1:], *find_promising(lines, need, _READ * room)}


def _choose(
    pieces: Sequence[Piece], among: Iterable[int], need: str, room: int, write_chosen: Callable[[Sequence[int]], str]
) -> str:
    """Pieces as they are written within a room: the first two and the last, then those worth most."""
    choice = Choice(pieces, need, among=among)
    places = [place for place, piece in enumerate(pieces) if piece.kind != "head"]
    choice.fill(room, places[:2] + places[-1:])
    return head(write_chosen(choice.fit(room, lambda chosen: count(write_chosen(chosen)))), room)


def _mark_gap(first: int, end: int) -> str:
    """The mark for the lines from a first one up to, not with, another."""
    return GAP if first == end - 1 else f"{GAP} {first}-{end - 1}"


def _write_head(result: ToolResult, raw: int, shown: int, numbered: bool) -> str:
    """The line above a part: its address, its size, and how to get the rest."""
    lines = prompt("bounded_lines", ref=result.ref, tool=result.tool, range="40-77") if numbered else ""
    blanks = {"ref": result.ref, "raw": f"{raw:,}", "shown": f"{shown:,}", "tool": result.tool, "lines": lines}
    if result.earlier is not None and result.earlier.text == result.text:
        return prompt("bounded_same", before=result.earlier.ref, **blanks)
    return prompt("bounded", **blanks)
