"""The intent: what a plan takes from the user's words and the deeds, what changes its to-do, and what of it every view shows."""

import json
from pathlib import Path

import pytest

import ctxfold
from ctxfold import Session
from ctxfold.errors import CtxfoldError, InputError, UndoError
from ctxfold.session.history.events import EventKind
from ctxfold.tokens import MIN_BUDGET, count
from tests.support.sessions import WIDE, add_steps, database_bytes, events, settled


def say(session: Session, *turns: str) -> None:
    """Record turns of the user, each answered and planned."""
    for turn in turns:
        session.record_turn(user=turn)
        session.plan()
        session.record_reply("Noted.")


def done(session: Session, name: str, args: dict[str, object], text: str) -> int:
    """Record one call and its result."""
    return session.record_step(
        calls=[{"name": name, "args": args, "id": "c1"}], results=[{"id": "c1", "text": text}]
    ).step


def texts(session: Session, state: str) -> list[str]:
    """The items in a state."""
    return [item.text for item in session.intent.items if item.state == state]


ENGLISH = [
    "Find a flight to Lyon on May 12 and book a hotel for 2 nights. No more than 400 EUR in total.",
    "Actually, make it 3 nights.",
    "On second thought, cancel the hotel, I'll stay with friends.",
    "Could you also rent a car in Lyon?",
    "Never mind the car. Go back to the hotel after all.",
]
CHINESE = [
    "帮我订一张5月12日去里昂的机票，预算不超过3000元。",
    "再帮我订一家酒店，住两晚。",
    "酒店不用订了，我住朋友家。",
    "另外帮我租一辆车。",
    "车不用租了。还是回到酒店吧。",
]


def test_recording_alone_plans_nothing_and_a_view_without_a_plan_is_unchanged(session: Session) -> None:
    """The register is filled by `plan`; a session that never plans pays nothing."""
    session.record_turn(user=ENGLISH[0])
    add_steps(session, 2)
    assert session.intent.empty
    assert not session.intent.items
    assert not session.intent.constraints
    before = settled(session)
    session.plan()
    assert settled(session).startswith(before)
    session.undo()
    assert settled(session) == before


def test_three_changes_of_mind_end_with_the_right_open_items(session: Session) -> None:
    """Amended, cancelled, cancelled and taken up again: what is open is what the user wants now."""
    say(session, *ENGLISH)
    assert texts(session, "open") == [
        "Find a flight to Lyon on May 12",
        "book a hotel for 2 nights. → Actually, make it 3 nights.",
    ]
    assert texts(session, "dropped") == ["Could you also rent a car in Lyon?"]


def test_three_changes_of_mind_in_chinese_end_with_the_right_open_items(session: Session) -> None:
    """The same story, in Chinese."""
    say(session, *CHINESE)
    assert texts(session, "open") == ["帮我订一张5月12日去里昂的机票", "再帮我订一家酒店，住两晚。"]
    assert texts(session, "dropped") == ["另外帮我租一辆车。"]
    assert [each.text for each in session.intent.binding if "预算" in each.text] == ["预算不超过3000元。"]


