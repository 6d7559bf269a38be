"""What the user stated stays in view: small forms of the benchmark of long dialogues, whose walks of life no rule of ours was written for."""

import pytest

from ctxfold import Session
from tests.benchmarks.intent.dialogues import dialogue
from tests.benchmarks.intent.stated import Kept, replayed, stated

BUDGET = 2_000


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_the_user_stated_is_in_every_later_view_of_a_long_winded_dialogue(language: str) -> None:
    kept = Kept()
    replayed([dialogue(language, 77, 4)], BUDGET, kept, lambda _session: None)
    assert kept.wanted > 500
    assert kept.lost == []
    assert kept.over == 0


def test_the_measure_misses_what_is_missing() -> None:
    """A check that cannot fail proves nothing: a view without the value counts against its share."""
    kept = Kept()
    kept.look("The hotel is in Ulm.", 8, 100, ["Ulm", "14 March"], "here")
    assert (kept.wanted, kept.found, kept.share) == (2, 1, 0.5)
    assert kept.lost == ["'14 March' here"]
    kept.look("", 101, 100, [], "there")
    assert kept.over == 1


def test_stated_values_are_numbers_dates_names_and_ids() -> None:
    found = stated("I am Mia Li, mia_li_3668; move flight HAT012 to May 12 for $250.50, on Friday with Olivia Garcia.")
    for value in ("mia_li_3668", "HAT012", "May 12", "250.50", "Friday", "Olivia Garcia"):
        assert any(value in each for each in found), value


def test_a_session_that_attends_reads_alike_from_another_handle(tmp_path) -> None:
    """What was planned and extracted on the way is committed: another process sees the same view."""
    store = str(tmp_path / "store.db")
    with Session.open("talk", store=store) as one:
        for turn in dialogue("en", 5, 1).turns[:8]:
            one.record_turn(user=turn.text)
            one.maintain(BUDGET)
            one.record_reply("Noted.")
        text = one.view(BUDGET).text
    with Session.open("talk", store=store) as two:
        assert two.view(BUDGET).text == text
