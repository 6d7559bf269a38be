"""Recorded sessions with a loop planted at a random place."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ctxfold import Session
from ctxfold.select.pieces import values_in
from tests.benchmarks.shared.recordings import RecordedCall, RecordedEvent, Recording, Replay

LEAST_BEFORE = 6
"""Events before a fault, at least."""
ERRORS = (
    "Error: the upstream service timed out; ticket {code}",
    '{{"error": "rate limit reached", "retry_after": {number}, "ticket": "{code}"}}',
    "Traceback (most recent call last): connection reset by peer, see report {code}",
    "not found: nothing matches, nearest is {code}",
)

Answered = tuple[RecordedCall, str]
"""A call and its result."""


@dataclass(frozen=True)
class PlantedLoop:
    """A session in memory, recorded up to the end of a loop.

    Attributes:
        steps: the steps of the loop.
        found: the values that its results hold.
    """

    session: Session
    steps: tuple[int, ...]
    found: frozenset[str]


def record_events(events: Sequence[RecordedEvent]) -> tuple[Session, list[Answered]]:
    """Record events in a session of its own. Returns it with the answered calls."""
    session = Session.open("planted", store=":memory:")
    replay = Replay(session)
    for event in events:
        replay.add(event)
    replay.settle()
    return session, list(_pair_results(events))


def _pair_results(events: Sequence[RecordedEvent]) -> Iterator[Answered]:
    """Pair each call with its result, by id or else by order."""
    for at, event in enumerate(events):
        ids = [call.id for call in event.calls]
        results: dict[str, str] = {}
        for result in events[at + 1 :] if ids else ():
            if result.role != "tool":
                break
            results[result.call_id if result.call_id in ids else ids[min(len(results), len(ids) - 1)]] = result.text
        yield from ((call, results[call.id]) for call in event.calls if call.id in results)


def record_call(session: Session, answered: Answered, text: str = "", origin: str = "tool") -> int:
    """Record a step of one call and its result. Returns the step's number."""
    call, result = answered
    calls = [{"name": call.name, "args": call.args, "id": call.id}]
    return session.record_step(text, calls, [{"id": call.id, "text": result, "origin": origin}]).step


def _find_place(recording: Recording, chance: random.Random) -> int | None:
    """Choose after how many events a fault is planted: after a result that another does not follow."""
    events = recording.events
    places = [
        at + 1
        for at, event in enumerate(events)
        if at >= LEAST_BEFORE and event.role == "tool" and event.text
        and (at + 1 == len(events) or events[at + 1].role != "tool")
    ]  # fmt: skip
    return chance.choice(places) if places else None


def plant_failing_call(recording: Recording, chance: random.Random) -> PlantedLoop | None:
    """Make the same call three to six times, refused with the same words, which hold a value worth keeping."""
    place = _find_place(recording, chance)
    if place is None:
        return None
    session, answered = record_events(recording.events[:place])
    if not answered:
        return None
    call, _ = chance.choice(answered)
    text = chance.choice(ERRORS).format(code=f"T-{chance.randint(1000, 9999)}", number=chance.randint(1, 60))
    steps = [
        record_call(session, (call, text), chance.choice(["", "Let me try that again.", f"Attempt {at}."]))
        for at in range(chance.randint(3, 6))
    ]
    return PlantedLoop(session, tuple(steps), frozenset(values_in(text)))


def plant_back_and_forth(recording: Recording, chance: random.Random) -> PlantedLoop | None:
    """Open two pages, or two records of the session, in turn two or three times."""
    place = _find_place(recording, chance)
    if place is None:
        return None
    session, answered = record_events(recording.events[:place])
    pair, origin = [_make_page(chance), _make_page(chance)], "page"
    kept = list({json.dumps(call.args): (call, text) for call, text in answered if text[:1] in "{["}.values())
    if len(kept) >= 2 and chance.random() < 0.5:
        pair, origin = chance.sample(kept, 2), "tool"
    steps = []
    for at in range(2 * chance.randint(2, 3)):
        call, text = pair[at % 2]
        steps.append(record_call(session, (RecordedCall("c1", call.name, call.args), text), "", origin))
    return PlantedLoop(session, tuple(steps), frozenset(_find_values(pair[0][1]) | _find_values(pair[1][1])))


def _make_page(chance: random.Random) -> Answered:
    shelf = chance.randint(100, 999)
    rows = "\n".join(
        f"- item {chance.randint(10, 99)} of shelf {shelf}: code QX-{chance.randint(1000, 9999)}" for _ in range(8)
    )
    text = f'- heading "Shelf {shelf}" [ref=e{chance.randint(1, 90)}]\n{rows}'
    return RecordedCall("c1", "navigate", {"url": f"http://shop.example/shelf/{shelf}"}), text


def _find_values(text: str) -> set[str]:
    """Return the values of a result; of JSON those of its scalars, not of its keys."""
    try:
        stack: list[Any] = [json.loads(text)]
    except ValueError:
        return values_in(text)
    found: set[str] = set()
    while stack:
        node = stack.pop()
        if isinstance(node, dict | list):
            stack.extend(node.values() if isinstance(node, dict) else node)
        elif node is not None and not isinstance(node, bool):
            found |= values_in(str(node))
    return found
