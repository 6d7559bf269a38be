"""Lines as pieces that can be left out: where they stand, what of them must be exact, what they cannot be read without."""

import json

import pytest

from ctxfold.log import Kind, Origin, Record
from ctxfold.log.lines import Line, lines_of
from ctxfold.select.pieces import cut_line, find_above, find_headings, values_in


def lines(kind: Kind, text: str, origin: Origin = "tool", k: int = 1, step: int = 1) -> list[Line]:
    return list(lines_of(Record(step, k, kind, origin, text, "c1", step)))


def call(args: dict[str, object], k: int = 1, step: int = 1) -> list[Line]:
    return lines("call", json.dumps({"name": "get", "args": args}), "model", k, step)


def test_a_message_falls_into_sentences() -> None:
    (line,) = lines("user", "Find a room. It must be quiet. Thank you!", "user")
    pieces = cut_line(line)
    assert [piece.text for piece in pieces] == ["Find a room.", "It must be quiet.", "Thank you!"]


@pytest.mark.parametrize("kind", ["user", "assistant", "result"])
def test_a_piece_slices_the_line_where_it_says(kind: Kind) -> None:
    for line in lines(kind, "Find W-2003.  It costs 12.50 EUR.\n\n- one thing\n- another thing", "user"):
        for piece in cut_line(line):
            assert piece.text == piece.span.of(line.text)


def test_a_document_falls_into_its_lines_without_the_fence() -> None:
    (line,) = lines("result", "import os\n\nprint(os.name)\n")
    assert [piece.text for piece in cut_line(line)] == ["import os", "print(os.name)"]


def test_a_long_row_falls_into_cells_that_keep_their_names() -> None:
    found = {f"field_{at}": f"value number {at}" for at in range(12)}
    (line,) = lines("result", json.dumps(found))
    pieces = cut_line(line)
    assert [piece.text for piece in pieces] == [f"{name}={value}" for name, value in found.items()]
    assert pieces[3].values == (("value number 3", "field_3"),)


def test_cells_of_a_long_table_row_take_the_names_of_their_columns() -> None:
    rows = [
        {"id": f"W-{at}", "note": f"left with the porter at the side entrance of house number {at}, " * 2}
        for at in (1, 2)
    ]
    columns, first, _ = lines("result", json.dumps(rows))
    assert [piece.text.partition("=")[0] for piece in cut_line(first, columns)] == ["id", "note"]
    assert ("w-1", "id") in cut_line(first, columns)[0].values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Please refund W-2003 today.", "w-2003"),
        ("Write to mia.li@example.com about it.", "mia.li@example.com"),
        ("See https://example.com/a?b=1 for more.", "https://example.com/a?b=1"),
        ("It costs 103.50 in all.", "103.50"),
    ],
)
def test_what_must_be_exact_is_found_in_prose(text: str, value: str) -> None:
    assert value in values_in(text)
    assert text.lower() not in values_in(text)


def test_a_result_cannot_be_read_without_its_call_nor_a_cell_without_its_columns() -> None:
    rows = json.dumps([{"id": "W-1", "n": 1}, {"id": "W-2", "n": 2}])
    every = [*lines("user", "Look.", "user"), *call({"n": 1}, 2), *lines("result", rows, k=3)]
    assert find_above(every) == [(), (), (1,), (1, 2), (1, 2)]


def test_a_call_of_an_earlier_step_is_not_what_a_later_message_needs() -> None:
    every = [*call({"n": 1}), *lines("assistant", "Seen.", "model", 1, 2)]
    assert find_above(every) == [(), ()]


SAID = """I looked. Two files:

**store.py** keeps:
- Tides of all harbours
- `hours`. It is read twice.
  - of summer
1. First the name.
   Then the place.

| harbour | hour |
|---|---|
| Hoorn | 5 |
| Enkhuizen | 6 |
Done. Shall I go on?

## Left
- winter
Later."""


def test_items_rows_and_lines_stand_under_what_opens_them() -> None:
    (line,) = lines("assistant", SAID, "model")
    pieces = cut_line(line)
    said = [piece.text.strip() for piece in pieces]
    under = {said[at]: [said[place] for place in sorted(each)] for at, each in enumerate(find_headings(line, pieces))}
    opener = "Two files:\n\n**store.py** keeps:\n- Tides of all harbours"
    assert under == {
        "I looked.": [],
        opener: [],
        "- `hours`.": [opener],
        "It is read twice.": [opener, "- `hours`."],
        "- of summer": [opener, "- `hours`."],
        "1. First the name.": [opener],
        "Then the place.": [opener, "1. First the name."],
        "| harbour | hour |": [opener],
        "| Hoorn | 5 |": [opener, "| harbour | hour |"],
        "| Enkhuizen | 6 |": [opener, "| harbour | hour |"],
        "Done.": [],
        "Shall I go on?": [],
        "## Left": [],
        "- winter": ["## Left"],
        "Later.": [],
    }
