"""Rows say exactly what the JSON says: what differs in JSON differs in rows."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ctxfold.log.json import rows_of

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
