"""Words said to a model are files, and every blank is filled."""

from __future__ import annotations

import pytest

from ctxfold.prompts import prompt


def test_a_prompt_is_its_file_with_the_blanks_filled():
    text = prompt("decision_refused", tool="decide", reason="- fold: Field required $5")
    assert "`decide`" in text
    assert "- fold: Field required $5" in text
    assert not text.endswith("\n")


def test_a_blank_left_empty_is_an_error():
    with pytest.raises(KeyError, match="reason"):
        prompt("decision_refused", tool="decide")
