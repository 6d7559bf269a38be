"""Conversations of several topics, by whoever places their messages: task completion (TCR) and context tokens (ACT), as Context-Agent is measured.

    python -m tests.benchmarks.topics FOLDER | FILE.jsonl.gz … [--budget 2000] [--topics 3] [--conversations 40] [--model NAME]

A conversation is made of recorded dialogues, some messages of each in turn, with their real replies and results. Its checkpoints are what a reply and its calls
take from earlier in their own dialogue: ids, numbers, addresses, or the dialogue's `checkpoints` where its file lists some. Just before each message the view is made, without message
and reply: ACT is its mean tokens, TCR the share of the checkpoints of each dialogue's last reply that stand in it, and `each` the same over all replies. With no model to
write replies that is what a reply could know; with `--model`, the model places the messages, and its own last replies are looked at as well (`wrote`).

Placed by: `one path`, where nothing is placed; `embedded`, the decider without a model, which stays; `told`, by whoever knows the topics; `model`.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

import anyio
from pydantic import BaseModel, Field

from ctxfold import Session
from ctxfold.models import Model, Request, Tool, ask, load
from ctxfold.models.deciders import Deciders
from ctxfold.select.pieces import values_in
from tests.benchmarks.fidelity.recordings import Heard, Recording, files, read
from tests.benchmarks.fidelity.replaying import Replay

__all__ = ["Figures", "Turn", "conversation", "measure"]

STRETCH = 2
"""Messages of one topic that stand together."""
LEAST, LONGEST = 3, 60_000
"""Messages of a dialogue at least, and its characters at most."""


class Said(BaseModel):
    """What a model answers the user."""

    text: str = Field(min_length=1, description="The reply, with every value the user needs.")


@dataclass(frozen=True)
class Turn:
    """A message of the user with all that follows it.

    Attributes:
        topic: which dialogue it is of, from 0.
        events: the message, and what was called, answered and replied.
        needs: what reply and calls take from earlier in the dialogue.
        last: whether its reply is the dialogue's last that needs anything.
    """

    topic: int
    events: tuple[Heard, ...]
    needs: frozenset[str]
    last: bool = False

    @property
    def message(self) -> str:
        """The user's words."""
        return self.events[0].text


@dataclass
class Figures:
    """What was measured of some conversations."""

    tokens: list[int] = field(default_factory=list)
    final: list[float] = field(default_factory=list)
    each: list[float] = field(default_factory=list)
    wrote: list[float] = field(default_factory=list)
    placed: list[bool] = field(default_factory=list)

    def line(self) -> str:
        """The figures in a line."""
        said = f"ACT {fmean(self.tokens):6.0f}  TCR {fmean(self.final):.3f}  each {fmean(self.each):.3f}  on its topic {fmean(self.placed):.2f}"
        return f"{said}  wrote {fmean(self.wrote):.3f}" if self.wrote else said


def turns(recording: Recording, topic: int) -> list[Turn]:
    """The messages of a dialogue, each with what follows it."""
    places = [at for at, event in enumerate(recording.events) if event.role == "user" and event.text.strip()]
    found: list[Turn] = []
    for at, end in zip(places, [*places[1:], len(recording.events)], strict=True):
        events = recording.events[at:end]
        answer = "\n".join(event.body for event in events if event.role == "assistant")
        before = values_in("\n".join(event.body for event in recording.events[:at]))
        needs = (values_in(answer) & before) - values_in(events[0].text)
        found.append(Turn(topic, events, frozenset(needs)))
    if recording.checkpoints:
        return [*found[:-1], replace(found[-1], needs=frozenset(map(str.lower, recording.checkpoints)), last=True)]
    last = max((at for at, turn in enumerate(found) if turn.needs), default=-1)
    return [replace(turn, last=at == last) for at, turn in enumerate(found)]


def conversation(dialogues: Sequence[Recording], chance: random.Random) -> list[Turn]:
    """Dialogues in turns, a stretch of each, until all are at their end."""
    left = [turns(each, topic) for topic, each in enumerate(dialogues)]
    made: list[Turn] = []
    here = -1
    while any(left):
        here = chance.choice([topic for topic, more in enumerate(left) if more and topic != here] or [here])
        made, left[here] = made + left[here][:STRETCH], left[here][STRETCH:]
    return made


