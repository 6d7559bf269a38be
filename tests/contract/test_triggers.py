"""When the intent is looked at again: on a change of it, on words that lean on what was folded away, on pressure of the budget; never at every turn."""

import json
from pathlib import Path

import pytest

from ctxfold import Session
from ctxfold.workspace.by import By
from tests.support.sessions import WIDE, add_step, add_steps, common_prefix, events, prose, settled

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


def test_a_request_a_correction_and_a_cancellation_each_plan_once_and_are_named(session: Session) -> None:
    """The event's cause says which trigger it was, and of what sort."""
    for said in ("Please book a hotel in Porto.", "Actually, make it 3 nights.", "Cancel the hotel."):
        session.record_turn(user=said)
        assert len(drive(session)) == 1
        assert drive(session) == []
        session.record_reply("Noted.")
        assert drive(session) == []
    assert caused(session, "intent_set") == [
        "intent change: asked, constraint",
        "intent change: changed, constraint",
        "intent change: cancelled",
    ]
    assert [item.state for item in session.intent.items] == ["dropped"]


@pytest.mark.parametrize(
    "words", ["Thanks, that is very kind of you!", "Yes, go ahead please.", "好的，谢谢。", "Hello there"]
)
def test_small_talk_triggers_nothing(session: Session, words: str) -> None:
    """A turn of the user is no trigger by itself."""
    session.record_turn(user="Please book a hotel in Porto.")
    drive(session)
    before = len(events(session))
    session.record_turn(user=words)
    assert drive(session) == []
    assert len(events(session)) == before + 1


def test_a_session_nobody_speaks_in_is_never_planned_and_keeps_its_view(session: Session) -> None:
    """Steps alone change no intent; below the mark nothing is extracted either."""
    for seed in range(8):
        add_step(session, seed)
        before = settled(session)
        assert drive(session, 100_000) == []
        assert settled(session) == before


def test_a_call_that_succeeded_closes_its_item_at_once(session: Session) -> None:
    """Evidence is a change of the to-do, and its trigger says so; a page that was looked at is none."""
    session.record_turn(user="Please find the tide table of Porto.")
    drive(session)
    look = {"name": "look", "args": {}, "id": "c1"}
    session.record_step(calls=[look], results=[{"id": "c1", "text": "The tide table of Porto.", "origin": "page"}])
    assert drive(session) == []
    find = {"name": "find_table", "args": {"place": "Porto tide table"}, "id": "c1"}
    session.record_step(calls=[find], results=[{"id": "c1", "text": '{"table": "Porto", "high": "14:20"}'}])
    assert drive(session) == ["intent change: evidence"]
    assert [item.state for item in session.intent.items] == ["done"]


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


def test_a_plain_word_for_what_was_folded_away_is_a_reference_too(session: Session) -> None:
    """Not only codes: a word of the user that only the folded steps hold."""
    session.record_turn(user="Please collect what the catalogue says.")
    session.record_step(
        calls=[{"name": "read", "args": {"page": 1}, "id": "c"}],
        results=[{"id": "c", "text": "The samovar weighs nine kilograms.\n" + "It is polished by hand. " * 60}],
    )
    for seed in range(12):
        add_step(session, seed)
        drive(session)
    session.fold(summary="Read the catalogue.", first_step=session.workspace.blocks[0].steps[0])
    assert "samovar" not in settled(session)
    session.record_turn(user="How heavy is the samovar?")
    assert "unresolved reference: samovar" in drive(session)
    assert "The samovar weighs nine kilograms." in session.view(BUDGET).text


def test_a_chinese_reference_to_what_was_folded_away_is_resolved(session: Session) -> None:
    """The same in a script without blanks."""
    session.record_turn(user="请帮我整理这些订单。")
    for number in range(30):
        text = json.dumps(
            {"订单": f"D{7000 + number}", "金额": 88.5 + number, "备注": "放在门口由邻居代收" * 12}, ensure_ascii=False
        )
        session.record_step(
            calls=[{"name": "get", "args": {"n": number}, "id": "c"}], results=[{"id": "c", "text": text}]
        )
        drive(session)
    gone = next(n for n in range(30) if f"D{7000 + n}" not in settled(session))
    session.record_turn(user=f"D{7000 + gone}这个订单多少钱？")
    assert any(each.startswith("unresolved reference") for each in drive(session))
    assert f"{88.5 + gone}" in session.view(BUDGET).text


def test_pressure_extracts_once_a_fold_and_what_stands_in_the_view_is_left_out(session: Session) -> None:
    """Many steps, few extractions, each after a fold; no extract repeats what the cover shows."""
    long_session(session)
    folds = [event for event in events(session) if event.kind == "folded"]
    pressed = caused(session, "extracted")
    assert folds
    assert len(pressed) <= len(folds)
    assert all(cause.startswith(("budget pressure: b", "intent change")) for cause in pressed)
    shown = "\n".join(line.text for block in session.workspace.blocks for line in block.lines)
    for each in session.intent.extracts:
        assert each.text not in shown


def test_the_prefix_of_the_view_outlives_every_trigger(session: Session) -> None:
    """Only the volatile end changes: each view keeps its stable blocks byte for byte."""
    long_session(session)
    for said in (
        "What did W-9001 cost?",
        "Actually, only those above 20 EUR.",
        "Find me the carrier Lantern2 Freight.",
    ):
        session.record_turn(user=said)
        before = session.view(WIDE)
        assert drive(session, 100_000)
        after = session.view(WIDE)
        assert before.messages[0]["content"][: before.stable] == after.messages[0]["content"][: after.stable]
        kept = "\n".join(block["text"] for block in before.messages[0]["content"][: before.stable])
        assert common_prefix(before.text, after.text).startswith(kept)


