"""The data model's compact form: each record rendered once, at ingest; facts from structure; refs in place of what stands unchanged."""

import json
import re
from pathlib import Path

import pytest

import ctxfold
from ctxfold import Session
from ctxfold.tokens import count
from tests.support.sessions import (
    WIDE,
    add_json,
    add_result,
    add_step,
    add_steps,
    common_prefix,
    in_order,
    ref_of,
    settled,
    steps_addressed,
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
        [
            "Aurora",
            "Belém",
            "Castelo",
            "Douro",
            "Estrela",
            "Fado",
            "Graça",
            "Horta",
            "Ínsua",
            "Janelas",
            "Kasbah",
            "Lapa",
            "Mouraria",
            "Nazaré",
            "Oriente",
            "Príncipe",
            "Queluz",
            "Rossio",
            "Sintra",
            "Tejo",
        ]
    )
]


def test_json_becomes_keyed_rows_that_cost_fewer_tokens_and_keep_every_value(session: Session) -> None:
    """Deterministic, complete in facts, smaller in tokens: every leaf value of the JSON can be read in the view."""
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


def test_prose_of_a_result_stays_as_it_is(session: Session) -> None:
    """Prose is not touched: every line of it can be read in the settled view."""
    text = (
        "The ferry runs every hour.\n\nOn Sundays it starts at nine; the last one back leaves at 18:45.\n  Bring coins."
    )
    add_result(session, text)
    shown = settled(session)
    assert all(line.strip() in shown for line in text.splitlines())


def test_rendering_is_done_once_and_does_not_depend_on_what_comes_later(session: Session) -> None:
    """The rendering of a step is fixed at ingest: later records leave its bytes alone."""
    add_json(session, {"hotels": HOTELS[:5]})
    first = settled(session)
    add_json(session, {"hotels": HOTELS[:5]})
    add_steps(session, 4, first=3)
    assert all(str(hotel["name"]) in common_prefix(first, settled(session)) for hotel in HOTELS[:5])


def test_the_same_records_render_to_the_same_bytes(tmp_path: Path) -> None:
    """Deterministic: two stores, the same records, the same view."""
    views = []
    for name in ("one.db", "two.db"):
        with Session.open("trip", goal="Same", store=str(tmp_path / name)) as session:
            session.record_turn(user="Compare hotels")
            add_json(session, {"hotels": HOTELS})
            add_json(session, {"hotels": HOTELS[2:], "page": 2})
            add_steps(session, 3, first=3)
            views.append((session.view(WIDE).text, session.view(600).text))
    assert views[0] == views[1]


def test_a_fact_that_stands_unchanged_earlier_becomes_a_ref(session: Session) -> None:
    """The second reading of the same facts costs little and points back to where they stand."""
    long = "Quinta das Lágrimas, Rua António Augusto Gonçalves 4711"
    fact = {"id": "BK-1", "address": long, "hotels": HOTELS[:8]}
    first = add_json(session, fact)
    alone = session.view(WIDE).tokens
    second = add_json(session, fact)
    shown = session.view(WIDE)
    assert shown.text.count(long) == 1
    assert shown.tokens - alone < 0.35 * alone
    assert f"s{first}" in shown.text[shown.text.rindex(f"s{second}") - 400 :]
    assert texts(session, second) == texts(session, first)


def test_a_changed_fact_is_shown_with_what_it_replaces(session: Session) -> None:
    """The new value stands in the new rendering, beside the value it replaces or the ref that holds it."""
    order = {
        "id": "W-88",
        "status": "pending-review",
        "total": 120.5,
        "items": [{"sku": f"K{n}", "count": n} for n in range(8)],
    }
    first = add_json(session, order)
    middle = add_step(session, 2)
    third = add_json(session, order | {"status": "delivered-today"})
    shown = settled(session)
    new = shown[shown.index(f"END-{middle}") :]
    line = next(line for line in new.splitlines() if "delivered-today" in line)
    assert "pending-review" in line or f"s{first}" in line
    assert "120.5" not in new, "what did not change is a ref"
    assert third in steps_addressed(new)


def test_earlier_means_among_the_ancestors_of_the_step(session: Session) -> None:
    """A fact that stands only on another branch is no reason to leave it out here."""
    add_steps(session, 2)
    session.branch("create", at=2, to="left")
    add_json(session, {"id": "BK-9", "room": "the blue corner room 4711"})
    session.branch("create", at=2, to="right")
    add_json(session, {"id": "BK-9", "room": "the blue corner room 4711"})
    assert "the blue corner room 4711" in settled(session)


