"""Refactoring: six operators that change the view and never the log, a router that mostly leaves a history alone, checks that keep it as it was."""

import json
from pathlib import Path

import pytest

import ctxfold
from ctxfold import Session
from ctxfold.decisions.refactor import OPERATORS, Operator
from ctxfold.errors import InputError, UndoError
from tests.support.faults import ORDERS, called, clean, failing, look_up
from tests.support.sessions import cover, database_bytes, events, settled, texts

TEXTS: dict[Operator, str] = {
    "fact_rectify": "pending => delivered (s2.2)",
    "noise_filter": "W-2003 was delivered; refunds are refused.",
    "cognitive_boosting": "Look for another way to refund W-2003.",
    "attention_anchor": "Refund W-2003 to mia.li@example.com.",
}
"""What an operator cannot do without."""
GOOD = "Looked up W-2001 to W-2005; W-2003 was delivered to Porto, total 103.5."


def steps_of(session: Session) -> dict[int, list[str]]:
    """Every record of the session."""
    return {step: texts(session, step) for step in range(1, session.tip + 1)}


def test_a_clean_history_is_left_alone_and_nothing_is_committed(session: Session) -> None:
    clean(session)
    before, log = settled(session), events(session)
    done = session.refactor()
    assert (done.operator, done.applied, done.refused) == ("none", False, False)
    assert done.reason
    assert settled(session) == before
    assert events(session) == log
    with pytest.raises(UndoError):
        session.undo()


def test_a_call_that_fails_three_times_is_pruned_with_what_it_told(session: Session) -> None:
    clean(session)
    session.record_turn(user="Yes, refund W-2003.")
    first, *_, latest = failing(session, 4)
    before, log = settled(session), steps_of(session)
    done = session.refactor()
    after = settled(session)
    assert (done.operator, done.applied) == ("path_prune", True)
    assert done.steps == tuple(range(first, latest))
    tile = session.workspace.blocks[-2]
    assert getattr(tile, "status", None) == "failed"
    assert "failed" in after
    assert "4471" in after
    assert "user: Yes, refund W-2003." in after
    assert after.endswith(before[before.rindex(f"s{latest} ") :])
    assert done.tokens[1] < done.tokens[0]
    assert steps_of(session) == log


def test_without_a_text_fact_rectify_refuses_and_says_what_to_give(session: Session) -> None:
    clean(session)
    done = session.refactor("fact_rectify")
    assert done.refused
    assert "OLD => NEW (s12.2)" in done.reason
    session.refactor("state_abstract", text=GOOD)
    assert session.refactor("cognitive_boosting").refused
    with pytest.raises(InputError, match="a text needs an operator"):
        session.refactor(text="Refund it.")


@pytest.mark.parametrize(
    "planted", ["W-9999", "999.99 EUR", "mia.li@example.org", "2031-11-21", "s77", "QXZKJP", '"never damaged"']
)
@pytest.mark.parametrize("operator", ["state_abstract", "noise_filter", "cognitive_boosting", "attention_anchor"])
def test_an_id_number_or_name_the_history_does_not_have_is_marked(
    session: Session, operator: str, planted: str
) -> None:
    clean(session)
    done = session.refactor(operator, text=f"{GOOD} It concerns {planted}.")
    assert done.applied, done.reason
    (value,) = done.values
    assert value in planted
    assert value in done.why
    marked = "".join(settled(session).split()).replace("[notinthelog]EUR", "EUR[notinthelog]")  # a view may wrap
    assert f"Itconcerns{planted}[notinthelog].".replace(" ", "") in marked


def test_a_true_text_of_a_host_takes_the_place_of_the_steps_and_keeps_their_facts(session: Session) -> None:
    clean(session)
    session.record_turn(user="Yes please.")
    done = session.refactor("state_abstract", text=GOOD)
    after = settled(session)
    assert done.applied, done.reason
    assert done.decider == "host"
    assert GOOD in after
    assert "user: Order W-2003 came broken" in after
    assert cover(session)[-1] == (session.tip,)


