"""Checks the lines that somebody chose against the log, and repairs or refuses each.

Source: U-Fold's extractor names lines instead of retyping them; code resolves them, so that a fact is a slice of its record or is not there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ctxfold.decisions.intent.structured import values_at
from ctxfold.decisions.intent.values import Records, Selection, Source
from ctxfold.errors import InputError
from ctxfold.text.words import counted
from ctxfold.tokens import count
from ctxfold.workspace.intent import Extract

__all__ = ["OVERHEAD", "Resolved", "resolve_selections", "selections_given"]

OVERHEAD = 12
"""o200k tokens that an extract's address and fence cost at most."""

_REF = re.compile(r"\s*s(\d{1,12})(?:\.(\d{1,6}))?(?::(\d{1,12})(?:-(\d{1,12}))?)?\s*")
_MOST = 200
_WORDS = 400


@dataclass
class Resolved:
    """What became of selections; filled while they are resolved."""

    extracts: list[Extract] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    omitted: list[str] = field(default_factory=list)
    tokens: int = 0

    def leave_out(self, what: str, ref: str, reason: str) -> None:
        """Count a selection that is not there, and say why."""
        self.counts[what] += 1
        self.omitted.append(f"{ref[:60]}: {reason}")


@dataclass(frozen=True, slots=True)
class _Range:
    source: Source
    first: int
    last: int
    wish: Selection


def selections_given(given: object) -> tuple[Selection, ...]:
    """Selections from `{"ref", "why"?, "todo"?, "path"?, "facts"?}`. Raises InputError: something else."""
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
        said = " ".join((why or "").split())[:_WORDS]
        made.append(Selection(each["ref"], said, todo or None, path or "", tuple(facts)))
    return tuple(made)


def resolve_selections(wanted: Sequence[Selection], records: Records, items: frozenset[str], budget: int) -> Resolved:
    """Resolve selections, in their order of worth."""
    done = Resolved()
    ranges: list[_Range] = []
    for each in wanted:
        known = each.todo is None or each.todo in items
        done.counts["unknown items"] += not known
        found = _located(each if known else replace(each, todo=None), records, done)
        if found is not None:
            ranges = _merged(ranges, found, done)
    for chosen in ranges:
        _take(chosen, budget, done)
    done.counts = +done.counts
    return done


def _located(wish: Selection, records: Records, done: Resolved) -> _Range | None:
    """The lines a selection means, mended where that is safe."""
    parts = _REF.fullmatch(wish.ref)
    if parts is None:
        done.leave_out("refused", wish.ref, "not an address of lines; use s12.2:40-80")
        return None
    there = records.of(int(parts[1]))
    fitting = [each for each in there if (each.kind == "result" if parts[2] is None else each.k == int(parts[2]))]
    if parts[2] is None and parts[3] is None:  # a step alone: what it found, not what acknowledged a call
        fitting = sorted(fitting, key=lambda each: len(each.text))[-1:] or there[-1:]
    if len(fitting) != 1:
        names = ", ".join(each.ref for each in fitting or there)
        done.leave_out(
            "refused", wish.ref, f"name one record of {names[:120]}" if there else "nothing is recorded there"
        )
        return None
    source, size = fitting[0], len(fitting[0].lines)
    if parts[3] is None or wish.path:
        return _Range(source, 1, size, wish)
    first, last = int(parts[3]), int(parts[4] or parts[3])
    low, high = min(first, last), max(first, last)
    if low > size or high < 1:
        done.leave_out("refused", wish.ref, f"{source.ref} has {counted(size, 'line')}")
        return None
    done.counts["mended"] += (first, last) != (max(low, 1), min(high, size))
    return _Range(source, max(low, 1), min(high, size), wish)


def _merged(ranges: Sequence[_Range], new: _Range, done: Resolved) -> list[_Range]:
    """Ranges with another: those it overlaps and itself as one, at the place of the first."""
    made: list[_Range] = []
    place: int | None = None
    for old in ranges:
        same = old.source.ref == new.source.ref and not old.wish.path and not new.wish.path
        if not (same and old.first <= new.last and new.first <= old.last):
            made.append(old)
            continue
        wish = replace(
            old.wish,
            why="; ".join(dict.fromkeys(part for part in (old.wish.why, new.wish.why) if part))[:_WORDS],
            todo=old.wish.todo or new.wish.todo,
            facts=tuple(dict.fromkeys((*old.wish.facts, *new.wish.facts))),
        )
        new = _Range(old.source, min(old.first, new.first), max(old.last, new.last), wish)
        done.counts["merged"] += 1
        place = len(made) if place is None else place
    made.insert(len(made) if place is None else place, new)
    return made


def _take(each: _Range, budget: int, done: Resolved) -> None:
    """Put a range among the extracts, as far as the budget allows."""
    source, wish = each.source, each.wish
    price = OVERHEAD + (count(wish.why) if wish.why else 0)
    room = budget - done.tokens - price
    if wish.path:
        text, reason = values_at(source.text, wish.path)
        ref, named = source.ref, f"{wish.ref} {wish.path}"
        if reason or count(text) > room:
            done.leave_out("refused" if reason else "left out", named, reason or "over the budget")
            return
    else:
        last = _fitting(source, each.first, each.last, room)
        if last < each.first:
            done.leave_out("left out", f"{source.ref}:{each.first}-{each.last}", "over the budget")
            return
        if last < each.last:
            done.leave_out("cut", f"{source.ref}:{last + 1}-{each.last}", "over the budget")
        text, ref = source.slice(each.first, last), f"{source.ref}:{each.first}-{last}"
    facts = tuple(fact for fact in wish.facts if fact and fact in text)
    done.counts["facts deleted"] += len(wish.facts) - len(facts)
    done.extracts.append(Extract(ref, text, wish.why, wish.todo, wish.path, facts, source.untrusted))
    done.tokens += count(text) + price


def _fitting(source: Source, first: int, last: int, room: int) -> int:
    """The last line up to which a range fits; one before its first when not even that does."""
    spent, end = 0, first - 1
    for at in range(first, last + 1):
        line = source.lines[at - 1]
        spent += count(line) + 1 if len(line) <= 64 * max(room, 1) else room + 2
        if spent > room + 1:
            break
        end = at
    while end >= first and count(source.slice(first, end)) > room:
        end -= 1
    return end