def test_earlier_is_read_in_the_write_transaction(database: Path) -> None:
    """Two handles write in turn: the second sees what the first just recorded."""
    with Session.open("trip", store=str(database)) as one, Session.open("trip", store=str(database)) as two:
        add_json(one, {"id": "BK-5", "room": "the blue corner room 4711"})
        add_json(two, {"id": "BK-5", "room": "the blue corner room 4711"})
        assert settled(one).count("the blue corner room 4711") == 1
        assert settled(two) == settled(one)


@pytest.mark.parametrize("summary", ["Nothing worth telling.", None])
def test_a_fold_carries_forward_every_fact_that_later_forms_point_to(session: Session, summary: str | None) -> None:
    """A later rendering says "as in s1": when s1 folds, the facts it points to stand in the tile."""
    fact = {"id": "BK-1", "address": "Rua António Augusto Gonçalves 4711", "code": "ZX-99-QQ", "hotels": HOTELS[:6]}
    add_json(session, fact)
    add_step(session, 2, words=320)
    add_json(session, fact)
    session.fold(summary=summary, first_step=1, last_step=2)
    shown = settled(session)
    assert "Rua António Augusto Gonçalves 4711" in shown
    assert "ZX-99-QQ" in shown


def test_consolidation_carries_forward_what_the_tail_points_to(session: Session) -> None:
    """The same in a long run: the newest value of a key that the tail refers to is still in the view."""
    add_json(session, {"id": "BK-1", "gate": "gate K-4711"})
    add_steps(session, 40, first=2)
    add_json(session, {"id": "BK-1", "gate": "gate K-4711"})
    assert session.consolidate(8_000)
    assert "gate K-4711" in settled(session)


def test_assistant_prose_keeps_at_least_a_short_head_with_its_ref(session: Session) -> None:
    """Some values stand nowhere but in what the assistant said: its head and a ref stay when its step folds."""
    reply = session.record_reply(
        "I chose the river hotel for 129 EUR. " + "Because of many reasons told at length. " * 30
    ).step
    add_steps(session, 3, first=2)
    session.fold(first_step=1, last_step=3)
    shown = settled(session)
    assert "I chose the river hotel" in shown
    assert reply in steps_addressed(shown)


def test_an_excerpt_that_begins_inside_a_sentence_says_so(session: Session) -> None:
    """Without a mark the middle of a sentence reads as its beginning: what was ruled out there reads as found."""
    opening = "I have gone through the whole of the timetable with care, line by line, and compared what it says."
    told = "There is no seat left on any of the trains of the early morning, and so not on the HX100 either."
    asked = "Shall I look at the afternoon instead?"
    session.record_reply(f"{opening} {told} {asked}")
    said = next(line for line in settled(session).splitlines() if "HX100" in line).partition("ai: ")[2]
    first = said.removeprefix("… ").partition(" either")[0]
    assert 0 < told.find(first) < told.find("HX100")
    assert said.startswith("… ")


def test_a_late_result_is_a_record_of_its_old_step_shown_where_it_arrives(session: Session) -> None:
    """It is rendered where it arrives, labelled with its step."""
    slow = session.record_step(
        explanation="Asked the slow desk.", calls=[{"name": "slow", "args": {}, "id": "late"}], results=[]
    ).step
    add_steps(session, 3, first=2)
    assert session.record_result(slow, "late", "The slow desk says: LATE-ANSWER.").step == slow
    add_steps(session, 2, first=5)
    shown = settled(session)
    assert in_order(shown, ["Asked the slow desk.", "END-4", "LATE-ANSWER", "END-5", "END-6"])
    before = shown[shown.index("END-4") : shown.index("LATE-ANSWER")]
    assert f"s{slow}" in before
    assert texts(session, slow)[-1] == "The slow desk says: LATE-ANSWER."
    assert (
        session.recall(ref_of(session, slow, "The slow desk says: LATE-ANSWER.")).text
        == "The slow desk says: LATE-ANSWER."
    )


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
    for text in (session.view(WIDE).text, settled(session)):
        assert f"< late, of s{slow} call 3:\n< 7 degrees\n< late, of s{slow} call 1:\n< 9 degrees" in text


def test_results_that_come_one_by_one_in_the_order_of_their_calls_need_no_name(session: Session) -> None:
    calls = [{"name": "press", "args": {"key": key}, "id": key} for key in "ab"]
    step = session.record_step(explanation="Pressed.", calls=calls, results=[]).step
    for key in "ab":
        session.record_result(step, key, f"{key} is down")
    assert "late" not in session.view(WIDE).text


