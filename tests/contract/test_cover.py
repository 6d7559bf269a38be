"""The data model's cover and tail: the tiling, folds by directive, consolidation between water marks, the pure view."""

from pathlib import Path

import pytest

from ctxfold import Session
from ctxfold.errors import FoldError
from ctxfold.tokens import MIN_BUDGET, count, factor
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
    one_line,
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
    add_steps(session, 6)
    session.fold(summary="Two to five.", first_step=2, last_step=5)
    before, log = settled(session), len(events(session))
    with pytest.raises(FoldError, match=one_line("s2", "s5")):
        session.fold(summary="Through the middle.", first_step=first, last_step=last)
    assert settled(session) == before
    assert len(events(session)) == log


@pytest.mark.parametrize("summary", ["", "   \n\t "])
def test_a_fold_that_says_nothing_is_refused(session: Session, summary: str) -> None:
    add_steps(session, 3)
    with pytest.raises(FoldError):
        session.fold(summary=summary, first_step=1, last_step=2)
    assert cover(session) == [(1,), (2,), (3,)]


def test_a_fold_that_would_grow_the_view_is_refused(session: Session) -> None:
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


def test_the_words_of_the_user_stay_in_line_and_verbatim_when_their_step_is_folded(session: Session) -> None:
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
    waiting = add_call(session, "slow")
    session.record_turn(user="Is it there yet?")
    tiles = session.consolidate(BUDGET)
    assert tiles
    assert waiting not in {step for tile in tiles for step in tile.steps}


def test_consolidation_is_one_event_of_its_own_that_one_undo_takes_back(session: Session) -> None:
    fill(session, int(BUDGET * 1.2))
    before, log = settled(session), len(decisions(session))
    tiles = session.consolidate(BUDGET)
    assert tiles
    assert len(decisions(session)) == log + 1
    session.undo()
    assert settled(session) == before


def test_consolidation_keeps_the_users_words_and_the_goal(session: Session) -> None:
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


def test_a_model_named_makes_the_budget_count_its_tokens(session: Session) -> None:
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
    session.record_turn(user="Not above 140 EUR a night.")
    add_steps(session, 80, words=96)
    shown = session.view(1_500).text
    assert "Plan three days in Lisbon" in shown
    assert "Not above 140 EUR a night." in shown
    assert "END-80" in shown
    assert "END-40" not in shown


def test_at_the_least_budget_even_a_goal_and_a_message_of_any_length_yield_to_a_head_and_a_ref(database: Path) -> None:
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
