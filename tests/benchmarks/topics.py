"""Conversations of several topics: task completion (TCR) and context tokens (ACT) by who places the messages, as
Context-Agent measures.

    python -m tests.benchmarks.topics FOLDER | FILE.jsonl.gz … [--budget 2000] [--topics 3] [--conversations 40]
    [--model NAME]

A conversation interleaves recorded dialogues, two messages of each in turn, with their real replies and results. The
checkpoints of a reply are the ids, numbers and addresses that it takes from earlier in its own dialogue, or the
dialogue's `checkpoints`. Just before each message the view is made. ACT is its mean tokens, TCR the share of the
checkpoints of each dialogue's last reply that are in it, `each` the same over all replies. Messages are placed by
nobody (`one path`, as the decider without a model leaves them), by whoever knows the topics (`told`), or by `--model`
(`model`).
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import anyio

from ctxfold import Session
from ctxfold.models import Model, load
from ctxfold.models.deciders import Deciders
from ctxfold.select.pieces import values_in
from tests.benchmarks.shared.harness import add_recordings, make_parser
from tests.benchmarks.shared.recordings import RecordedEvent, Recording, Replay, find_files, read_recordings

STRETCH = 2
"""Messages of one topic in a row."""
LEAST_MESSAGES, LONGEST = 3, 60_000
"""A dialogue has at least so many messages of the user and at most so many characters."""


@dataclass(frozen=True)
class TopicTurn:
    """A message of the user with all that follows it.

    Attributes:
        topic: the number of its dialogue, from 0.
        events: the message, then calls, results and replies.
        needs: the values that replies and calls take from earlier in the dialogue.
        last: whether its reply is the dialogue's last that needs anything.
    """

    topic: int
    events: tuple[RecordedEvent, ...]
    needs: frozenset[str]
    last: bool = False


Figures = dict[str, list[float]]
"""Figures of some conversations: `tokens`, `final`, `each` and `placed`, one a message."""


def split_turns(recording: Recording, topic: int) -> list[TopicTurn]:
    """Split a dialogue before each message of the user."""
    places = [at for at, event in enumerate(recording.events) if event.role == "user" and event.text.strip()]
    turns: list[TopicTurn] = []
    for at, end in zip(places, [*places[1:], len(recording.events)], strict=True):
        events = recording.events[at:end]
        answer = "\n".join(event.body for event in events if event.role == "assistant")
        before = values_in("\n".join(event.body for event in recording.events[:at]))
        needs = (values_in(answer) & before) - values_in(events[0].text)
        turns.append(TopicTurn(topic, events, frozenset(needs)))
    if recording.checkpoints:
        needed = frozenset(map(str.lower, recording.checkpoints))
        return [*turns[:-1], replace(turns[-1], needs=needed, last=True)]
    last = max((at for at, turn in enumerate(turns) if turn.needs), default=-1)
    return [replace(turn, last=at == last) for at, turn in enumerate(turns)]


def interleave(dialogues: Sequence[Recording], chance: random.Random) -> list[TopicTurn]:
    """Interleave dialogues, a stretch of each at a time, until all are at their end."""
    left = [split_turns(dialogue, topic) for topic, dialogue in enumerate(dialogues)]
    made: list[TopicTurn] = []
    here = -1
    while any(left):
        here = chance.choice([topic for topic, more in enumerate(left) if more and topic != here] or [here])
        made, left[here] = made + left[here][:STRETCH], left[here][STRETCH:]
    return made


async def measure(turns: Sequence[TopicTurn], way: str, budget: int, model: Model | None, figures: Figures) -> None:
    """Replay a conversation whose messages are placed in one way, and add its figures."""
    deciders, branches, owners = Deciders(model), dict[int, str](), dict[str, int]()
    with Session.open("topics", store=":memory:") as session:
        session.set_budget(budget)
        replay = Replay(session)
        for turn in turns:
            await place(session, way, turn, branches, deciders)
            session.consolidate(budget)
            view = session.view(budget)
            shown = view.text.lower()
            held = [need in shown for need in turn.needs]
            figures["tokens"].append(view.tokens)
            branches.setdefault(turn.topic, session.branch_name)
            figures["placed"].append(owners.setdefault(session.branch_name, turn.topic) == turn.topic)
            for name in ("each", "final") if turn.last else ("each",):
                figures[name] += [fmean(held)] if held else []
            for event in turn.events:
                replay.add(event)
            replay.settle()


async def place(session: Session, way: str, turn: TopicTurn, branches: dict[int, str], deciders: Deciders) -> None:
    """Move the session to the branch where a message belongs."""
    if way == "told" and turn.topic in branches:
        session.branch("switch", to=branches[turn.topic])
    elif way == "told" and branches:
        session.branch("new_topic")
    elif way == "model":
        await deciders.branch(session, turn.events[0].text)


def make_conversations(paths: list[Path], topics: int, most: int) -> Iterator[list[TopicTurn]]:
    """Yield conversations of recorded dialogues, each dialogue in one; the same in every run."""
    chance = random.Random(5)
    found = [
        recording
        for path in find_files(paths)
        for recording in read_recordings(path)
        if sum(event.role == "user" for event in recording.events) >= LEAST_MESSAGES
        and sum(len(event.body) for event in recording.events) <= LONGEST
    ]
    chance.shuffle(found)
    for at in range(0, min(len(found) - topics + 1, most * topics), topics):
        yield interleave(found[at : at + topics], chance)


def main() -> int:
    """Print a line for each way to place messages."""
    parser = make_parser("topics", __doc__)
    add_recordings(parser)
    parser.add_argument("--budget", type=int, default=2_000)
    parser.add_argument("--topics", type=int, default=3)
    parser.add_argument("--conversations", type=int, default=40)
    parser.add_argument("--model", help="let this model place the messages too, named as for browse --model")
    chosen = parser.parse_args()
    made = list(make_conversations(chosen.paths, chosen.topics, chosen.conversations))
    messages = sum(map(len, made))
    print(f"{len(made)} conversations of {chosen.topics} topics, {messages} messages, budget {chosen.budget}")
    for way in ("one path", "told", *(["model"] if chosen.model else [])):
        figures = Figures(tokens=[], final=[], each=[], placed=[])
        for turns in made:
            anyio.run(measure, turns, way, chosen.budget, load(chosen.model) if chosen.model else None, figures)
        tokens, final, each, placed = map(fmean, figures.values())
        print(f"{way:10} ACT {tokens:6.0f}  TCR {final:.3f}  each {each:.3f}  on its topic {placed:.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
