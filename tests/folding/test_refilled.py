"""A fold of text that does not fit a view: the room is used, and what stands of it stands behind its call."""

import re

import pytest

from ctxfold import Session
from tests.support.faults import called

STEPS, LINES = 8, 12


@pytest.fixture
def readings() -> Session:
    """Calls whose results are texts, most of them folded, and a message after them."""
    session = Session.open("readings", store=":memory:")
    session.record_turn(user="Note what each gauge shows.")
    for n in range(1, STEPS + 1):
        text = "\n".join(f"gauge {n}-{at} shows {n * 1000 + at * 37} hPa" for at in range(LINES))
        called(session, "read", {"gauge": n}, f"{text}\nread at {n}:0{n}")
    session.fold(first_step=1, last_step=session.tip)
    session.record_turn(user="Which one is the highest?")
    return session


@pytest.mark.parametrize("budget", range(300, 800, 50))
def test_the_room_of_a_view_is_used_where_a_fold_of_text_does_not_fit(readings: Session, budget: int) -> None:
    view = readings.view(budget)
    assert readings.view(8_000).tokens > 1_000
    assert 0.75 * budget < view.tokens <= budget
    assert "Note what each gauge shows." in view.text
    call = ""
    for line in view.text.splitlines():
        call = line if line.startswith("> ") else call
        shown = re.match(r"< gauge (\d+)-", line)
        if shown:
            assert f"gauge={shown[1]}" in call, view.text
