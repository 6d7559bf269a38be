"""What a table shows on a terminal of any width: every cell, and no word broken that a line has room for."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from ctxfold.cli import output
from ctxfold.cli.output import GAP, stacked, widths

COLUMNS = ("event", "time", "branch", "kind", "steps", "cause")
ROWS = [
    ("1", "2026-11-22 01:05", "main", "noted", "", "goal"),
    ("12", "2026-11-22 01:05", "aside-with-a-name", "intent_set", "s1…s3", "attention_anchor: what was shown long ago"),
    ("13", "2026-11-22 01:06", "航班改签", "recorded", "s4", "把会议室换到三楼"),
]


@pytest.mark.parametrize("room", [24, 40, 60, 80, 120, 200])
def test_no_word_is_broken_and_no_line_is_longer_than_the_terminal(
    room: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(room))
    monkeypatch.setattr(output, "on_terminal", lambda: True)
    output.print_table(COLUMNS, ROWS)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(cell_len, lines)) <= room
    assert sorted(word for row in ROWS for text in row for word in text.split() if not text.isdigit()) == sorted(
        word for line in lines for word in line.split() if word not in COLUMNS and not word.isdigit()
    )


def test_columns_are_as_wide_as_they_need_to_be_and_the_longest_takes_the_rest() -> None:
    rows = [COLUMNS, *ROWS]
    found = widths(rows, 90)
    assert found is not None
    assert sum(found) + GAP * (len(found) - 1) == 90
    assert found[:5] == [5, 16, 17, 10, 5]


def test_what_fits_in_no_columns_stands_row_by_row() -> None:
    assert widths([COLUMNS, *ROWS], 60) is None
    assert stacked(COLUMNS, ROWS[1], 60) == [
        "event 12  2026-11-22 01:05  aside-with-a-name  intent_set",
        "    s1…s3  attention_anchor: what was shown long ago",
    ]
    assert stacked(COLUMNS, ROWS[0], 60) == ["event 1  2026-11-22 01:05  main  noted  goal"]
    assert widths([("name", "goal"), ("trip", "go " * 40)], 24) is None