def test_a_call_that_gave_nothing_is_told_from_one_that_waits(session: Session) -> None:
    calls = [{"name": "grep", "args": {"for": each}, "id": each} for each in ("x", "y")]
    session.record_step(explanation="Looked.", calls=calls, results=[{"id": "x", "text": ""}])
    assert '> grep for=x\n< ""\n> grep for=y' in session.view(WIDE).text


def test_a_late_result_leaves_every_earlier_byte_unchanged(session: Session) -> None:
    """Nothing before it moves: the old step is not rendered again."""
    slow = session.record_step(
        explanation="Asked.", calls=[{"name": "slow", "args": {}, "id": "late"}], results=[]
    ).step
    add_steps(session, 3, first=2)
    before = settled(session)
    session.record_result(slow, "late", "At last.")
    assert "END-4" in common_prefix(before, settled(session))


def test_a_late_result_of_a_folded_step_still_shows_where_it_arrives(session: Session) -> None:
    """The old step may be in a tile by now: the tile stays, the answer shows at the end of the path."""
    slow = session.record_step(
        explanation="Asked the slow desk.", calls=[{"name": "slow", "args": {}, "id": "late"}], results=[]
    ).step
    add_steps(session, 4, first=2)
    session.fold(summary="Asked and read on.", first_step=1, last_step=3)
    session.record_result(slow, "late", "LATE-ANSWER at last.")
    shown = settled(session)
    assert in_order(shown, ["Asked and read on.", "END-5", "LATE-ANSWER"])


def test_a_late_result_that_arrives_on_a_fork_moves_no_byte_of_the_branch_it_left(session: Session) -> None:
    """Where it arrives is a place on one branch: a branch that went on from the same step keeps what it showed."""
    slow = session.record_step(
        explanation="Asked the slow desk.", calls=[{"name": "slow", "args": {}, "id": "late"}], results=[]
    ).step
    add_steps(session, 2, first=2)
    home, before = session.branch_name, settled(session)
    session.branch("create", at=slow, to="fork")
    session.record_result(slow, "late", "LATE-ANSWER at last.")
    assert "LATE-ANSWER" in settled(session)
    session.branch("switch", to=home)
    assert settled(session).startswith(before)


def test_a_late_result_that_arrives_while_elsewhere_shows_at_the_end_of_its_own_branch(session: Session) -> None:
    """The handle stands on another topic: the branch that asked shows the answer behind all it has shown."""
    slow = session.record_step(
        explanation="Asked the slow desk.", calls=[{"name": "slow", "args": {}, "id": "late"}], results=[]
    ).step
    add_steps(session, 2, first=2)
    home, before = session.branch_name, settled(session)
    session.branch("new_topic", to="elsewhere")
    add_step(session, 4)
    session.record_result(slow, "late", "LATE-ANSWER at last.")
    session.branch("switch", to=home)
    assert settled(session).startswith(before)
    assert "LATE-ANSWER" in settled(session)


def test_a_late_result_on_the_open_latest_step_shows_in_it(session: Session) -> None:
    """The usual case: the call is recorded before it acts, its result right after."""
    step = session.record_step(
        explanation="Click.", calls=[{"name": "click", "args": {"ref": "e3"}, "id": "c1"}], results=[]
    ).step
    assert session.record_result(step, "c1", "The page opened: OPENED.").step == step
    assert "OPENED" in settled(session)
    assert session.tip == step


def test_a_callers_compact_form_is_shown_and_the_full_text_recalled(session: Session) -> None:
    """`shown` stands in the view; the log has the whole text."""
    full = "node\n" * 3_000 + "the whole page"
    step = session.record_step(
        explanation="Look.",
        calls=[{"name": "observe", "args": {}, "id": "o"}],
        results=[{"id": "o", "text": full, "origin": "page", "shown": "Heading: River hotels (12)"}],
    ).step
    assert "Heading: River hotels (12)" in settled(session)
    assert session.view(WIDE).tokens < 400
    assert full in texts(session, step)
    late = session.record_step(
        explanation="Again.", calls=[{"name": "observe", "args": {}, "id": "o"}], results=[]
    ).step
    session.record_result(late, "o", full + "!", origin="page", shown="Heading: River hotels (11)")
    assert "Heading: River hotels (11)" in settled(session)
    assert full + "!" in texts(session, late)


