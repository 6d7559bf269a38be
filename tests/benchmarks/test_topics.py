"""Conversations of several topics cost less and keep what last replies need when their messages are placed by topic."""

from __future__ import annotations

import random

import pytest

from tests.benchmarks.recordings import RecordedCall, RecordedEvent, Recording
from tests.benchmarks.topics import Figures, interleave, measure

pytestmark = pytest.mark.anyio


def make_dialogue(name: str) -> Recording:
    """Make four messages about one order, whose code comes first and is asked for last."""
    code = f"W-{len(name)}7301-{name}"
    events = [
        RecordedEvent("user", f"Hello, I am {name}."),
        RecordedEvent("assistant", "", (RecordedCall("c1", "find", {"who": name}),)),
        RecordedEvent("tool", f"{name} has the order {code}. " + f"Much is said of {name}. " * 40, (), "c1"),
        RecordedEvent("assistant", "I found it."),
    ]
    for at in range(2):
        events.append(RecordedEvent("user", f"And what else, {at}?"))
        events.append(RecordedEvent("assistant", f"{name} likes tea and cake. " * 20))
    events += [RecordedEvent("user", "Which order?"), RecordedEvent("assistant", f"It is {code}.")]
    return Recording(name, "", tuple(events))


async def measure_way(way: str) -> Figures:
    made = interleave([make_dialogue(name) for name in ("ada", "bramwell", "cleo")], random.Random(1))
    figures = Figures()
    await measure(made, way, 4_000, None, figures)
    return figures


async def test_told_topics_cost_fewer_tokens_and_keep_what_the_last_replies_need():
    path, told = await measure_way("one path"), await measure_way("told")
    assert sum(told.tokens) < 0.8 * sum(path.tokens)
    assert told.final == [1.0] * 3
    assert all(told.placed)
    assert not all(path.placed)
