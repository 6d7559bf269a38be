"""Rows written out to stand alone, and shortened again between those that were kept."""

from __future__ import annotations

from ctxfold.log.compact.ditto import abridged, spelled
from ctxfold.log.lines import Line


def rows(*texts: str) -> list[Line]:
    """Lines of one record, each at a price of its length."""
    return [Line("data", "s1.2", f"<  {text}", len(text)) for text in texts]


def texts(lines: list[Line]) -> list[str]:
    """What stands, without its mark."""
    return [line.text[line.indent :] for line in lines]


def test_rows_that_were_kept_share_cells_with_the_row_they_now_stand_under() -> None:
    kept = rows("HAT047 LAS 13:00:00 165", "HAT190 LAS 13:00:00 113", "HAT286 IAH 13:00:00 114")
    assert texts(abridged(kept)) == ["HAT047 LAS 13:00:00 165", "HAT190 ^ ^ 113", "HAT286 IAH ^ 114"]
    assert texts(spelled(abridged(kept))) == texts(kept)


def test_what_names_a_thing_is_written_in_each_row() -> None:
    assert texts(abridged(rows("HAT047 LAS 165", "HAT047 LAS 202"))) == ["HAT047 LAS 165", "HAT047 ^ 202"]


def test_only_rows_of_one_table_are_read_against_each_other() -> None:
    for kept in (
        rows("state=open place=Lyon", "state=open place=Lyon"),
        rows("place state:", "place state"),
        rows("Lyon open late", "Lyon open"),
        [Line("data", "s1.2", "< Lyon open", 5), Line("data", "s2.2", "< Lyon open", 5)],
    ):
        assert texts(abridged(kept)) == texts(kept)


def test_a_row_that_names_another_keeps_its_marks_for_the_cells_of_that() -> None:
    for kept in (
        rows("- as s1.3: A1 open late", "- as s2.4: B1 ^ late"),
        rows("account: as AC7: A1 open late", "account: as AC7: B1 ^ late"),
    ):
        assert texts(spelled(kept)) == texts(abridged(kept)) == texts(kept)


def test_a_part_that_names_its_own_cells_is_one_cell_of_its_row() -> None:
    for part in ("(street=Augusta town=Porto)", "[track=T1 depot=Porto]", '(note="a) b [c" box=7)', '"(old one"'):
        assert texts(spelled(rows(f"A1 {part} open", "B2 ^ late")))[1] == f"B2 {part} late"


def test_a_row_that_is_only_named_neither_gets_a_ditto_mark_nor_gives_one() -> None:
    """It holds no cells: a mark under it would be read as the cell of the row it names."""
    for kept in (
        rows("LYS100 (as above)", "OPO200 (as above)"),
        rows("LYS (as above)", "LYS (as above)"),
        rows("LYS (as above)", "LYS open"),
        rows("LYS open", "LYS (as above)"),
    ):
        assert texts(abridged(kept)) == texts(kept)
