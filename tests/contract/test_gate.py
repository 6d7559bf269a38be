"""One gate for every fold: what a summary says must stand in the log of its steps, whoever wrote it."""

from __future__ import annotations

import json

import pytest

from ctxfold import Session
from ctxfold.errors import FoldError
from ctxfold.workspace import By


def look_up(session: Session, flights: int) -> None:
    session.record_turn(user="Any flight on 24 May?")
    for n in range(flights):
        found = [{"flight": f"HAT{n}{k}7", "price": 100 + 11 * n + k, "seats": 3 + k} for k in range(9)]
        call = {"name": "search", "args": {"day": f"2024-05-{20 + n}"}, "id": "c"}
        session.record_step("", [call], [{"id": "c", "text": json.dumps(found)}])


@pytest.mark.parametrize("decider", ["host", "model"])
def test_a_summary_that_invents_is_refused_with_the_values_named(session: Session, decider: str) -> None:
    look_up(session, 4)
    before = session.view().text
    with pytest.raises(FoldError, match=r"'ZZ-9981', 'bob@evil\.test'"):
        session.fold("Booked ZZ-9981 for bob@evil.test.", 1, 4, By(decider))  # type: ignore[arg-type]
    assert session.view().text == before


def test_the_reading_form_of_a_page_is_ground(session: Session) -> None:
    session.record_turn(user="What does it cost?")
    page = {"id": "look", "text": "- cell: x\n" * 400, "origin": "page", "shown": "Price: 1,245.00 EUR\n" * 40}
    step = session.record_step("", [{"name": "look", "args": {}, "id": "look"}], [page])
    assert session.fold("The price is 1245 EUR.", step, step).steps == (1,)


def test_what_a_summary_leaves_out_is_named_behind_it(session: Session) -> None:
    look_up(session, 4)
    tile = session.fold("Flights were looked up.", 1, 4)
    assert "HAT007" in tile.text
    assert tile.tokens < 250


def test_a_step_that_shows_nothing_yet_is_not_folded(session: Session) -> None:
    session.record_turn(user="Please go on.")
    session.record_reply("I do.")
    session.record_turn(user="")
    with pytest.raises(FoldError, match="s2 is empty yet"):
        session.fold(first_step=1, last_step=2)
    session.record_reply("Done.")
    assert session.fold(first_step=1, last_step=2).steps == (1, 2)
