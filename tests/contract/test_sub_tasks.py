"""Sub-tasks: steps belong to items of the to-do, a tile says how they ended, and open items keep their rows longest."""

import json
from pathlib import Path

import pytest

import ctxfold
from ctxfold import Session
from ctxfold.decisions.fold import assign_steps, describe_items
from ctxfold.errors import FoldError
from ctxfold.tokens import count
from ctxfold.workspace import By, Item, RawStep, Tile
from tests.support.sessions import add_call, add_json, add_result, add_steps, copy_session, prose

LONG = {"note": prose(1, 40)}


def search(session: Session, tool: str, times: int) -> None:
    """Record searches of 30 rows each."""
    for page in range(times):
        rows = [
            {"id": f"{tool}-{page}{at:02}", "price": 100 + 7 * at, "name": f"offer {at} of {page}"} for at in range(30)
        ]
        add_call(session, tool, {"page": page}, json.dumps(rows))


def travel(session: Session) -> None:
    """Flights are done with evidence in s6, hotels are open from s7."""
    session.record_turn("Book a flight to Lisbon, then a hotel.")
    session.plan(todo=["Book the flight", "Book the hotel"])
    search(session, "flights", 6)
    session.plan(todo=[{"id": "t1", "state": "done", "evidence": "s6.2"}])
    search(session, "hotels", 6)


def test_steps_belong_to_the_item_that_evidence_and_order_name(session: Session) -> None:
    travel(session)
    owners = assign_steps(session.workspace.blocks, session.intent.items)
    assert owners == {step: "t1" if step <= 6 else "t2" for step in range(1, 13)}
    assert describe_items(session.workspace) == "t2 open: s7-s12; t1 done: s1-s6"


@pytest.mark.parametrize(
    ("items", "owners"),
    [
        ((), {}),
        ((Item("t1", "a", ref="s3"),), {3: "t1", 4: "t1", 5: "t1"}),
        ((Item("t1", "a", "done", "s1.1", ("s2",)),), {1: "t1", 2: "t1"}),
        (
            (Item("t1", "a", ref="s1"), Item("t2", "b", "done", "s1", ("s1-s2",))),
            dict(zip(range(1, 6), ["t2"] * 2 + ["t1"] * 3, strict=True)),
        ),
        ((Item("t1", "a", "done", "s5", ("s2.1", "s3")),), {2: "t1", 3: "t1"}),
        ((Item("t1", "a", "dropped", "s2"), Item("t2", "b", ref="s4")), {2: "t1", 3: "t1", 4: "t2", 5: "t2"}),
    ],
)
def test_a_step_of_which_nothing_is_known_belongs_to_none(items: tuple[Item, ...], owners: dict[int, str]) -> None:
    assert assign_steps([RawStep(step, (), 0, 0) for step in range(1, 6)], items) == owners


def test_whoever_folds_says_which_item_steps_served(session: Session) -> None:
    session.plan(todo=["Ask the landlord", "Book the hotel"])
    add_steps(session, 4)
    tile = session.fold("Looked.", 2, 3, todo="t2")
    assert (tile.todo, tile.goal) == ("t2", "Book the hotel")
    assert assign_steps(session.workspace.blocks, session.intent.items)[3] == "t2"
    with pytest.raises(FoldError, match="t1, t2"):
        session.fold("Looked.", 4, 4, todo="t9")


REFUSED = [
    {"status": 403, **LONG},
    {"error": "bad password", **LONG},
    {"jsonrpc": "2.0", "id": 4, "error": {"code": -32000, "message": prose(2, 40)}},
    {"exit_code": 1, "output": prose(2, 40)},
    {"isError": True, **LONG},
    f"403 Forbidden\n{prose(2, 40)}",
    f"HTTP/1.1 401 Unauthorized\r\nServer: x\r\n{prose(2, 40)}",
    f"Sign in — https://shop.example/login (403)\n{prose(2, 40)}",
]
FINE = [
    {"status": "delivered", "total": 403, "error": None, **LONG},
    {"exit_code": 0, "errors": [], "ok": True, **LONG},
    f"Room 403 is free\n403 Forbidden is what others saw\n{prose(2, 40)}",
]


@pytest.mark.parametrize(
    ("result", "status"), [*((each, "failed") for each in REFUSED), *((each, "completed") for each in FINE)]
)
def test_a_refused_login_is_failed_by_the_structure_of_its_result(
    session: Session, result: object, status: str
) -> None:
    step = add_result(session, result) if isinstance(result, str) else add_json(session, result)
    assert session.fold(None, step, step).status == status


