"""Ten situations for each decision that a model makes on a session, from recorded sessions with planted faults.

Each is made the same way twice: once to write its request, once to judge the reply.
"""

from __future__ import annotations

import json
import random
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

from ctxfold import Session
from ctxfold.decisions.refactor import OPERATORS, Operator
from ctxfold.models import Model, Roles
from ctxfold.models.deciders import Deciders
from ctxfold.text.sentences import sentences
from ctxfold.tokens import count, head
from tests.benchmarks.refactoring import plant_failing_call
from tests.benchmarks.shared.recordings import RecordedEvent, Recording, Replay, find_files, read_recordings

TEN = 10
LEAST, LONGEST = 14, 60_000
"""Events of a dialogue at least, and its characters at most."""


@dataclass(frozen=True)
class Situation:
    """One situation.

    Attributes:
        decision: the decision, which names its folder.
        about: a description in one line.
        make: makes its session.
        decide: asks a model for the decision there.
    """

    decision: str
    about: str
    make: Callable[[], Session]
    decide: Callable[[Model, Session], Awaitable[Any]]


class Pool:
    """The dialogues of a folder, taken from each file in turn."""

    def __init__(self, folder: Path) -> None:
        by_file = [read_recordings(file) for file in find_files([folder])]
        turns = [recording for group in zip_longest(*by_file) for recording in group if recording is not None]
        self.dialogues = [
            recording
            for recording in turns
            if len(recording.events) >= LEAST
            and len(find_user(recording)) >= 3
            and sum(len(event.body) for event in recording.events) <= LONGEST
        ]

    def pick(self, at: int, seed: int) -> Recording:
        """Return a recording for a situation by its number."""
        return self.dialogues[(7 * at + 31 * seed) % len(self.dialogues)]


def find_user(recording: Recording) -> list[int]:
    """Return the places of the user's messages."""
    return [at for at, event in enumerate(recording.events) if event.role == "user"]


def find_end(recording: Recording, share: float, role: str) -> int:
    """Return how many events make up about a share of a recording and end with an event of a role."""
    events = [*recording.events, RecordedEvent("end", "")]
    places = [
        at
        for at, (event, after) in enumerate(pairwise(events), 1)
        if event.role == role and event.text and not event.calls and (role, after.role) != ("tool", "tool") and at >= 3
    ]
    return places[min(len(places) - 1, int(share * len(places)))]


def choose_share(at: int) -> float:
    """Return early, middle, late or end, by turns."""
    return (0.3, 0.6, 0.85, 1.0)[at % 4]


def record(recording: Recording, end: int, session: Session | None = None, begin: int = 0) -> Session:
    """Record events of a recording, in a session of its own unless one is given."""
    session = session or Session.open("situation", store=":memory:")
    replay = Replay(session)
    for event in recording.events[begin:end]:
        replay.add(event)
    replay.settle()
    return session


def record_loop(pool: Pool, at: int) -> Session:
    """Record a session that ends in a loop."""
    for seed in range(at, at + 50):
        planted = plant_failing_call(pool.pick(seed % 4, 4 + seed), random.Random(seed))
        if planted is not None:
            return planted.session
    raise LookupError("no recording has a place for a loop")


def make_situations(folder: Path) -> Iterator[Situation]:
    """Yield every situation of every decision, from the recordings of a folder."""
    pool = Pool(folder)
    ways: list[Callable[[Pool, int], Situation]] = [_make_fold, _make_plan, _make_extract]
    ways += [partial(_make_refactoring, operator) for operator in (None, *OPERATORS)]
    for make in (*ways, _make_place):
        yield from (make(pool, at) for at in range(TEN))


def _make_fold(pool: Pool, at: int) -> Situation:
    recording = pool.pick(at, 1)
    end = find_end(recording, choose_share(at), "tool")
    if at % 5 >= 2:
        return _make_consolidation(recording, at)
    steps = (-1, -4)[at % 2]

    async def decide(model: Model, session: Session) -> Any:
        return await Deciders(model).fold(session, max(1, session.tip + steps), session.tip)

    what = "the last two steps" if steps == -1 else "the last five steps"
    return Situation("fold", f"{recording.id}: {what}", lambda: record(recording, end), decide)


