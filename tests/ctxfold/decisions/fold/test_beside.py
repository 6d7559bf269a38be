"""What stands beside a written summary: the user's words, notes, and the values in use that it leaves out."""

from collections.abc import Iterator

import pytest

from ctxfold import Session
from ctxfold.errors import FoldError
from tests.support.faults import called, look_up


@pytest.fixture
def session() -> Iterator[Session]:
    """A user's words, a note, two orders looked up."""
    with Session.open("orders", store=":memory:") as opened:
        opened.record_turn(user="Refund what came broken, to mia.li@example.com.")
        look_up(opened, "W-2001", parcel="PX-7714", note="left with the porter at the side entrance")
        opened.record_note("The desk closes at six.")
        look_up(opened, "W-2002", parcel="PX-8825", note="left with the neighbour at number nine")
        yield opened


def test_the_users_words_and_notes_stand_beside_a_summary(session: Session) -> None:
    tile = session.fold("Looked two orders up.", 1, session.tip)
    assert [line.text for line in tile.lines] == [
        "user: Refund what came broken, to mia.li@example.com.",
        "note: The desk closes at six.",
    ]


def test_a_value_that_a_later_call_named_stands_in_its_cell_with_its_call(session: Session) -> None:
    last = session.tip
    called(session, "track", {"parcel": "PX-7714"}, "on its way")
    tile = session.fold("Looked two orders up.", 1, last)
    assert "PX-7714" in tile.text
    assert "get_order(" in tile.text
    assert "PX-8825" not in tile.text
    assert "porter" not in tile.text


def test_a_value_that_the_summary_says_is_not_said_twice(session: Session) -> None:
    last = session.tip
    called(session, "track", {"parcel": "PX-7714"}, "on its way")
    tile = session.fold("Looked two orders up; parcel PX-7714 belongs to W-2001.", 1, last)
    assert tile.text.count("PX-7714") == 1


def test_a_value_of_an_open_item_stands_beside_a_summary(session: Session) -> None:
    session.plan(todo=["Call about parcel PX-8825"])
    assert "PX-8825" in session.fold("Looked two orders up.", 1, session.tip).text


def test_a_summary_that_saves_nothing_is_refused_with_what_must_stand_beside_it(session: Session) -> None:
    step = look_up(session, "W-2003", parcel="PX-9936")
    called(session, "track", {"parcel": "PX-9936", "order": "W-2003"}, "on its way")
    with pytest.raises(FoldError, match="lines that must stay"):
        session.fold(
            "Looked one order up, which was the third, and it was delivered to its city a week ago.", step, step
        )
