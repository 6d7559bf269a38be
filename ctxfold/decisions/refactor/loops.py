"""Where a history goes round in circles: the same call with the same error, the same call with the same result, back and forth, a page that never changes.

It finds; it removes nothing. A loop lies between two messages of the user: asking the same again because the user said something is no loop.
Source: ACR's deterministic router: a call with the same arguments and error class three times, or a state that recurs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ctxfold.decisions.refactor.values import Act, Case
from ctxfold.workspace.workspace import RawStep

__all__ = ["TIMES", "Loop", "Repeats", "loops", "repeats", "stuck"]

TIMES, ASKED = 3, 2
"""How often the same must have happened; the same where somebody named the operator."""
STILL = 4
"""Steps after which a page that stays the same whatever is done counts as a loop."""
STUCK = 4
"""How often a call must have failed in the same way, with other calls between, before that is worth a thought."""
_PERIODS = (2, 3)
_RECENT = 4
"""Calls at the end of a history among which one that fails again and again is still being tried."""

Kind = Literal["same error", "same result", "back and forth", "same page"]


@dataclass(frozen=True, slots=True)
class Loop:
    """A stretch that led nowhere.

    Attributes:
        kind: what recurs in it.
        steps: its steps, contiguous in path order.
        repeats: those of them that failed as one before them did, or show what one before them showed.
        twice: those that stand in it again, before or after.
    """

    kind: Kind
    steps: tuple[int, ...]
    repeats: frozenset[int]
    twice: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Step:
    """A step as a loop sees it: its calls, and each with what came of it."""

    n: int
    acts: tuple[Act, ...]

    @property
    def calls(self) -> tuple[str, ...]:
        return tuple(sorted(act.key for act in self.acts))

    @property
    def whole(self) -> tuple[tuple[str, str], ...]:
        return tuple(sorted((act.key, act.failure or act.state) for act in self.acts))

    @property
    def failed(self) -> bool:
        return all(act.failure for act in self.acts)

    @property
    def pages(self) -> tuple[str, ...]:
        return tuple(act.state for act in self.acts if act.page)


def loops(case: Case) -> list[Loop]:
    """The loops among the raw steps, oldest first, none overlapping.

    Args:
        case: what is looked at.
    """
    found: list[Loop] = []
    for stretch in _stretches(case):
        at = 0
        while at < len(stretch):
            loop = _first_at(stretch[at:], ASKED if case.asked else TIMES)
            if loop is None:
                at += 1
            else:
                found.append(loop)
                at += len(loop.steps)
    return found


def _stretches(case: Case) -> Iterator[list[_Step]]:
    """The raw steps with answered calls, cut where the user spoke, where the assistant only spoke, and at tiles."""
    by_step = _by_step(case.acts)
    stretch: list[_Step] = []
    for block in case.workspace.blocks:
        acts = by_step.get(block.n, ()) if isinstance(block, RawStep) else ()
        usable = bool(acts) and all(act.result for act in acts)
        if not usable or (isinstance(block, RawStep) and block.n in case.spoken):
            yield stretch
            stretch = []
        if usable and isinstance(block, RawStep):
            stretch.append(_Step(block.n, tuple(acts)))
    yield stretch


def _by_step(acts: Iterable[Act]) -> dict[int, list[Act]]:
    found: dict[int, list[Act]] = {}
    for act in acts:
        found.setdefault(act.step, []).append(act)
    return found


def _first_at(steps: Sequence[_Step], least: int) -> Loop | None:
    """The longest loop that begins with the first of some steps."""
    made = [loop for loop in (_same(steps, least), _to_and_fro(steps), _still(steps)) if loop is not None]
    return max(made, key=lambda loop: len(loop.steps), default=None)


def _same(steps: Sequence[_Step], least: int) -> Loop | None:
    """The same calls with the same end, often enough; between them only what failed too, brought nothing, or was there before."""
    first = steps[0]
    if not first.failed and any(act.barren and act.silent for act in first.acts):
        return None
    last, times = 0, 1
    seen = {first.whole}
    for at, step in enumerate(steps[1:], 1):
        if step.whole == first.whole:
            last, times = at, times + 1
        elif not _idle(step, seen):
            break
        seen.add(step.whole)
    if times < least:
        return None
    kind: Kind = "same error" if first.failed else "same result"
    return _loop(kind, steps[: last + 1])


def _idle(step: _Step, seen: set[tuple[tuple[str, str], ...]]) -> bool:
    return step.failed or step.whole in seen or all(act.barren for act in step.acts)


def _to_and_fro(steps: Sequence[_Step]) -> Loop | None:
    """A-B-A-B, or the same with three: the same calls with the same results come round again, whole, at least twice."""
    for period in _PERIODS:
        if len(steps) < 2 * period or len({step.whole for step in steps[:period]}) < period:
            continue
        end = period
        while end < len(steps) and steps[end].whole == steps[end - period].whole:
            end += 1
        if end >= 2 * period:
            return _loop("back and forth", steps[:end])
    return None


def _still(steps: Sequence[_Step]) -> Loop | None:
    """One page that stays the very same through several steps."""
    pages = steps[0].pages
    if not pages:
        return None
    end = 1
    while end < len(steps) and steps[end].pages == pages:
        end += 1
    return _loop("same page", steps[:end]) if end > STILL else None


def _loop(kind: Kind, steps: Sequence[_Step]) -> Loop:
    seen: set[tuple[tuple[str, str], ...]] = set()
    pages: set[tuple[str, ...]] = set()
    again: set[int] = set()
    for step in steps:
        if step.failed or step.whole in seen or (step.pages and step.pages in pages):
            again.add(step.n)
        seen.add(step.whole)
        pages.add(step.pages)
    often = Counter(step.whole for step in steps)
    twice = frozenset(step.n for step in steps if often[step.whole] > 1)
    return Loop(kind, tuple(step.n for step in steps), frozenset(again), twice)


@dataclass(frozen=True, slots=True)
class Repeats:
    """Steps that show nothing but what stands earlier on the path.

    Attributes:
        steps: those steps, in path order.
        of: how many raw steps with answered calls there are.
    """

    steps: tuple[int, ...]
    of: int

    @property
    def share(self) -> float:
        """The share of repeats, 0 to 1."""
        return len(self.steps) / self.of if self.of else 0.0


def repeats(case: Case) -> Repeats:
    """The raw steps whose every call was made before with the same result.

    Args:
        case: what is looked at.
    """
    raw = {block.n for block in case.workspace.blocks[: case.protected] if isinstance(block, RawStep)}
    seen: set[tuple[str, str]] = set()
    found: list[int] = []
    total = 0
    for step, acts in _by_step(case.acts).items():
        ends = [(act.key, act.failure or act.state) for act in acts if act.result]
        if step in raw and len(ends) == len(acts):
            total += 1
            if ends and all(end in seen for end in ends) and not any(act.barren for act in acts):
                found.append(step)
        seen.update(ends)
    return Repeats(tuple(found), total)


def stuck(case: Case) -> tuple[Act, ...]:
    """A call that failed in the same way at least four times since the user spoke last, and lately: each time it was made.

    Args:
        case: what is looked at.

    Returns:
        Oldest first; empty when there is none.
    """
    spoke = -1
    for at, act in enumerate(case.acts):
        if act.step in case.spoken and (at == 0 or case.acts[at - 1].step != act.step):
            spoke = at
    raw = {block.n for block in case.workspace.blocks if isinstance(block, RawStep)}
    since = [act for act in case.acts[max(spoke, 0) :] if act.result and act.step in raw]
    ends = Counter((act.key, act.failure) for act in since if act.failure)
    worked = {act.key: at for at, act in enumerate(since) if not act.failure}
    for at in range(len(since) - 1, max(len(since) - _RECENT, 0) - 1, -1):
        act = since[at]
        if act.failure and ends[act.key, act.failure] >= STUCK and worked.get(act.key, -1) < at:
            return tuple(each for each in since if (each.key, each.failure) == (act.key, act.failure))
    return ()
