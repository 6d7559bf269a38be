"""Conversations of several topics, as the benchmark of topics measures them: placed by topic, the context is smaller and holds what replies need."""

from __future__ import annotations

import random

import pytest

from ctxfold.models.named import ScriptedModel
from tests.benchmarks.fidelity.recordings import Call, Heard, Recording
from tests.benchmarks.topics import Figures, conversation, measure

pytestmark = pytest.mark.anyio


def dialogue(name: str) -> Recording:
    """Four messages on one order, whose code is told at first and asked for at last."""
    events = [Heard("user", f"Hello, I am {name}."), Heard("assistant", "", (Call("c1", "find", {"who": name}),))]
    events += [Heard("tool", f"{name} has the order W-{len(name)}7301-{name}. " + f"Much is said of {name}. " * 40, (), "c1"), Heard("assistant", "I found it.")]  # fmt: skip
    for at in range(2):
        events += [Heard("user", f"And what else, {at}?"), Heard("assistant", f"{name} likes tea and cake. " * 20)]
    events += [Heard("user", "Which order?"), Heard("assistant", f"It is W-{len(name)}7301-{name}.")]
    return Recording(name, "", tuple(events))


async def measured(way: str, budget: int, model: ScriptedModel | None = None) -> Figures:
    made = conversation([dialogue("ada"), dialogue("bramwell"), dialogue("cleo")], random.Random(1))
    figures = Figures()
    await measure(made, way, budget, model, figures)
    return figures


async def test_told_topics_cost_fewer_tokens_and_keep_what_the_last_replies_need():
    path, told = await measured("one path", 4_000), await measured("told", 4_000)
    assert sum(told.tokens) < 0.8 * sum(path.tokens)
    assert told.final == [1.0] * 3
    assert all(told.placed)
    assert not all(path.placed)


async def test_a_models_placements_are_measured_and_so_is_what_it_wrote():
    stay = {"action": "continue", "confidence": 0.9}
    replies = [stay] * 12
    made = conversation([dialogue("ada"), dialogue("bramwell"), dialogue("cleo")], random.Random(1))
    script: list[dict[str, object]] = []
    for turn in made:
        script.append(replies.pop())
        if turn.last:
            script.append({"text": f"It is {' '.join(turn.needs)}."})
    figures = Figures()
    await measure(made, "model", 4_000, ScriptedModel(*script), figures)
    assert figures.wrote == [1.0] * 3
