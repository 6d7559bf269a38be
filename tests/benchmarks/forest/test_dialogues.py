"""The bounded form of the benchmark: the dialogues it was worked on with keep their bars. The whole of it is `python -m tests.benchmarks.forest`."""

import json
from importlib.resources import files

import pytest

from ctxfold.decisions.branch.sight import look
from ctxfold.decisions.branch.signs import places
from ctxfold.workspace.forest import Choice
from tests.benchmarks.forest.__main__ import Tally, replay
from tests.benchmarks.forest.dialogues import Set, dialogues
from tests.benchmarks.forest.woods import grown, told


def test_messages_are_attached_where_they_belong() -> None:
    tally = Tally()
    for dialogue in dialogues("work")[::2]:
        replay(dialogue, tally, right=False, budget=2_000, manner="filler", views=False)
    assert tally.attached >= 0.85 * tally.turns, tally.wrong
    assert tally.found >= 0.80 * tally.moves
    assert tally.false <= 0.05 * tally.turns


@pytest.mark.parametrize("which", ["fresh-check", "scripted-check"])
def test_messages_of_dialogues_held_out_are_attached_too(which: Set) -> None:
    tally = Tally()
    for dialogue in dialogues(which):
        replay(dialogue, tally, right=True, budget=2_000, manner="filler", views=False)
    assert tally.attached >= 0.90 * tally.turns, tally.wrong
    assert tally.found >= 0.80 * tally.moves
    assert tally.false <= 0.05 * tally.turns


def test_a_forest_grown_with_mistakes_names_the_way_back() -> None:
    dialogue = dialogues("scripted")[0]
    astray = [(turn, right) for _, turn, right in grown(dialogue, "filler", lambda *_: Choice("continue"))]
    assert all(right.action == "continue" for turn, right in astray if turn.label == dialogue.turns[0].label)
    led = [(turn.event, right.action) for _, turn, right in told(dialogue, "filler")]
    assert ("switch", "switch") in led
    assert ("fork", "create") in led


def test_the_weights_that_ship_are_those_of_signs_there_are() -> None:
    known = {
        name
        for dialogue in dialogues("scripted")[:3]
        for wood, turn, _ in list(told(dialogue, "filler"))[1:]
        for place in places(look(wood.grove(), turn.words, None))
        for name in place.signs
    }
    for weights in json.loads(files("ctxfold.decisions.branch").joinpath("weights.json").read_text("utf-8")).values():
        assert set(weights) <= known
        assert all(abs(weight) < 10 for weight in weights.values())


def test_a_view_holds_what_a_return_needs_and_every_number_of_the_user() -> None:
    tally = Tally()
    for dialogue in dialogues("work")[:2]:
        replay(dialogue, tally, right=True, budget=2_000, manner="echo", views=True)
    said, present = tally.numbers
    needed, stand, recent = tally.needed
    assert present == said
    assert stand >= 0.95 * needed > recent
    assert all(sum(found) / len(found) <= 1_600 for found in tally.tokens.values())


def test_ten_dialogues_in_two_domains_are_there() -> None:
    ours = [*dialogues("work"), *dialogues("held")]
    assert len(ours) == 10
    assert all(
        10 <= len(dialogue.turns) <= 25
        for which in ("other", "fresh", "fresh-check", "terse", "terse-check", "scripted", "scripted-check")
        for dialogue in [*ours, *dialogues(which)]
    )
