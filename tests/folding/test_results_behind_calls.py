"""A result stands behind the call it came of and behind no other, and a call that failed never reads as one that did not."""

import re

import pytest

from ctxfold import Session
from ctxfold.log.lines import Line, line, text_of
from ctxfold.view.attributed import GHOST
from ctxfold.view.failing import failure
from ctxfold.view.gathering import gathered

PATH = "/srv/projects/harbour/timetable/departures.py"


def called(session: Session, name: str, number: int, text: str, **more: int) -> int:
    call = {"name": name, "args": {"path": PATH, **more}, "id": "c"}
    return session.record_step(calls=[call], results=[{"id": "c", "text": text}]).step


def story(budget: int) -> str:
    """A view after many calls on a few subjects, folded again and again; each result names the call it is of."""
    with Session.open("story", store=":memory:") as session:
        session.record_turn(user="Find the berth of every departure.")
        for n in range(40):
            tool = ("read", "grep", "probe")[n % 3]
            found = "\n".join(f"berth {tool}-{n} row {row}: ship-{n * 7 + row}" for row in range(3 + n % 5))
            called(session, tool, n, found, at=n)
            if n % 5 == 4:
                session.record_reply(f"Looked at {tool}-{n}.")
            session.consolidate(budget)
        return session.view(budget).text


@pytest.mark.parametrize("budget", [500, 800, 1_200, 2_000, 4_000])
def test_a_result_stands_behind_its_call_or_behind_a_mark_for_a_call(budget: int) -> None:
    standing = ""
    read = 0
    for text in story(budget).splitlines():
        if called_now := re.search(r"(?:^|\s)> (.*)", text):
            standing = called_now[1]
        elif "ai: " in text or "user: " in text:
            standing = ""
        for tool, number in re.findall(r"berth (\w+)-(\d+)", text):
            if standing and standing != GHOST.removeprefix("> "):
                assert standing.startswith(f"{tool} "), (standing, text)
                assert re.findall(r"at=(\d+)", standing)[-1] == number, (standing, text)
                read += 1
    assert read or budget < 1_200


def test_calls_of_which_results_stand_are_not_told_as_one() -> None:
    with Session.open("apart", store=":memory:") as session:
        called(session, "read", 1, "the first stretch", at=1)
        called(session, "write", 2, "written", at=2)
        called(session, "read", 3, "the third stretch", at=3)
        lines = [each for block in session.workspace.blocks for each in block.lines]
    assert gathered(lines) == lines
    bare = [each for each in lines if "first" not in each.text]
    assert text_of(gathered(bare)).endswith(f"> read path={PATH} at=1; at=3\n< the third stretch")


def failing(error: str) -> str:
    """A tight view in which a refused call and one that succeeded are told as one."""
    with Session.open("failing", store=":memory:") as session:
        session.record_turn(user="Rename it.")
        for n in range(12):
            called(session, "rename", n, error if n in (2, 5) else "done " * 60, at=n)
            session.consolidate(500)
        session.record_reply("Done.")
        session.fold(first_step=1, last_step=12)
        return session.view(500).text


@pytest.mark.parametrize(
    "error",
    [
        "Error: permission denied for departures " + "x" * 400,
        '{"error": "permission denied", "note": "' + "y " * 200 + '"}',
        "z " * 200 + "\npermission denied\nCommand exited with code 1",
    ],
    ids=["words", "an object", "an exit code"],
)
def test_calls_told_as_one_say_how_many_of_them_failed_and_how(error: str) -> None:
    shown = failing(error)
    told = [int(found[1]) for found in re.finditer(r"\((\d) failed: [^()]+\)", shown)]
    kept = [
        text for text in shown.splitlines() if text.startswith("< ") and re.search("denied|exited|same as s3", text)
    ]
    assert sum(told) + len(kept) >= 2, shown
    assert "failed" not in failing("done " * 61)


@pytest.mark.parametrize(
    ("results", "told"),
    [
        ([], ""),
        ([line("text", "s1.3", "< all is well")], ""),
        ([line("text", "s1.3", "< Error: no such file (a.py)")], "Error: no such file a.py"),
        ([line("text", "s1.3", "<<s1.3\nbuilding\nexited with code 2\ns1.3>>")], "exited with code 2"),
        ([line("data", "s1.3", "< error=gone id=7"), line("data", "s1.3", "<  x=1")], "error=gone id=7"),
        ([line("data", "s1.3", "< error=null id=7 errors=[] success=true")], ""),
        ([line("data", "s1.3", "< id=7 success=false")], "id=7 success=false"),
        ([line("data", "s1.3", "< stderr=gone exit_code=1")], "stderr=gone exit_code=1"),
        ([line("data", "s1.3", "< output=gone metadata(exit_code=1)")], "output=gone metadata exit_code=1"),
        ([line("data", "s1.3", "< exit_code=0 metadata(exit_code=0 seconds=1) status=404")], ""),
    ],
)
def test_an_error_is_read_from_what_a_call_gave(results: list[Line], told: str) -> None:
    assert failure(results) == told


def test_a_result_that_is_the_same_as_an_error_is_one() -> None:
    again = [line("data", "s9.3", "< same as s1.3")]
    assert failure(again, {"s1.3": "no such file"}) == "no such file"
    assert failure(again) == ""