def _make_consolidation(recording: Recording, at: int) -> Situation:
    """Fold at the high-water mark of a budget that the session just passes; `readers` asks for what comes later."""
    end = int(len(recording.events) * (1.0, 0.75, 0.9)[at % 3])

    async def decide(model: Model, session: Session) -> Any:
        return await Deciders(Roles(folder=model)).maintain(session, max(300, int(0.8 * session.workspace.tokens)))

    return Situation("fold", f"{recording.id}: at the high-water mark", lambda: record(recording, end), decide)


def _make_plan(pool: Pool, at: int) -> Situation:
    recording = pool.pick(at, 2)
    end = find_end(recording, choose_share(at), "user")
    before = find_end(recording, 0.2, "user") if at % 2 else 0

    def make() -> Session:
        session = record(recording, before or end)
        if before:
            first = head(recording.events[find_user(recording)[0]].text, 60)
            session.plan(f"The user said: {first}", todo=[first])
        return record(recording, end, session, before) if end > before > 0 else session

    async def decide(model: Model, session: Session) -> Any:
        return await Deciders(model).plan(session)

    return Situation("plan", f"{recording.id}: {'on an earlier plan' if before else 'the first plan'}", make, decide)


def _make_extract(pool: Pool, at: int) -> Situation:
    recording = pool.pick(at, 3)
    later = [place for place in recording.calling if place > len(recording.events) * max(0.5, choose_share(at)) * 0.9]
    place = (later or recording.calling[-1:])[0]
    call = recording.events[place].calls[0]
    need = None if at % 2 else f"{call.name} {head(json.dumps(call.args), 60)}"

    def make() -> Session:
        session = record(recording, place)
        if at % 2:
            session.plan(todo=[head(recording.events[find_user(recording)[-1]].text, 60)])
        return session

    async def decide(model: Model, session: Session) -> Any:
        return await Deciders(model).extract(session, need)

    return Situation("extract", f"{recording.id}: {'named' if need else 'by the to-do'}", make, decide)


def _make_refactoring(operator: Operator | None, pool: Pool, at: int) -> Situation:
    """Refactor with an operator, or with the one that the router chooses: a loop, a clean session or a bound one."""
    kind = ("a loop", "clean", "back and forth", "bound")[at % 4]
    recording = pool.pick(at, 6 + (len(OPERATORS) if operator is None else OPERATORS.index(operator)))

    def make() -> Session:
        if kind in ("a loop", "back and forth"):
            return record_loop(pool, at)
        if kind == "bound":
            return _bind(recording, choose_share(at))
        return record(recording, find_end(recording, choose_share(at), "tool"))

    async def decide(model: Model, session: Session) -> Any:
        if operator is None:
            return await Deciders(Roles(router=model)).refactor(session)
        return await Deciders(model).refactor(session, operator)

    return Situation(operator or "router", kind, make, decide)


def _bind(recording: Recording, share: float) -> Session:
    """Record a share of a recording, with the two longest sentences of the user in the register."""
    session = record(recording, find_end(recording, share, "tool"))
    texts = [recording.events[at].text for at in find_user(recording)]
    words = sorted((span.of(text) for text in texts for span in sentences(text)), key=len)
    session.plan(todo=[head(words[-1], 60)], constraints=[head(words[-2], 60)])
    return session


def _make_place(pool: Pool, at: int) -> Situation:
    """Place a message in a session of two dialogues: it goes on, goes back, begins another, or wants an alternative."""
    first, second, third = (pool.dialogues[(11 * at + 3 * k) % len(pool.dialogues)] for k in (0, 1, 2))
    kind = ("continue", "switch", "new topic", "alternative", "a new topic's return")[at % 5]
    cut, here = find_end(first, 0.5, "assistant"), find_end(second, 0.5, "assistant")
    back = _find_next_words(first, cut)
    message = {
        "continue": _find_next_words(second, here),
        "switch": back,
        "new topic": third.events[find_user(third)[0]].text,
        "alternative": "Keep this as it is. As an alternative, start again from my first message here and work out a "
        "cheaper way, so that I can compare the two.",
        "a new topic's return": f"Now back to what I asked at the very beginning. {back}",
    }[kind]

    def make() -> Session:
        session = record(first, cut)
        session.branch("new_topic")
        return record(second, here, session)

    async def decide(model: Model, session: Session) -> Any:
        return await Deciders(model).branch(session, message)

    return Situation("place", kind, make, decide)


def _find_next_words(recording: Recording, end: int) -> str:
    later = [event.text for event in recording.events[end:] if event.role == "user" and count(event.text) > 3]
    return later[0] if later else recording.events[find_user(recording)[-1]].text
