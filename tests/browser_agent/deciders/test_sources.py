"""A quote is the exact slice of its page, whatever marks of ours a model copied with it; one that stands nowhere names itself."""

import pytest

from browser_agent.deciders import Evidence
from tests.browser_agent.deciders.pages import heading, page

ORDERS = page("orders.html", "Orders", heading("Orders", "W-72670 2026-09-20 Cleo 349.90 EUR", "a | b is a choice", "Account", "NL45 HARB"))  # fmt: skip


@pytest.mark.parametrize(
    ("quote", "slice_"),
    [
        ("W-72670[e29] | 2026-09-20 | Cleo | 349.90 EUR", "W-72670 2026-09-20 Cleo 349.90 EUR"),
        ("Account NL45 HARB", "Account\nNL45 HARB"),
        ("a | b is a choice", "a | b is a choice"),
    ],
)
def test_a_row_with_its_marks_is_the_rows_own_text(quote: str, slice_: str) -> None:
    seen = Evidence()
    seen.add(ORDERS, "s1.6")
    assert seen.source(quote, None).quote == slice_
