"""Shares the room of one call among all that its actions show, so that what fits is shown."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from browser_agent.actions.look import Sight
from browser_agent.observation.heading import without_known
from browser_agent.observation.observe import Places
from browser_agent.observation.values import Observation
from ctxfold.tokens import count

__all__ = ["room_beside", "room_left", "share"]

_GAP = 1
"""Tokens between two texts."""


async def share(sights: Sequence[Sight], room: int) -> tuple[Sight, ...]:
    """Show several looks in `room` o200k tokens together: each as it wants where all fit, else the small ones so and the large ones alike; a place that is found again stands once."""
    shown: list[Sight] = []
    wanted = [_cost(sights, at) for at in range(len(sights))]
    for at, sight in enumerate(sights):
        above = _found_above(shown, sight)
        most = _portion(wanted[at:], room)
        fits = wanted[at] <= most and not above & sight.seen.places
        shown.append(sight if fits else await sight.within(most + _repeated(shown, sight.seen), above))
        room -= _cost(shown, at) + _GAP
    for at, sight in enumerate(shown):  # what later ones did not use
        cost = _cost(shown, at)
        if cost < wanted[at] and room > _GAP and not sight.before.above:
            most = cost + room + _repeated(shown[:at], sight.seen)
            shown[at] = await sight.within(most)
            room -= _cost(shown, at) - cost
    return tuple(shown)


def room_beside(sights: Sequence[Sight], later: int, room: int) -> int:
    """The room of a look that is no sight, beside those before it and so many `later` ones: what is left, and no less than an equal part."""
    used = sum(_cost(sights, at) for at in range(len(sights)))
    return max(room // (1 + len(sights) + later), (room - used) // (1 + later))


def room_left(budget: int, shown: Sequence[Observation | None], sights: Collection[int]) -> int:
    """What is left of a budget to those of `shown` that can be shown in less: those whose places are among `sights`."""
    return budget - sum(seen.tokens for at, seen in enumerate(shown) if at not in sights and seen is not None)


def _portion(wanted: Sequence[int], room: int) -> int:
    """How much of the room the first takes: what it wants, at most an equal part of what those that want less leave."""
    left = max(room, 0)
    for number, each in enumerate(sorted(wanted)):
        part = left // (len(wanted) - number)
        if each > part or each == wanted[0]:
            return min(wanted[0], part)
        left -= each
    return left


def _cost(sights: Sequence[Sight], at: int) -> int:
    seen = sights[at].seen
    return seen.tokens - _repeated(sights[:at], seen)


def _repeated(before: Sequence[Sight], seen: Observation) -> int:
    """What the lines of its heading cost that stand above already."""
    return seen.tokens - count(without_known(seen, before[-1].seen)) if before else 0


def _found_above(shown: Sequence[Sight], sight: Sight) -> frozenset[str]:
    """The lines that finds before it show of the same page."""
    view, page = sight.how.view, (sight.seen.url, sight.seen.title)
    if not isinstance(view, Places):
        return frozenset()
    alike = (
        one.seen.places
        for one in shown
        if (one.seen.url, one.seen.title) == page
        and isinstance(one.how.view, Places)
        and one.how.view.links == view.links
    )
    return frozenset().union(*alike)
