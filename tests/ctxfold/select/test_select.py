"""Choosing pieces within a budget: each value once, nothing that cannot be read without something else."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxfold.log import Record
from ctxfold.log.lines import Line, lines_of
from ctxfold.select import Piece, pieces_of_lines, select, write

Steps = Sequence[Sequence[Line]]


def said(step: int, text: str) -> list[Line]:
    return list(lines_of(Record(step, 1, "user", "user", text, None, step)))


def told(step: int, text: str) -> list[Line]:
    return list(lines_of(Record(step, 1, "assistant", "model", text, None, step)))


def looked_up(step: int, order: str, **found: object) -> list[Line]:
    call = json.dumps({"name": "get_order", "args": {"order_id": order}})
    made = list(lines_of(Record(step, 1, "call", "model", call, "c1", step)))
    return made + list(lines_of(Record(step, 2, "result", "tool", json.dumps({"id": order, **found}), "c1", step)))


def cut(*steps: Sequence[Line]) -> tuple[list[Line], list[Piece]]:
    lines = [line for step in steps for line in step]
    return lines, pieces_of_lines(lines, [at for at, step in enumerate(steps) for _ in step])


def text(*steps: Sequence[Line], room: int, query: str = "", whole: int | None = None) -> str:
    """What is shown of some steps within a room, one of them whole whatever is chosen."""
    lines, pieces = cut(*steps)
    ends = [sum(map(len, steps[:at])) for at in range(len(steps) + 1)]
    standing = [
        place for place, piece in enumerate(pieces) if whole is not None and ends[whole] <= piece.line < ends[whole + 1]
    ]
    chosen = select(pieces, room, query, standing=standing)
    return "\n".join(line.text for line in write(lines, pieces, [*standing, *chosen]))


def shown(pieces_of: tuple[list[Line], list[Piece]], *texts: str) -> str:
    """Lines of which the pieces with some texts are chosen."""
    lines, pieces = pieces_of
    chosen = [place for place, piece in enumerate(pieces) if piece.text in texts]
    return "\n".join(line.text for line in write(lines, pieces, chosen))


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


@given(STEPS, st.integers(0, 400), st.sampled_from(["", "W-2003", "delivered parcel"]))
def test_a_choice_keeps_to_its_budget_and_to_what_its_pieces_need(steps: Steps, budget: int, query: str) -> None:
    _, pieces = cut(*steps)
    chosen = select(pieces, budget, query)
    assert chosen == sorted(set(chosen))
    assert sum(pieces[place].tokens for place in chosen) <= budget
    assert all(set(pieces[place].under) <= set(chosen) for place in chosen)
    assert select(pieces, budget, query) == chosen


@given(STEPS, st.integers(0, 200), st.integers(0, 200))
def test_a_larger_budget_shows_no_less(steps: Steps, budget: int, more: int) -> None:
    _, pieces = cut(*steps)
    small, large = select(pieces, budget), select(pieces, budget + more)
    longest = max(sum(pieces[each].tokens for each in (*piece.under, place)) for place, piece in enumerate(pieces))
    costs = [sum(pieces[place].tokens for place in chosen) for chosen in (small, large)]
    assert costs[1] >= costs[0] - longest


@given(STEPS)
def test_with_room_for_everything_all_lines_are_as_they_were(steps: Steps) -> None:
    lines, pieces = cut(*steps)
    assert write(lines, pieces, select(pieces, 100_000)) == lines


@given(STEPS, st.integers(0, 200))
def test_what_is_shown_anyway_is_not_chosen(steps: Steps, budget: int) -> None:
    _, pieces = cut(*steps)
    standing = range(len(pieces) // 2)
    assert not set(standing) & set(select(pieces, budget, standing=standing))


def test_a_value_counts_once() -> None:
    """What is shown elsewhere in the view is worth less than what is shown nowhere."""
    steps = [looked_up(1, "W-2001", code="QX-4471"), looked_up(2, "W-2002", code="QX-9035")]
    behind = told(3, "The code of W-2001 is QX-4471.")
    made = text(*steps, behind, room=44, whole=2)
    assert "QX-9035" in made
    assert made.count("QX-4471") == 1


def test_an_id_is_kept_before_plain_prose() -> None:
    talk = told(1, "Well now. That is a thing to think about for a while. So be it.")
    assert "W-2003" in text(talk, looked_up(2, "W-2003"), room=26)


def test_what_the_session_is_about_now_is_kept_before_what_it_is_not() -> None:
    prose = [
        "The harbour was closed in winter.",
        "The bakery opens at dawn every morning.",
        "The castle has a garden behind it.",
    ]
    assert prose[1] in text(told(1, "Yes. " + " ".join(prose) + " Fine."), room=20, query="bakery morning")


def test_a_call_keeps_its_first_cell_and_rows_above_keep_their_heads() -> None:
    args = {"path": "src/main.py", **{f"option_{at}": f"setting number {at}" for at in range(12)}}
    call = lines_of(Record(1, 1, "call", "model", json.dumps({"name": "run", "args": args}), "c1", 1))
    found = {"job": {"id": "J-7731", "log": [{"at": at, "said": f"line {at} " * 20} for at in range(3)]}}
    result = lines_of(Record(1, 2, "result", "tool", json.dumps(found), "c1", 1))
    for room in range(20, 200, 20):
        made = text([*call, *result], room=room)
        assert not made or made.startswith("> run(path=src/main.py")


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
    log = read(1, "\n".join([*lines[:206], odd, *lines[206:]]))
    assert odd in text(log, told(2, "That was the build."), room=60)


def test_a_sentence_that_opens_a_list_never_stands_without_what_it_opens() -> None:
    reply = told(1, "I looked it up. The differences are these:\n- hooks run first\n- tools run later")
    for room in range(60):
        made = text(reply, room=room)
        assert ("these:" in made) <= ("hooks run first" in made)


def test_a_value_of_a_page_stands_under_its_address_and_its_heading() -> None:
    shop = ["Tents — https://shop.example/tents", "Everything for the hills and the coast in one shop."]
    shop += [row for n in range(6) for row in (f"### Heron {n}", f"2{n}9.50 €", "Made for people who walk far.")]
    for room in range(20, 120, 5):
        rows = text(read(1, "\n".join(shop)), told(2, "I have seen them."), room=room, query="219.50").split("\n")
        for n in range(6):
            if f"2{n}9.50 €" in rows:
                assert f"### Heron {n}" in rows
                assert shop[0] in rows


def test_a_document_of_which_one_line_is_shown_is_one_line() -> None:
    rows = ["# Tides of Hoorn", *(f"Paragraph {at} on the hours of the desk." for at in range(12))]
    call = lines_of(Record(1, 1, "call", "model", json.dumps({"name": "read", "args": {"page": "tides"}}), "c1", 1))
    result = lines_of(Record(1, 2, "result", "tool", "\n".join(rows), "c1", 1))
    made = cut([*call, *result])
    assert shown(made, rows[0]) == f"< {rows[0]} …"
    assert shown(made, rows[4]) == f"< … {rows[4]} …"


def test_what_is_left_of_a_list_is_under_its_opener_each_item_on_its_own_row() -> None:
    words = "Seen today:\n- Hoorn is low. Nobody knows why.\n- Enkhuizen is high.\n- Medemblik is shut.\nNothing else."
    made = cut(told(1, words))
    assert (
        shown(made, "Seen today:\n- Hoorn is low.", "- Medemblik is shut.")
        == "ai: Seen today:\n- Hoorn is low. …\n- Medemblik is shut. …"
    )


def test_a_call_is_shown_with_its_answer_where_that_is_short() -> None:
    steps = [looked_up(n, f"A-{n}{n * 7919}") for n in range(1, 9)]
    ends = [list(lines_of(Record(n, 2, "result", "tool", f"{n}.5 mm", "c1", n))) for n in range(1, 9)]
    rows = text(*([step[0], *end] for step, end in zip(steps, ends, strict=True)), room=60).splitlines()
    assert 2 < len(rows) < 2 * len(steps)
    assert all(row.startswith("> ") for row in rows[::2])
    assert all(row.endswith(" mm") for row in rows[1::2])


def test_a_row_of_a_table_is_shown_with_its_first_cell() -> None:
    about = " ".join(["la"] * 40)
    names = [f"{first}{second}" for first in "abcd" for second in "nostr"]
    rows = [{"name": name, "about": about, "key": f"K-{at * 7919 + 10_000}"} for at, name in enumerate(names)]
    cells = [row for row in text(looked_up(1, "A-1", rows=rows), room=250).splitlines() if "key=" in row]
    assert 0 < len(cells) < len(names)
    assert all("name=" in cell for cell in cells)


def test_a_call_whose_long_argument_is_left_out_says_so() -> None:
    made = cut(written(1, "src/a.py", "one\ntwo"))
    assert shown(made, made[1][1].text) == "> edit(path=src/a.py, …)"
    assert shown(made, made[1][1].text, "one").startswith("> edit(path=src/a.py)\n")


def test_a_row_of_which_a_cell_is_left_out_says_so() -> None:
    step = looked_up(1, "A-1", part="KB-2407 of the old shop", qty=6, stock=4, about="red and blue " * 4)
    assert shown(cut(step), "id=A-1").endswith(" …")


@pytest.mark.parametrize("asked", ["Warranty", "Noise", "Power"])
def test_what_a_call_asks_for_is_shown_of_its_page_before_what_is_like_it(asked: str) -> None:
    rows = ("Price", "Height", "Warranty", "Weight", "Noise", "Power", "Cable length")
    page = ["Kettle 4 — http://127.0.0.1/p/4", "# Kettle 4", *(f"{row} | {24500 + n} mm" for n, row in enumerate(rows))]

    def answer(need: str) -> str:
        call = json.dumps({"name": "look", "args": {"need": need}})
        step = [
            *lines_of(Record(1, 1, "call", "model", call, "look", 1)),
            *lines_of(Record(1, 2, "result", "page", "\n".join(page), "look", 1)),
        ]
        return text(step, said(2, "Go on."), room=75)

    assert f"{asked} |" in answer(f"{asked.lower()} of the kettle")
    others = [row for row in rows if row != asked]
    assert sum(f"{asked} |" in answer(f"{other.lower()} of the kettle") for other in others) < len(others)