def test_four_failures_are_failed_and_a_success_after_them_completed(session: Session) -> None:
    for _ in range(4):
        add_json(session, {"error": "locked", **LONG})
    session.record_reply(f"It is locked. {prose(3, 30)}")
    assert session.fold("Four logins were refused.", 1, 5).status == "failed"
    session.undo()
    add_json(session, {"ok": True, **LONG})
    assert session.fold("Logged in at last.", 1, 6).status == "completed"


@pytest.mark.parametrize(("state", "status"), [("done", "completed"), ("dropped", "partial"), ("open", "failed")])
def test_the_state_of_the_item_is_the_status_of_its_steps(session: Session, state: str, status: str) -> None:
    session.plan(todo=["Log in"])
    step = add_json(session, {"error": "locked", **LONG})
    session.plan(todo=[{"id": "t1", "state": state, "evidence": f"s{step}"}])
    tile = session.fold("Tried to log in.", step, step)
    assert (tile.todo, tile.status) == ("t1", status)
    session.undo()
    assert session.fold("Tried to log in.", step, step, status="completed").status == "completed"


def test_a_tile_shows_status_goal_and_outcome_and_keeps_them_wherever_it_goes(stored: Session, database: Path) -> None:
    add_steps(stored, 3)
    tile = stored.fold("Read.", 1, 2, status="failed", goal="Find Explained-1", outcome="nobody paid 731 EUR")
    assert tile.marks == ("731",)
    for words in ("s1-s2 failed", "Find Explained-1", "nobody paid 731"):
        assert words in stored.view().text
    ctxfold.verify_session("trip", store=str(database))
    with Session.open("trip", store=str(copy_session(database, database.parent))) as copied:
        assert copied.view().text == stored.view().text
    stored.redact("nobody paid")
    assert "nobody paid" not in stored.view().text


def test_a_sub_task_that_somebody_told_outlives_the_next_consolidation(session: Session) -> None:
    add_steps(session, 3)
    session.fold(None, 1, 2, status="failed", outcome="the landlord refused")
    add_steps(session, 30, first=4)
    session.consolidate(2_000)
    assert isinstance(session.workspace.blocks[0], Tile)
    assert session.workspace.blocks[0].steps[:3] == (1, 2, 3)
    assert "s1-s2 failed) the landlord refused" in session.view(2_000).text


@pytest.mark.parametrize("memory", [None, {"wanted": "a hotel (s1)"}])
def test_steps_of_an_open_item_keep_their_rows_and_those_of_a_closed_one_a_line(
    session: Session, memory: dict[str, str] | None
) -> None:
    travel(session)
    session.consolidate(3_000, memory=memory, as_of=1 if memory else None)
    (tile,) = [block for block in session.workspace.blocks if isinstance(block, Tile)]
    rows = {tool: sum(f"{tool}-" in line.text for line in tile.lines) for tool in ("flights", "hotels")}
    assert rows["hotels"] > 40 > 10 > rows["flights"]
    assert "s6 t1 done: Book the flight (s6.2)]" in tile.text
    assert session.view(3_000).tokens <= 3_000


def test_each_of_the_last_steps_is_condensed_alone_to_time_call_and_key_facts(session: Session) -> None:
    session.record_turn("Find the order of Mia Li.")
    for at in range(6):
        add_json(session, {"order": f"W-200{at}", "total": 99.5 + at, **LONG})
    session.record_reply("Found.")
    tiles = session.condense(last=6)
    assert [tile.steps for tile in tiles] == [(2,), (3,), (4,), (5,), (6,)]
    for tile in tiles:
        assert tile.tokens <= 50
        for words in ("ask()", f"W-200{tile.first - 1}"):
            assert words in tile.text
        assert str(session.recall(f"s{tile.first}").text)
    assert session.condense(last=6) == ()
    (first,) = session.condense(last=20)
    assert [line.text for line in first.said] == ["user: Find the order of Mia Li."]
    assert session.history()[0].decider == "embedded"


def test_what_was_condensed_is_opened_again_by_the_next_consolidation(session: Session) -> None:
    add_steps(session, 12)
    with Session.open("other", goal=session.goal, store=":memory:") as other:
        add_steps(other, 12)
        session.condense(last=8)
        for each in (session, other):
            each.plan(goal=session.goal)
            add_steps(each, 30, first=13)
            each.consolidate(3_000)
        assert session.view(3_000).text == other.view(3_000).text


def test_texts_for_single_steps_take_their_place_with_what_the_log_lacks_marked(session: Session) -> None:
    add_steps(session, 3)
    (tile,) = session.condense(texts={2: "Page 2 names W-9999."}, by=By("model", "asked"))
    assert (tile.steps, tile.origin, tile.marks) == ((2,), "model", ("W-9999",))
    assert count(tile.summary) <= 50
