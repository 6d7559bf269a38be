"""A latest block that is larger than the room left: its beginning, its end and what is asked for stand, and each place where something is left out says so."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxfold import Session

LOG = [f"12:{n % 60:02} INFO worker-{n % 7} processed batch {n}" for n in range(900)]
LOG[431] = "12:11 ERROR lantern-db connection refused by 10.2.3.4:5432"
ROWS = [{"pod": f"pod-{n:03}", "state": "Running", "restarts": n, "node": f"node-{n % 5}"} for n in range(300)]
ROWS[170] = {"pod": "lantern-db", "state": "CrashLoopBackOff", "restarts": 42, "node": "node-3"}


def looked(*texts: str) -> Session:
    """A session that has just been answered."""
    session = Session.open("trip", goal="Why does lantern-db refuse connections?", store=":memory:")
    session.record_turn(user="Find out why the nightly import failed.")
    session.record_step(
        explanation="I look.",
        calls=[{"name": "look", "args": {"n": n}, "id": f"c{n}"} for n in range(len(texts))],
        results=[{"id": f"c{n}", "text": text} for n, text in enumerate(texts)],
    )
    return session


@pytest.mark.parametrize("budget", [600, 2_000, 5_000])
def test_a_large_answer_fills_the_budget_with_its_ends_and_what_is_asked_for(budget: int) -> None:
    """Not with its head alone, and not half of the budget."""
    with looked("\n".join(LOG)) as session:
        view = session.view(budget)
    shown = view.text.splitlines()
    assert 0.85 * budget <= view.tokens <= budget
    assert LOG[431] in shown
    assert {LOG[0], LOG[-1]} <= set(shown)
    body = shown[shown.index("<<s1.4") + 1 : next(at for at, line in enumerate(shown) if line.startswith("s1.4>> […"))]
    at = [LOG.index(line) if line != "…" else None for line in body]
    for one, two in pairwise(at):
        assert one is None or two is None or two == one + 1, "what is left out is marked"
    assert None in at


@pytest.mark.parametrize("budget", [600, 2_000])
def test_of_many_rows_the_asked_one_stands_under_their_header(budget: int) -> None:
    """And the first and the last of them, with a mark at each gap."""
    with looked(json.dumps(ROWS)) as session:
        view = session.view(budget)
    assert 0.8 * budget <= view.tokens <= budget
    header, asked = (
        view.text.index("pod state restarts node:"),
        view.text.index("lantern-db CrashLoopBackOff 42 node-3"),
    )
    assert header < view.text.index("pod-000 Running 0 node-0") < asked < view.text.index("pod-299")
    assert view.text.count("…") >= 3


@given(st.lists(st.sampled_from(["Running", "Failed", "Pending"]), min_size=60, max_size=200), st.integers(400, 1_200))
def test_each_row_that_stands_reads_as_it_is(states: list[str], budget: int) -> None:
    """A ditto mark speaks of the row it now stands under, not of one that was left out."""
    rows = [[f"pod-{n}", state, str(n % 3), "eu"] for n, state in enumerate(states)]
    with looked(
        json.dumps([dict(zip(("pod", "state", "zone", "region"), row, strict=True)) for row in rows])
    ) as session:
        shown = session.view(budget).text.partition("pod state zone region: ")[2]
    before: list[str] = []
    for told in shown.split("; "):
        before = [
            up if cell == "^" else cell
            for cell, up in zip(told.removesuffix(" …").split(" "), before or told, strict=False)
        ]
        assert before in rows


def test_a_small_answer_beside_a_large_one_stays_whole() -> None:
    """What is large yields."""
    small = "\n".join(f"setting {n} is {n * n}" for n in range(20))
    with looked("\n".join(LOG), small) as session:
        view = session.view(1_500)
    assert small in view.text
    assert LOG[431] in view.text
    assert view.tokens <= 1_500


def test_what_an_answer_holds_in_turns_stays_in_its_order() -> None:
    """Rows stand behind the words that say what they are, and a short row beside a long text stays."""
    told = f"Lent out:\n{json.dumps(ROWS[:60])}\nDue back:\n{json.dumps(ROWS[:40])}\n"
    run = json.dumps({"exit_code": 1, "stdout": "\n".join(LOG)})
    with looked(told, run) as session:
        shown = session.view(900).text
    places = [shown.index(words) for words in ("Lent out:", "pod-000", "Due back:", "exit_code=1", "12:00 INFO")]
    assert places == sorted(places)
    assert shown.count("pod-000") == 2
    assert shown.rindex("pod-000") > shown.index("Due back:")


def test_the_words_of_the_user_stand_before_a_large_answer_takes_all_the_room() -> None:
    """They yield last: the answer gives room down to its share first."""
    with Session.open("trip", store=":memory:") as session:
        session.record_turn(user="Find out why the nightly import failed.")
        for _ in range(2):
            session.record_step(
                explanation="I look.",
                calls=[{"name": "look", "args": {}, "id": "c"}],
                results=[{"id": "c", "text": "\n".join(LOG)}],
            )
            session.record_reply("Going on.")
        session.record_step(
            explanation="Again.",
            calls=[{"name": "look", "args": {}, "id": "c"}],
            results=[{"id": "c", "text": json.dumps(ROWS)}],
        )
        shown = session.view(300).text
    assert "user: Find out why the nightly import failed." in shown
    assert "pod-000" in shown


def test_one_endless_line_yields_to_its_head() -> None:
    """There are no lines to choose from."""
    with looked("lantern " * 20_000) as session:
        view = session.view(1_000)
    assert 500 <= view.tokens <= 1_000
    assert "tok s1.4]" in view.text


@given(
    st.lists(st.lists(st.text(max_size=60), max_size=40).map("\n".join), min_size=1, max_size=4),
    st.sampled_from([256, 300, 500, 1_000]),
)
def test_whatever_was_answered_the_budget_holds(texts: list[str], budget: int) -> None:
    """At any budget that a view takes."""
    with looked(*(text * 5 for text in texts)) as session:
        assert session.view(budget).tokens <= budget