def test_full_text_is_searchable_where_only_a_compact_form_shows(session: Session) -> None:
    """What `shown` leaves out is in the log, so search finds it."""
    step = session.record_step(
        explanation="Look.",
        calls=[{"name": "observe", "args": {}, "id": "o"}],
        results=[{"id": "o", "text": "far below: marmalade", "origin": "page", "shown": "Heading"}],
    ).step
    assert [hit.step for hit in session.recall(query="marmalade")] == [step]


def _order(name: str, parcels: int, **more: object) -> dict[str, object]:
    return {
        "order_id": name,
        "owner": "mara_lind_22",
        "status": "open",
        "parcels": [{"track": f"{name}-{n}", "depot": "Lyon", "grams": 400 + n} for n in range(parcels)],
        "paid_by": "card_99",
        **more,
    }


def test_records_share_their_columns_however_many_their_lists_hold(session: Session) -> None:
    """An order of one parcel, of three and of none are read under the columns of the first; no name is written again."""
    add_json(session, _order("W-100", 2))
    for name, parcels in (("W-200", 1), ("W-300", 3), ("W-400", 0)):
        add_json(session, _order(name, parcels))
    shown = settled(session)
    assert shown.count("parcels[") == 1
    assert shown.count("paid_by") == 1
    assert shown.count("as W-100:") == 3
    assert all(f"{name}-{n}" in shown for name, parcels in (("W-200", 1), ("W-300", 3)) for n in range(parcels))


def test_a_row_is_read_only_under_columns_that_stand(session: Session) -> None:
    """What was empty in the row that names the columns has none there: a later value stands with its name, not at a place no reader could find."""
    add_json(session, _order("W-100", 2, refund=None, note=None))
    add_json(session, _order("W-200", 2, refund="R-7", note=None))
    line = next(line for line in settled(session).splitlines() if "W-200" in line and "as W-100:" in line)
    assert "refund=R-7" in line
    cells = line[line.index("W-200") :].split(" refund=")[0]
    assert cells.endswith(("card_99", "^"))


@pytest.mark.parametrize(
    "odd", ["^", "…", "…null", "null", "true", "false", "a b", '"', "[x]", "x; y", "", " ^", "line\nbreak", "k=v"]
)
def test_no_cell_can_be_taken_for_a_mark(session: Session, odd: str) -> None:
    """A value that looks like a ditto, a bracket or a blank stands in quotes."""
    add_json(session, [{"id": f"K-{n}", "word": odd, "place": "Harbour"} for n in range(3)])
    rows = [line for line in settled(session).splitlines() if "K-" in line]
    assert any(json.dumps(odd, ensure_ascii=False) in row for row in rows)


def test_a_word_in_quotes_is_a_string_and_one_without_is_none(session: Session) -> None:
    people = [{"id": "Z1", "middle": "null", "active": "false"}, {"id": "Z2", "middle": None, "active": False}]
    add_json(session, people)
    assert '< id middle active: Z1 "null" "false"; Z2 null false' in settled(session)
    add_json(session, {"…": "…", "id": "Z3", "spouse": None})
    assert '< "…"="…" id=Z3 …null' in settled(session)


LEG = {
    "flight": "HX100",
    "from": "Lyon",
    "to": "Porto",
    "carrier": "Aurora Air",
    "leaves": "08:15:00",
    "lands": "10:45:00",
}


def test_a_ditto_never_points_at_a_row_that_is_only_named(session: Session) -> None:
    """After a row that is called by its name alone, the next says all of its cells: there is nothing above it to be the same as."""
    other = {**LEG, "flight": "HX200", "leaves": "13:00:00", "lands": "15:30:00"}
    add_json(session, [[LEG, other], [LEG, {**other, "flight": "HX300"}]])
    shown = settled(session)
    assert "HX100 (as above)" in shown
    assert shown[shown.index("HX300") :].startswith('HX300 Lyon Porto "Aurora Air" 13:00:00 15:30:00')


def test_a_row_is_called_by_its_name_only_while_no_newer_row_has_that_name(session: Session) -> None:
    """Once a row of the same name says otherwise, "as above" would mean that one: the older row stands whole again."""
    later = {**LEG, "leaves": "19:05:00", "lands": "21:35:00"}
    add_json(session, [[LEG, later], [LEG, later]])
    shown = settled(session)
    assert "as above" not in shown
    assert re.findall(r"\d\d:\d\d:\d\d", shown) == 2 * ["08:15:00", "10:45:00", "19:05:00", "21:35:00"]


