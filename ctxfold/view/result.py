"""One result within a budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ctxfold.errors import BudgetError
from ctxfold.log import Record
from ctxfold.log.json import Row, rows_of
from ctxfold.log.lines import lines_of
from ctxfold.prompts import prompt
from ctxfold.select import Stretch
from ctxfold.select.choose import choose
from ctxfold.select.pieces import (
    Unit,
    folders,
    ids_in,
    ids_of,
    is_listing,
    largest_table,
    paths_of,
    ranked,
    summary_of,
    tree_of,
    units_of,
    units_of_rows,
    words_of,
)
from ctxfold.select.write import GAP, shortened
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
_GAP = 5
"""o200k tokens of a mark for what is left out."""
_MISFITS = 40
"""After so many units in a row that no longer fit, the rest is not tried."""
_DENSE = 12
"""Characters for a token, generously: rows of a longer text are not counted to see whether all of them fit."""
_CELLS = 1_500
"""Rows and cells of a tree among which single cells are chosen; of more, rows are."""
_NAMES = (240, 120, 60, 1)
"""Characters of the names that stand behind a folder, as far as all folders fit."""


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


@dataclass(frozen=True, slots=True)
class _Parts:
    """What may be shown: units, whether their numbers are lines that `recall` returns, and a text that stands behind one of them whatever is chosen."""

    units: Sequence[Unit]
    numbered: bool = False
    between: tuple[int, str] | None = None


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
    form, text = _shortened(result, need, raw, (room, budget))
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


def _shortened(result: Result, need: str, raw: int, rooms: tuple[int, int]) -> tuple[Form, str]:
    """The result as rows or in part: within the first room, or, for the sake of all ids of its largest table, within the second."""
    room, budget = rooms
    tree = tree_of(result.text)
    if tree is None:
        lines = result.text.split("\n")
        kept = [line for line in lines if line.strip()]
        if is_listing(kept):
            return "part", _listing(result, raw, kept, need, room)
        return "part", _fill(result, raw, _Parts(units_of(result.text), numbered=True), need, room)
    paths = paths_of(tree)
    if is_listing(paths):
        return "part", _listing(result, raw, paths, need, room)
    rows = rows_of(tree)
    if len(result.text) <= _DENSE * budget:
        whole = "\n".join("  " * row.depth + row.text for row in rows)
        told = f"{_head(result, raw, count(whole), numbered=False)}\n{whole}"
        if count(told) <= budget:
            return "rows", told
    table = largest_table(rows)
    if table is not None:
        return "part", _table(result, raw, (rows, table), need, rooms)
    ids = ids_in(tree)
    if ids is None and sum(1 + len(row.cells) for row in rows) <= _CELLS:
        return "part", _cells(result, raw, need, room)
    return "part", _with_ids(result, raw, (units_of_rows(rows), 0, []), ids, need, rooms)


def _listing(result: Result, raw: int, paths: Sequence[str], need: str, room: int) -> str:
    """Paths by their folders, all of them where that can be, each with as many names as fit."""
    left = room - count(_head(result, raw, room, numbered=False))
    forms = (folders(paths, wide) for wide in _NAMES)
    fitting = (units for units in forms if count("\n".join(unit.text for unit in units)) <= left)
    units = next(fitting, None) or folders(paths, _NAMES[-1])
    return _fill(result, raw, _Parts(units), need, room)


def _table(result: Result, raw: int, read: tuple[Sequence[Row], range], need: str, rooms: tuple[int, int]) -> str:
    """A table by what its columns hold and its first and last rows; with all its ids where the budget holds them, else with rows from all over it."""
    rows, table = read
    summary = head(summary_of(rows, table), rooms[0] // 4)
    told = [f"  of all {len(table)}: {summary}"] if summary else []
    return _with_ids(result, raw, (units_of_rows(rows), table[0] - 1, told), ids_of(rows, table), need, rooms)


def _with_ids(
    result: Result,
    raw: int,
    read: tuple[Sequence[Unit], int, list[str]],
    ids: tuple[str, list[str]] | None,
    need: str,
    rooms: tuple[int, int],
) -> str:
    """Units, behind one of them some lines that stand whatever is chosen; and all ids, where the budget holds them beside half of the room."""
    (units, place, told), (room, budget) = read, rooms
    if ids is not None:
        listed = f"  {ids[0]} of all {len(ids[1])}: " + ", ".join(ids[1])
        cost = count(listed)
        if budget - cost >= room // 2:
            parts = _Parts(units, between=(place, "\n".join([*told, listed])))
            filled = _fill(result, raw, parts, need, min(budget, room + cost))
            if listed in filled:
                return filled
    return _fill(result, raw, _Parts(units, between=(place, "\n".join(told)) if told else None), need, room)


def _cells(result: Result, raw: int, need: str, room: int) -> str:
    """The cells of a tree that tell most."""
    lines = lines_of(Record(0, 1, "result", "tool", result.text, "c"))
    stretch = Stretch(lines, [0] * len(lines), [False] * len(lines))
    words = _head(result, raw, room, numbered=False)
    wanted, told = room - count(words) - _GAP, words
    for _ in range(4):
        chosen = choose(stretch, max(wanted, 1), frozenset(words_of(need)), 0)
        shown = [each.text.removeprefix("< ") for each in shortened(stretch, chosen)]
        told = "\n".join([words, *shown, f"{GAP} {counted(len(lines) - len(shown), 'row')} left out whole"])
        over = count(told) - room
        if over <= 0:
            return told
        wanted -= over + _GAP
    return head(told, room)


def _fill(result: Result, raw: int, parts: _Parts, need: str, room: int) -> str:
    """The units worth most, one after the other while they fit, in the order of the text; every gap marked."""
    words = _head(result, raw, room, parts.numbered)
    left = room - count(words) - _GAP
    ranks = ranked(parts.units, need)
    if parts.between is not None:
        ranks = list(dict.fromkeys([parts.between[0], *ranks]))
        left -= count(parts.between[1])
    chosen: list[int] = []
    misfits = 0
    for at in ranks:
        cost = count(parts.units[at].text) + 1 + _GAP // 2
        if cost <= left:
            chosen.append(at)
            left, misfits = left - cost, 0
        else:
            misfits += 1
        if misfits >= _MISFITS or left < _GAP:
            break
    told = words
    for kept in range(len(chosen), 0, -1):
        told = "\n".join([words, *_stand(parts, sorted(chosen[:kept]))])
        if count(told) <= room:
            return told
    return head(told, room)


def _stand(parts: _Parts, kept: Sequence[int]) -> Iterable[str]:
    """Units as they stand, a mark on a line of its own where others stood."""
    before = -1
    for at in kept:
        yield from _gap(parts, before + 1, at)
        yield parts.units[at].text
        if parts.between is not None and at == parts.between[0]:
            yield parts.between[1]
        before = at
    yield from _gap(parts, before + 1, len(parts.units))


def _gap(parts: _Parts, start: int, end: int) -> Iterable[str]:
    """The mark for the units of a stretch: their lines, or how many they are."""
    if start >= end:
        return
    first, last = parts.units[start].first, parts.units[end - 1].last
    if parts.numbered and last > first:
        yield f"{GAP} {first}-{last}"
    else:
        yield GAP if parts.numbered else f"{GAP} {end - start} more"


def _head(result: Result, raw: int, shown: int, numbered: bool) -> str:
    """What is said above a part: its address, its size, and how the rest is had."""
    same = result.earlier is not None and result.earlier.text == result.text
    lines = prompt("bounded_lines", ref=result.ref, tool=result.tool, range="40-77") if numbered else ""
    blanks = {"ref": result.ref, "raw": f"{raw:,}", "shown": f"{shown:,}", "tool": result.tool, "lines": lines}
    if same and result.earlier is not None:
        return prompt("bounded_same", before=result.earlier.ref, **blanks)
    return prompt("bounded", **blanks)
