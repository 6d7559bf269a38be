"""The bounded form of the benchmark: the dialogues it was worked on with keep their bars. The whole of it is `python -m tests.benchmarks.forest`."""

from tests.benchmarks.forest.__main__ import Tally, replay
from tests.benchmarks.forest.dialogues import dialogues


def test_messages_are_attached_where_they_belong() -> None:
    tally = Tally()
    for dialogue in dialogues("work")[::2]:
        replay(dialogue, tally, right=False, budget=2_000, manner="filler", views=False)
    assert tally.attached >= 0.85 * tally.turns, tally.wrong
    assert tally.found >= 0.80 * tally.moves
    assert tally.false <= 0.05 * tally.turns


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
    assert all(10 <= len(dialogue.turns) <= 25 for dialogue in [*ours, *dialogues("other")])
