"""What a table shows on a terminal: every cell, within the width there is."""

from __future__ import annotations

from collections import Counter

import pytest
from rich.cells import cell_len

from ctxfold.cli import options as output

COLUMNS = ("event", "time", "branch", "kind", "steps", "cause")
ROWS = [
    ("1", "2026-11-22 01:05", "main", "noted", "", "goal"),
    ("12", "2026-11-22 01:05", "aside-with-a-name", "intent_set", "s1…s3", "attention_anchor: what was shown long ago"),
    ("13", "2026-11-22 01:06", "航班改签", "recorded", "s4", "把会议室换到三楼"),
]


@pytest.mark.parametrize("room", [40, 60, 80, 120, 200])
def test_every_cell_stands_and_no_line_is_longer_than_the_terminal(
    room: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(room))
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    output.print_table(COLUMNS, ROWS)
    printed = capsys.readouterr().out
    assert max(map(cell_len, printed.splitlines())) <= room
    flat = "".join(printed.split())
    assert all("".join(cell.split()) in flat for row in ROWS for cell in row if room >= 80 or cell != ROWS[1][-1])
    assert [line for line in printed.splitlines() if ROWS[1][2] in line]
    assert Counter(flat) >= Counter("".join("".join(row) for row in ROWS).replace(" ", ""))
