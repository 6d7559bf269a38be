"""Where a text holds a value: what counts as a copy of it, what does not, and in what time."""

import time

import pytest

from ctxfold.text.secrets import Copies, Copy, Readings

VALUE = "Kq2-Zz&Yy7/live"


def found(text: str, value: str = VALUE, *, parts: bool = True) -> list[str]:
    """The stretches of a text that are told, longest first."""
    copies: list[Copy] = Copies(value, parts).find(Readings(text))
    return sorted({text[start:end] for copy in copies for start, end in copy.stretches}, key=len, reverse=True)


def test_a_part_counts_from_half_of_the_value_on_wherever_it_begins() -> None:
    assert set(found(f"it begins {VALUE[:8]}… and ends …{VALUE[7:]}.")) == {VALUE[:8], VALUE[7:]}
    assert found(f"only {VALUE[:7]} or {VALUE[9:]}") == []
    assert found(f"part {VALUE[:8]}", parts=False) == []


@pytest.mark.parametrize(
    "text",
    ["", " ", "the live harbour of Zz", "kq2, zz and yy7 apart: live", "----------------", "0123456789" * 50, "&amp;" * 200, "%25" * 200, "\\\\" * 300],
)  # fmt: skip
def test_ordinary_text_is_no_copy(text: str) -> None:
    assert found(text) == []


def test_a_place_is_told_exactly_also_behind_what_was_unescaped() -> None:
    text = f"50%25 &lt;off&gt; Kq2-Zz%26Yy7%2Flive %20 {VALUE}"
    assert "Kq2-Zz%26Yy7%2Flive" in found(text)
    assert VALUE in found(text)


@pytest.mark.parametrize("unit", ["\\", "%25", "&amp;", "Kq2", "Kq2-Zz", "live ", "\\u004b", "a", " "])
def test_a_long_text_is_searched_in_time(unit: str) -> None:
    """Whatever it repeats: the time grows with its length alone."""
    text = (unit * 100_000)[:100_000]
    copies = Copies(VALUE, parts=True)
    started = time.process_time()
    copies.find(Readings(text))
    assert time.process_time() - started < 2
