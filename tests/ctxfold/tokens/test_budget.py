"""A budget is a limit in the reader's tokens, and says how many of ours it leaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxfold.errors import BudgetError
from ctxfold.tokens import MIN_BUDGET, Budget, factor


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (None, 1.0),
        ("script:decisions.json", 1.0),
        ("claude-opus-4-5-20251101", 1.2),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", 1.2),
        ("Claude-Opus-4-7", 1.55),
        ("claude-sonnet-5", 1.55),
        ("claude-opus-4-50", 1.75),
        ("claude-unheard-of", 1.75),
        ("some-local-model:8b", 1.75),
        ("openai:gpt-5.4@http://127.0.0.1:8080/v1", 1.0),
        ("openai:gpt-45", 1.75),
    ],
)
def test_a_model_has_the_factor_of_its_family_and_an_unknown_one_the_guard(model: str | None, expected: float) -> None:
    assert factor(model) == expected


@given(st.integers(-10, 5_000), st.sampled_from([None, "claude-3-5-haiku", "claude-opus-5", "other"]))
def test_a_budget_below_the_least_is_refused_with_the_least_that_would_do(limit: int, model: str | None) -> None:
    try:
        assert Budget.of(limit, model).tokens >= MIN_BUDGET
    except BudgetError as error:
        least = int(str(error).rsplit(" ", 1)[1])
        assert limit < least
        assert Budget.of(least, model).tokens >= MIN_BUDGET
