"""One check for every fold: values of a summary that the log of its steps lacks are marked, whoever wrote it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ctxfold import Session
from ctxfold.errors import FoldError
from ctxfold.session.transfer import export_session
from ctxfold.workspace import By, Decider
from tests.support.sessions import add_call


def look_up(session: Session, flights: int) -> None:
    session.record_turn(user="Any flight on 24 May?")
    for n in range(flights):
        found = [{"flight": f"HAT{n}{k}7", "price": 100 + 11 * n + k, "seats": 3 + k} for k in range(9)]
        add_call(session, "search", {"day": f"2024-05-{20 + n}"}, json.dumps(found))


@pytest.mark.parametrize("decider", ["host", "model"])
def test_what_a_summary_invents_is_marked_in_the_view_and_listed_in_tile_and_event(
    session: Session, decider: Decider
) -> None:
    look_up(session, 4)
    tile = session.fold("Booked HAT017 and ZZ-9981 for bob@evil.test; see s4.", 1, 4, By(decider))
    assert tile.marks == ("ZZ-9981", "bob@evil.test")
    text = "Booked HAT017 and ZZ-9981 [not in the log] for bob@evil.test [not in the log]; see s4."
    assert text in session.view().text


def test_the_event_of_a_fold_lists_its_marks(tmp_path: Path) -> None:
    store, file = str(tmp_path / "store.db"), tmp_path / "out.jsonl"
    with Session.open("trip", store=store) as session:
        look_up(session, 4)
        session.fold("Booked ZZ-9981.", 1, 4)
    export_session("trip", file, store)
    assert re.search(r"marks\W+ZZ-9981\W+version", file.read_text(encoding="utf-8"))


def test_an_invented_value_stays_marked_in_the_next_summary_and_a_true_one_loses_a_false_mark(
    session: Session,
) -> None:
    look_up(session, 4)
    session.fold("Booked ZZ-9981.", 1, 2)
    tile = session.fold("Booked ZZ-9981, seen HAT017 [not in the log].", 1, 3)
    assert tile.summary == "Booked ZZ-9981 [not in the log], seen HAT017."


def test_a_summary_may_use_the_reading_form_of_a_page(session: Session) -> None:
    session.record_turn(user="What does it cost?")
    step = add_call(session, "look", None, "- cell: x\n" * 400, origin="page", shown="Price: 1,245.00 EUR\n" * 40)
    assert session.fold("The price is 1245 EUR.", step, step).marks == ()


def test_a_step_that_shows_nothing_yet_is_not_folded(session: Session) -> None:
    session.record_turn(user="Please go on.")
    session.record_reply("I do.")
    session.record_turn(user="")
    with pytest.raises(FoldError, match="s2 is empty yet"):
        session.fold(first_step=1, last_step=2)
    session.record_reply("Done.")
    assert session.fold(first_step=1, last_step=2).steps == (1, 2)