def test_a_row_without_a_name_of_its_own_is_called_by_its_first_cell(session: Session) -> None:
    """By the cell itself: neither by the ditto mark that stands for it, nor by its first word."""
    stops = [{"town": "Vila Nova", "pier": n, "berth": f"north side, row {n}", "open": "all year"} for n in (1, 2)]
    add_json(session, [stops, stops[1:]])
    assert '"Vila Nova" (as above)' in settled(session)


def test_each_result_stands_behind_its_call_and_the_log_keeps_the_order_it_was_told(tmp_path: Path) -> None:
    """Of many calls of one step, no reader has to count which answer is of which: not when recorded, not when read back, not when imported."""
    store, other = str(tmp_path / "one.db"), str(tmp_path / "two.db")
    names = ["alpha", "beta", "gamma"]
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
    ctxfold.export_session("trip", tmp_path / "out.jsonl", store=store)
    ctxfold.import_session(tmp_path / "out.jsonl", store=other)
    for kept in (store, other):
        with Session.open("trip", store=kept) as session:
            assert session.view(WIDE).text == recorded
        assert ctxfold.verify_session("trip", store=kept) > 0


def test_a_result_that_comes_alone_stands_where_it_arrives(session: Session) -> None:
    calls = [{"name": "look", "args": {"q": name}, "id": name} for name in ("alpha", "beta")]
    step = session.record_step(calls=calls, results=[{"id": "beta", "text": "answer of beta"}]).step
    before = session.view(WIDE).text
    session.record_result(step, "alpha", "answer of alpha")
    assert session.view(WIDE).text.startswith(before)
    assert in_order(session.view(WIDE).text, ["q=alpha", "q=beta", "answer of beta", "answer of alpha"])


ITEMS = [
    {"item": f"I-{n}", "price": 10 + n, "options": {"size": "L", "print": "dots"} if n % 2 else {"volume": "500ml"}}
    for n in range(1, 5)
]
ADDRESS = {"street": "Rua da Escola Politécnica 5", "town": "Lisboa", "zip": "1250-099"}


def test_records_whose_nested_parts_differ_stand_in_one_table(session: Session) -> None:
    """Their names are written once; what differs says its own."""
    add_json(session, {"order_id": "A-1", "items": ITEMS})
    text = settled(session)
    assert text.count("price") == 1
    assert all(f"{item['item']} {item['price']}" in text for item in ITEMS)
    assert "size=L print=dots" in text
    assert "volume=500ml" in text


def test_records_under_their_names_stand_in_one_table_though_they_hold_objects(session: Session) -> None:
    stock = {item["item"]: {key: item[key] for key in ("price", "options")} for item in ITEMS[1::2]}
    add_json(session, {"product_id": "P-9", "stock": stock})
    assert settled(session).count("volume") == 1


def test_a_record_keeps_its_name_though_a_field_of_it_has_none(session: Session) -> None:
    add_json(session, {"stock": {"north": {"": 1, "boxes": 2}, "south": {"": 3, "boxes": 4}}})
    shown = session.view(8_000).text
    assert "north" in shown
    assert "south" in shown


def test_an_object_that_stands_earlier_inside_a_row_becomes_a_ref(session: Session) -> None:
    add_json(session, {"user_id": "U-1", "address": ADDRESS, "email": "ana@example.com"})
    add_json(session, {"order_id": "A-1", "address": ADDRESS, "state": "open"})
    assert settled(session).count("Politécnica") == 1
    session.fold(first_step=1, last_step=1)
    assert settled(session).count("Politécnica") == 1, "a fold keeps what a later row points to"


def test_the_row_above_is_the_one_right_above(session: Session) -> None:
    """Rows of two kinds in turns: none of them says `above` of a row of the other kind's."""
    goods = {"name": "tea", "grade": "first", "weight": 500, "stock": 7}
    people = {"person": "Ana", "town": "Porto", "age": 41, "role": "owner"}
    add_json(session, [goods, people, {**goods, "name": "salt"}, {**people, "person": "Rui"}])
    assert "as above" not in settled(session)


def test_a_name_that_two_records_share_names_no_row_of_the_older(session: Session) -> None:
    order = {"order_id": "A-2", "place": "Lyon", "state": "open", "carrier": "post", "grams": 512}
    add_json(session, order)
    add_json(session, [{"order_id": "A-2", "paid": 5}, {**order, "order_id": "A-3"}])
    assert "as A-2:" not in settled(session)