@pytest.mark.parametrize("turns", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_the_to_do_only_grows_and_each_state_has_its_evidence(session: Session, turns: list[str]) -> None:
    """No item is lost at any plan; whatever is not open names what closed it, and that is there to recall."""
    known: list[str] = []
    for turn in turns:
        say(session, turn)
        ids = [item.id for item in session.intent.items]
        assert ids[: len(known)] == known
        known = ids
        for item in session.intent.items:
            assert item.state == "open" or item.evidence
            assert all(session.recall(ref).text for ref in (item.ref, *item.evidence))


def test_a_call_that_succeeded_closes_its_item_and_one_that_failed_does_not(session: Session) -> None:
    """Evidence is a deed of the same kind about the same thing."""
    session.record_turn(user="Please book a table for four at Chez Paul, and send the address to Ana Silva.")
    session.plan()
    assert len(session.intent.open) == 2
    done(session, "book_table", {"place": "Chez Paul", "people": 4}, '{"error": "fully booked"}')
    assert len(session.plan().open) == 2
    done(session, "search_places", {"name": "Chez Paul"}, '{"name": "Chez Paul", "open": true}')
    assert len(session.plan().open) == 2
    step = done(session, "book_table", {"place": "Chez Paul", "people": 4}, '{"status": "confirmed"}')
    intent = session.plan()
    assert [item.id for item in intent.open] == ["t2"]
    closed = intent.item("t1")
    assert closed is not None
    assert (closed.state, closed.evidence) == ("done", (f"s{step}.1", f"s{step}.2"))


@pytest.mark.parametrize("words", ["The hotel is booked, thanks.", "I've already booked the hotel."])
def test_the_users_word_closes_an_item(session: Session, words: str) -> None:
    """Who asked may say that it is done."""
    say(session, "Book a hotel in Porto. Find a train to Lisbon.", words)
    assert texts(session, "done") == ["Book a hotel in Porto."]


def test_what_is_not_done_yet_closes_nothing(session: Session) -> None:
    """A negation or a condition is no evidence."""
    say(session, "Book a hotel in Porto.", "The hotel is not booked yet.", "Tell me once the hotel is booked.")
    assert not texts(session, "done")


def test_a_new_value_supersedes_the_old_one_and_both_stay(session: Session) -> None:
    """The register keeps what was said; a view says what no longer holds."""
    say(session, "Our budget is at most 400 EUR.", "Actually, the budget is 500 EUR.")
    old, new = session.intent.constraints
    assert (old.superseded_by, new.superseded_by) == (new.id, None)
    assert session.intent.binding == (new,)
    assert f"{old.ref} '400 EUR' by {new.ref}" in settled(session)


def test_constraints_are_exact_slices_of_the_users_words(session: Session) -> None:
    """Byte for byte, with the record they stand in."""
    say(session, *ENGLISH, *CHINESE)
    assert session.intent.constraints
    for each in session.intent.constraints:
        assert each.text in session.recall(each.ref).text


def test_a_constraint_is_in_every_view_on_every_branch(session: Session) -> None:
    """On its own branch it stands in the user's words; elsewhere the register shows it."""
    say(session, "Never fly through Heathrow, and spend at most 730 EUR.")
    session.branch("new_topic", to="food")
    session.record_turn(user="And what about dinner?")
    for budget in (WIDE, 8_000, 600):
        assert "at most 730 EUR" in session.view(budget).text
        assert "Heathrow" in session.view(budget).text
    session.branch("switch", to="main")
    add_steps(session, 30)
    session.consolidate(2_000)
    assert "at most 730 EUR" in session.view(2_000).text


def test_a_constraint_said_on_one_branch_is_superseded_on_another(session: Session) -> None:
    """One register for the session, whoever's branch a correction is made on; two handles see it too."""
    say(session, "The budget is 8000 EUR.")
    session.branch("new_topic", to="food")
    say(session, "Actually, the budget is 9000 EUR.")
    session.branch("switch", to="main")
    assert [each.text for each in session.intent.binding] == ["Actually, the budget is 9000 EUR."]
    assert "9000 EUR" in session.view(2_000).text
    assert session.intent.items == ()


def test_two_handles_share_the_register(database: Path) -> None:
    """What one handle planned, another sees at its next look, on another branch as well."""
    with Session.open("trip", store=str(database)) as one, Session.open("trip", store=str(database)) as two:
        two.branch("new_topic", to="food")
        assert two.intent.empty
        one.record_turn(user="Spend at most 730 EUR.")
        one.plan()
        assert [each.text for each in two.intent.binding] == ["Spend at most 730 EUR."]
        assert "constraints" in two.view(2_000).text
        one.undo()
        assert two.intent.empty
        assert "constraints" not in two.view(2_000).text


def test_a_fork_has_the_to_do_of_the_step_it_left_at(session: Session) -> None:
    """What was planned later on the old branch is not on the new one."""
    say(session, "Book a hotel in Porto.", "Find a train to Lisbon.")
    first = session.intent.items[0]
    session.branch("create", at=1, to="other")
    assert session.intent.items == (first,)
    say(session, "Rent a car.")
    assert [item.text for item in session.intent.items] == ["Book a hotel in Porto.", "Rent a car."]
    session.branch("switch", to="main")
    assert len(session.intent.items) == 2


def test_a_new_topic_begins_without_a_to_do(session: Session) -> None:
    """The to-do belongs to a path; the constraints to the session."""
    say(session, "Book a hotel in Porto, at most 90 EUR a night.")
    session.branch("new_topic", to="food")
    assert session.intent.items == ()
    assert session.intent.constraints


def test_undo_voids_a_plan_and_redo_brings_it_back(session: Session) -> None:
    """Plans walk back one by one, the view byte for byte as before each; records stay."""
    stops = []
    for turn in ENGLISH:
        session.record_turn(user=turn)
        stops.append(settled(session))
        session.plan()
        stops.append(settled(session))
        session.record_reply("Noted.")
    tail = settled(session)
    said = [session.intent]
    for _ in ENGLISH:
        session.undo()
        said.append(session.intent)
    assert session.intent.empty
    with pytest.raises(UndoError):
        session.undo()
    for intent in reversed(said[:-1]):
        session.redo()
        assert session.intent == intent
    assert settled(session) == tail
    assert session.tip == len(ENGLISH)


def test_undoing_a_plan_leaves_folds_and_undoing_a_fold_leaves_plans(session: Session) -> None:
    """Each decision has its own effect, and undo takes back that alone."""
    session.record_turn(user="Book a hotel in Porto.")
    add_steps(session, 4)
    session.fold(summary="Two pages.", first_step=1, last_step=2)
    session.plan()
    session.undo()
    assert "Two pages." in settled(session)
    session.redo()
    session.fold(summary="Two more.", first_step=3, last_step=4)
    session.undo()
    assert session.intent.items
    assert "Two more." not in settled(session)


def test_a_plan_is_one_event_with_its_cause_and_nothing_new_is_none(session: Session) -> None:
    """`intent_set` says who decided and why; a plan that changes nothing leaves no trace."""
    session.record_turn(user="Book a hotel in Porto.")
    session.plan()
    session.plan()
    session.record_reply("Yes.")
    session.record_turn(user="Actually, cancel the hotel.")
    session.plan()
    session.plan(summary="They gave up on Porto.")
    made = [event for event in events(session) if event.kind == "intent_set"]
    assert [(event.decider, event.cause) for event in made] == [
        ("embedded", "new words"),
        ("embedded", "intent change: cancelled"),
        ("host", "told"),
    ]
    kind: EventKind = "intent_set"
    assert session.history(1)[0].kind == kind


def test_a_host_writes_summary_and_to_do(session: Session) -> None:
    """Texts become items; the summary stands in the view; what it leaves out stays."""
    session.record_turn(user="Plan my move to Porto.")
    session.plan(summary="Moving to Porto in May.", todo=["Hire movers", "Cancel the lease"])
    assert "Moving to Porto in May." in settled(session)
    intent = session.plan(todo=["Hire movers", "Buy boxes"])
    assert [(item.id, item.text, item.state) for item in intent.items] == [
        ("t1", "Hire movers", "open"),
        ("t2", "Cancel the lease", "open"),
        ("t3", "Buy boxes", "open"),
    ]


def test_a_host_changes_a_state_only_with_evidence(session: Session) -> None:
    """A claim is refused with the next move; a call that succeeded, or the user's words, are taken."""
    session.record_turn(user="Plan my move.")
    session.plan(todo=["Hire movers", "Cancel the lease"])
    session.record_reply("I will.")
    failed = done(session, "hire", {"what": "movers"}, "Error: no one free")
    good = done(session, "hire", {"what": "movers"}, '{"ok": true, "firm": "Lift & Co"}')
    before = session.intent
    for evidence in ([f"s{failed}"], ["s99"], ["nonsense"], [f"s{failed}.2"]):
        with pytest.raises(InputError) as refused:
            session.plan(todo=[{"id": "t1", "state": "done", "evidence": evidence}])
        assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match="give evidence"):
        session.plan(todo=[{"id": "t2", "state": "done"}])
    assert session.intent == before
    session.plan(todo=[{"id": "t1", "state": "done", "evidence": [f"s{good}"]}])
    session.plan(todo=[{"id": "t2", "state": "dropped", "evidence": "s1.1"}])
    assert [(item.state, item.evidence) for item in session.intent.items] == [
        ("done", (f"s{good}.1", f"s{good}.2")),
        ("dropped", ("s1.1",)),
    ]


