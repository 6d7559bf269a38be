"""Ranking short texts by a query's words."""

from hypothesis import given
from hypothesis import strategies as st

from ctxfold.select.score import BM25
from ctxfold.text.words import words

DOCUMENTS = [
    words(text)
    for text in (
        "the cache is full",
        "a file was opened",
        "the cache of the file grows",
        "nothing here",
        "cache cache cache",
    )
]


def test_documents_with_the_word_score_and_others_do_not() -> None:
    scores = BM25(DOCUMENTS).scores(["cach"])
    assert [score > 0 for score in scores] == [True, False, True, False, True]


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    index = BM25(DOCUMENTS)
    assert index.rarity("grow") > index.rarity("cach") > 0
    assert index.rarity("never seen") > index.rarity("grow")


def test_repeats_count_less_and_less() -> None:
    once, twice, many = BM25([["a"], ["a", "a"], ["a"] * 50], b=0.0).scores(["a"])
    assert once < twice < many < 3 * once


def test_a_word_given_twice_counts_once() -> None:
    assert BM25(DOCUMENTS).scores(["cach", "cach"]) == BM25(DOCUMENTS).scores(["cach"])


def test_an_empty_index_and_an_empty_query_have_no_scores() -> None:
    assert BM25().scores(["a"]) == []
    assert BM25([[], []]).scores(["a"]) == [0.0, 0.0]
    assert BM25(DOCUMENTS).scores([]) == [0.0] * len(DOCUMENTS)


@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=8), max_size=12),
    st.lists(st.sampled_from("abcxyz"), max_size=4),
)
def test_an_index_grown_one_by_one_is_the_index_made_at_once(documents: list[list[str]], query: list[str]) -> None:
    grown = BM25()
    assert [grown.add(document) for document in documents] == list(range(len(documents)))
    assert grown.scores(query) == BM25(documents).scores(query)
    assert len(grown) == len(documents)
