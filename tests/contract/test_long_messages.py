"""A message of the user with more words than a view has room for: it gives up no more than is needed, its beginning and its end stand."""

from collections.abc import Callable

import pytest

from ctxfold import Session
from ctxfold.tokens import count
from tests.ctxfold.text.hostile import LONG, NAMES, within
from tests.support.sessions import add_call

LISTS = {
    "English": lambda n: f"Item {n}: move the blue crate to shelf {n % 13} and note who signed for it.\n",
    "Chinese": lambda n: f"第{n}项：请把{n * 7}号箱子搬到第{n % 13}号货架上，并且记下是谁签收的。",
    "prose": lambda n: (
        f"On the {n}th morning the keeper walked along the wall, counted the lamps and wrote {n} in a book. "
    ),
}


@pytest.mark.parametrize("one", LISTS.values(), ids=LISTS)
@pytest.mark.parametrize("budget", [1_000, 4_000, 8_000])
def test_a_message_larger_than_the_budget_fills_it_with_its_beginning_and_its_end(
    session: Session, one: Callable[[int], str], budget: int
) -> None:
    session.record_turn("".join(map(one, range(800))))
    shown = session.view(budget).text
    assert 0.8 * budget <= count(shown) <= budget
    assert one(0).strip() in shown
    assert one(799).strip() in shown
    assert " … " in shown
    assert "… (s1.1)" in shown, "the message's ref stands at its last gap"


@pytest.mark.parametrize("planned", [False, True], ids=["plain", "planned"])
@pytest.mark.parametrize("one", LISTS.values(), ids=LISTS)
def test_steps_stand_beside_a_pasted_document(session: Session, one: Callable[[int], str], planned: bool) -> None:
    session.record_turn("".join(map(one, range(800))))
    if planned:
        session.plan(todo=["Read it"])
    for n in range(30):
        add_call(session, "look", {"n": n}, f"crate-{n:03d} is in place\n", f"Crate {n}.")
    shown = session.view(4_000).text
    assert 3_000 <= count(shown) <= 4_000
    assert one(0).strip() in shown
    assert all(f"crate-{n:03d}" in shown for n in range(26, 30))


@pytest.mark.long
@pytest.mark.parametrize("text", LONG, ids=NAMES)
def test_no_message_takes_long_to_view(session: Session, text: str) -> None:
    session.record_turn(text[:100_000])
    within(20, lambda: session.view(1_000))
