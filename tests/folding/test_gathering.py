"""Calls on one thing stand once; texts are cut so that what hangs together stays together; what a later line points at is not cut."""

import pytest

from ctxfold import Session
from ctxfold.folding.gathering import gathered
from ctxfold.folding.pieces import depth, pieces
from ctxfold.lines import line, text_of

PATH = "/srv/projects/harbour/timetable/departures.py"


@pytest.fixture
def session() -> Session:
    return Session.open("trip", store=":memory:")


def read(session: Session, **more: int) -> int:
    call = {"name": "read", "args": {"path": PATH, **more}, "id": "c"}
    return session.record_step(calls=[call], results=[{"id": "c", "text": f"{more}"}])


def test_a_call_names_every_argument(session: Session) -> None:
    read(session, offset=178, limit=30)
    read(session, offset=335, limit=50)
    assert f"> read path={PATH} offset=335 limit=50\n" in session.view().text


def test_older_calls_on_the_same_subject_stand_behind_the_newest(session: Session) -> None:
    for offset in (178, 335, 915):
        read(session, offset=offset, limit=30)
    calls = [each for block in session.workspace.blocks for each in block.lines if each.kind == "call"]
    assert (
        text_of(gathered(calls)) == f"> read path={PATH} offset=178 limit=30; offset=335 limit=30; offset=915 limit=30"
    )


def test_what_was_asked_twice_stands_once(session: Session) -> None:
    for _ in range(3):
        read(session, offset=178)
    calls = [each for block in session.workspace.blocks for each in block.lines if each.kind == "call"]
    assert text_of(gathered(calls)) == f"> read path={PATH} offset=178"


def test_calls_on_other_subjects_stay_apart(session: Session) -> None:
    read(session, offset=1)
    session.record_step(calls=[{"name": "write", "args": {"path": PATH, "offset": 2}, "id": "c"}])
    calls = [each for block in session.workspace.blocks for each in block.lines if each.kind == "call"]
    assert gathered(calls) == calls


def test_lines_that_begin_alike_share_their_beginning() -> None:
    text = "\n".join(f"harbour/timetable.py:{n}: departure {n}" for n in range(70, 90))
    cut = list(pieces(line("text", "s1.2", f"<<s1.2\n{text}\ns1.2>>", untrusted=True)))
    assert [each.text for each in cut[:3]] == ["< harbour/timetable.py:", "<  70: departure 70", "<  71: departure 71"]
    assert [depth(each) for each in cut[:3]] == [1, 2, 2]
    assert all(each.untrusted for each in cut)


def test_lines_that_begin_otherwise_stay_as_they_are() -> None:
    text = "\n".join(f"http://host{n}.example/page shows departure {n} of the day" for n in range(20))
    cut = list(pieces(line("text", "s1.2", f"<<s1.2\n{text}\ns1.2>>")))
    assert [each.text for each in cut] == [f"< {each}" for each in text.splitlines()]


def test_a_text_that_a_later_step_points_at_stays_whole_in_a_fold(session: Session) -> None:
    text = "\n".join(f"Departure {n} leaves from pier {n % 7} at {n % 24:02}:15." for n in range(60))
    for name in ("first", "other", "again"):
        call = {"name": "read", "args": {"name": name}, "id": "c"}
        session.record_step(calls=[call], results=[{"id": "c", "text": text if name != "other" else "nothing"}])
    assert "same as s1.2" in session.view().text
    session.fold(first_step=1, last_step=2)
    assert text in session.view().text
