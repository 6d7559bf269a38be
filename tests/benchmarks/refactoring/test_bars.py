"""The bars of refactoring on the small session that lies beside the fidelity board: planted faults come out as they should, an untouched session is left alone."""

from pathlib import Path

import pytest

from tests.benchmarks.fidelity.board import Wish, score
from tests.benchmarks.fidelity.recordings import Recording, read
from tests.benchmarks.refactoring.measure import clean, invented, loops

SAMPLE = Path(__file__).parents[1] / "fidelity" / "sample.jsonl.gz"


@pytest.fixture(scope="module")
def recordings() -> list[Recording]:
    """The sample, as often as a fault is planted in it, each time elsewhere."""
    return read(SAMPLE) * 3


def test_every_invented_value_is_refused_and_a_true_summary_taken(recordings: list[Recording]):
    refused, taken = invented(recordings)
    assert refused.tried >= 5
    assert (refused.share, taken.share) == (1.0, 1.0), (refused.notes, taken.notes)


def test_planted_loops_are_pruned_with_what_they_told(recordings: list[Recording]):
    for name, tally in loops(recordings).items():
        assert tally.tried, name
        assert tally.share == 1.0, tally.notes
        assert min(tally.kept) >= 0.98


def test_an_untouched_session_is_left_alone_and_loses_nothing(recordings: list[Recording]):
    assert clean(recordings[:1], 8000).share == 1.0
    off, on = score(recordings[:1], ["stepped:8000", "routed:8000"], Wish(calls=20))
    assert (on.recall, on.bound_recall, on.far_recall) >= (off.recall, off.bound_recall, off.far_recall)
    assert on.mean_tokens <= off.mean_tokens
