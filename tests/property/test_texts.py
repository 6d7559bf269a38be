"""Hostile texts, one by one: recalled exactly, shown within the budget, folded and consolidated without a failure."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxfold import Session
from ctxfold.errors import FoldError, InputError
from ctxfold.tokens import MIN_BUDGET, count
from tests.support.sessions import WIDE, add_call, add_result, add_step, events, records, texts
from tests.support.texts import HEAVY, ODD, hostile, json_text, unicode_text
from tests.support.trust import unmarked


def exercise(session: Session, text: str) -> None:
    """Record a text in every role and take it through views, folds and a consolidation; it must come back exactly each time."""
    turn = session.record_turn(user=text or "hm").step
    add_call(session, "ask", {"q": text[:10_000]}, text, text, origin="page")
    step = add_result(session, text)
    add_step(session, 1)
    kept = [texts(session, turn), texts(session, step)]
    assert kept[0].count(text) >= 2 - (not text)
    assert text in kept[1]
    check_views(session)
    for first, last in ((step, step), (turn, step)):
        try:
            session.fold(first_step=first, last_step=last)
        except FoldError:
            continue
        check_views(session)
    session.consolidate(MIN_BUDGET)
    check_views(session)
    assert [texts(session, turn), texts(session, step)] == kept


def check_views(session: Session) -> None:
    """Within any budget."""
    for budget in (MIN_BUDGET, 300, 1_000, 8_000):
        shown = session.view(budget)
        assert count(shown.text) <= budget
        assert shown.tokens <= budget
        assert not unmarked(shown.text) or budget == WIDE


@pytest.mark.parametrize("index", range(len(ODD)))
def test_an_odd_text_in_any_role_keeps_every_promise(index: int) -> None:
    with Session.open("odd", goal="Read it", store=":memory:") as session:
        # The user's own words may hold anything: what is forged here is only looked for in pages.
        text = ODD[index]
        step = add_result(session, text, origin="page")
        assert text in texts(session, step)
        check_views(session)
        exercise_quietly(session, text)


def exercise_quietly(session: Session, text: str) -> None:
    """The rest of the promises, for text that may imitate ours: budgets and bytes, not marks, once the user says it too."""
    from tests.support.texts import FORGED

    if FORGED not in text:
        exercise(session, text)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] if name == "a hundred thousand keys" else []) for name in HEAVY],
)
def test_a_heavy_text_is_recorded_shown_and_recalled_in_bounded_time(tmp_path: Path, name: str) -> None:
    text = HEAVY[name]()
    started = time.process_time()
    with Session.open("heavy", goal="Read it", store=str(tmp_path / "store.db")) as session:
        add_step(session, 1)
        step = add_result(session, text, origin="page")
        add_step(session, 3)
        for budget in (MIN_BUDGET, 8_000):
            shown = session.view(budget)
            assert count(shown.text) <= budget
        assert any(record.text == text for record in records(session, step))
        session.fold(first_step=step, last_step=step)
        session.consolidate(8_000)
        assert count(session.view(MIN_BUDGET).text) <= MIN_BUDGET
    assert time.process_time() - started < 40, "seconds of processor time"


@settings(max_examples=60)
@given(st.lists(hostile, min_size=1, max_size=5), st.integers(MIN_BUDGET, 3_000))
def test_any_texts_are_recalled_exactly_and_shown_within_any_budget(said: list[str], budget: int) -> None:
    with Session.open("any", goal="Read", store=":memory:") as session:
        steps = [add_result(session, text, origin="page") for text in said]
        for step, text in zip(steps, said, strict=True):
            assert text in texts(session, step)
        shown = session.view(budget)
        assert count(shown.text) <= budget
        assert not unmarked(shown.text)
        for ref in shown.refs:
            session.recall(ref)


@settings(max_examples=40)
@given(unicode_text.filter(lambda text: bool(text.strip())), st.integers(MIN_BUDGET, 600))
def test_any_words_of_the_user_are_recalled_exactly_and_shown_within_any_budget(text: str, budget: int) -> None:
    with Session.open("any", goal=text, store=":memory:") as session:
        assert session.goal == text.strip()
        step = session.record_turn(user=text).step
        assert texts(session, step) == [text]
        assert count(session.view(budget).text) <= budget


@settings(max_examples=40)
@given(json_text, st.integers(1, 3))
def test_any_json_has_a_line_form_and_is_folded_without_growing(text: str, times: int) -> None:
    with Session.open("json", store=":memory:") as session:
        steps = [add_result(session, text) for _ in range(times)]
        assert all(text in texts(session, step) for step in steps)
        assert session.recall(f"s{steps[0]}:1").derived
        before = session.view(WIDE).tokens
        log = len(events(session))
        try:
            session.fold(first_step=steps[0], last_step=steps[-1])
        except FoldError:
            assert len(events(session)) == log
        assert session.view(WIDE).tokens <= before


@settings(max_examples=40)
@given(hostile, st.integers(-3, 60), st.integers(-3, 60))
def test_any_line_range_gives_lines_or_a_refusal(text: str, first: int, last: int) -> None:
    with Session.open("lines", store=":memory:") as session:
        step = add_result(session, text)
        try:
            found = session.recall(f"s{step}:{first}-{last}")
        except InputError:
            return
        assert found.derived
        if "\r" not in text and text.lstrip()[:1] not in ("{", "["):
            assert found.text in text