def test_a_fold_of_folds_with_words_of_its_own_is_looked_past(session: Session) -> None:
    """What a tile says in its own words is no record of the log: it is shown, and never new."""
    session.record_turn(user="Please collect the catalogue.")
    add_steps(session, 3)
    session.fold(summary="Read three pages.", first_step=1, last_step=3)
    add_steps(session, 4, first=4)
    session.fold(summary="Read four more pages.", first_step=4, last_step=session.tip)
    for seed in range(8, 40):
        add_step(session, seed)
        drive(session)
    session.record_turn(user="What did page END-2 say of page 3?")
    assert drive(session)


def test_most_steps_trigger_nothing(session: Session) -> None:
    """Never every turn: over sixty steps and two requests a handful of events."""
    session.record_turn(user="Please find the harbor page.")
    seen = 0
    for seed in range(60):
        add_step(session, seed)
        seen += bool(drive(session, 8_000))
    session.record_turn(user="Find the castle page as well.")
    seen += bool(drive(session, 8_000))
    assert 1 <= seen <= 8


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


def test_a_host_may_see_to_the_triggers_itself(session: Session) -> None:
    """Named once each and not acted on."""
    session.record_turn(user="Please book a hotel in Porto.")
    assert [str(each) for each in session.maintain(BUDGET, act=False)] == ["intent change: asked, constraint"]
    assert session.maintain(BUDGET, act=False) == ()
    assert session.intent.empty
    session.plan(todo=["Find three hotels"], by=By("host", "intent change: asked; by hand"))
    assert caused(session, "intent_set") == ["intent change: asked; by hand"]


def test_another_handle_finds_nothing_left_to_do(database: Path) -> None:
    """What one process saw to is seen to."""
    with Session.open("trip", store=str(database)) as one, Session.open("trip", store=str(database)) as two:
        one.record_turn(user="Please book a hotel in Porto.")
        assert two.maintain(BUDGET)
        assert one.maintain(BUDGET) == ()
        add_steps(one, 3)
        assert two.maintain(BUDGET) == ()


def test_a_to_do_of_a_host_takes_up_the_item_the_users_words_opened(session: Session) -> None:
    """Planned at once by the user's words, then by the host: one item for one thing, and its own for the rest."""
    session.record_turn(user="Please find a flight to Lyon on May 12.")
    drive(session)
    intent = session.plan(todo=["Search flights to Lyon", "Rent a car"])
    assert [(item.id, item.text, item.ref) for item in intent.items] == [
        ("t1", "Search flights to Lyon", "s1.1"),
        ("t2", "Rent a car", ""),
    ]


@pytest.mark.parametrize("restarted", [False, True])
def test_an_undone_plan_stays_undone_until_the_user_says_something_new(database: Path, restarted: bool) -> None:
    """Neither the next look nor another handle plans the same words again; new words are planned for themselves, and who asks gets all."""
    session = Session.open("trip", store=str(database))
    session.record_turn(user="Please book a hotel in Porto.")
    drive(session)
    session.record_turn(user="Please cancel the hotel booking email of 4 May that you wanted to send.")
    drive(session)
    assert [item.state for item in session.intent.items] != ["open"]
    session.undo()
    if restarted:
        session.close()
        session = Session.open("trip", store=str(database))
    for _ in range(2):
        session.record_step(explanation="Looking.", calls=[], results=[])
        assert drive(session) == []
        assert [(item.text, item.state) for item in session.intent.items] == [("Please book a hotel in Porto.", "open")]
    session.record_turn(user="Please also find a tram map.")
    assert drive(session) == ["intent change: asked"]
    assert [(item.text, item.state) for item in session.intent.items] == [
        ("Please book a hotel in Porto.", "open"),
        ("Please also find a tram map.", "open"),
    ]
    session.close()


def test_who_asks_for_a_plan_has_undone_words_read_again(session: Session) -> None:
    """An undo keeps what happens of itself away, not what somebody asks for; redo brings the very plan back."""
    session.record_turn(user="Please book a hotel in Porto.")
    drive(session)
    planned = session.intent
    session.undo()
    session.redo()
    assert session.intent.items == planned.items
    session.undo()
    assert drive(session) == []
    session.plan()
    assert session.intent.items == planned.items


def test_an_undone_item_that_a_call_closed_stays_open(session: Session) -> None:
    session.record_turn(user="Please find the tide table of Porto.")
    drive(session)
    find = {"name": "find_table", "args": {"place": "Porto tide table"}, "id": "c1"}
    session.record_step(calls=[find], results=[{"id": "c1", "text": '{"table": "Porto", "high": "14:20"}'}])
    drive(session)
    session.undo()
    session.record_reply("That was the table of last year.")
    assert drive(session) == []
    assert [item.state for item in session.intent.items] == ["open"]


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


def test_an_undo_on_one_branch_leaves_the_others_alone(session: Session) -> None:
    """What was undone elsewhere was not looked at here."""
    session.record_turn(user="Please book a hotel in Porto.")
    session.record_reply("Which one?")
    drive(session)
    session.branch("create", at="s1", to="other")
    session.record_turn(user="Please find a tram map of Porto.")
    drive(session)
    session.undo()
    session.branch("switch", to="main")
    session.record_turn(user="Please find a tram map of Porto.")
    assert drive(session) == ["intent change: asked, constraint"]