def test_key_info_is_the_last_of_the_view_and_a_thought_stands_before_it(session: Session) -> None:
    clean(session)
    session.plan(todo=["refund W-2003"])
    before = settled(session)
    blocks = session.workspace.blocks
    assert session.refactor("attention_anchor", text="Open: refund W-2003.").applied
    assert session.refactor("cognitive_boosting", text="Refund W-2003 before anything else.").applied
    after = settled(session)
    assert after.startswith(before)
    assert session.workspace.blocks == blocks
    assert after.index("[Thought]") < after.index("[KEY INFO]")
    last = after[after.index("[KEY INFO]") :]
    assert "refund W-2003" in last
    assert session.refactor("attention_anchor", text="Refund W-2003 to mia.li@example.com.").applied
    newest = settled(session)
    assert newest.count("[KEY INFO]") == 1
    assert newest[newest.index("[KEY INFO]") :].endswith("Refund W-2003 to mia.li@example.com.")


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_can_be_undone_and_redone_to_the_byte(database: Path, operator: Operator) -> None:
    with Session.open("trip", goal="Refund", store=str(database)) as session:
        faulty(session)
        before, log = settled(session), steps_of(session)
        done = session.refactor(operator, TEXTS.get(operator))
        assert done.applied, done.reason
        assert done.before != done.after
        assert done.diff not in ("", "no change")
        after = settled(session)
        assert after != before
        assert session.undo().kind == "refactored"
        assert settled(session) == before
        session.redo()
        assert settled(session) == after
        assert steps_of(session) == log
    with Session.open("trip", store=str(database)) as again:
        assert settled(again) == after
        again.undo()
        assert settled(again) == before
    assert ctxfold.verify_session("trip", store=str(database)) > 0


def faulty(session: Session) -> None:
    """Something for each operator: repeats, a failing call, a summary that is out of date, a plan."""
    session.record_turn(user="Refund W-2003. It must go to mia.li@example.com.")
    look_up(session, "W-2003", status="pending", note="left with the porter at the side entrance of the house")
    session.plan(todo=["refund W-2003"])
    session.fold(summary="W-2003 has status pending.", first_step=1, last_step=1)
    for order in (*ORDERS, *ORDERS):
        look_up(session, order)
    failing(session, 4)
    session.record_reply("The refund is refused; I will look for another way to do it for you.")


def test_redaction_reaches_notes_and_superseded_values(database: Path) -> None:
    with Session.open("trip", store=str(database)) as session:
        look_up(session, "W-2001", status="pending-7731", note="left with the porter at the side entrance of the house")
        session.fold(summary="W-2001 has status pending-7731.", first_step=1, last_step=1)
        called(session, "get_order", {"order_id": "W-2001"}, '{"order_id": "W-2001", "status": "SECRET-8842"}')
        session.record_reply("W-2001 is at SECRET-8842 by now, as the newest look at it says.")
        session.refactor("attention_anchor", text="W-2001 stands at SECRET-8842.")
        session.redact("SECRET-8842")
        assert "SECRET-8842" not in settled(session)
    assert ctxfold.verify_session("trip", store=str(database)) > 0
    assert b"SECRET-8842" not in database_bytes(database)


def test_refactorings_are_bounded_in_depth_and_number(session: Session) -> None:
    clean(session)
    said = []
    for at in range(40):
        seen = json.dumps({"order_id": "W-2001", "seen": f"look-{at}"})
        called(session, "get_order", {"order_id": "W-2001"}, seen, "x " * 60)
        session.record_reply("Looked at it with some care and with nothing else to say about it at all.")
        said.append(
            session.refactor("state_abstract", text=f"Looked at W-2001 so often, look-{at} the last before this.")
        )
    assert any(done.refused and "times already" in done.reason for done in said)
    for at in range(60):
        session.refactor("cognitive_boosting", text=f"Look at look-{at % 40} again.")
    assert "are on this path already" in session.refactor("cognitive_boosting", text="Look at W-2005 again.").reason


def test_high_water_is_that_of_the_budget_it_is_for(session: Session) -> None:
    session.record_turn(user="Look at many.")
    for at in range(40):
        found = {"order_id": f"W-{7000 + at}", "total": 10.5 + at}
        said = f"Looking at number {at} with care, as was asked. " * 6
        called(session, "get_order", {"n": at}, json.dumps(found), said)
    assert session.refactor(budget=100_000).operator == "none"
    done = session.refactor(budget=2_000)
    assert (done.operator, done.applied) == ("state_abstract", True), done.reason
    assert all(f"W-{7000 + at}" in settled(session) for at in range(40))
    assert done.tokens[1] < done.tokens[0]