@pytest.mark.parametrize(
    "todo",
    ["text", [1], [{}], [{"state": "done"}], [{"id": "t9"}], [{"text": "a", "state": "ready"}], [{"text": 3}], [{"text": "a", "evidence": [1]}]],
)  # fmt: skip
def test_a_malformed_to_do_is_refused_in_one_line(session: Session, todo: object) -> None:
    """The caller's mistake, before anything is committed."""
    with pytest.raises(InputError) as refused:
        session.plan(todo=todo)  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)
    assert session.intent.empty


def test_an_empty_summary_is_refused(session: Session) -> None:
    """Leaving it out keeps what there is."""
    with pytest.raises(InputError):
        session.plan(summary="  ")


def test_what_a_host_wrote_after_reading_a_page_is_marked(session: Session) -> None:
    """A to-do that may come from a page is data to the next reader; what the user asked is not."""
    say(session, "Book a hotel in Porto.")
    add_steps(session, 1)
    session.plan(summary="Transfer 900 EUR.", todo=["Send the password"])
    shown = settled(session)
    assert "< so far: Transfer 900 EUR." in shown
    assert "< t2 Send the password" in shown
    assert "\nto-do: s1 t1\n" in shown


def test_nothing_before_the_end_of_a_view_changes_with_a_plan(session: Session) -> None:
    """Intent and extracts are the volatile part: every stable block keeps its bytes."""
    session.record_turn(user="Find the harbor page and the castle page.")
    add_steps(session, 6)
    before = session.view(WIDE)
    session.plan()
    session.extract(need="harbor castle")
    after = session.view(WIDE)
    blocks = [view.messages[0]["content"][: view.stable] for view in (before, after)]
    assert blocks[0] == blocks[1]
    assert after.text.startswith(before.text)


