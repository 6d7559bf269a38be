"""Random moves keep a forest of branches valid."""

from pathlib import Path

import pytest

from tests.support.wandering import in_files, wander


@pytest.mark.parametrize("start", [0, 25])
def test_random_moves_keep_a_forest_a_forest(start: int) -> None:
    for seed in range(start, start + 25):
        try:
            wander(seed)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error


def test_a_forest_in_a_file_is_the_same(tmp_path: Path) -> None:
    for seed in (3, 8):
        assert in_files(seed, tmp_path) == wander(seed)
