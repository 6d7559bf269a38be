"""`head` keeps the longest start of a text that a number of tokens pays for."""

import time

from hypothesis import example, given
from hypothesis import strategies as st

from ctxfold.tokens import count, head


@given(st.text(max_size=600) | st.text(alphabet="ab c.\n漢é", max_size=3_000), st.integers(-2, 400))
@example("\ud83d\ude00" * 40, 5)
@example(" " * 3_000, 4)
def test_a_head_is_a_prefix_within_its_tokens(text: str, tokens: int) -> None:
    kept = head(text, tokens)
    assert text.startswith(kept)
    assert count(kept) <= max(tokens, 0)


def test_the_head_of_a_huge_text_reads_only_its_start() -> None:
    text = "watched words " * 4_000_000
    started = time.process_time()
    kept = head(text, 60)
    assert 50 <= count(kept) <= 60
    assert time.process_time() - started < 0.5
