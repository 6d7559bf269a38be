"""Folding where the budget is too small for any prompt cache: tight, often, and from the log."""

import json

import pytest

from ctxfold import Session
from ctxfold.tokens import count
from tests.support.sessions import add_call


def _filled(session: Session, steps: int) -> None:
    session.record_turn(user="What holds up my orders?")
    for n in range(steps):
        order = {"order_id": f"W-{1000 + n}", "status": "open", "carrier": f"carrier-{n % 7}", "track": f"TR{n:04d}K"}
        add_call(session, "get_order", {"order_id": f"W-{1000 + n}"}, json.dumps({**order, "weight_g": 300 + 7 * n}))
        session.consolidate(1_000)


def test_a_small_budget_is_used_to_its_end(session: Session) -> None:
    """What is folded for 1,000 tokens fills most of them, and no view is above them."""
    _filled(session, 60)
    view = session.view(1_000)
    assert 800 <= count(view.text) <= 1_000


def test_what_a_fold_dropped_comes_back_when_it_is_asked_for(session: Session) -> None:
    """A second fold reads the log, not the first fold: an order that had gone stands again once the user names its carrier."""
    _filled(session, 60)
    gone = next(n for n in range(60) if f"TR{n:04d}K" not in session.view(1_000).text)
    session.record_turn(user=f"Tell me about order W-{1000 + gone}, track TR{gone:04d}K, please.")
    for n in range(3):
        session.record_turn(user=f"Still about W-{1000 + gone} ({n}).")
        session.record_reply("I am looking into that order of yours and will say what I find as soon as I can. " * 3)
    session.consolidate(1_000)
    shown = session.view(1_000).text
    assert f"carrier-{gone % 7}" in shown or f"TR{gone:04d}K" in shown


@pytest.mark.long
def test_a_session_folded_at_every_step_can_be_folded_a_thousand_times(session: Session) -> None:
    """A tile of a tile of a tile, more than a thousand deep."""
    session.record_turn(user="Count with me.")
    for n in range(1_050):
        session.record_reply(f"{n}: the reply that says a little more than the number {n * 7919} and goes on about it.")
        session.fold(first_step=1)
    session.consolidate(2_000)
    assert session.view(2_000).tokens <= 2_000
