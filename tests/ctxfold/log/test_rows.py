"""Rows say exactly what the JSON says: what differs in JSON differs in rows."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxfold.log.json import parse, rows_of

KEYS = st.sampled_from(["id", "name", "a b", "x=y", "", "1", "null", "line\nbreak", "|"])
SCALARS = (
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([1.5, -0.25])
    | st.sampled_from(["", "1", "1.5", "null", "true", "Ann Lee", "a, b", "a|b", " a", "a ", "[x]", "{}", "x=1", "…", "é", "a\nb", "- a", "[2] a"])
)  # fmt: skip
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def shown(tree: Any) -> str:
    return "\n".join("  " * row.depth + row.text for row in rows_of(tree))


@given(TREES, TREES)
def test_two_trees_that_differ_never_look_alike(one: Any, other: Any) -> None:
    if json.dumps(one) != json.dumps(other):
        assert shown(one) != shown(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"id": "4579"}, {"id": 4579}),
        ({"a": None}, {"a": "null"}),
        ({"a": None}, {}),
        ({"a": []}, {"a": {}}),
        ({"a": ""}, {"a": None}),
        ([{"a": 1, "b": 2}, {"a": 3}], [{"a": 1, "b": 2}, {"a": 3, "b": None}]),
        ([{"a": 1, "b": 2}, {"a": 3}], [{"a": 1, "b": 2}, {"a": 3, "b": ""}]),
        ({"m": {"x": {"id": "x"}}}, {"m": {"x": {"id": "y"}}}),
        ({"a": {"b": 1}}, {"a.b": 1}),
        (["a, b"], ["a", "b"]),
    ],
)
def test_types_and_absence_can_be_told_apart(one: Any, other: Any) -> None:
    assert shown(one) != shown(other)


def test_a_number_stands_as_it_was_written() -> None:
    assert "1.10" in shown(parse('{"price": 1.10, "big": 1e3}'))


def test_alike_objects_stand_as_a_table_with_their_names_once() -> None:
    text = shown([{"flight": "HAT1", "price": 10}, {"flight": "HAT2", "price": 20}])
    assert text.count("flight") == 1
    assert "HAT2 | 20" in text


def test_a_cell_ends_where_its_cut_says() -> None:
    for row in rows_of({"a": 1, "b": "two", "c": [1, 2], "d": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]}):
        starts = [row.cuts[0], *(cut + (2 if row.table == "none" else 3) for cut in row.cuts[1:])]
        assert [row.text[start:end] for start, end in zip(starts, row.cuts[1:], strict=False)] == list(row.cells)
