"""The data model's cover and tail: the tiling, folds by directive, consolidation between water marks, the pure view."""

from pathlib import Path

import pytest

from ctxfold import Session
from ctxfold.errors import BudgetError, FoldError
from ctxfold.tokens import MIN_BUDGET, count
from tests.support.sessions import (
    WIDE,
    add_call,
    add_result,
    add_step,
    add_steps,
    cover,
    decisions,
    events,
    in_order,
    path,
    settled,
    steps_addressed,
    texts,
)

BUDGET = 8_000


def fill(session: Session, tokens: int) -> int:
    """Record whole steps until the settled view holds more than `tokens`; how many steps that took."""
    seed = session.tip
    while session.view(WIDE).tokens <= tokens:
        seed += 1
        add_step(session, seed)
    return seed


def test_a_call_and_its_result_stand_in_one_tile(session: Session) -> None:
    """A fold takes a step whole: its explanation, call and result leave the view together."""
    add_steps(session, 4)
    session.fold(summary="A page was read.", first_step=2, last_step=2)
    shown = settled(session)
    assert "END-2" not in shown
    assert "A page was read." in shown
    assert "END-1" in shown
    assert "END-3" in shown


def test_a_fold_with_no_steps_named_takes_the_latest_alone(session: Session) -> None:
    """`fold()` is the granular condensation: one step, the latest, micro."""
    add_steps(session, 3)
    tile = session.fold()
    assert (tuple(tile.steps), tile.first, tile.last, tile.scale) == ((3,), 3, 3, "micro")
    assert tile.text
    assert cover(session) == [(1,), (2,), (3,)]


@pytest.mark.parametrize(("first", "last"), [(3, 6), (1, 3), (4, 4), (3, 4), (2, 4), (5, 6)])
def test_a_fold_that_would_cut_through_a_tile_is_refused_naming_its_bounds(
    session: Session, first: int, last: int
) -> None:
    """The refusal names the bounds of the tile in the way, and nothing changed."""
    add_steps(session, 6)
    session.fold(summary="Two to five.", first_step=2, last_step=5)
    before, log = settled(session), len(events(session))
    with pytest.raises(FoldError) as refused:
        session.fold(summary="Through the middle.", first_step=first, last_step=last)
    message = str(refused.value)
    assert "s2" in message
    assert "s5" in message
    assert "\n" not in message
    assert settled(session) == before
    assert len(events(session)) == log


@pytest.mark.parametrize("summary", ["", "   \n\t "])
def test_a_fold_that_says_nothing_is_refused(session: Session, summary: str) -> None:
    """An empty summary is not a fold."""
    add_steps(session, 3)
    with pytest.raises(FoldError):
        session.fold(summary=summary, first_step=1, last_step=2)
    assert cover(session) == [(1,), (2,), (3,)]


def test_a_fold_that_would_grow_the_view_is_refused(session: Session) -> None:
    """Never worse: no fold returns more tokens than it took."""
    add_steps(session, 3)
    before = session.view(WIDE)
    with pytest.raises(FoldError):
        session.fold(summary="word and more words " * 400, first_step=2, last_step=2)
    assert session.view(WIDE).text == before.text


def test_the_embedded_folder_keeps_the_facts_of_what_it_folds(session: Session) -> None:
    """Facts come from the structure of results: their values stay readable in the tile, or a ref does."""
    add_result(session, '{"booking": {"id": "BK-7731", "price": 129.5, "currency": "EUR"}, "status": "held"}')
    add_steps(session, 3, first=2)
    session.fold(first_step=1, last_step=3)
    shown = settled(session)
    assert "BK-7731" in shown
    assert "129.5" in shown


def test_a_fold_is_one_committed_event_with_its_decider(session: Session) -> None:
    """Who decided is written down: the caller's own words, or the embedded folder."""
    add_steps(session, 4)
    count_before = len(decisions(session))
    session.fold(summary="The caller's own words.", first_step=1, last_step=2)
    session.fold(first_step=3, last_step=3)
    new = decisions(session)[count_before:]
    assert len(new) == 2
    assert "embedded" not in new[0].decider
    assert "embedded" in new[1].decider
    assert tuple(new[0].steps) == (1, 2)


def test_the_words_of_the_user_stay_in_line_and_verbatim_when_their_step_is_folded(session: Session) -> None:
    """User messages stay inline, verbatim, whatever stands in place of their step."""
    wish = "I want a room with a view of the river,\nnot above 140 EUR, and no breakfast."
    add_steps(session, 2)
    session.record_turn(user=wish)
    add_steps(session, 4, first=3)
    session.fold(summary="Rooms were compared.", first_step=2, last_step=5)
    shown = settled(session)
    assert all(line in shown for line in wish.split("\n"))
    assert in_order(shown, ["END-1", "I want a room", "END-6"])


def test_consolidation_above_the_high_water_mark_works_down_to_low_water(session: Session) -> None:
    """Past the budget it works down to 80% of it (of the cover; the goal and headers ride on top)."""
    last = fill(session, int(BUDGET * 1.2))
    tiles = session.consolidate(BUDGET)
    assert tiles
    assert session.view(WIDE).tokens <= 0.85 * BUDGET
    assert path(session) == list(range(1, last + 1))
    assert session.consolidate(BUDGET) == (), "once is enough"


