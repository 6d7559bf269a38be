"""No helper outlives its test: it ends when its socket is gone, and one that is only now starting finds no folder for it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_helper_left(ctxfold_home: Path) -> Iterator[None]:
    """Take away the folder of what helper the test started."""
    yield
    shutil.rmtree(ctxfold_home / "helper", ignore_errors=True)
