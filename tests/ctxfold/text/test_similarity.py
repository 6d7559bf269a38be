"""How alike texts are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxfold.text.words import rank_alike

TEXTS = [
    "The cache keeps pages in memory until it is full.",
    "Pages are kept in the cache; when memory is full, the oldest leave.",
    "Book a flight from Paris to Lisbon for two passengers.",
    "The passengers want an earlier flight to Lisbon.",
]


@pytest.mark.parametrize("at", range(4))
def test_texts_on_one_thing_are_more_alike_than_others(at: int) -> None:
    scores = rank_alike(TEXTS[at], TEXTS)
    assert sorted(range(4), key=lambda place: -scores[place])[:2] == [at, at ^ 1]


def test_a_text_without_words_is_like_none() -> None:
    assert rank_alike("", TEXTS) == [0.0] * 4
    assert rank_alike("never seen before", ["", "..."]) == [0.0, 0.0]


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=4))
def test_likeness_is_a_share_and_most_for_the_same_text(query: str, others: list[str]) -> None:
    scores = rank_alike(query, [query, *others])
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert scores[0] == pytest.approx(0.0 if not any(scores) else 1.0)
