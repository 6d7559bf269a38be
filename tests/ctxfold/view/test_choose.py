"""Choosing pieces for a room: within it, the user's words first, each value once, nothing that cannot be read."""

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ctxfold.log.form import lines_of
from ctxfold.log.lines import Line
from ctxfold.log.records import Record
from ctxfold.view.choose import HEAD, Chosen, Stretch, choose
from ctxfold.view.shorten import shortened

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
