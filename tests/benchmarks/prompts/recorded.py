"""Recorded sessions up to where a decision is due, with what they lack planted: a loop, results read again, a summary that is no longer true."""

from __future__ import annotations

import json
import random
from bisect import bisect_left
from itertools import accumulate, pairwise, zip_longest
from pathlib import Path
from typing import Any

from ctxfold import Session
from tests.benchmarks.fidelity.recordings import Heard, Recording, read
from tests.benchmarks.fidelity.replaying import Replay
from tests.benchmarks.refactoring.planting import failing, to_and_fro

__all__ = ["Pool", "after", "contradicted", "heard", "looped", "repeated", "spoken"]

SHORT = 60_000
"""Characters of a recording of which all may be shown."""
LEAST = 14
"""Events of a recording that is of use, at least."""
LONG = 40_000
"""Characters of a longer recording that are taken in, about."""


class Pool:
    """The recordings of a folder: dialogues, those of each file in turn, and long ones of which the beginning is used."""

    def __init__(self, folder: Path) -> None:
        by_file = [read(file) for file in sorted(folder.rglob("*.jsonl.gz"))]
        turns = [each for group in zip_longest(*by_file) for each in group if each is not None]
        found = [each for each in turns if len(each.events) >= LEAST and len(spoken(each)) >= 3]
        self.dialogues = [each for each in found if size(each) <= SHORT]
        self.long = [each for each in found if size(each) > SHORT]

    def pick(self, at: int, seed: int) -> Recording:
        """One for a situation by its number: each fifth is a long one."""
        if at % 5 == 4 and self.long:
            recording = self.long[(at // 5 + seed) % len(self.long)]
            sizes = list(accumulate(len(event.body) for event in recording.events))
            upto = max(LEAST, bisect_left(sizes, LONG))
            return Recording(recording.id, recording.system, recording.events[:upto])
        return self.dialogues[(7 * at + 31 * seed) % len(self.dialogues)]


def size(recording: Recording) -> int:
    return sum(len(event.body) for event in recording.events)


def spoken(recording: Recording) -> list[int]:
    return [at for at, event in enumerate(recording.events) if event.role == "user"]


def after(recording: Recording, share: float, role: str) -> int:
    """How many events make up about a share of a recording, of which the last is of a role."""
    events = [*recording.events, Heard("end", "")]
    places = [
        at
        for at, (event, after) in enumerate(pairwise(events), 1)
        if event.role == role and event.text and not event.calls and (role, after.role) != ("tool", "tool") and at >= 3
    ]
    return places[min(len(places) - 1, int(share * len(places)))]


def heard(recording: Recording, upto: int, session: Session | None = None, begin: int = 0) -> Session:
    """A session with the events of a recording."""
    session = session or Session.open("situation", store=":memory:")
    replay = Replay(session)
    for event in recording.events[begin:upto]:
        replay.hear(event)
    replay.settle()
    return session


def looped(pool: Pool, at: int, to_fro: bool) -> Session:
    """A session that ends in a loop."""
    for seed in range(at, at + 50):
        chance = random.Random(seed)
        planted = (to_and_fro if to_fro else failing)(pool.pick(seed % 4, 4 + seed), chance)
        if planted is not None:
            return planted.session
    raise LookupError("no recording has a place for a loop")


def repeated(pool: Pool, at: int) -> Session:
    """A session whose results were read again and again."""
    recording = pool.pick(at % 4, 5)
    session = heard(recording, len(recording.events))
    for event in [event for event in recording.events if event.role == "tool"][:3] * 2:
        call = {"name": "read_again", "args": {"what": event.call_id or "that"}, "id": "c1"}
        session.record_step("Let me look at that once more.", [call], [{"id": "c1", "text": event.text}])
    return session


def contradicted(pool: Pool, at: int) -> Session:
    """A session with a summary of a result that a newer result contradicts, by a value the same key has in another recording."""
    told = [(recording, *found) for recording in pool.dialogues for found in _results(recording)[:1]]
    values = {key: {record[key] for *_, record in told if key in record} for *_, each in told for key in each}
    for recording, place, call, record in told[7 * at :]:
        other = {key: sorted(values[key] - {record[key]}) for key in record if record[key]}  # fmt: skip
        key = next((key for key, found in other.items() if 1 < len(found) < 8), "")
        if not key:
            continue
        session = heard(recording, place + 1)
        session.fold(f"Called {call['name']}: {key} is {record[key]}.", session.tip, session.tip)
        heard(recording, len(recording.events), session, place + 1)
        newer = {**record, key: other[key][at % len(other[key])]}
        session.record_step("Looking at it as it stands now.", [call], [{"id": "c1", "text": json.dumps(newer)}])
        session.record_turn(user="Go on, please.")
        return session
    raise LookupError("no recording has a result to contradict")


def _results(recording: Recording) -> list[tuple[int, dict[str, Any], dict[str, str]]]:
    """The calls whose result is an object: where it came, the call, what the object holds in words."""
    calls = {call.id: call for event in recording.events for call in event.calls}
    found: list[tuple[int, dict[str, Any], dict[str, str]]] = []
    for at, event in enumerate(recording.events[:-6]):
        call = calls.get(event.call_id)
        if event.role == "tool" and call is not None and event.text.startswith("{"):
            record = json.loads(event.text)
            words = {key: value for key, value in record.items() if isinstance(value, str)}
            found.append((at, {"name": call.name, "args": call.args, "id": "c1"}, words))
    return found