def test_consolidation_leaves_a_step_that_still_waits_for_its_answer(session: Session) -> None:
    """It takes steps whose calls have answers or are followed by a later assistant step; a user's word is not that."""
    fill(session, int(BUDGET * 0.9))
    waiting = add_call(session, "slow", said="Asked the slow desk.")
    session.record_turn(user="Is it there yet?")
    tiles = session.consolidate(BUDGET)
    assert tiles
    assert waiting not in {step for tile in tiles for step in tile.steps}


def test_consolidation_is_one_event_of_its_own_that_one_undo_takes_back(session: Session) -> None:
    """A consolidation is a committed decision like any other."""
    fill(session, int(BUDGET * 1.2))
    before, log = settled(session), len(decisions(session))
    tiles = session.consolidate(BUDGET)
    assert tiles
    assert len(decisions(session)) == log + 1
    session.undo()
    assert settled(session) == before


def test_consolidation_keeps_the_users_words_and_the_goal(session: Session) -> None:
    """What the user said stays verbatim through a consolidation."""
    wishes = [f"Wish number {n}: keep it under {n * 37} euros." for n in range(1, 6)]
    for n, wish in enumerate(wishes):
        session.record_turn(user=wish)
        add_steps(session, 12, first=n * 12 + 1)
    assert session.consolidate(BUDGET)
    shown = settled(session)
    assert in_order(shown, wishes)
    assert "Plan three days in Lisbon" in shown


def test_consolidation_in_a_long_run_comes_in_batches(session: Session) -> None:
    """Between two water marks and a least number of steps apart: far fewer consolidations than steps."""
    made = 0
    for seed in range(1, 121):
        add_step(session, seed)
        made += bool(session.consolidate(BUDGET))
        assert session.view(WIDE).tokens <= BUDGET
    assert 2 <= made <= 24
    assert path(session) == list(range(1, 121))


def contents(messages: object) -> list[str]:
    """Every text in a list of messages."""
    assert isinstance(messages, list | tuple)
    found: list[str] = []
    for message in messages:
        content = message["content"]
        found += [content] if isinstance(content, str) else [block["text"] for block in content]
    return found


def test_the_messages_of_a_view_say_what_its_text_says(session: Session) -> None:
    """The messages are the same view, cut by role: nothing shown in one is missing from the other."""
    session.record_turn(user="The wish of the user.")
    add_steps(session, 4)
    shown = session.view(BUDGET)
    joined = "\n".join(contents(shown.messages))
    assert {message["role"] for message in shown.messages} <= {"user", "assistant", "system"}
    for line in shown.text.splitlines():
        assert line in joined


@pytest.mark.parametrize("budget", [MIN_BUDGET - 1, 1, 0, -5])
def test_a_budget_below_the_published_least_is_refused(session: Session, budget: int) -> None:
    """The least budget is published; the message names it."""
    with pytest.raises(BudgetError) as refused:
        session.view(budget)
    assert str(MIN_BUDGET) in str(refused.value)


def test_a_model_named_makes_the_budget_count_its_tokens(session: Session) -> None:
    """Budgets count o200k tokens times the model's factor."""
    from ctxfold.tokens import factor

    add_steps(session, 60)
    named = "claude-opus-4-7"
    assert factor(named) > 1.0
    shown = session.view(4_000, model=named)
    assert count(shown.text) * factor(named) <= 4_000
    assert count(shown.text) < count(session.view(4_000).text)


@pytest.mark.parametrize("budget", [MIN_BUDGET, 700, 2_000, 8_000])
def test_whatever_a_view_leaves_out_it_leaves_a_ref_to(session: Session, budget: int) -> None:
    """Nothing is removed silently: each step of the path is shown or addressed, and each ref given opens."""
    session.record_turn(user="The first wish.")
    add_steps(session, 40)
    session.record_turn(user="The second wish.")
    add_steps(session, 40, first=41)
    session.fold(first_step=5, last_step=20)
    shown = session.view(budget)
    assert set(path(session)) <= steps_addressed(shown.text)
    assert shown.refs
    for ref in shown.refs:
        assert ref in shown.text
        assert session.recall(ref).text


def test_the_goal_the_users_words_and_the_latest_step_yield_last(session: Session) -> None:
    """At a tight budget the old steps shrink while the goal, the user's words and the latest step stand."""
    session.record_turn(user="Not above 140 EUR a night.")
    add_steps(session, 80, words=96)
    shown = session.view(1_500).text
    assert "Plan three days in Lisbon" in shown
    assert "Not above 140 EUR a night." in shown
    assert "END-80" in shown
    assert "END-40" not in shown


def test_at_the_least_budget_even_a_goal_and_a_message_of_any_length_yield_to_a_head_and_a_ref(database: Path) -> None:
    """In the end everything yields: a view exists for every workspace at the least budget."""
    with Session.open("long", goal="Goal: " + "go on and on " * 3_000, store=str(database)) as session:
        step = session.record_turn(user="Wish: " + "more and more " * 3_000).step
        session.record_reply("Reply: " + "yes and yes " * 3_000)
        shown = session.view(MIN_BUDGET)
        assert count(shown.text) <= MIN_BUDGET
        assert step in steps_addressed(shown.text)


def test_a_note_is_a_record_of_the_step_it_stands_in(session: Session) -> None:
    """A note is shown where it was made, recalled exactly, and kept through a fold of its step at least by its head."""
    add_steps(session, 2)
    step = session.record_note("Trains are on strike on Friday.", origin="user").step
    add_steps(session, 2, first=3)
    assert in_order(settled(session), ["END-2", "Trains are on strike on Friday.", "END-4"])
    assert "Trains are on strike on Friday." in texts(session, step)
