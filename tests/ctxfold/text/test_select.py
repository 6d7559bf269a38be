"""What is kept of a text for a query, within a budget."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxfold.select.choose import select
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


def test_the_sentences_that_answer_are_kept_verbatim_and_in_order():
    spans = select(PAGE, "how long does a connection wait for a locked table", 32)
    kept = " | ".join(span.of(PAGE) for span in spans)
    assert "By default it waits five seconds." in kept
    assert "Licence" not in kept
    assert list(spans) == sorted(spans)


def test_the_sentence_after_a_hit_comes_with_it():
    text = "The limit matters. It is 4300 digits. " + "Other things are said here and there. " * 30
    assert "4300" in " ".join(span.of(text) for span in select(text, "limit", 20))


def test_without_a_hit_the_head_is_kept():
    assert select(PAGE, "zebra", 12) == ((0, len(head(PAGE, 12).rstrip())),)
    assert select(PAGE, "", 12)[0].start == 0


def test_what_is_said_twice_is_kept_once():
    text = "\n\n".join(
        ["The cache is full."] * 5
        + [f"Filler {n} stands here." for n in range(60)]
        + ["The cache was emptied by hand."]
    )
    kept = " ".join(span.of(text) for span in select(text, "cache", 200))
    assert kept.count("The cache is full.") == 1
    assert "emptied" in kept


def test_room_is_not_filled_with_what_says_nothing():
    text = "\n\n".join(
        [f"Filler {n} stands here." for n in range(60)]
        + ["The cache is full."]
        + [f"More {n} of it." for n in range(60)]
    )
    spans = select(text, "cache", 10_000)
    assert "The cache is full." in " ".join(span.of(text) for span in spans)
    assert sum(span.end - span.start for span in spans) < len(text) / 3


def test_a_budget_with_room_for_nothing_keeps_nothing():
    assert select(PAGE, "table", 0) == ()
    assert select("", "table", 100) == ()


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
def test_any_selection_is_exact_ordered_and_within_its_budget(text, query, budget):
    spans = select(text, query, budget)
    at = 0
    for span in spans:
        assert at <= span.start < span.end <= len(text)
        at = span.end
    assert count("\n".join(span.of(text) for span in spans)) <= max(budget, 0)
    assert select(text, query, budget) == spans


@pytest.mark.long
@pytest.mark.parametrize("text", LONG, ids=NAMES)
def test_much_of_one_thing_is_chosen_from_in_time(text):
    within(5.0, lambda: select(text, "cache full a 文", 200))
