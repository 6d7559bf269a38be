"""Chosen ranges to text, by rule: each selection is mended, refused or left out, and counted. What comes out is what the log holds, byte for byte.

Source: U-Fold's extractor names lines instead of retyping them; code resolves them, so that a fact is a slice of its record or is not there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ctxfold.decisions.intent.sources import Records, Source
from ctxfold.decisions.intent.structured import values_at
from ctxfold.errors import InputError
from ctxfold.tokens import count
from ctxfold.workspace.intent import Extract

__all__ = ["OVERHEAD", "Resolved", "Selection", "resolved", "selections_of"]

OVERHEAD = 12
"""o200k tokens that an extract's address and fence cost at most."""

_REF = re.compile(r"\s*s(\d{1,12})(?:\.(\d{1,6}))?(?::(\d{1,12})(?:-(\d{1,12}))?)?\s*")
_MOST = 200
_WORDS = 400


@dataclass(frozen=True, slots=True)
class Selection:
    """What a decider chose: an address, what it is for, the item it serves, a path into a structured record, strings to point out."""

    ref: str
    why: str = ""
    todo: str | None = None
    path: str = ""
    facts: tuple[str, ...] = ()


@dataclass
class Resolved:
    """What became of selections; filled while they are resolved."""

    extracts: list[Extract] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    omitted: list[str] = field(default_factory=list)
    tokens: int = 0

    def tally(self, what: str, number: int = 1) -> None:
        """Count what befell a selection."""
        if number:
            self.counts[what] = self.counts.get(what, 0) + number

    def without(self, what: str, ref: str, reason: str) -> None:
        """Count a selection that is not there, and say why."""
        self.tally(what)
        self.omitted.append(f"{ref[:60]}: {reason}")


@dataclass(frozen=True, slots=True)
class _Range:
    source: Source
    first: int
    last: int
    wish: Selection


def selections_of(given: object) -> tuple[Selection, ...]:
    """Selections from `{"ref", "why"?, "todo"?, "path"?, "facts"?}`.

    Raises:
        InputError: something else.
    """
    how = 'a selection is {"ref": "s12.2:40-80", "why": ...}; give a list of these'
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise InputError(how)
    made: list[Selection] = []
    for each in given[:_MOST]:
        if not isinstance(each, Mapping) or not isinstance(each.get("ref"), str):
            raise InputError(how)
        why, todo, path, facts = each.get("why"), each.get("todo"), each.get("path"), each.get("facts") or ()
        if not all(part is None or isinstance(part, str) for part in (why, todo, path)):
            raise InputError("why, todo and path of a selection are texts; give strings or leave them out")
        if not isinstance(facts, (list, tuple)) or not all(isinstance(fact, str) for fact in facts):
            raise InputError("facts of a selection are a list of strings; give those that stand in its lines")
        made.append(
            Selection(each["ref"], " ".join((why or "").split())[:_WORDS], todo or None, path or "", tuple(facts))
        )
    return tuple(made)


def resolved(wanted: Sequence[Selection], records: Records, items: frozenset[str], budget: int) -> Resolved:
    """Resolve selections, in their order of worth.

    Args:
        wanted: the selections, the most wanted first.
        records: the log.
        items: the ids of the to-do.
        budget: o200k tokens that all of it may cost.

    Returns:
        Extracts within the budget, and what was mended, merged, cut, refused, left out or deleted.
    """
    done = Resolved()
    ranges: list[_Range] = []
    for each in wanted:
        known = each.todo is None or each.todo in items
        done.tally("unknown items", int(not known))
        wish = each if known else replace(each, todo=None)
        found = _located(wish, records, done)
        if found is not None:
            _merge(ranges, found, done)
    for chosen in ranges:
        _take(chosen, budget, done)
    return done


