"""Changes of mind that no cue word says, and what is said and changes nothing. The whole of it is `python -m tests.benchmarks.intent.minds`."""

import pytest

from ctxfold import Session
from ctxfold.decisions.intent.restated import slots
from tests.benchmarks.intent.minds import CASES, changed, disturbed

MENDED = [case for case in CASES["worked"] if not changed(case)]


def test_most_changes_of_mind_without_a_cue_are_followed() -> None:
    assert len(MENDED) >= 26
    for name, least in (("check", 14), ("fresh", 10), ("second", 17), ("third", 16), ("fourth", 13)):
        assert sum(not changed(case) for case in CASES[name]) >= least


@pytest.mark.parametrize("case", CASES["steady"], ids=lambda case: case["asked"][0][:24])
def test_what_is_merely_told_changes_nothing(case) -> None:
    assert not [(words, found) for words in case["then"] if (found := disturbed(case["asked"], words))]


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("the 7:40 is full, the 9:10 has seats", "time", {"7:40", "9:10"}),
        ("June 4 or the 12th", "date", {"4", "12"}),
        ("she's an L", "size", {"l"}),
        ("印成A3", "code a9", {"a3"}),
        ("move it to eu-central-1", "code a-a-9", {"eu-central-1"}),
        ("五月三号", "date", {"三"}),
        ("现在是陈经理", "person", {"陈经理"}),
        ("red ones", "kind_colour", {"red"}),
        ("I'd say it's fine", "size", set()),
    ],
)
def test_values_are_known_by_their_kind(text: str, kind: str, values: set[str]) -> None:
    assert slots(text).get(kind, frozenset()) == values


def test_a_wish_for_the_other_size_opens_no_second_item(session: Session) -> None:
    session.record_turn(user="Rent the small hall for the concert and hire a sound engineer.")
    session.maintain(8_000)
    session.record_turn(user="over 200 sold already, we need the big one")
    session.maintain(8_000)
    assert [item.text.partition(" ")[0] for item in session.intent.open] == ["Rent", "hire"]
    assert "the big one" in session.intent.open[0].text
