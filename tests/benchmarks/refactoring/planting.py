"""Recorded sessions with a fault planted at a place chosen by chance: a loop, an invented value."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ctxfold import Session
from ctxfold.select.pieces import values_in as values
from tests.benchmarks.fidelity.recordings import Call, Heard, Recording

__all__ = ["Planted", "failing", "fed", "inventions", "to_and_fro"]

LEAST = 6
"""Events before a fault, at least."""


@dataclass(frozen=True)
class Planted:
    """A session that was recorded up to a loop, loop included.

    Attributes:
        session: open, in memory.
        steps: the steps of the loop.
        found: the values that were discovered in it.
        other: a step that is no part of it and must stay as it is.
    """

    session: Session
    steps: tuple[int, ...]
    found: frozenset[str]


def fed(recording: Recording, upto: int) -> tuple[Session, list[tuple[Call, str]]]:
    """A session with the first events of a recording, and its answered calls so far."""
    session = Session.open("planted", store=":memory:")
    answered: list[tuple[Call, str]] = []
    waiting: Heard | None = None
    results: dict[str, str] = {}
    for event in [*recording.events[:upto], Heard("end", "")]:
        if event.role == "tool" and waiting is not None:
            ids = [call.id for call in waiting.calls]
            results[event.call_id if event.call_id in ids else ids[min(len(results), len(ids) - 1)]] = event.text
            continue
        if waiting is not None:
            recorded(session, [(call, results.get(call.id, "")) for call in waiting.calls], waiting.text)
            answered += [(call, results[call.id]) for call in waiting.calls if call.id in results]
            waiting, results = None, {}
        match event.role:
            case "user":
                session.record_turn(user=event.text)
            case "assistant" if event.calls:
                waiting = event
            case "assistant":
                session.record_reply(event.text)
            case _:
                pass
    return session, answered


def recorded(session: Session, answered: Sequence[tuple[Call, str]], said: str = "", origin: str = "tool") -> int:
    """One step with its calls and results."""
    return session.record_step(
        said,
        calls=[{"name": call.name, "args": call.args, "id": call.id} for call, _ in answered],
        results=[{"id": call.id, "text": text, "origin": origin} for call, text in answered],
    ).step


def _place(recording: Recording, chance: random.Random) -> int | None:
    """After which event a fault is planted: one that is answered, some way in."""
    places = [
        at + 1
        for at, event in enumerate(recording.events)
        if at >= LEAST and event.role == "tool" and event.text
        and (at + 1 == len(recording.events) or recording.events[at + 1].role != "tool")
    ]  # fmt: skip
    return chance.choice(places) if places else None


_ERRORS = (
    "Error: the upstream service timed out; ticket {code}",
    '{{"error": "rate limit reached", "retry_after": {number}, "ticket": "{code}"}}',
    "Traceback (most recent call last): connection reset by peer, see report {code}",
    "not found: nothing matches, nearest is {code}",
)


def failing(recording: Recording, chance: random.Random) -> Planted | None:
    """The same call made three to six times and refused with the same words, which hold a value worth keeping."""
    place = _place(recording, chance)
    if place is None:
        return None
    session, answered = fed(recording, place)
    if not answered:
        return None
    call, _ = chance.choice(answered)
    text = chance.choice(_ERRORS).format(code=f"T-{chance.randint(1000, 9999)}", number=chance.randint(1, 60))
    steps: list[int] = []
    found: set[str] = set()
    for at in range(chance.randint(3, 6)):
        steps.append(recorded(session, [(call, text)], chance.choice(["", "Let me try that again.", f"Attempt {at}."])))
        found |= values(text)
    return Planted(session, tuple(steps), frozenset(found))


def to_and_fro(recording: Recording, chance: random.Random) -> Planted | None:
    """Two pages, or two records of the session, opened in turn two or three times."""
    place = _place(recording, chance)
    if place is None:
        return None
    session, answered = fed(recording, place)
    pair = [_page(chance), _page(chance)]
    kept = list({json.dumps(call.args): (call, text) for call, text in answered if text[:1] in "{["}.values())
    origin = "page"
    if len(kept) >= 2 and chance.random() < 0.5:
        pair, origin = chance.sample(kept, 2), "tool"
    steps: list[int] = []
    found: set[str] = set()
    for at in range(2 * chance.randint(2, 3)):
        call, text = pair[at % 2]
        steps.append(recorded(session, [(Call("c1", call.name, call.args), text)], "", origin))
        found |= _told(text)
    return Planted(session, tuple(steps), frozenset(found))


def _told(text: str) -> set[str]:
    """The values a result tells: of a structured one the scalars, not its keys; nothing for what is null."""
    tree = _any(text)
    if tree is None:
        return values(text)
    stack, found = [tree], set[str]()
    while stack:
        node = stack.pop()
        match node:
            case dict():
                stack.extend(node.values())
            case list():
                stack.extend(node)
            case None | bool():
                pass
            case _:
                found |= values(str(node))
    return found


def _any(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _page(chance: random.Random) -> tuple[Call, str]:
    number = chance.randint(100, 999)
    rows = "\n".join(
        f"- item {chance.randint(10, 99)} of shelf {number}: code QX-{chance.randint(1000, 9999)}" for _ in range(8)
    )
    text = f'- heading "Shelf {number}" [ref=e{chance.randint(1, 90)}]\n{rows}'
    return Call("c1", "navigate", {"url": f"http://shop.example/shelf/{number}"}), text


def inventions(recording: Recording, chance: random.Random) -> tuple[Session, str, list[str]] | None:
    """A session, a true summary of it, and the same summary with one invented value each."""
    place = _place(recording, chance)
    if place is None:
        return None
    session, answered = fed(recording, place)
    known = sorted(
        {value for _, text in answered for value in values(text[:5_000]) if 4 <= len(value) <= 24 and value.isalnum()}
    )
    if len(known) < 3 or session.tip < 4:
        return None
    session.record_turn(user="Go on.")
    true = f"Read {', '.join(value.upper() for value in chance.sample(known, 2))} and went on."
    whole = "\n".join(event.body for event in recording.events).lower()
    made = [code for code in (_mutated(chance.choice(known), chance) for _ in range(6)) if code.lower() not in whole]
    made += [
        f"{chance.randint(100_000, 999_999)}.37 EUR",
        "QZXWVK",
        "2087-03-19",
        "nobody@nowhere.example",
    ]
    return session, true, [f"{true} It concerns {code}." for code in made]


def _mutated(value: str, chance: random.Random) -> str:
    at = chance.randrange(len(value))
    sign = "7" if value[at].isdigit() and value[at] != "7" else "3" if value[at].isdigit() else "q"
    return f"{value[:at]}{sign}{value[at + 1 :]}9".upper()
