"""Choosing pieces for a room: within it, the user's words first, each value once, nothing that cannot be read."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxfold.log import Record
from ctxfold.log.lines import Line, lines_of
from ctxfold.select import HEAD, Chosen, Stretch
from ctxfold.select.choose import choose
from ctxfold.select.pieces import pieces_of
from ctxfold.select.score import Worth
from ctxfold.select.write import shortened

NO_QUERY: frozenset[str] = frozenset()


def said(step: int, text: str) -> list[Line]:
    return list(lines_of(Record(step, 1, "user", "user", text, None, step)))


def told(step: int, text: str) -> list[Line]:
    return list(lines_of(Record(step, 1, "assistant", "model", text, None, step)))


def looked_up(step: int, order: str, **found: object) -> list[Line]:
    call = json.dumps({"name": "get_order", "args": {"order_id": order}})
    made = list(lines_of(Record(step, 1, "call", "model", call, "c1", step)))
    return made + list(lines_of(Record(step, 2, "result", "tool", json.dumps({"id": order, **found}), "c1", step)))


def stretch(*steps: Sequence[Line], whole: Sequence[int] = ()) -> Stretch:
    lines = [line for step in steps for line in step]
    places = [at for at, step in enumerate(steps) for _ in step]
    return Stretch(lines, places, [place in whole for place in places])


def text(given: Stretch, chosen: Chosen) -> str:
    return "\n".join(line.text for line in shortened(given, chosen))


STEPS = st.lists(
    st.one_of(
        st.integers(0, 9).map(lambda n: said(1, f"Refund W-200{n}. Ask mia.li{n}@example.com first! Then wait.")),
        st.integers(0, 9).map(lambda n: told(1, f"Order W-200{n} was delivered. It cost {n}7.50 EUR. Shall I go on?")),
        st.integers(0, 9).map(
            lambda n: looked_up(1, f"W-200{n}", total=n, city="Porto", note=f"left at door {n} " * 9)
        ),
    ),
    min_size=1,
    max_size=12,
)


@given(STEPS, st.integers(0, 400), st.integers(0, 200))
def test_a_choice_keeps_to_its_room_and_to_pieces_that_are_there(
    steps: list[list[Line]], room: int, words: int
) -> None:
    made = stretch(*steps)
    chosen = choose(made, room, NO_QUERY, words)
    assert 0 <= chosen.tokens <= room
    assert len(chosen.kept) == len(made.lines)
    assert all(list(places) == sorted(set(places)) for places in chosen.kept)
    assert choose(made, room, NO_QUERY, words) == chosen


@given(STEPS, st.integers(0, 400))
def test_nothing_stands_without_the_call_it_answers(steps: list[list[Line]], room: int) -> None:
    made = stretch(*steps)
    kept = choose(made, room, NO_QUERY, room).kept
    for at, line in enumerate(made.lines):
        if line.kind == "data" and kept[at]:
            call = max(before for before in range(at) if made.lines[before].kind == "call")
            assert kept[call]


def test_everything_stands_where_there_is_room_for_it() -> None:
    made = stretch(said(1, "Refund W-2003."), looked_up(2, "W-2003", total=103.5), told(3, "It is done."))
    chosen = choose(made, 1_000, NO_QUERY, 400)
    assert shortened(made, chosen) == list(made.lines)


def test_the_users_words_come_before_everything_else_the_newest_first() -> None:
    old, new = said(1, "Look at the parcels that came back."), said(3, "Tell me which of them were opened.")
    made = stretch(old, looked_up(2, "W-2003", total=103.5, account="NL45-0652-1460"), new, looked_up(4, "W-2004"))
    shown = text(made, choose(made, 16, NO_QUERY, 16))
    assert new[0].text in shown
    assert old[0].text not in shown
    assert "W-2003" not in shown
    shown = text(made, choose(made, 32, NO_QUERY, 32))
    assert old[0].text in shown


def test_what_the_user_says_again_stands_once_where_room_is_short() -> None:
    wish, again = "Never pay more than 40.50 EUR for a parcel.", "Look at all those parcels that came back."
    made = stretch(said(1, wish), said(2, again), said(3, again), told(4, "There are many."))
    shown = text(made, choose(made, 44, NO_QUERY, 44))
    assert wish in shown
    assert shown.count(again) == 1


def test_what_the_user_asked_for_early_stands_before_small_talk_behind_their_newest_words() -> None:
    wish = "Refund W-2003 to mia.li@example.com, at most 40.50 EUR."
    talk = ["Good.", "Fine by me.", "As you like.", "All right then.", "Go on with it."]
    made = stretch(said(1, wish), *(said(n, each) for n, each in enumerate(talk, 2)), said(9, "And now the rest."))
    shown = text(made, choose(made, 64, NO_QUERY, 64))
    assert wish in shown
    assert "And now the rest." in shown
    assert not all(each in shown for each in talk)


def test_one_long_message_leaves_room_for_the_users_other_words() -> None:
    long = " ".join(f"Parcel P-{n * 7919} goes to door {n} of the old mill." for n in range(30))
    others = [f"Then send {n} of them back by boat." for n in range(4)]
    made = stretch(said(1, long), *(said(n, each) for n, each in enumerate(others, 2)))
    shown = text(made, choose(made, 160, NO_QUERY, 160))
    assert all(each in shown for each in others)
    assert "P-7919" in shown


def test_words_of_a_page_or_the_assistant_do_not_stand_for_the_same_words_of_the_user() -> None:
    wish = "Never pay more than 40.50 EUR for a parcel."
    for other in (told(2, wish), read(2, f"{wish}\nAnd so on.")):
        made = stretch(said(1, wish), other, looked_up(3, "W-2003", total=9), whole=[1])
        assert f"user: {wish}" in text(made, choose(made, 40, NO_QUERY, 40))


def test_an_item_of_a_list_is_not_said_again_under_another_opener() -> None:
    given = [told(n, f"Of door {n}:\n- It was checked by the clerk.\n- It is of oak {n}.") for n in (1, 2)]
    made = stretch(*given, said(3, "Go on."))
    assert text(made, choose(made, 60, NO_QUERY, 10)).count("checked by the clerk") == 2


def test_a_value_counts_once() -> None:
    """What stands whole elsewhere in the view is worth less than what stands nowhere."""
    steps = [looked_up(1, "W-2001", code="QX-4471"), looked_up(2, "W-2002", code="QX-9035")]
    behind = told(3, "The code of W-2001 is QX-4471.")
    made = stretch(*steps, behind, whole=[2])
    shown = text(made, choose(made, 44, NO_QUERY, 0))
    assert "QX-9035" in shown
    assert shown.count("QX-4471") == 1


def test_an_id_is_kept_before_plain_prose() -> None:
    made = stretch(told(1, "Well now. That is a thing to think about for a while. So be it."), looked_up(2, "W-2003"))
    assert "W-2003" in text(made, choose(made, 26, NO_QUERY, 0))


def test_what_the_session_is_about_now_is_kept_before_what_it_is_not() -> None:
    prose = [
        "The harbour was closed in winter.",
        "The bakery opens at dawn every morning.",
        "The castle has a garden behind it.",
    ]
    made = stretch(told(1, "Yes. " + " ".join(prose) + " Fine."))
    assert prose[1] in text(made, choose(made, 18, frozenset({"bakery", "morning"}), 0))


def test_a_call_keeps_its_first_cell_and_rows_above_keep_their_heads() -> None:
    args = {"path": "src/main.py", **{f"option_{at}": f"setting number {at}" for at in range(12)}}
    call = lines_of(Record(1, 1, "call", "model", json.dumps({"name": "run", "args": args}), "c1", 1))
    found = {"job": {"id": "J-7731", "log": [{"at": at, "said": f"line {at} " * 20} for at in range(3)]}}
    result = lines_of(Record(1, 2, "result", "tool", json.dumps(found), "c1", 1))
    made = stretch([*call, *result])
    for room in range(20, 200, 20):
        chosen = choose(made, room, NO_QUERY, 0)
        if any(chosen.kept[1:]):
            assert chosen.kept[0][:1] == (0,)
            assert text(made, chosen).startswith("> run(path=src/main.py")
        assert all(places == (HEAD,) or HEAD not in places for places in chosen.kept)


def read(step: int, text: str) -> list[Line]:
    return list(lines_of(Record(step, 1, "result", "tool", text, "c1", step)))


def written(step: int, path: str, text: str) -> list[Line]:
    call = json.dumps({"name": "edit", "args": {"path": path, "text": text}})
    return list(lines_of(Record(step, 1, "call", "model", call, "c1", step)))


@pytest.mark.parametrize(
    ("alike", "odd"),
    [
        ("[{n}/400] compiling module_{n}", "error: module_207: undefined reference to `frob`"),
        ("test_case_{n} ... ok ({n}ms)", "test_case_x ... FAILED (AssertionError: 3 != 4)"),
        ("10:12 GET /items/{n} 200", "10:12 POST /items/207/buy 500 upstream timed out"),
    ],
)
def test_the_line_of_a_log_that_is_like_no_other_stands_before_those_that_are_alike(alike: str, odd: str) -> None:
    lines = [alike.format(n=n) for n in range(400)]
    made = stretch(read(1, "\n".join([*lines[:206], odd, *lines[206:]])), told(2, "That was the build."))
    shown = text(made, choose(made, 60, NO_QUERY, 0))
    assert odd in shown
    assert shown.count("\n") < 12


def test_what_came_of_a_request_stands_before_what_was_said_between_calls() -> None:
    between = "Now I shall have a look at everything that lies about in that large cupboard over there."
    outcome = "The cupboard lost its door because somebody had unscrewed the hinges yesterday evening."
    made = stretch(
        said(1, "Why is it open?"), told(2, between), written(2, "a.md", "x"), told(3, outcome), said(4, "Thanks.")
    )
    shown = text(made, choose(made, 50, NO_QUERY, 10))
    assert outcome in shown
    assert between not in shown


def test_a_word_said_is_worth_more_beside_documents_than_beside_rows() -> None:
    sentence = told(1, "The wall was painted blue by somebody else.")
    rows = [looked_up(n, f"A-{n}", total=n) for n in range(2, 9)]
    files = [
        [*looked_up(n, f"A-{n}"), *read(n, "\n".join(f"a_{n}_{at}/b.py" for at in range(40)))] for n in range(2, 9)
    ]

    def worth(*steps: Sequence[Line]) -> float:
        made = stretch(sentence, *steps)
        pieces = [pieces_of(line) for line in made.lines]
        return Worth(made.lines, made.steps, pieces, NO_QUERY, {}).of(0, 0, pieces[0][0])

    assert worth(*files) > 1.5 * worth(*rows) > 0


def test_a_sentence_that_opens_a_list_never_stands_without_what_it_opens() -> None:
    made = stretch(told(1, "I looked it up. The differences are these:\n- hooks run first\n- tools run later"))
    for room in range(60):
        shown = text(made, choose(made, room, NO_QUERY, 0))
        assert ("these:" in shown) <= ("hooks run first" in shown)


def test_a_value_of_a_page_stands_under_its_address_and_its_heading() -> None:
    shop = ["Tents — https://shop.example/tents", "Everything for the hills and the coast in one shop."]
    shop += [row for n in range(6) for row in (f"### Heron {n}", f"2{n}9.50 €", "Made for people who walk far.")]
    made = stretch(read(1, "\n".join(shop)), told(2, "I have seen them."))
    for room in range(20, 120, 5):
        rows = text(made, choose(made, room, frozenset({"219.50"}), 0)).split("\n")
        for n in range(6):
            if f"2{n}9.50 €" in rows:
                assert f"### Heron {n}" in rows
                assert shop[0] in rows


@pytest.mark.parametrize("asked", ["Warranty", "Noise", "Power"])
def test_what_answers_the_words_of_its_own_call_stands_before_what_is_like_it(asked: str) -> None:
    rows = ("Price", "Height", "Warranty", "Weight", "Noise", "Power", "Cable length")
    page = ["Kettle 4 — http://127.0.0.1/p/4", "# Kettle 4", *(f"{row} | {24500 + n} mm" for n, row in enumerate(rows))]

    def shown(need: str) -> str:
        call = json.dumps({"name": "look", "args": {"need": need}})
        step = [
            *lines_of(Record(1, 1, "call", "model", call, "look", 1)),
            *lines_of(Record(1, 2, "result", "page", "\n".join(page), "look", 1)),
        ]
        made = stretch(step, said(2, "Go on."))
        return text(made, choose(made, 65, NO_QUERY, 20))

    assert f"{asked} |" in shown(f"{asked.lower()} of the kettle")
    others = [row for row in rows if row != asked]
    assert sum(f"{asked} |" in shown(f"{other.lower()} of the kettle") for other in others) < len(others)


def test_a_document_of_which_one_line_stands_is_one_line() -> None:
    page = "\n".join(["# Tides of Hoorn", *(f"Paragraph {at} on the hours of the desk." for at in range(12))])
    result = lines_of(Record(1, 2, "result", "tool", page, "c1", 1))
    call = lines_of(Record(1, 1, "call", "model", json.dumps({"name": "read", "args": {"page": "tides"}}), "c1", 1))
    given = stretch([*call, *result])
    assert text(given, Chosen(((0,), (0,)), 0)).splitlines()[1] == "< # Tides of Hoorn …"
    assert text(given, Chosen(((0,), (4,)), 0)).splitlines()[1] == "< … Paragraph 3 on the hours of the desk. …"


def test_what_is_left_of_a_list_stands_under_its_opener_each_item_on_its_own_row() -> None:
    words = "Seen today:\n- Hoorn is low. Nobody knows why.\n- Enkhuizen is high.\n- Medemblik is shut.\nNothing else."
    given = stretch(told(1, words))
    assert text(given, Chosen(((0, 3),), 0)) == "ai: Seen today:\n- Hoorn is low. …\n- Medemblik is shut. …"


def test_a_call_stands_with_its_answer_where_that_is_short() -> None:
    steps = [looked_up(n, f"A-{n}{n * 7919}") for n in range(1, 9)]
    ends = [list(lines_of(Record(n, 2, "result", "tool", f"{n}.5 mm", "c1", n))) for n in range(1, 9)]
    given = stretch(*([step[0], *end] for step, end in zip(steps, ends, strict=True)))
    shown = text(given, choose(given, 60, NO_QUERY, 0)).splitlines()
    assert 2 < len(shown) < 2 * len(steps)
    assert all(line.startswith("> ") for line in shown[::2])
    assert all(line.endswith(" mm") for line in shown[1::2])


def test_a_row_of_a_table_stands_with_its_first_cell() -> None:
    about = " ".join(["la"] * 40)
    names = [f"{first}{second}" for first in "abcd" for second in "nostr"]
    rows = [{"name": name, "about": about, "key": f"K-{at * 7919 + 10_000}"} for at, name in enumerate(names)]
    given = stretch(looked_up(1, "A-1", rows=rows))
    shown = [line for line in shortened(given, choose(given, 200, NO_QUERY, 0)) if line.table == "none"]
    cells = [line.text for line in shown if "key=" in line.text]
    assert 0 < len(cells) < len(names)
    assert all("name=" in cell for cell in cells)


def test_a_call_whose_long_argument_is_left_out_says_so() -> None:
    given = stretch(written(1, "src/a.py", "one\ntwo"))
    assert text(given, Chosen(((0,), ()), 0)) == "> edit(path=src/a.py, …)"
    assert text(given, Chosen(((0,), (0,)), 0)).startswith("> edit(path=src/a.py)\n")
    bare = Stretch([given.lines[0].reworded("> edit(field=Body, …)"), given.lines[1]], given.steps, given.whole)
    assert text(bare, Chosen(((0,), ()), 0)) == "> edit(field=Body, …)"


def test_a_row_of_which_a_cell_is_left_out_says_so() -> None:
    given = stretch(looked_up(1, "A-1", part="KB-2407 of the old shop", qty=6, stock=4, about="red and blue " * 4))
    row = next(at for at, line in enumerate(given.lines) if line.kind == "data" and len(pieces_of(line)) > 2)
    kept = [(0,) if at == row else () for at in range(len(given.lines))]
    assert text(given, Chosen(tuple(kept), 0)).endswith(" …")
