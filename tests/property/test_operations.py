"""Invariants 1 to 9 under random operations, hostile text included: a plain model of the log stands beside each session."""

from contextlib import closing
from pathlib import Path

import pytest

from tests.support.operations import Driver, random_run


@pytest.mark.parametrize("start", [0, 30, *(pytest.param(at, marks=pytest.mark.long) for at in range(60, 360, 30))])
def test_random_operations_hold_every_invariant(tmp_path: Path, start: int) -> None:
    for seed in range(start, start + 30):
        folder = tmp_path / str(seed)
        folder.mkdir()
        with closing(Driver(str(folder / "store.db") if seed % 3 == 0 else ":memory:")) as driver:
            random_run(driver, seed, 12)
            driver.check_copy(folder)
            driver.check_all()


@pytest.mark.long
def test_one_long_run_holds_every_invariant(tmp_path: Path) -> None:
    with closing(Driver(str(tmp_path / "store.db"))) as driver:
        random_run(driver, 20_26, 200)
        driver.check_copy(tmp_path)
        driver.check_all()
