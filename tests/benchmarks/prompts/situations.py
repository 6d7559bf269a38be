"""Ten situations for each decision that a model makes on a session, taken from recorded sessions; what they lack is planted.

Each is made anew the same way: once to write its request down, once to judge the reply.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ctxfold import Session
from ctxfold.decisions.fold import SETTINGS
from ctxfold.decisions.memory import choose_batch, front_room
from ctxfold.decisions.refactor import OPERATORS, Operator
from ctxfold.models import Model, Roles
from ctxfold.models.deciders import Deciders
from ctxfold.models.deciders.memory import records
from ctxfold.text.sentences import sentences
from ctxfold.tokens import count, head
from ctxfold.workspace import By
from tests.benchmarks.fidelity.recordings import Recording
from tests.benchmarks.prompts.recorded import Pool, after, contradicted, heard, looped, repeated, spoken

__all__ = ["Situation", "situations"]

TEN = 10


@dataclass(frozen=True)
class Situation:
    """One situation.

    Attributes:
        decision: the folder it stands in.
        about: what it is, in a line.
        make: makes its session.
        decide: asks a model for the decision there.
    """

    decision: str
    about: str
    make: Callable[[], Session]
    decide: Callable[[Model, Session], Awaitable[Any]]


def situations(folder: Path) -> Iterator[Situation]:
    """Every situation of every decision, from the recordings of a folder."""
    pool = Pool(folder)
    ways: dict[str, Callable[[Pool, int], Situation]] = {
        "fold": _fold,
        "plan": _plan,
        "extract": _extract,
        "router": _route,
        **{operator: partial(_operate, operator) for operator in OPERATORS},
        "place": _place,
    }
    for way in ways.values():
        yield from (way(pool, at) for at in range(TEN))


def _share(at: int) -> float:
    """Early, in the middle, late, at the end, by turns."""
    return (0.3, 0.6, 0.85, 1.0)[at % 4]


def _fold(pool: Pool, at: int) -> Situation:
    recording = pool.pick(at, 1)
    upto = after(recording, _share(at), "tool")
    if at % 5 >= 2:
        return _consolidate(recording, at)
    steps = (-1, -4)[at % 2]

    async def decide(model: Model, session: Session) -> Any:
        return await Deciders(model).fold(session, max(1, session.tip + steps), session.tip)

    what = "the last two steps" if steps == -1 else "the last five steps"
    return Situation("fold", f"{recording.id}: {what}", lambda: heard(recording, upto), decide)


def _consolidate(recording: Recording, at: int) -> Situation:
    """Folding at the high-water mark: a first summary, one behind an earlier, and one anew where the earlier fills its room."""
    kind = ("first", "behind", "anew")[at % 3]
    half = after(recording, 0.5, "tool")

    def make() -> Session:
        if kind == "first":
            return heard(recording, len(recording.events))
        session = heard(recording, half)
        limit = _limit(session)
        batch = choose_batch(session.workspace, limit, SETTINGS)
        steps = [step for block in batch.blocks for step in block.steps] if batch else []
        said = [each.text for each in records(session, steps) if each.kind in ("user", "assistant")]
        room = front_room(limit, SETTINGS)
        told = head(" ".join(" ".join(said).split()), int(room * (0.9 if kind == "anew" else 0.4)))
        session.consolidate(limit, by=By("model", "high water"), summary=told)
        return heard(recording, len(recording.events), session, half)

    async def decide(model: Model, session: Session) -> Any:
        return await Deciders(Roles(folder=model)).maintain(session, _limit(session))

    return Situation("fold", f"{recording.id}: at the high-water mark, {kind}", make, decide)


def _limit(session: Session) -> int:
    """A budget that the session just passes."""
    return max(400, int(0.8 * session.workspace.tokens))


def _plan(pool: Pool, at: int) -> Situation:
    recording = pool.pick(at, 2)
    upto = after(recording, _share(at), "user")
    before = after(recording, 0.2, "user") if at % 2 else 0

    def make() -> Session:
        session = heard(recording, before or upto)
        if before:
            first = recording.events[spoken(recording)[0]].text
            session.plan(f"The user said: {head(first, 60)}", todo=[head(first, 60)])
        return heard(recording, upto, session, before) if upto > before > 0 else session

    async def decide(model: Model, session: Session) -> Any:
        return await Deciders(model).plan(session)

    return Situation("plan", f"{recording.id}: {'on an earlier plan' if before else 'the first plan'}", make, decide)


def _extract(pool: Pool, at: int) -> Situation:
    recording = pool.pick(at, 3)
    later = [place for place in recording.calling if place > len(recording.events) * max(0.5, _share(at)) * 0.9]
    place = (later or recording.calling[-1:])[0]
    call = recording.events[place].calls[0]
    need = None if at % 2 else f"{call.name} {head(json.dumps(call.args), 60)}"

    def make() -> Session:
        session = heard(recording, place)
        if at % 2:
            session.plan(todo=[head(recording.events[spoken(recording)[-1]].text, 60)])
        return session

    async def decide(model: Model, session: Session) -> Any:
        return await Deciders(model).extract(session, need)

    return Situation("extract", f"{recording.id}: {'named' if need else 'by the to-do'}", make, decide)


def _operate(operator: Operator, pool: Pool, at: int) -> Situation:
    """What one operator puts in place."""
    recording = pool.pick(at, 6 + OPERATORS.index(operator))

    def make() -> Session:
        match operator:
            case "path_prune":
                return looped(pool, at, at % 2 == 1)
            case "fact_rectify":
                return contradicted(pool, at)
            case "noise_filter" if at % 2:
                return repeated(pool, at)
            case _:
                session = heard(recording, after(recording, max(0.6, _share(at)), "tool"))
                _bound(session, recording)
                return session

    async def decide(model: Model, session: Session) -> Any:
        return await Deciders(model).refactor(session, operator)

    return Situation(operator, recording.id if operator != "fact_rectify" else "a number changed", make, decide)


def _bound(session: Session, recording: Recording) -> None:
    """Put the two longest sentences of the user into the register."""
    said = [recording.events[at].text for at in spoken(recording)]
    words = sorted((span.of(text) for text in said for span in sentences(text)), key=len)
    session.plan(todo=[head(words[-1], 60)], constraints=[head(words[-2], 60)])


def _route(pool: Pool, at: int) -> Situation:
    kinds = (
        "clean",
        "a loop",
        "clean",
        "to and fro",
        "clean",
        "read again",
        "a loop",
        "contradicted",
        "clean",
        "bound",
    )
    kind, recording = kinds[at], pool.pick(at, 13)

    def make() -> Session:
        match kind:
            case "a loop" | "to and fro":
                return looped(pool, 20 + at, kind == "to and fro")
            case "read again":
                return repeated(pool, at)
            case "contradicted":
                return contradicted(pool, 2)
            case _:
                session = heard(recording, after(recording, _share(at), "tool"))
                if kind == "bound":
                    _bound(session, recording)
                return session

    async def decide(model: Model, session: Session) -> Any:
        return await Deciders(Roles(router=model)).refactor(session)

    return Situation("router", kind, make, decide)


def _place(pool: Pool, at: int) -> Situation:
    """Where a message belongs, in a session of two dialogues: it goes on, goes back, begins something else, or wants an alternative."""
    first, second, third = (pool.dialogues[(11 * at + 3 * k) % len(pool.dialogues)] for k in (0, 1, 2))
    kind = ("continue", "switch", "new topic", "alternative", "a new topic's return")[at % 5]
    cut, here = after(first, 0.5, "assistant"), after(second, 0.5, "assistant")
    further = {True: _next_words(first, cut), False: _next_words(second, here)}
    message = {
        "continue": further[False],
        "switch": further[True],
        "new topic": third.events[spoken(third)[0]].text,
        "alternative": "Keep this as it stands. As an alternative beside it, start again from my first message here and work out a cheaper way, so that I can compare the two.",
        "a new topic's return": f"Now back to what I asked at the very beginning. {further[True]}",
    }[kind]

    def make() -> Session:
        session = heard(first, cut)
        session.branch("new_topic")
        return heard(second, here, session)

    async def decide(model: Model, session: Session) -> Any:
        return await Deciders(model).branch(session, message)

    return Situation("place", kind, make, decide)


def _next_words(recording: Recording, upto: int) -> str:
    later = [event.text for event in recording.events[upto:] if event.role == "user" and count(event.text) > 3]
    return later[0] if later else recording.events[spoken(recording)[-1]].text
