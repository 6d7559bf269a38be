"""Sessions for the contract tests: one in memory, one in a file, closed when the test ends."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxfold import Session


@pytest.fixture
def session() -> Iterator[Session]:
    """A fresh session in a store of its own, in memory."""
    with Session.open("trip", goal="Plan three days in Lisbon", store=":memory:") as opened:
        yield opened


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Where a store file may be made."""
    return tmp_path / "store.db"


@pytest.fixture
def stored(database: Path) -> Iterator[Session]:
    """A fresh session in a store file."""
    with Session.open("trip", goal="Plan three days in Lisbon", store=str(database)) as opened:
        yield opened
