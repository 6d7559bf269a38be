"""Calls on one thing stand once; texts are cut so that what hangs together stays together; what a later line points at is not cut."""

import re

import pytest

from ctxfold import Session
from ctxfold.decisions.fold.embedded import Room, condense
from ctxfold.decisions.fold.pieces import depth, pieces
from ctxfold.log.lines import line, text_of
from ctxfold.view.gathering import gathered
from ctxfold.view.relevance import Query

PATH = "/srv/projects/harbour/timetable/departures.py"


@pytest.fixture
def session() -> Session:
    return Session.open("trip", store=":memory:")


def read(session: Session, **more: int) -> int:
    call = {"name": "read", "args": {"path": PATH, **more}, "id": "c"}
    return session.record_step(calls=[call], results=[{"id": "c", "text": f"{more}"}]).step


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


def edit(session: Session, path: str, n: int) -> int:
    body = "\n".join(f"    departures.append(Departure(pier={n}, row={row}, berth='B{n}{row}'))" for row in range(8))
    call = {"name": "edit", "args": {"path": path, "text": f"def departures_{n}():\n{body}\n"}, "id": "c"}
    return session.record_step(calls=[call], results=[{"id": "c", "text": "replaced"}]).step


def test_what_was_written_into_a_file_stands_under_the_call_that_names_it_however_often_it_is_folded(
    session: Session,
) -> None:
    """Edits of one file are gathered behind the newest; a fold of that fold moves all of them, and leaves none under another call."""
    other = "/srv/projects/harbour/piers.py"
    for n in range(12):
        edit(session, other if n % 4 == 3 else PATH, n)
        read(session, offset=n * 40, limit=40)
        session.consolidate(budget=900)
    named = ""
    for text in session.view(900).text.splitlines():
        named = text if re.match(r"(s\S+ )?> \S", text) else named
        if "Departure(pier=" in text or "departures_" in text:
            pier = int(
                text.split("pier=")[1].split(",")[0] if "pier=" in text else text.split("departures_")[1].split("(")[0]
            )
            assert f"edit path={other if pier % 4 == 3 else PATH}" in named, (named, text)


def test_a_call_says_at_each_place_where_what_it_was_given_is_left_out(session: Session) -> None:
    edit(session, PATH, 1)
    kept = condense(session.workspace.blocks, Room(90, 90), Query(()))
    shown = [each.text for each in kept if each.kind == "call"]
    assert 1 < len(shown) < 10
    assert shown[0].startswith(f"> edit path={PATH}")
    for before, after in zip(shown, [*shown[1:], ""], strict=True):
        rows = [int(found[1]) if (found := re.search(r"row=(\d)", text)) else -1 for text in (before, after)]
        assert before.endswith("…") or rows[1] == rows[0] + 1 or "def " in after or "text:" in after or rows[0] == 7, (
            shown
        )


def test_of_what_was_replaced_it_is_told_what_stood_there_and_what_stands_there_now(session: Session) -> None:
    """Edits of one file are told together; each of their texts keeps the name of the argument it was given for."""
    for n in range(3):
        texts = {f"{age}Text": f"def pier_{n}():\n    return '{age}-{n}-B{n}'\n\n" * 4 for age in ("old", "new")}
        call = {"name": "edit", "args": {"path": PATH, **texts}, "id": "c"}
        session.record_step(calls=[call], results=[{"id": "c", "text": "replaced"}])
    heading = ""
    told = [
        text
        for each in condense(session.workspace.blocks, Room(300, 300), Query(()))
        for text in each.text.splitlines()
    ]
    for text in told:
        heading = text.removesuffix(" …") if "Text:" in text else heading
        if "return" in text:
            assert heading.endswith("oldText:" if "old-" in text else "newText:"), told
    assert any("return 'old-" in text for text in told)
    assert any("return 'new-" in text for text in told)
