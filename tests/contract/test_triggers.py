"""When the intent is looked at again: on a change of it, on words that lean on what was folded away, on pressure of the budget; never at every turn."""

import json

from ctxfold import Session
from tests.support.sessions import WIDE, common_prefix, events, prose, settled

BUDGET = 2_000
ORDERS = 80
"""Orders of a long session: the first of them stand in no view of the budget."""


def drive(session: Session, budget: int = BUDGET) -> list[str]:
    """What a driver does after it records; the causes of what was seen to."""
    session.consolidate(budget)
    return [str(trigger) for trigger in session.maintain(budget)]


def order(session: Session, number: int) -> int:
    """Look up one order, whose values stand nowhere else."""
    found = {
        "order": f"W-{9000 + number}",
        "total": 13.5 + number,
        "carrier": f"Lantern{number} Freight",
        "note": prose(number, 64),
    }
    return session.record_step(
        explanation=f"Looking up number {number}.",
        calls=[{"name": "get_order", "args": {"number": number}, "id": "c1"}],
        results=[{"id": "c1", "text": json.dumps(found)}],
    ).step


def long_session(session: Session) -> None:
    """Orders until the first of them are folded away."""
    session.record_turn(user="Please look through my orders and tell me which of them came late.")
    drive(session)
    for number in range(ORDERS):
        order(session, number)
        drive(session)


def caused(session: Session, kind: str) -> list[str]:
    """The causes of the events of a kind, oldest first."""
    return [event.cause for event in events(session) if event.kind == kind]


def test_what_the_user_names_and_a_fold_took_away_comes_back_byte_for_byte(session: Session) -> None:
    """An id that stands nowhere in the view is looked up in the log; the next words that lean on nothing look up nothing."""
    long_session(session)
    gone = next(n for n in range(ORDERS) if f"W-{9000 + n}" not in settled(session))
    session.record_turn(user=f"And what did W-{9000 + gone} cost?")
    assert f"unresolved reference: W-{9000 + gone}" in drive(session)
    view = session.view(BUDGET)
    assert f'"total": {13.5 + gone}' in view.text
    assert view.tokens <= BUDGET
    for each in session.intent.extracts:
        assert each.text == session.recall(each.ref).text
    session.record_reply(f"It cost {13.5 + gone}.")
    assert drive(session) == []


def test_pressure_extracts_once_a_fold_and_what_stands_in_the_view_is_left_out(session: Session) -> None:
    """Many steps, few extractions, each after a fold; no extract repeats what the cover shows."""
    long_session(session)
    folds = [event for event in events(session) if event.kind == "folded"]
    pressed = caused(session, "extracted")
    assert folds
    assert len(pressed) <= len(folds)
    assert all(cause.startswith("budget pressure: b") for cause in pressed)
    shown = "\n".join(line.text for block in session.workspace.blocks for line in block.lines)
    for each in session.intent.extracts:
        assert each.text not in shown


def test_what_a_host_asked_for_stays_when_a_trigger_finds_more(session: Session) -> None:
    """Chosen lines are not pushed out by found ones."""
    long_session(session)
    first = session.extract(selections=[{"ref": "s1.3:1-2", "why": "the first order"}])
    gone = next(n for n in range(5, ORDERS) if f"W-{9000 + n}" not in settled(session))
    session.record_turn(user=f"Who carried W-{9000 + gone}?")
    assert drive(session)
    refs = [each.ref for each in session.intent.extracts]
    assert refs[0] == first.extracts[0].ref
    assert len(refs) > 1


def test_an_undone_extraction_stays_away_until_it_is_named_again(session: Session) -> None:
    """The words that brought it bring it no more, here or on a new look; the next words do."""
    long_session(session)
    gone, other = [n for n in range(ORDERS) if f"W-{9000 + n}" not in settled(session)][:2]
    session.record_turn(user=f"And what did W-{9000 + gone} cost?")
    drive(session)
    before = len(caused(session, "extracted"))
    session.undo()
    assert not session.intent.extracts or f"{13.5 + gone}" not in str(session.intent.extracts)
    session.record_reply("Let me see.")
    assert drive(session) == []
    assert len(caused(session, "extracted")) == before
    session.record_turn(user=f"And W-{9000 + other}?")
    assert f"unresolved reference: W-{9000 + other}" in drive(session)
    assert f'"total": {13.5 + other}' in session.view(BUDGET).text


def test_the_prefix_of_the_view_outlives_every_trigger(session: Session) -> None:
    """Only the volatile end changes: each view keeps its stable blocks byte for byte."""
    long_session(session)
    for said in ("What did W-9001 cost?", "And W-9003?"):
        session.record_turn(user=said)
        before = session.view(WIDE)
        assert drive(session, 100_000)
        after = session.view(WIDE)
        assert before.messages[0]["content"][: before.stable] == after.messages[0]["content"][: after.stable]
        kept = "\n".join(block["text"] for block in before.messages[0]["content"][: before.stable])
        assert common_prefix(before.text, after.text).startswith(kept)


def test_a_host_may_see_to_the_triggers_itself(session: Session) -> None:
    """Named once each and not acted on."""
    long_session(session)
    gone = next(n for n in range(ORDERS) if f"W-{9000 + n}" not in settled(session))
    before = session.intent
    session.record_turn(user=f"And what did W-{9000 + gone} cost?")
    assert [each.cause for each in session.maintain(BUDGET, act=False)] == ["unresolved reference"]
    assert session.maintain(BUDGET, act=False) == ()
    assert session.intent == before
