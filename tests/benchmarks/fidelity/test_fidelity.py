"""The measure itself: a session beats dropping the oldest, keeps its budget, and a heap of words does not pass for a
view.
"""

import json
from pathlib import Path

import pytest

from tests.benchmarks.fidelity.board import Score, score_policies
from tests.benchmarks.fidelity.measure import Asked, find_asked, is_bound, is_found
from tests.benchmarks.fidelity.policies import read_policy
from tests.benchmarks.shared.recordings import RecordedCall, RecordedEvent, read_recordings

SAMPLE = Path(__file__).with_name("sample.jsonl.gz")
SPECS = ("session:3000", "session:1000", "full", "drop:1500", "drop:2000", "drop:2500", "drop:2800", "drop:3200", "bag")


@pytest.fixture(scope="module")
def board() -> dict[str, Score]:
    """Replay the sample once for all tests."""
    scores = score_policies(read_recordings(SAMPLE), {spec: read_policy(spec) for spec in SPECS})
    return {score.spec: score for score in scores}


def test_the_full_history_keeps_every_value_beside_its_company(board: dict[str, Score]):
    full = board["full"]
    assert full.values >= 50
    assert full.far >= 20
    assert full.shares == (1.0, 1.0, 1.0)
    assert full.relative_cost == pytest.approx(1.0, abs=0.01)


def test_a_view_keeps_what_dropping_the_oldest_does_within_one_value_at_less_cost(board: dict[str, Score]):
    session = board["session:3000"]
    rivals = (board[spec] for spec in SPECS if spec.startswith("drop"))
    rival = next(score for score in rivals if score.mean_tokens >= session.mean_tokens)
    assert session.mean_tokens < 0.75 * session.mean_full
    assert session.found >= rival.found - 1
    assert session.far_found >= rival.far_found - 1
    assert session.cost < 0.6 * rival.cost
    assert [score.over for score in board.values()] == [0] * len(SPECS)


def test_a_heap_of_words_has_recall_and_is_not_bound(board: dict[str, Score]):
    recall, bound, _ = board["bag"].shares
    assert recall > 0.9
    assert bound < 0.65
    assert board["session:3000"].bound / board["session:3000"].found > 0.9 > bound / recall


def test_a_call_asks_for_the_values_that_come_from_somewhere():
    args = {"order": "W-1001", "sum": 45, "many": 3, "ok": True, "note": None, "command": "cp /srv/a.txt /srv/b.txt"}
    text = "order W-1001 costs 45, many 3, ok true; /srv/a.txt"
    past = [(1, RecordedEvent("user", text)), (5, RecordedEvent("tool", "again 45"))]
    asked = find_asked(RecordedCall("1", "pay", args), "pay from /srv/b.txt", past, 6)
    assert {value.value: value.far for value in asked} == {"W-1001": True, "45": False, "/srv/a.txt": True}


def test_a_value_is_found_only_as_a_whole():
    views = {"total 1450.50": "450", "total 450.50": "450", "id xw-1001b": "W-1001", "(w-1001)": "W-1001"}
    assert [view for view, value in views.items() if is_found(view, view, value)] == ["(w-1001)"]


def test_a_value_is_bound_by_two_of_its_own_company():
    asked = Asked("45", False, (frozenset({"order", "w-1001", "refund"}),))
    views = ["order w-1001: 45", "refund of 45", "order" + " " * 80 + "45" + " " * 80 + "w-1001"]
    assert [is_bound(view, view, asked) for view in views] == [True, False, False]


def test_company_is_the_record_or_else_the_words_around():
    record = json.dumps([{"order": "W-1", "sum": 45}, {"order": "W-2", "sum": 46}])
    for text, company in ((record, {"sum", "w-2"}), ("W-2 costs 46 EUR", {"w-2", "costs", "eur"})):
        (asked,) = find_asked(RecordedCall("1", "pay", {"sum": 46}), "", [(1, RecordedEvent("tool", text))], 2)
        assert asked.companies == (frozenset(company),)


@pytest.mark.parametrize("spec", ["", "drop", "session:", "bag:3x", "fold:9"])
def test_an_unknown_policy_is_refused(spec: str):
    with pytest.raises(ValueError, match="is no policy"):
        read_policy(spec)
