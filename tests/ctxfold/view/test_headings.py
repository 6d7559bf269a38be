"""What a piece of prose stands under: the opener of its list, the item over it, the first row of its table, the heading of its rows."""

from ctxfold.log import Record
from ctxfold.log.lines import lines_of
from ctxfold.select.pieces import headings, pieces_of

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
    (line,) = lines_of(Record(1, 1, "assistant", "model", SAID, None, 1))
    pieces = pieces_of(line)
    said = [piece.text.strip() for piece in pieces]
    under = {said[at]: [said[place] for place in sorted(each)] for at, each in enumerate(headings(line, pieces))}
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
