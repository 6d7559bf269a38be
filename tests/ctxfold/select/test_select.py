"""Choosing pieces within a budget: each value once, nothing that cannot be read without something else."""

import json
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxfold.log import Record
from ctxfold.log.lines import Line, lines_of
from ctxfold.select.choose import Choice
from ctxfold.select.pieces import Piece, pieces_of_lines
from ctxfold.select.write import write

Steps = Sequence[Sequence[Line]]


def said(step: int, text: str) -> list[Line]:
    return list(lines_of(Record(step, 1, "user", "user", text, None, step)))


def told(step: int, text: str) -> list[Line]:
    return list(lines_of(Record(step, 1, "assistant", "model", text, None, step)))


def looked_up(step: int, order: str, **found: object) -> list[Line]:
    call = json.dumps({"name": "get_order", "args": {"order_id": order}})
    made = list(lines_of(Record(step, 1, "call", "model", call, "c1", step)))
    return made + list(lines_of(Record(step, 2, "result", "tool", json.dumps({"id": order, **found}), "c1", step)))


def cut(*steps: Sequence[Line]) -> tuple[list[Line], list[Piece]]:
    lines = [line for step in steps for line in step]
    return lines, pieces_of_lines(lines, [at for at, step in enumerate(steps) for _ in step])


def select(pieces: Sequence[Piece], budget: int, query: str = "", standing: Sequence[int] = ()) -> list[int]:
    choice = Choice(pieces, query, standing=standing)
    choice.fill(budget)
    return sorted(choice.order)


STEPS = st.lists(
    st.one_of(
        st.integers(0, 9).map(lambda n: said(1, f"Refund W-200{n}. Ask mia.li{n}@example.com first! Then wait.")),
        st.integers(0, 9).map(lambda n: told(1, f"Order W-200{n} was delivered. It cost {n}7.50 EUR. Shall I go on?")),
        st.integers(0, 9).map(
            lambda n: looked_up(1, f"W-200{n}", total=n, city="Porto", note=f"left at door {n} " * 9)
        ),
    ),
    min_size=1,
    max_size=12,
)


@given(STEPS, st.integers(0, 400), st.sampled_from(["", "W-2003", "delivered parcel"]))
def test_a_choice_keeps_to_its_budget_and_to_what_its_pieces_need(steps: Steps, budget: int, query: str) -> None:
    lines, pieces = cut(*steps)
    chosen = select(pieces, budget, query)
    assert chosen == sorted(set(chosen))
    assert sum(pieces[place].tokens for place in chosen) <= budget
    assert all(set(pieces[place].under) <= set(chosen) for place in chosen)
    assert select(pieces, budget, query) == chosen
    shown = [line.kind for line in write(lines, pieces, chosen)]
    assert all(after == "data" for kind, after in pairwise([*shown, ""]) if kind == "call")


@given(STEPS, st.integers(0, 200), st.integers(0, 200))
def test_a_larger_budget_shows_no_less(steps: Steps, budget: int, more: int) -> None:
    _, pieces = cut(*steps)
    small, large = select(pieces, budget), select(pieces, budget + more)
    longest = max(sum(pieces[each].tokens for each in (*piece.under, place)) for place, piece in enumerate(pieces))
    costs = [sum(pieces[place].tokens for place in chosen) for chosen in (small, large)]
    assert costs[1] >= costs[0] - longest


@given(STEPS, st.integers(0, 200))
def test_what_is_shown_anyway_is_not_chosen(steps: Steps, budget: int) -> None:
    _, pieces = cut(*steps)
    standing = range(len(pieces) // 2)
    assert not set(standing) & set(select(pieces, budget, standing=standing))


@pytest.mark.parametrize("asked", ["Warranty", "Noise", "Power"])
def test_what_a_call_asks_for_is_shown_of_its_page_before_what_is_like_it(asked: str) -> None:
    rows = ("Price", "Height", "Warranty", "Weight", "Noise", "Power", "Cable length")
    page = ["Kettle 4 — http://127.0.0.1/p/4", "# Kettle 4", *(f"{row} | {24500 + n} mm" for n, row in enumerate(rows))]

    def answer(need: str) -> str:
        call = json.dumps({"name": "look", "args": {"need": need}})
        step = [
            *lines_of(Record(1, 1, "call", "model", call, "look", 1)),
            *lines_of(Record(1, 2, "result", "page", "\n".join(page), "look", 1)),
        ]
        lines, pieces = cut(step, said(2, "Go on."))
        return "\n".join(line.text for line in write(lines, pieces, select(pieces, 75)))

    assert f"{asked} |" in answer(f"{asked.lower()} of the kettle")
    others = [row for row in rows if row != asked]
    assert sum(f"{asked} |" in answer(f"{other.lower()} of the kettle") for other in others) < len(others)
