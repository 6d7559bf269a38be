"""How alike texts are."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxfold.text.words import Vocabulary, cosine, features

TEXTS = [
    "The cache keeps pages in memory until it is full.",
    "Pages are kept in the cache; when memory is full, the oldest leave.",
    "Book a flight from Paris to Lisbon for two passengers.",
    "The passengers want an earlier flight to Lisbon.",
]
VOCABULARY = Vocabulary(TEXTS)
VECTORS = [VOCABULARY.vector(text) for text in TEXTS]


def test_texts_on_one_thing_are_more_alike_than_others():
    assert cosine(VECTORS[0], VECTORS[1]) > 3 * cosine(VECTORS[0], VECTORS[2])
    assert cosine(VECTORS[2], VECTORS[3]) > 3 * cosine(VECTORS[1], VECTORS[3])


def test_a_misspelled_word_is_still_near():
    assert cosine(VOCABULARY.vector("memry cahce"), VECTORS[0]) > cosine(VOCABULARY.vector("memry cahce"), VECTORS[2])
    assert cosine(VOCABULARY.vector("passenger"), VOCABULARY.vector("passangers")) > 0.1


def test_what_is_rare_weighs_more():
    vector = Vocabulary(["one page", "two pages", "a page of a book"]).vector("page book")
    assert vector["book"] > vector["pag"]


def test_stop_words_count_only_where_nothing_else_does():
    assert features("the cache") == features("a cache")
    assert "what" in features("what is it")


def test_a_vocabulary_grown_one_by_one_is_the_one_made_at_once():
    grown = Vocabulary()
    for text in TEXTS:
        grown.add(text)
    assert grown.vector(TEXTS[2]) == VECTORS[2]


def test_an_empty_text_is_like_none():
    assert VOCABULARY.vector("") == {}
    assert cosine({}, VECTORS[0]) == 0.0
    assert Vocabulary().vector("never seen before") != {}


@given(st.text(max_size=80), st.text(max_size=80))
def test_likeness_is_a_share_and_has_no_direction(one, other):
    a, b = VOCABULARY.vector(one), VOCABULARY.vector(other)
    assert 0.0 <= cosine(a, b) <= 1.0
    assert cosine(a, b) == pytest.approx(cosine(b, a))
    assert cosine(a, a) == pytest.approx(1.0 if a else 0.0)
    assert math.sqrt(sum(weight * weight for weight in a.values())) == pytest.approx(1.0 if a else 0.0)
