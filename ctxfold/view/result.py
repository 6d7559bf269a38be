"""One result within a budget."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ctxfold.errors import BudgetError
from ctxfold.log.json import tree_of
from ctxfold.log.lines import Line, lines_of_tree
from ctxfold.prompts import prompt
from ctxfold.select import GAP, Choice, Piece, pieces_of_lines, pieces_of_text, write
from ctxfold.text.words import changed_lines, counted
from ctxfold.tokens import count, head

LEAST = 128
"""The least budget of one result, in o200k tokens."""

NOWHERE = "s999999.99"
"""Stands for an address until there is one (`Bounded.at`)."""

Form = Literal["whole", "change", "rows", "part"]
"""As it is; as what differs from the tool's last answer; as exact rows with nothing left out; as a part."""

_SHARE = 0.08
_LEAN, _SLOPE = 0.2, 0.4
"""A result far above the budget takes a share of its own size, and at least a fifth of the budget; one just above it takes more, so that no cliff stands there."""
_DENSE = 12
"""Characters for a token, generously: rows of a longer text are not counted to see whether all of them fit."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The last answer of the same tool: its text, and its address."""

    text: str
    ref: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool returned.

    Attributes:
        text: the exact text.
        ref: the address under which it is recorded.
        tool: what a reader calls to have it back, as `recall` is.
        earlier: the tool's last answer, if there is one.
    """

    text: str
    ref: str
    tool: str = "recall"
    earlier: Earlier | None = None


@dataclass(frozen=True, slots=True)
class Bounded:
    """A result within its budget.

    Attributes:
        text: what stands for it.
        ref: the address of all of it.
        form: how it stands.
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
        """What stands without the line that names the address."""
        return self.text if self.form == "whole" else self.text.partition("\n")[2]

    def at(self, ref: str) -> Bounded:
        """The same under another address: one that is known only once the result is recorded. It is not longer than the one it takes the place of."""
        if self.form == "whole":
            return replace(self, ref=ref)
        first, mark, rest = self.text.partition("\n")
        text = first.replace(self.ref, ref) + mark + rest
        return replace(self, text=text, ref=ref, tokens=count(text))


def bounded(result: Result, need: str = "", budget: int = 2_000) -> Bounded:
    """Bound a result.

    Args:
        result: what a tool returned; it is recorded already.
        need: what is wanted of it, in words.
        budget: the most o200k tokens it may cost.

    Returns:
        The result as it is where it costs no more than the budget; else what changed since the tool's last answer, its records as exact rows, or those of its
        parts that tell most, with every gap marked.

    Raises:
        BudgetError: the budget is below `LEAST`.
    """
    if budget < LEAST:
        raise BudgetError(f"a budget of {budget} tokens is too small for a result: give at least {LEAST}")
    raw = count(result.text)
    if raw <= budget:
        return Bounded(result.text, result.ref, "whole", raw, raw)
    room = min(budget, max(int(_LEAN * budget), int(_SHARE * raw), int((1 - _SLOPE * raw / budget) * budget)))
    change = None if result.earlier is None else _change(result, result.earlier, raw, room)
    if change is not None:
        return Bounded(change, result.ref, "change", count(change), raw)
    form, text = _shortened(result, need, raw, room, budget)
    return Bounded(text, result.ref, form, count(text), raw)


def _change(result: Result, earlier: Earlier, raw: int, room: int) -> str | None:
    """What differs from an earlier answer; None where that is all or nothing, or too much to be said."""
    if result.text == earlier.text:
        return None
    changed = changed_lines(earlier.text, result.text)
    if changed is None:
        return None
    words = prompt("bounded_change", ref=result.ref, raw=f"{raw:,}", before=earlier.ref, tool=result.tool)
    told = "\n".join([words, *changed])
    return told if count(told) <= room else None


def _shortened(result: Result, need: str, raw: int, room: int, budget: int) -> tuple[Form, str]:
    """The result as rows where all of them fit the budget, else its parts that say most, within the room."""
    tree = tree_of(result.text)
    if tree is None:
        return "part", _choose_text(result, need, raw, room)
    lines = list(lines_of_tree(tree, result.ref))
    if len(result.text) <= _DENSE * budget:
        whole = "\n".join(line.text.removeprefix("< ") for line in lines)
        told = f"{_head(result, raw, count(whole), numbered=False)}\n{whole}"
        if count(told) <= budget:
            return "rows", told
    return "part", _choose_rows(result, need, raw, lines, room)


def _choose_rows(result: Result, need: str, raw: int, lines: Sequence[Line], room: int) -> str:
    """The rows and cells that say most, with the number of rows left out."""
    pieces = pieces_of_lines(lines)

    def tell(places: Sequence[int]) -> str:
        shown = [line.text.removeprefix("< ") for line in write(lines, pieces, places)]
        gone = len(lines) - len(shown)
        words = _head(result, raw, room, numbered=False)
        return "\n".join([words, *shown, *([f"{GAP} {counted(gone, 'row')} left out whole"] if gone else [])])

    return _choose(pieces, need, room, tell)


def _choose_text(result: Result, need: str, raw: int, room: int) -> str:
    """The lines that say most, each gap marked with the numbers of its lines."""
    pieces = pieces_of_text(result.text)
    starts = [0, *(found.end() for found in re.finditer("\n", result.text))]
    numbers = [bisect_right(starts, piece.span.start) for piece in pieces]

    def tell(places: Sequence[int]) -> str:
        shown: list[str] = [_head(result, raw, room, numbered=True)]
        line, end = 0, 0
        for place in sorted(places):
            piece, number = pieces[place], numbers[place]
            if number == line:
                shown[-1] += (
                    result.text[end : piece.span.start]
                    if not result.text[end : piece.span.start].strip()
                    else f" {GAP} "
                )
                shown[-1] += piece.text
            else:
                shown += [*_mark_gap(line + 1, number), f"{GAP} {piece.text}" if piece.part else piece.text]
            line, end = number, piece.span.end
        return "\n".join([*shown, *_mark_gap(line + 1, len(starts) + 1)])

    return _choose(pieces, need, room, tell)


def _choose(pieces: Sequence[Piece], need: str, room: int, tell: Callable[[Sequence[int]], str]) -> str:
    """Pieces as they are told within a room, the first two and the last before all others."""
    choice = Choice(pieces, need)
    said = [place for place, piece in enumerate(pieces) if piece.kind != "head"]
    choice.fill(room, said[:2] + said[-1:])
    return head(tell(choice.fit(room, lambda places: count(tell(places)))), room)


def _mark_gap(first: int, end: int) -> Iterable[str]:
    """The mark for lines from a first one up to, not with, the second."""
    if end - first > 1:
        yield f"{GAP} {first}-{end - 1}"
    elif first < end:
        yield GAP


def _head(result: Result, raw: int, shown: int, numbered: bool) -> str:
    """What is said above a part: its address, its size, and how the rest is had."""
    same = result.earlier is not None and result.earlier.text == result.text
    lines = prompt("bounded_lines", ref=result.ref, tool=result.tool, range="40-77") if numbered else ""
    blanks = {"ref": result.ref, "raw": f"{raw:,}", "shown": f"{shown:,}", "tool": result.tool, "lines": lines}
    if same and result.earlier is not None:
        return prompt("bounded_same", before=result.earlier.ref, **blanks)
    return prompt("bounded", **blanks)
