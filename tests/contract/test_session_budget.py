"""The budget of a session's views: noted with the session, so that no restart and no other process forgets it."""

from pathlib import Path

import pytest

from ctxfold import Session
from ctxfold.errors import BudgetError


def test_a_session_has_the_default_budget_until_another_is_noted(database: Path) -> None:
    with Session.open("trip", store=str(database)) as first, Session.open("trip", store=str(database)) as second:
        assert first.budget == second.budget == 8_000
        first.set_budget(3_000)
        assert second.budget == 3_000
    with Session.open("trip", store=str(database)) as third:
        assert third.budget == 3_000


def test_a_budget_below_the_least_is_refused_and_changes_nothing(session: Session) -> None:
    session.set_budget(3_000)
    with pytest.raises(BudgetError):
        session.set_budget(1)
    assert session.budget == 3_000
