"""What stands beside a written summary: the user's words and notes."""

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


def test_a_summary_that_saves_nothing_is_refused_with_what_must_stand_beside_it(session: Session) -> None:
    step = look_up(session, "W-2003", parcel="PX-9936")
    called(session, "track", {"parcel": "PX-9936", "order": "W-2003"}, "on its way")
    with pytest.raises(FoldError, match="shorten it, or fold more"):
        session.fold(
            "Looked one order up, which was the third, and it was delivered to its city a week ago. " * 9, step, step
        )
