"""Cells of a row: one by one or a column at a time, they read the same."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ctxfold.log.compact.cells import Spelled, cell, cells_in
from ctxfold.log.compact.tables import Reader, group_of, table_of

WORDS = st.sampled_from(["L8", "null", "true", "false", "^", "…", "above", "", "a b", "x=1", "é", "価格", "12"])
NUMBERS = st.sampled_from(["1.0", "1e3", "-2.50"]).map(Spelled)
COLUMN = (
    st.lists(WORDS, min_size=1) | st.lists(NUMBERS, min_size=1) | st.lists(WORDS | NUMBERS | st.booleans() | st.none())
)


@given(COLUMN)
def test_a_column_is_spelled_as_its_cells_are(values: list[Any]) -> None:
    assert list(cells_in(values)) == [cell(value) for value in values]


VALUE: st.SearchStrategy[Any] = WORDS | NUMBERS | st.none() | st.just([]) | st.just([1]) | st.just({"a": 1})
RECORD = st.dictionaries(st.sampled_from(["id", "b"]), VALUE) | st.just("none")


@given(st.lists(RECORD, min_size=1, max_size=5))
def test_records_read_once_are_the_same_table_as_read_anew(value: list[Any]) -> None:
    reader = Reader()
    assert (group_of(value, reader), table_of(value, reader)) == (group_of(value), table_of(value))