async def measure(made: Sequence[Turn], way: str, budget: int, model: Model | None, figures: Figures) -> None:
    """Replay a conversation, its messages placed in one way."""
    deciders, branches, owners = Deciders(model), dict[int, str](), dict[str, int]()
    with Session.open("topics", store=":memory:") as session:
        session.set_budget(budget)
        replay = Replay(session)
        for turn in made:
            await _place(session, way, turn, branches, deciders)
            session.consolidate(budget)
            view = session.view(budget)
            shown = view.text.lower()
            held = [need in shown for need in turn.needs]
            figures.tokens.append(view.tokens)
            branches.setdefault(turn.topic, session.branch_name)
            figures.placed.append(owners.setdefault(session.branch_name, turn.topic) == turn.topic)
            if held:
                figures.each.append(fmean(held))
            if held and turn.last:
                figures.final.append(fmean(held))
                if way == "model" and model is not None:
                    reply = await _reply(model, view.text, turn.message)
                    figures.wrote.append(fmean(need in reply for need in turn.needs))
            for event in turn.events:
                replay.hear(event)
            replay.settle()


async def _place(session: Session, way: str, turn: Turn, branches: dict[int, str], deciders: Deciders) -> None:
    match way:
        case "told" if turn.topic in branches:
            session.branch("switch", to=branches[turn.topic])
        case "told":
            if branches:
                session.branch("new_topic")
        case "embedded":
            session.branch("auto", query=turn.message)
        case "model":
            await deciders.branch(session, turn.message)
        case _:
            pass


async def _reply(model: Model, view: str, message: str) -> str:
    """What a model answers a message, from a view; in small letters."""
    said = [{"role": "user", "content": f"{view}\n\nThe user now says:\n{message}"}]
    tool = Tool.deciding(Said, "Answer the user.", "reply")
    request = Request("You serve a user. Answer through the tool `reply`, from what you are shown alone.", said, tool)
    answered = await ask(model, request, Said.model_validate, lambda _: None)
    return answered.text.lower()


def conversations(paths: list[Path], topics: int, most: int) -> Iterator[list[Turn]]:
    """Conversations of recorded dialogues, each dialogue in one; the same every time."""
    chance = random.Random(5)
    found = [
        each
        for path in files(paths)
        for each in read(path)
        if sum(event.role == "user" for event in each.events) >= LEAST
        and sum(len(event.body) for event in each.events) <= LONGEST
    ]
    chance.shuffle(found)
    for at in range(0, min(len(found) - topics + 1, most * topics), topics):
        yield conversation(found[at : at + topics], chance)


def report(made: Sequence[list[Turn]], ways: Sequence[str], budget: int, model: Callable[[], Model | None]) -> None:
    """Measure each way, and print a line for each."""
    for way in ways:
        figures = Figures()
        for each in made:
            anyio.run(measure, each, way, budget, model(), figures)
        print(f"{way:10} {figures.line()}", flush=True)


def main() -> int:
    """Make the conversations, measure, print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("paths", nargs="+", type=Path, help="gzipped recordings, or folders of them")
    options.add_argument("--budget", type=int, default=2_000)
    options.add_argument("--topics", type=int, default=3)
    options.add_argument("--conversations", type=int, default=40)
    options.add_argument("--model", help="who places the messages too, as --model of browse takes it")
    chosen = options.parse_args()
    made = list(conversations(chosen.paths, chosen.topics, chosen.conversations))
    if not made:
        print("no dialogues there: give gzipped recordings, or a folder of them", file=sys.stderr)
        return 3
    print(
        f"{len(made)} conversations of {chosen.topics} topics, {sum(map(len, made))} messages, budget {chosen.budget}"
    )
    ways = ["one path", "embedded", "told", *(["model"] if chosen.model else [])]
    report(made, ways, chosen.budget, lambda: load(chosen.model) if chosen.model else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
