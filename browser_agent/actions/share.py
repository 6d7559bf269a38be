"""Shares the room of one call among all that its actions show, so that what fits is shown."""

from __future__ import annotations

from collections.abc import Sequence

from browser_agent.actions.collect import Collected
from browser_agent.actions.look import Sight
from browser_agent.observation.heading import without_known
from browser_agent.observation.values import Observation
from ctxfold.tokens import count

__all__ = ["Showing", "share"]

Showing = Sight | Collected
"""What can be shown in more room or less."""

_GAP = 1
"""Tokens between two texts."""


async def share(sights: Sequence[Showing], room: int) -> tuple[Showing, ...]:
    """Show several looks in `room` o200k tokens together: each as it wants where all fit, else the small ones so and the large ones alike; a line of a page that is found or read again stands once."""
    whole: list[Showing] = []
    for sight in sights:
        above = _shown_above(whole, sight)
        whole.append(await sight.within(room, above) if above & sight.seen.places else sight)
    shown: list[Showing] = []
    wanted = [_cost(whole, at) for at in range(len(whole))]
    for at, sight in enumerate(whole):
        above = _shown_above(shown, sight)
        most = _portion(wanted[at:], room)
        fits = wanted[at] <= most and above >= sight.above
        shown.append(sight if fits else await sight.within(most + _repeated(shown, sight.seen), above))
        room -= _cost(shown, at) + _GAP
    for at, sight in enumerate(shown):  # what later ones did not use
        cost = _cost(shown, at)
        if cost < wanted[at] and room > _GAP:
            most = cost + room + _repeated(shown[:at], sight.seen)
            shown[at] = await sight.within(most, sight.above)
            room -= _cost(shown, at) - cost
    return tuple(shown)


def _portion(wanted: Sequence[int], room: int) -> int:
    """How much of the room the first takes: what it wants, at most an equal part of what those that want less leave."""
    left = max(room, 0)
    for number, each in enumerate(sorted(wanted)):
        part = left // (len(wanted) - number)
        if each > part or each == wanted[0]:
            return min(wanted[0], part)
        left -= each
    return left


def _cost(sights: Sequence[Showing], at: int) -> int:
    seen = sights[at].seen
    return seen.tokens - _repeated(sights[:at], seen)


def _repeated(before: Sequence[Showing], seen: Observation) -> int:
    """What the lines of its heading cost that stand above already."""
    return seen.tokens - count(without_known(seen, before[-1].seen)) if before else 0


def _shown_above(shown: Sequence[Showing], sight: Showing) -> frozenset[str]:
    """The lines of the same page that stand in those before it that are alike, and were there still when it was looked at last."""
    page = (sight.seen.url, sight.seen.title)
    above: frozenset[str] = frozenset()
    for seen in (one.seen for one in shown if sight.alike is not None and one.alike == sight.alike):
        if (seen.url, seen.title) == page:
            above = (above & seen.lines) | seen.places
    return above
