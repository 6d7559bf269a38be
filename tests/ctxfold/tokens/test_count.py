"""`count` is exact, deterministic and never refuses a text."""

import random
import time

import pytest
import tiktoken
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxfold import tokens
from ctxfold import tokens as counter

ADVERSARIAL = {
    "a million spaces": " " * 1_000_000,
    "one 5 MB line": "x" * 5_000_000,
    "one 5 MB line of alternating case": "aB" * 2_500_000,
    "a long run of punctuation": "!" * 500_000,
    "newlines only": "\n" * 500_000,
    "mixed blanks": "\u00a0 \t\u2003\r" * 100_000,
    "Chinese and Japanese": "漢字かな交じり文" * 60_000,
    "marks on one letter": "a" + "\u0301" * 200_000,
    "joined emoji": "👩‍👩‍👧" * 30_000,
    "special tokens": "<|endoftext|><|endofprompt|>" * 2_000,
    "lone surrogates": "a\ud800b\udfff" * 20_000,
    "null bytes": "\0" * 200_000,
}


def reference(text: str) -> int:
    """The same text through tiktoken's own door, in one go."""
    return len(tiktoken.get_encoding("o200k_base").encode_ordinary(text))


def test_the_empty_text_costs_nothing() -> None:
    assert tokens.count("") == 0


def test_known_texts_have_their_known_cost() -> None:
    assert tokens.count("hello world") == 2
    assert tokens.count("<|endoftext|>") == 7


@pytest.mark.parametrize("text", ADVERSARIAL.values(), ids=ADVERSARIAL.keys())
def test_no_text_makes_the_count_fail(text: str) -> None:
    assert 0 < tokens.count(text) <= len(text.encode("utf-8", "replace")) * 3
    assert tokens.count(text) == tokens.count(text)


def test_a_special_token_in_a_text_counts_as_the_text_it_is() -> None:
    assert tokens.count("before <|endoftext|> after") > tokens.count("before after")


@given(st.text(max_size=2_000) | st.text(alphabet=" \t\n\r./abcAB1'é漢", max_size=2_000))
@example("a\ud800")
@example("\ud83d\ude00")
def test_a_count_is_what_the_tokenizer_says(text: str) -> None:
    assert tokens.count(text) == reference(text)


@settings(max_examples=30)
@given(st.text(alphabet=st.sampled_from(" \n\t/;.'aZ7é漢"), min_size=1, max_size=400), st.integers(200, 800))
def test_a_long_text_with_line_or_word_ends_is_counted_exactly(paragraph: str, times: int) -> None:
    text = (paragraph + " end of it\nstart of ") * times
    assert tokens.count(text) == reference(text)


def test_real_source_text_of_several_pieces_is_counted_exactly() -> None:
    with open(counter.__file__, encoding="utf-8") as file:
        text = file.read() * 40
    assert len(text) > 4 * counter.PIECE
    assert tokens.count(text) == reference(text)


@given(st.text(alphabet="a \n/é漢", min_size=1, max_size=300), st.integers(1, 700))
def test_pieces_joined_are_the_text_and_none_is_too_large(unit: str, times: int) -> None:
    text = unit * times
    cut = [piece.text for piece in counter.cut_into_pieces(text)]
    assert "".join(cut) == text
    assert all(0 < len(piece) <= counter.PIECE and len(piece.encode()) <= 100_000 for piece in cut)


@pytest.mark.parametrize(
    "text", ["漢" * 400_000, "word " * 400_000, "aB" * 1_000_000], ids=["CJK", "words", "one line"]
)
def test_twice_the_text_takes_about_twice_the_time(text: str) -> None:
    def seconds(part: str) -> float:
        started = time.process_time()
        tokens.count(part)
        return time.process_time() - started

    tokens.count(text[:1_000])
    assert seconds(text) < 6 * seconds(text[: len(text) // 2]) + 0.05


@settings(max_examples=25)
@given(
    st.sampled_from(["abcdefghij", "ab", "aB3", "0123456789", "ACGT", "a", "価格三千五百円", "é", "سعر", "🏳️‍🌈👨‍👩", "-=*#", "a,", "abcdefghijklmnopqrstuvwxyz"]),
    st.integers(counter.PIECE + 1, 4 * counter.PIECE),
    st.integers(0, 2**32),
)  # fmt: skip
def test_a_long_run_without_blanks_costs_what_it_costs_at_once(signs: str, length: int, seed: int) -> None:
    text = "".join(random.Random(seed).choices(signs, k=length))
    assert tokens.count(text) == reference(text)


@pytest.mark.parametrize("unit", ["\ud800", "\ud83d\ude00", "🙂", " ", "\n/", "漢", "\0"])
def test_pieces_of_a_text_without_blanks_joined_are_the_text(unit: str) -> None:
    cut = [piece.text for piece in counter.cut_into_pieces(unit * 60_000)]
    assert "".join(cut) == unit * 60_000
    assert all(0 < len(piece) <= counter.PIECE for piece in cut)
