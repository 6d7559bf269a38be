"""The scoreboard itself: a replayed session beats forgetting the oldest, keeps its budget, and a heap of words does not pass for a view."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.benchmarks.fidelity.board import Score, Wish, score
from tests.benchmarks.fidelity.check import differences
from tests.benchmarks.fidelity.measure import Asked, asked_by, holds, holds_bound
from tests.benchmarks.fidelity.plot import svg
from tests.benchmarks.fidelity.policies import policy
from tests.benchmarks.fidelity.recordings import Call, Heard, read

ROOT = Path(__file__).parents[3]
SAMPLE = Path(__file__).with_name("sample.jsonl.gz")
SPECS = ("session:3000", "session:1000", "full", "drop:1500", "drop:2000", "drop:2500", "drop:2800", "drop:3200", "bag")


@pytest.fixture(scope="module")
def board() -> dict[str, Score]:
    """The sample, replayed once for all tests."""
    return {each.spec: each for each in score(read(SAMPLE), SPECS, Wish())}


def test_the_full_history_keeps_every_value_where_it_stood(board: dict[str, Score]):
    full = board["full"]
    assert full.values >= 50
    assert full.far >= 20
    assert (full.recall, full.bound_recall, full.far_recall) == (1.0, 1.0, 1.0)
    assert full.relative_cost == pytest.approx(1.0, abs=0.01)


def test_a_view_keeps_what_dropping_the_oldest_does_within_one_value_at_less_cost(board: dict[str, Score]):
    session = board["session:3000"]
    drops = (board[spec] for spec in SPECS if spec.startswith("drop"))
    rival = next(each for each in drops if each.mean_tokens >= session.mean_tokens)
    assert session.mean_tokens < 0.75 * session.mean_full
    assert session.found >= rival.found - 1
    assert session.far_found >= rival.far_found - 1
    assert session.cost < 0.6 * rival.cost


def test_no_view_is_larger_than_its_budget(board: dict[str, Score]):
    assert [each.over for each in board.values()] == [0] * len(SPECS)


def test_a_heap_of_words_has_recall_and_is_not_bound(board: dict[str, Score]):
    assert board["bag"].recall > 0.9
    assert board["bag"].bound_recall < 0.65
    assert board["session:3000"].bound_recall > 0.95 * board["session:3000"].recall


def test_a_view_over_its_budget_would_be_counted():
    tight = Score("session:10", calls=0)
    assert tight.budget == 10
    assert Score("drop:10").budget is None


def test_a_call_asks_for_what_it_had_to_take_from_somewhere():
    call = Call(
        "1",
        "pay",
        {"order": "W-1001", "sum": 45, "many": 3, "ok": True, "note": None, "command": "cp /srv/a.txt /srv/b.txt"},
    )
    told = "order W-1001 costs 45, many 3, ok true; /srv/a.txt"
    past = [(1, Heard("user", told)), (5, Heard("tool", "again 45"))]
    asked = {each.value: each.far for each in asked_by(call, "pay from /srv/b.txt", past, 6)}
    assert asked == {"W-1001": True, "45": False, "/srv/a.txt": True}


def test_a_value_is_found_only_as_a_whole():
    assert not holds("total 1450.50", "total 1450.50", "450")
    assert not holds("total 450.50", "total 450.50", "450")
    assert not holds("id xw-1001b", "id xw-1001b", "W-1001")
    assert holds("(w-1001)", "(w-1001)", "W-1001")


def test_a_value_is_bound_by_two_of_its_own_company():
    asked = Asked("45", False, (frozenset({"order", "w-1001", "refund"}),))
    for view, bound in (
        ("order w-1001: 45", True),
        ("refund of 45", False),
        ("order" + " " * 80 + "45" + " " * 80 + "w-1001", False),
    ):
        assert holds_bound(view, view, asked) is bound


def test_company_is_the_record_where_there_is_one_and_the_words_around_where_there_is_none():
    record = Heard("tool", json.dumps([{"order": "W-1", "sum": 45}, {"order": "W-2", "sum": 46}]))
    (asked,) = asked_by(Call("1", "pay", {"sum": 46}), "", [(1, record)], 2)
    assert asked.companies == (frozenset({"sum", "w-2"}),)
    (asked,) = asked_by(Call("1", "pay", {"sum": 46}), "", [(1, Heard("tool", "W-2 costs 46 EUR"))], 2)
    assert asked.companies == (frozenset({"w-2", "costs", "eur"}),)


def test_the_check_against_another_implementation_sees_a_figure_that_is_apart(board: dict[str, Score]):
    ours = board["drop:2000"]
    theirs = {
        "calls": ours.calls, "values": ours.values, "far_values": ours.far, "over": ours.over,
        "recall": round(ours.recall, 4), "bound": round(ours.bound_recall, 4), "far": round(ours.far_recall, 4),
        "tokens": round(ours.mean_tokens), "full": round(ours.mean_full), "cost": round(ours.relative_cost, 3),
    }  # fmt: skip
    assert differences(ours, theirs) == {}
    for name in theirs:
        assert set(differences(ours, {**theirs, name: theirs[name] + (10 if theirs[name] > 9 else 0.01)})) == {name}


@pytest.mark.parametrize("spec", ["", "drop", "drop:x", "session:", "bag:3x", "fold:9"])
def test_an_unknown_policy_is_refused(spec: str):
    with pytest.raises(ValueError, match="no policy"):
        policy(spec)


def test_the_picture_is_one_well_formed_svg_that_shows_every_policy(board: dict[str, Score]):
    drawn = svg({"sample <1>": list(board.values())})
    tree = ET.fromstring(drawn)
    assert tree.tag.endswith("svg")
    for spec in SPECS:
        assert spec.replace(":", " ") in drawn
    assert "nan" not in drawn


def test_the_board_runs_as_one_command_and_says_what_its_figures_are_not(tmp_path: Path):
    picture = tmp_path / "board.svg"
    command = ["-m", "tests.benchmarks.fidelity", "--calls", "6", "--budget", "1000", "--beside", "drop:1000"]
    run = subprocess.run(
        [sys.executable, *command, "--explain", "3", "--plot", str(picture)],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "Presence is not use" in run.stdout
    assert re.search(r"session:1000 +\d+ +[\d.]+ +[\d.]+ +[\d.]+ +- +0", run.stdout)
    assert picture.read_text(encoding="utf-8").startswith("<svg")
