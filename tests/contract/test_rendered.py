"""The data model's compact form: each record rendered once, at ingest; facts from structure; refs in place of what stands unchanged."""

import json
from pathlib import Path

import pytest

import ctxfold
from ctxfold import Session
from ctxfold.tokens import count
from ctxfold.workspace import Tile
from tests.support.sessions import (
    WIDE,
    add_call,
    add_json,
    add_result,
    add_step,
    add_steps,
    common_prefix,
    copy_session,
    in_order,
    ref_of,
    settled,
    texts,
)

HOTELS = [
    {
        "id": f"H{1000 + n}",
        "name": f"Hotel {word}",
        "price": 80 + n * 7.5,
        "stars": n % 5 + 1,
        "address": {"street": f"Rua {word} {n}", "zip": f"1{n:03d}-00{n % 10}"},
        "refundable": n % 2 == 0,
    }
    for n, word in enumerate(
        "Aurora Belém Castelo Douro Estrela Fado Graça Horta Ínsua Janelas Kasbah Lapa Mouraria Nazaré Oriente Príncipe Queluz Rossio Sintra Tejo".split()
    )
]

NOT_YET = "< no result before the next step"


def test_json_becomes_keyed_rows_that_cost_fewer_tokens_and_keep_every_value(session: Session) -> None:
    raw = json.dumps({"hotels": HOTELS, "page": 3, "currency": "EUR"})
    add_result(session, raw)
    shown = session.view(WIDE).text
    for hotel in HOTELS:
        for value in (hotel["id"], hotel["name"], hotel["price"], hotel["address"]["street"], hotel["address"]["zip"]):  # type: ignore[index]
            assert str(value) in shown
    assert "EUR" in shown
    assert count(shown) < 0.75 * count(raw)


def test_each_row_holds_its_records_own_id(session: Session) -> None:
    """A row can be read alone: the id of its object stands on the line that holds its other values."""
    add_json(session, {"hotels": HOTELS})
    lines = settled(session).splitlines()
    for hotel in HOTELS:
        assert any(
            str(hotel["id"]) in line and str(hotel["name"]) in line and str(hotel["price"]) in line for line in lines
        )


def test_a_late_result_is_a_record_of_its_old_step_shown_where_it_arrives(session: Session) -> None:
    answer = "The slow desk says: LATE-ANSWER."
    slow = add_call(session, "slow", said="Asked the slow desk.")
    add_steps(session, 3, first=2)
    earlier = settled(session)
    assert session.record_result(slow, "c1", answer).step == slow
    assert "END-4" in common_prefix(earlier, settled(session)), "the old step is not rendered again"
    add_steps(session, 2, first=5)
    shown = settled(session)
    assert in_order(shown, ["Asked the slow desk.", "END-4", "LATE-ANSWER", "END-5", "END-6"])
    before = shown[shown.index("END-4") : shown.index("LATE-ANSWER")]
    assert f"s{slow}" in before
    assert texts(session, slow)[-1] == answer
    assert session.recall(ref_of(session, slow, answer)).text == answer


@pytest.mark.parametrize("between", [False, True], ids=["at once", "after another step"])
def test_a_result_that_comes_out_of_turn_names_the_call_it_answers(session: Session, between: bool) -> None:
    """What came back is read as what the call above it gave, or the next in order: any other says which it answers."""
    cities = ("Bonn", "Ulm", "Trier")
    calls = [{"name": "weather", "args": {"city": city}, "id": city} for city in cities]
    slow = session.record_step(explanation="Asked.", calls=calls, results=[]).step
    if between:
        session.record_step(explanation="Waiting.")
    session.record_result(slow, "Trier", "7 degrees")
    session.record_result(slow, "Bonn", "9 degrees")
    of, at = ("s1 ", "s2 ") if between else ("", "")
    for text in (session.view(WIDE).text, settled(session)):
        assert f"< late, of s{slow} call 3:\n{of}< 7 degrees\n{at}< late, of s{slow} call 1:\n{of}< 9 degrees" in text


def test_a_call_that_gave_nothing_is_told_from_one_that_waits(session: Session) -> None:
    calls = [{"name": "grep", "args": {"for": each}, "id": each} for each in ("x", "y")]
    session.record_step(explanation="Looked.", calls=calls, results=[{"id": "x", "text": ""}])
    assert '> grep(for=x)\n< ""\n> grep(for=y)' in session.view(WIDE).text


def test_a_late_result_that_arrives_on_a_fork_moves_no_byte_of_the_branch_it_left(session: Session) -> None:
    """Where it arrives is a place on one branch: a branch that went on from the same step keeps what it showed."""
    slow = add_call(session, "slow", said="Asked the slow desk.")
    add_steps(session, 2, first=2)
    home, before = session.branch_name, settled(session)
    session.branch("create", at=slow, to="fork")
    session.record_result(slow, "c1", "LATE-ANSWER at last.")
    assert "LATE-ANSWER" in settled(session)
    session.branch("switch", to=home)
    assert settled(session).startswith(before)