def _located(wish: Selection, records: Records, done: Resolved) -> _Range | None:
    """The lines a selection means, mended where that is safe."""
    parts = _REF.fullmatch(wish.ref)
    if parts is None:
        done.without("refused", wish.ref, "not an address of lines; use s12.2:40-80")
        return None
    source = _source(int(parts[1]), None if parts[2] is None else int(parts[2]), wish, records, done)
    if source is None:
        return None
    size = len(source.lines)
    if parts[3] is None or wish.path:
        return _Range(source, 1, size, wish)
    first = int(parts[3])
    last = int(parts[4]) if parts[4] else first
    low, high = min(first, last), max(first, last)
    if low > size or high < 1:
        done.without("refused", wish.ref, f"{source.ref} has {size} lines")
        return None
    done.tally("mended", int((first, last) != (max(low, 1), min(high, size))))
    return _Range(source, max(low, 1), min(high, size), wish)


def _source(step: int, k: int | None, wish: Selection, records: Records, done: Resolved) -> Source | None:
    there = records.of(step)
    if not there:
        done.without("refused", wish.ref, "nothing is recorded there")
        return None
    fitting = [each for each in there if (each.kind == "result" if k is None else each.k == k)]
    if len(fitting) != 1:
        names = ", ".join(each.ref for each in fitting or there)
        done.without("refused", wish.ref, f"name one record of {names[:120]}")
        return None
    return fitting[0]


def _merge(ranges: list[_Range], new: _Range, done: Resolved) -> None:
    """Put a range with those it overlaps: one range, at the place of the first."""
    if new.wish.path:
        ranges.append(new)
        return
    place: int | None = None
    for at in range(len(ranges) - 1, -1, -1):
        old = ranges[at]
        if old.source.ref == new.source.ref and not old.wish.path and old.first <= new.last and new.first <= old.last:
            wish = replace(
                old.wish,
                why="; ".join(dict.fromkeys(part for part in (old.wish.why, new.wish.why) if part))[:_WORDS],
                todo=old.wish.todo or new.wish.todo,
                facts=tuple(dict.fromkeys((*old.wish.facts, *new.wish.facts))),
            )
            new = _Range(old.source, min(old.first, new.first), max(old.last, new.last), wish)
            done.tally("merged")
            if place is not None:
                ranges.pop(place)
            place = at
    if place is None:
        ranges.append(new)
    else:
        ranges[place] = new


def _take(each: _Range, budget: int, done: Resolved) -> None:
    source, wish = each.source, each.wish
    room = budget - done.tokens - OVERHEAD - (count(wish.why) if wish.why else 0)
    if wish.path:
        text, reason = values_at(source.text, wish.path)
        if reason:
            done.without("refused", f"{wish.ref} {wish.path}", reason)
            return
        if count(text) > room:
            done.without("left out", f"{wish.ref} {wish.path}", "over the budget")
            return
        ref = source.ref
    else:
        last = _fitting(source, each.first, each.last, room)
        if last < each.first:
            done.without("left out", f"{source.ref}:{each.first}-{each.last}", "over the budget")
            return
        if last < each.last:
            done.tally("cut")
            done.omitted.append(f"{source.ref}:{last + 1}-{each.last}: over the budget")
        text, ref = source.slice(each.first, last), f"{source.ref}:{each.first}-{last}"
    facts = tuple(fact for fact in wish.facts if fact and fact in text)
    done.tally("facts deleted", len(wish.facts) - len(facts))
    done.extracts.append(Extract(ref, text, wish.why, wish.todo, wish.path, facts, source.untrusted))
    done.tokens += count(text) + OVERHEAD + (count(wish.why) if wish.why else 0)


def _fitting(source: Source, first: int, last: int, room: int) -> int:
    """The last line up to which a range fits; one before its first when not even that does."""
    spent, end = 0, first - 1
    for at in range(first, last + 1):
        line = source.lines[at - 1]
        if len(line) > 64 * max(room, 1):
            break
        spent += count(line) + 1
        if spent > room + 1:
            break
        end = at
    while end >= first and count(source.slice(first, end)) > room:
        end -= 1
    return end
