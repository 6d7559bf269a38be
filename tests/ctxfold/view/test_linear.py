"""Time to record and to view grows with the text, not with its square."""

from collections.abc import Callable
from time import process_time

import pytest

from ctxfold import Session
from ctxfold.tokens import count


def message(size: int) -> str:
    """Words on one line, without an end that would cut it into short lines."""
    sentence = "The keeper of lamp {0} walked along the wall and wrote W-{0} in the book of door {1}. "
    return "".join(sentence.format(n, n % 13) for n in range(size // 80))[:size]


def say(session: Session, size: int) -> None:
    session.record_turn(message(size))


def answer(session: Session, size: int) -> None:
    calls = [{"name": "look", "args": {"n": n}, "id": f"c{n}"} for n in range(size)]
    results = [{"id": f"c{n}", "text": f"crate-{n:05d} is in place at dock {n % 13}"} for n in range(size)]
    session.record_turn("Look at all crates.")
    session.record_step("All.", calls=calls, results=results)


def plan(session: Session, size: int) -> None:
    session.record_turn("Look at all crates.")
    session.plan(todo=[f"Check crate number {n} at the dock" for n in range(size)])


@pytest.mark.parametrize(
    ("fill", "size", "times", "seconds"),
    [(say, 1_000_000, 5, 8), (answer, 500, 4, 8), (plan, 500, 4, 8)],
    ids=["message", "results", "plan"],
)
def test_time_grows_in_proportion_to_the_text(
    fill: Callable[[Session, int], None], size: int, times: int, seconds: int
) -> None:
    count("The tables of the tokenizer are read once.")
    taken = []
    for many in (size, times * size):
        with Session.open("long", store=":memory:") as session:
            start = process_time()
            fill(session, many)
            assert session.view(8_000).tokens <= 8_000
            taken.append(process_time() - start)
    assert taken[1] < seconds
    assert taken[1] < 2 * times * taken[0] + 1
