"""What changed between two texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxfold.text import Change, changes, summarise, word_changes
from tests.ctxfold.text.hostile import LONG, NAMES, within


def test_lines_that_came_went_and_were_altered_are_told_apart():
    before = "Cart\nItems: 2\nTotal: $12.50\nAdvert here\nHelp"
    after = "Cart\nItems: 3\nTotal: $18.75\nHelp\nYou saved $2"
    assert changes(before, after) == (
        Change("altered", 2, "Items: 2", "Items: 3"),
        Change("altered", 3, "Total: $12.50", "Total: $18.75"),
        Change("removed", 4, "Advert here", None),
        Change("added", 5, None, "You saved $2"),
    )


def test_a_line_put_in_between_does_not_hide_what_was_altered():
    assert changes("total is 5 now", "a fresh line\ntotal is 6 now") == (
        Change("added", 1, None, "a fresh line"),
        Change("altered", 2, "total is 5 now", "total is 6 now"),
    )


def test_equal_texts_have_no_changes():
    assert changes("a\nb", "a\nb  ") == ()
    assert summarise("a\n", "a") == "no change"


def test_the_altered_words_are_marked():
    assert word_changes("Items: 2 in cart", "Items: 13 in your cart") == "Items: [-2-]{+13+} in {+your +}cart"


def test_a_summary_counts_shows_and_says_what_it_left_out():
    assert (
        summarise("a b c 1\nold", "a b c 2\nnew\nmore", limit=2)
        == "2 added, 1 removed, 1 altered\n~ a b c [-1-]{+2+}\n- old\n(2 more)"
    )


LINES = st.lists(st.sampled_from(["one two", "one three", "four", "", "five six seven", "x"]), max_size=12)


def replay(before: list[str], after: list[str]) -> bool:
    """Whether the changes account for every line: what is not named is common to both."""
    found = changes("\n".join(before), "\n".join(after))
    kept_before, kept_after = (before or [""])[:], (after or [""])[:]
    for change in found:
        if change.before is not None:
            kept_before.remove(change.before)
        if change.after is not None:
            kept_after.remove(change.after)
    return sorted(kept_before) == sorted(kept_after)


@given(LINES, LINES)
def test_changes_account_for_every_line(before, after):
    assert replay(before, after)
    assert bool(changes("\n".join(before), "\n".join(after))) == ((before or [""]) != (after or [""]))


def test_texts_too_long_to_pair_are_compared_as_sets():
    before = [f"line {n}" for n in range(8000)]
    after = [*before[:4000], "fresh", *before[4001:]]
    shuffled = [*after[4001:], *after[:4001]]
    within(5.0, lambda: changes("\n".join(before), "\n".join(shuffled)))
    assert replay(before, shuffled)
    assert {change.after for change in changes("\n".join(before), "\n".join(shuffled))} == {"fresh", None}


def test_many_equal_lines_are_compared_in_time():
    within(5.0, lambda: changes("\n".join(["a", "b"] * 2000), "\n".join(["b", "b", "a"] * 1300)))


@pytest.mark.parametrize("text", LONG, ids=NAMES)
def test_much_of_one_thing_is_compared_in_time(text):
    within(5.0, lambda: summarise(text, "x" + text[: len(text) // 2] + " y " + text[len(text) // 2 :]))
