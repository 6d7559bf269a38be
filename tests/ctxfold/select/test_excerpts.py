"""What is found in a text for a query, within a budget."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxfold.select import find_excerpts
from ctxfold.tokens import count, head
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


def test_the_sentence_after_a_hit_comes_with_it() -> None:
    text = "The limit matters. It is 4300 digits. " + "Other things are said here and there. " * 30
    assert "4300" in " ".join(span.of(text) for span in find_excerpts(text, "limit", 20))


def test_without_a_hit_the_head_is_kept() -> None:
    assert find_excerpts(PAGE, "zebra", 12) == [(0, len(head(PAGE, 12).rstrip()))]
    assert find_excerpts(PAGE, "", 12)[0].start == 0


def test_room_is_not_filled_with_what_says_nothing() -> None:
    text = "\n\n".join(
        [f"Filler {n} stands here." for n in range(60)]
        + ["The cache is full."]
        + [f"More {n} of it." for n in range(60)]
    )
    spans = find_excerpts(text, "cache", 10_000)
    assert "The cache is full." in " ".join(span.of(text) for span in spans)
    assert sum(span.end - span.start for span in spans) < len(text) / 3


def test_a_budget_with_room_for_nothing_keeps_nothing() -> None:
    assert find_excerpts(PAGE, "table", 0) == []
    assert find_excerpts("", "table", 100) == []


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
