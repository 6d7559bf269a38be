"""`head` keeps the longest start of a text that a number of tokens pays for."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxfold.tokens import count, head

PROSE = (
    "The log is lossless. The view is lean, and never above its budget. What it leaves out, it leaves a ref to. " * 40
)


@given(st.text(max_size=600) | st.text(alphabet="ab c.\n漢é", max_size=3_000), st.integers(-2, 400))
@example("\ud83d\ude00" * 40, 5)
@example(" " * 3_000, 4)
def test_a_head_is_a_prefix_within_its_tokens(text: str, tokens: int) -> None:
    kept = head(text, tokens)
    assert text.startswith(kept)
    assert count(kept) <= max(tokens, 0)


@given(st.text(max_size=300))
def test_a_text_that_fits_is_kept_whole(text: str) -> None:
    assert head(text, count(text)) == text


@given(st.integers(12, 900))
def test_prose_ends_at_a_word_and_uses_most_of_its_tokens(tokens: int) -> None:
    kept = head(PROSE, tokens)
    assert not kept[-1].isspace()
    assert PROSE[len(kept)].isspace()
    assert count(kept) >= tokens * 0.7


def test_a_sentence_end_nearby_is_preferred() -> None:
    text = "The order is paid and on its way. Next comes the hotel, which is not."
    assert head(text, 10) == "The order is paid and on its way."


@pytest.mark.parametrize("unit", ["x", "aB", "漢字かな交じり文", "!", "\u00a0 \t\u2003"])
def test_a_text_without_words_is_cut_near_its_limit(unit: str) -> None:
    text = unit * 30_000
    assert 90 <= count(head(text, 100)) <= 100


@pytest.mark.parametrize("tokens", [0, -1])
def test_no_tokens_keep_nothing(tokens: int) -> None:
    assert head("some text", tokens) == ""


def test_the_head_of_a_huge_text_reads_only_its_start() -> None:
    text = "watched words " * 4_000_000
    started = time.process_time()
    kept = head(text, 60)
    assert 50 <= count(kept) <= 60
    assert time.process_time() - started < 0.5