def test_a_late_result_that_arrives_while_elsewhere_shows_at_the_end_of_its_own_branch(session: Session) -> None:
    slow = add_call(session, "slow", said="Asked the slow desk.")
    add_steps(session, 2, first=2)
    home, before = session.branch_name, settled(session)
    session.branch("new_topic", to="elsewhere")
    add_step(session, 4)
    session.record_result(slow, "c1", "LATE-ANSWER at last.")
    session.branch("switch", to=home)
    assert settled(session).startswith(before)
    assert "LATE-ANSWER" in settled(session)


def test_a_late_result_on_the_open_latest_step_shows_in_it(session: Session) -> None:
    step = add_call(session, "click", {"ref": "e3"}, said="Click.")
    assert session.record_result(step, "c1", "The page opened: OPENED.").step == step
    assert "OPENED" in settled(session)
    assert session.tip == step


def test_a_callers_compact_form_is_shown_and_the_full_text_recalled(session: Session) -> None:
    full = "node\n" * 3_000 + "far below: marmalade"
    step = add_call(session, "observe", None, full, "Look.", origin="page", shown="Heading: River hotels (12)")
    assert "Heading: River hotels (12)" in settled(session)
    assert session.view(WIDE).tokens < 400
    assert full in texts(session, step)
    assert [hit.step for hit in session.recall(query="marmalade")] == [step], "what `shown` leaves out is found"
    late = add_call(session, "observe", said="Again.")
    session.record_result(late, "c1", full + "!", origin="page", shown="Heading: River hotels (11)")
    assert "Heading: River hotels (11)" in settled(session)
    assert full + "!" in texts(session, late)


def test_each_result_stands_behind_its_call_and_the_log_keeps_the_order_it_was_told(tmp_path: Path) -> None:
    """Of many calls of one step, no reader has to count which answer is of which: not when recorded, not when read back, not when imported."""
    store, names = str(tmp_path / "one.db"), ["alpha", "beta", "gamma"]
    with Session.open("trip", store=store) as session:
        session.record_turn(user="Look all three up")
        step = session.record_step(
            explanation="All at once.",
            calls=[{"name": "look", "args": {"q": name}, "id": f"c-{name}"} for name in names],
            results=[{"id": f"c-{name}", "text": f"answer of {name}"} for name in reversed(names)],
        ).step
        session.record_reply("Done.")
        recorded = session.view(WIDE).text
        assert in_order(recorded, [mark for name in names for mark in (f"q={name}", f"answer of {name}")])
        assert texts(session, step)[-3:] == ["answer of gamma", "answer of beta", "answer of alpha"]
    for kept in (store, str(copy_session(store, tmp_path))):
        with Session.open("trip", store=kept) as session:
            assert session.view(WIDE).text == recorded
        assert ctxfold.verify_session("trip", store=kept) > 0


def test_a_written_summary_stands_behind_the_words_that_its_stretch_began_with(session: Session) -> None:
    session.record_turn(user="How far is it to Belem?")
    add_call(session, "map", {"to": "Belem"}, "6.4 km along the river " * 20, "Look.")
    session.record_reply("6.4 km.")
    session.record_turn(user="And to Sintra?")
    session.record_reply("Further.")
    session.fold("It is 6.4 km to Belem.", 1, 2)
    text = session.view(4_000).text
    places = [text.index(each) for each in ("user: How far", "It is 6.4 km to Belem.", "user: And to Sintra?")]
    assert places == sorted(places)


def test_a_call_that_was_never_answered_says_so_from_the_next_step_on(stored: Session, database: Path) -> None:
    stored.record_step("Ask both.", [{"name": "ask", "args": {"who": who}, "id": who} for who in ("ana", "omar")], [])
    stored.record_result(1, "ana", "yes")
    assert NOT_YET not in stored.view().text
    stored.record_step("Go on.", [{"name": "ask", "args": {"who": "mei"}, "id": "mei"}], [{"id": "mei", "text": "no"}])
    assert stored.view().text.count(NOT_YET) == 1
    assert stored.view().text.index("< yes") < stored.view().text.index(NOT_YET) < stored.view().text.index("Go on.")
    with Session.open("trip", store=str(database), create=False) as again:
        assert again.view().text == stored.view().text


def test_a_fold_does_not_take_a_call_that_was_never_answered_for_done(session: Session) -> None:
    edit = {"path": "/srv/table.py", "old": "offset = 1\nsummer = False", "new": "offset = 2\nsummer = True"}
    session.record_step("Mend it.", [{"name": "edit", "args": edit, "id": "e"}], [])
    add_steps(session, 12, first=2)
    session.consolidate(1_500)
    view = session.view(1_500).text
    assert not any(block.changed for block in session.workspace.blocks if isinstance(block, Tile))
    assert "edit(" not in view or NOT_YET in view
    session.record_step("Mend it.", [{"name": "edit", "args": edit, "id": "e"}], [{"id": "e", "text": "ok"}])
    add_steps(session, 12, first=15)
    session.consolidate(1_500)
    (tile,) = (block for block in session.workspace.blocks if isinstance(block, Tile))
    assert [(each.name, each.steps) for each in tile.changed] == [("/srv/table.py", (14,))]
