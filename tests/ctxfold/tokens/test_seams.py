"""Counting texts by their parts says what counting the whole says, whatever stands at the seams."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxfold import tokens
from ctxfold.tokens import counter
from tests.support.texts import ODD

SIGNS = [
    "a", "Zz", "12", "1234", "'s", "’", "é", "中文", "。", " ", "  ", "\t", "\n", "\r\n", "/", ".", "!?", ")", '"', "s12.3>>", "<<s12.3", "…", "\x85",
    "\xa0", "\u2028", "\x1c", "\u200b", "\u0301", "💥", "\ud800",
]  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(SIGNS), max_size=20).map("".join), max_size=5))
@settings(max_examples=400)
def test_lines_cost_what_they_cost_joined(texts: list[str]) -> None:
    assert tokens.count_lines(texts) == tokens.count("\n".join(texts))


@given(st.lists(st.sampled_from([text for text in ODD if len(text) < 4_000]), max_size=4))
def test_odd_texts_cost_what_they_cost_joined(texts: list[str]) -> None:
    assert tokens.count_lines(texts) == tokens.count("\n".join(texts))


def test_a_text_without_a_place_to_cut_is_counted_with_what_stands_around_it() -> None:
    texts = ["s1 first", "x" * 60_000, "s2 last"]
    assert tokens.count_lines(texts) == tokens.count("\n".join(texts))


def test_texts_that_were_counted_are_not_tokenized_again(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [f"s{n} a block that stands in many views, and says a good deal of one thing or another" for n in range(9)]
    for block in blocks:
        tokens.count(block)
    whole = tokens.count("\n".join(blocks))
    monkeypatch.setattr(counter, "_encode", lambda _: pytest.fail("tokenized again"))
    assert tokens.count_lines(blocks) == whole
