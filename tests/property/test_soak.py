"""Random faults while writers work, in short; the long form is a benchmark."""

import pytest

from tests.benchmarks.soak import soak


@pytest.mark.long
@pytest.mark.timeout(300)
def test_random_faults_lose_nothing_that_was_acknowledged_and_change_no_view() -> None:
    one = soak(1.0, 60, seed=19)
    assert one.wrong == []
    assert one.kept
