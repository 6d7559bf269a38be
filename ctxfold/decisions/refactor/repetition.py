"""Finds exact repetition on a path: the same calls with the same arguments and results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from ctxfold.decisions.refactor.values import Call, Case
from ctxfold.log.json_tree import canonical, parse
from ctxfold.workspace.workspace import RawStep

__all__ = ["Loop", "call_of", "duplicates", "loops"]

_TIMES, _NAMED_TIMES = 3, 2
"""How often the same must stand in a row; the second where somebody named the operator."""
_ROUNDS = 2
"""How often a round of several steps must come, whole."""
_PERIODS = (1, 2, 3)
_LONGEST_CALL = 20_000
_MARKS = re.compile(r"\s\[[a-z-]+(?:=[^\]\n]*)?\]")
"""What a snapshot says of its elements in brackets, as in `[ref=e12]`."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A stretch of contiguous steps that went in circles. `repeats`: those of them that show what one before them showed."""

    steps: tuple[int, ...]
    repeats: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Step:
    n: int
    whole: tuple[tuple[str, str], ...]
    """Its calls, each with what came of it."""


def call_of(step: int, text: str, result: str | None, page: bool = False) -> Call:
    """A call and its result as repetition sees them."""
    tree = parse(text[:_LONGEST_CALL])
    name, args = (tree.get("name"), tree.get("args")) if isinstance(tree, dict) else ("", None)
    key = f"{name} {canonical(args)}" if name else _digest(text)
    plain = (_MARKS.sub("", result or "") if page else result or "").strip()
    return Call(step, key, _digest(plain) if plain else "", result is not None)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def loops(case: Case) -> list[Loop]:
    """The loops among the raw steps, oldest first, none overlapping. A message of the user ends one: to ask again after it is no loop."""
    found: list[Loop] = []
    for stretch in _stretches(case):
        at = 0
        while at < len(stretch):
            loop = _loop_at(stretch[at:], _NAMED_TIMES if case.named else _TIMES)
            if loop is None:
                at += 1
            else:
                found.append(loop)
                at += len(loop.steps)
    return found


def _stretches(case: Case) -> Iterator[list[_Step]]:
    """The raw steps whose every call has something for an answer, cut at all others and where the user spoke."""
    by_step = _by_step(case.calls)
    stretch: list[_Step] = []
    for block in case.workspace.blocks:
        calls = by_step.get(block.n, ()) if isinstance(block, RawStep) else ()
        usable = bool(calls) and all(call.outcome for call in calls)
        if not usable or (isinstance(block, RawStep) and block.n in case.spoken):
            yield stretch
            stretch = []
        if usable and isinstance(block, RawStep):
            stretch.append(_Step(block.n, tuple(sorted((call.key, call.outcome) for call in calls))))
    yield stretch


def _by_step(calls: Iterable[Call]) -> dict[int, list[Call]]:
    found: dict[int, list[Call]] = {}
    for call in calls:
        found.setdefault(call.step, []).append(call)
    return found


def _loop_at(steps: Sequence[_Step], times: int) -> Loop | None:
    """The longest loop that begins with the first of some steps: one step again and again, or a round of two or three."""
    longest = 0
    for period in _PERIODS:
        end = period
        while end < len(steps) and steps[end].whole == steps[end - period].whole:
            end += 1
        if end >= period * (times if period == 1 else _ROUNDS):
            longest = max(longest, end)
    if not longest:
        return None
    seen = set[tuple[tuple[str, str], ...]]()
    repeats = set[int]()
    for step in steps[:longest]:
        if step.whole in seen:
            repeats.add(step.n)
        seen.add(step.whole)
    return Loop(tuple(step.n for step in steps[:longest]), frozenset(repeats))


def duplicates(case: Case) -> tuple[int, ...]:
    """The raw steps before the latest whose every call was made before with the same result, in path order."""
    raw = {block.n for block in case.workspace.blocks[: case.protected] if isinstance(block, RawStep)}
    seen: set[tuple[str, str]] = set()
    found: list[int] = []
    for step, calls in _by_step(case.calls).items():
        ends = [(call.key, call.outcome) for call in calls]
        if step in raw and all(call.outcome for call in calls) and seen.issuperset(ends):
            found.append(step)
        seen.update(ends)
    return tuple(found)
