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


@pytest.mark.parametrize("text", ADVERSARIAL.values(), ids=ADVERSARIAL.keys())
def test_no_text_makes_the_count_fail(text: str) -> None:
    assert 0 < tokens.count(text) <= len(text.encode("utf-8", "replace")) * 3
    assert tokens.count(text) == tokens.count(text)


@given(st.text(max_size=2_000) | st.text(alphabet=" \t\n\r./abcAB1'é漢", max_size=2_000))
@example("a\ud800")
@example("\ud83d\ude00")
def test_a_count_is_what_the_tokenizer_says(text: str) -> None:
    assert tokens.count(text) == reference(text)


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
    cuts = 0 if signs.isalnum() else length // counter.PIECE  # a cut between signs may be off by one, as `count` says
    assert abs(tokens.count(text) - reference(text)) <= cuts
