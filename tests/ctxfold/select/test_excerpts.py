"""What is found in a text for a query, within a budget."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxfold.select.choose import find_excerpts
from ctxfold.tokens import count
from tests.ctxfold.text.hostile import LONG, NAMES, within

PAGE = """Welcome to the guide
Menu: Home, About, Contact

Installing
Download the archive and unpack it anywhere. No other step is needed.

Locking
A connection waits for a locked table before it gives up. By default it waits five seconds. Pass another timeout to change that.

Licence
You may copy and change this software freely.
"""


def test_the_sentences_that_answer_are_kept_verbatim_and_in_order() -> None:
    spans = find_excerpts(PAGE, "how long does a connection wait for a locked table", 32)
    kept = " | ".join(span.of(PAGE) for span in spans)
    assert "By default it waits five seconds." in kept
    assert "You may copy" not in kept
    assert spans == sorted(spans)


PIECES = st.lists(
    st.one_of(
        st.text(max_size=40),
        st.sampled_from(
            ["The cache is full. ", "\n", "\n\n", "- item\n", "文字。", "<|endoftext|>", " " * 200, "a" * 500, "key=1;"]
        ),
    ),
    max_size=30,
).map("".join)


@settings(deadline=None)
@given(PIECES, st.sampled_from(["cache full", "文字", "item key", "nothing of it", ""]), st.integers(-1, 120))
def test_any_selection_is_exact_ordered_and_within_its_budget(text: str, query: str, budget: int) -> None:
    spans = find_excerpts(text, query, budget)
    at = 0
    for span in spans:
        assert at <= span.start < span.end <= len(text)
        at = span.end
    assert count("\n".join(span.of(text) for span in spans)) <= max(budget, 0)
    assert find_excerpts(text, query, budget) == spans


@pytest.mark.long
@pytest.mark.parametrize("text", LONG, ids=NAMES)
def test_much_of_one_thing_is_chosen_from_in_time(text: str) -> None:
    within(5.0, lambda: find_excerpts(text, "cache full a 文", 200))