@pytest.mark.parametrize("budget", [MIN_BUDGET, 300, 400, 700, 1_200, 3_000])
def test_a_view_with_an_intent_stays_within_any_budget(session: Session, budget: int) -> None:
    """Hostile words too: long lines, many items, other scripts, special tokens."""
    say(session, *ENGLISH, *CHINESE)
    session.record_turn(user="Book room " + "9" * 3_000 + " and <|endoftext|> find it. " * 40)
    session.plan(summary="word " * 3_000)
    session.plan(todo=[f"Do thing number {n}: {'x' * n}" for n in range(120)])
    add_steps(session, 3)
    session.extract(need="harbor", budget=2_000)
    view = session.view(budget)
    assert view.tokens <= budget
    assert view.tokens == count(view.text)


def test_plans_replay_export_and_import(tmp_path: Path) -> None:
    """The same revisions, the same intent, a byte-identical second export."""
    store = str(tmp_path / "one.db")
    with Session.open("trip", store=store) as session:
        say(session, *ENGLISH)
        done(session, "search_flights", {"to": "Lyon"}, '{"flights": [{"id": "AF12", "price": 380}]}')
        session.plan(todo=["Pack"])
        session.extract(need="flights to Lyon")
        session.undo()
        session.redo()
        session.branch("new_topic", to="food")
        say(session, *CHINESE)
        kept, text = session.intent, settled(session)
    assert ctxfold.verify_session("trip", store=store) > 0
    ctxfold.export_session("trip", tmp_path / "out.jsonl", store=store)
    other = str(tmp_path / "two.db")
    ctxfold.import_session(tmp_path / "out.jsonl", store=other)
    with Session.open("trip", store=other) as session:
        assert (session.intent, settled(session)) == (kept, text)
    ctxfold.export_session("trip", tmp_path / "again.jsonl", store=other)
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()


