"""What counts as a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxfold.text.words import is_common, query_weights, query_words, stem, words
from tests.ctxfold.text.hostile import LONG, NAMES, within


@pytest.mark.parametrize(
    "forms",
    [
        "cache caches cached caching",
        "class classes",
        "copy copies copied copying",
        "run runs running",
        "setting settings set",
        "add adds added adding",
        "stop stops stopped stopping",
        "query queries queried querying",
        "fix fixes fixed fixing",
        "match matches matched matching",
        "database databases",
        "size sizes sized sizing",
        "timeout timeouts",
        "die dies died",
        "process processes processed processing",
    ],
)
def test_all_forms_of_a_word_have_one_stem(forms):
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    "word", ["string", "thing", "bring", "need", "speed", "red", "bus", "analysis", "status", "king"]
)
def test_an_ending_that_only_looks_like_one_stays(word):
    assert stem(word).startswith(word[:3])
    assert len(stem(word)) >= len(word) - 1


def test_identifiers_stand_for_themselves_and_for_their_parts():
    assert words("get_user_name") == ["get_user_name", "get", "user", "nam"]
    assert words("homePath") == ["homepath", "home"[:3], "path"]
    assert words("os.path.join") == ["os.path.join", "os", "path", "join"]
    assert words("HTTPServer") == ["httpserver", "http", "server"]
    assert words("__init__") == ["__init__", "init"]
    assert words("URLs") == ["url"]


def test_numbers_and_versions_stay_whole():
    assert words("3.14 1.25x 2024") == ["3.14", "1.25x", "2024"]


def test_apostrophes_do_not_make_words():
    assert words("don't") == ["dont"]
    assert words("the user's file") == words("the user file")
    assert words("the user’s file") == words("the user file")


def test_scripts_without_spaces_are_read_in_pairs():
    assert words("東京タワー") == ["東京", "京タ", "タワ", "ワー"]
    assert words("山") == ["山"]
    assert words("Python文档") == ["python", "文档"]


def test_accents_width_and_case_make_no_difference():
    assert words("Café") == words("cafe") == words("cafe\u0301")
    assert words("ＡＢＣ") == words("abc")


def test_marks_alone_are_no_words():
    assert words("--- ... ___ '' 。、 \n\t") == []


def test_a_query_leaves_common_words_out_and_repeats_nothing():
    assert query_words("What is in the cache, and is the cache of that?") == ["cach"]


def test_a_query_of_common_words_alone_keeps_the_rarest():
    assert "what" in query_words("what is it")


def test_a_rare_word_of_a_query_counts_more_than_a_common_one():
    weights = query_weights("What of my refund?")
    assert weights["of"] < weights["what"] < weights["refund"] == 1.0


def test_common_words_are_told_in_any_case_and_with_an_ending():
    assert all(map(is_common, ("the", "The", "AND", "can't", "I'm")))
    assert not any(map(is_common, ("hotel", "W-2003", "people")))


@given(st.text(max_size=300))
def test_any_text_has_words_of_bounded_length_and_no_white_space(text):
    found = words(text)
    assert all(word and not any(letter.isspace() for letter in word) for word in found)
    assert words(text) == found
    assert bool(found) or not any(letter.isascii() and letter.isalnum() for letter in text)


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), max_size=200))
def test_ascii_text_reads_the_same_beside_other_scripts(text):
    assert words(text + " 山")[:-1] == words(text)


@pytest.mark.parametrize("text", LONG, ids=NAMES)
def test_much_of_one_thing_is_read_in_time(text):
    within(5.0, lambda: words(text))
