"""A summary in front of older steps: it replaces the one before, the steps behind it are chosen anew from the log, and no view loses it whole."""

from __future__ import annotations

import pytest

from ctxfold import Session
from ctxfold.errors import FoldError
from ctxfold.workspace import Tile

FIRST = "The user wants the best price of all pages. Pages were read one by one, because no list was found."


def read_pages(session: Session, first: int, last: int) -> None:
    for n in range(first, last):
        rows = "\n".join(f"row {i} of page {n}: item {n * 7919 + i * 131} costs {n * 31 % 97} EUR" for i in range(30))
        session.record_step(f"Reading page {n}.", [{"name": "get", "args": {"n": n}}], [{"text": rows}])


@pytest.fixture
def reader(session: Session) -> Session:
    session.record_turn(user="Find the best price.")
    read_pages(session, 1, 12)
    return session


def front(session: Session) -> str:
    return "\n".join(block.summary for block in session.workspace.blocks if isinstance(block, Tile))


def test_lines_chosen_of_the_steps_stand_behind_the_summary(reader: Session) -> None:
    (tile,) = reader.consolidate(4_000, summary=FIRST)
    assert tile.front
    assert tile.summary == FIRST
    assert "row 4 of page" in tile.text
    assert 0.75 * 4_000 <= reader.view(4_000).tokens <= 4_000


def test_a_summary_over_its_room_is_refused_with_its_size(reader: Session) -> None:
    with pytest.raises(FoldError, match=r"costs \d+ tokens, and its room is 1200"):
        reader.consolidate(4_000, summary=FIRST * 80)


def test_what_the_log_does_not_hold_is_marked_also_behind_an_earlier_summary(reader: Session) -> None:
    reader.consolidate(4_000, summary=FIRST)
    read_pages(reader, 12, 16)
    (tile,) = reader.consolidate(4_000, summary=f"{FIRST}\nItem ZZ-9981 was bought.")
    assert tile.marks == ("ZZ-9981",)
    assert tile.summary == f"{FIRST}\nItem ZZ-9981 [not in the log] was bought."


def test_what_goes_on_behind_it_may_name_what_the_log_of_the_steps_before_holds(reader: Session) -> None:
    reader.consolidate(4_000, summary=FIRST)
    read_pages(reader, 12, 16)
    (tile,) = reader.consolidate(4_000, summary=f"{FIRST}\nBeside item {2 * 7919 + 3 * 131} nothing was cheaper.")
    assert tile.summary.endswith("nothing was cheaper.")


@pytest.mark.parametrize("budget", [256, 300, 500, 1_000])
def test_in_a_smaller_view_its_best_sentences_stand(reader: Session, budget: int) -> None:
    reader.consolidate(4_000, summary=" ".join([FIRST] * 30))
    view = reader.view(budget)
    assert "wants the best price" in view.text
    assert view.tokens <= budget