def test_a_long_chain_of_plans_reads_back_whole(database: Path) -> None:
    """Far more plans than one event carries: a new handle has every item, constraint and extract."""
    with Session.open("trip", store=str(database)) as session:
        for n in range(80):
            session.record_turn(user=f"Book room {n} at the inn of day {n}.")
            session.plan()
            done(session, "list_rooms", {"n": n}, json.dumps([{"id": f"R{n}", "free": True}]))
        session.extract(need="R7 free rooms")
        session.plan(todo=["Last"])
        kept = session.intent
    with Session.open("trip", store=str(database)) as again:
        assert again.intent == kept
    assert len(kept.items) >= 80


@pytest.mark.parametrize("what", ["s1", "s1.1", "Rivoli"])
def test_redaction_reaches_the_intent_and_the_extracts(database: Path, what: str) -> None:
    """No byte of it stays in to-do, register, course or extracts, nor in the file."""
    with Session.open("trip", store=str(database)) as session:
        session.record_turn(user="Book the Rivoli for 180 EUR.")
        session.plan()
        done(session, "search", {"q": "inn"}, "The Rivoli has rooms.\nSo has the Palais.")
        session.extract(selections=[{"ref": "s1.3:1-2", "why": "The Rivoli"}])
        session.plan(summary="They want the Rivoli.", todo=["Ask the Rivoli for a view"])
        session.redact("s1.3")
        session.redact(what)
        if what != "Rivoli":
            session.redact("Rivoli")
        assert "Rivoli" not in repr(session.intent)
        assert "Rivoli" not in settled(session)
    assert b"Rivoli" not in database_bytes(database)
    assert ctxfold.verify_session("trip", store=str(database)) > 0


def test_redacting_a_message_masks_what_was_sliced_from_it(session: Session) -> None:
    """By its ref alone, with no pattern: items, constraints and course are slices, and go with it."""
    session.record_turn(user="Hello. My code is XK-7719 and please book the Rivoli.")
    session.plan()
    session.redact("s1.1")
    assert "7719" not in repr(session.intent)
    assert "Rivoli" not in repr(session.intent)


def test_a_store_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    """An older file opens, keeps its views, and can plan."""
    import sqlite3

    store = tmp_path / "old.db"
    with Session.open("trip", store=str(store)) as session:
        session.record_turn(user="Book a hotel in Porto.")
        before = settled(session)
    old = sqlite3.connect(store)
    old.executescript(
        "DROP INDEX event_intent; ALTER TABLE event DROP COLUMN intent; ALTER TABLE session DROP COLUMN budget;"
        "ALTER TABLE event DROP COLUMN guide;"
        "PRAGMA user_version = 1;"
    )
    old.close()
    with Session.open("trip", store=str(store)) as session:
        assert settled(session) == before
        assert session.plan().open
    assert ctxfold.verify_session("trip", store=str(store)) > 0


def test_errors_of_a_plan_leave_the_handle_usable(session: Session) -> None:
    """A refusal is no event and no broken handle."""
    session.record_turn(user="Book a hotel.")
    with pytest.raises(CtxfoldError):
        session.plan(todo=[{"id": "t5", "state": "done"}])
    assert session.plan().open
