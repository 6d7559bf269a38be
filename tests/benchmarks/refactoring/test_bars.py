"""The bars of refactoring on the sample: planted faults come out right, an untouched session is left alone."""

import pytest

from tests.benchmarks.fidelity.__main__ import SAMPLE
from tests.benchmarks.fidelity.board import Sample
from tests.benchmarks.harness import Bars
from tests.benchmarks.recordings import Recording, read_recordings
from tests.benchmarks.refactoring.__main__ import print_recall, prune_loops, refuse_inventions, route_clean


@pytest.fixture(scope="module")
def recordings() -> list[Recording]:
    """Return the sample three times, so that each fault is planted at three places."""
    return read_recordings(SAMPLE) * 3


def test_every_invented_value_is_refused_and_a_true_summary_taken(recordings: list[Recording]):
    refused, taken = refuse_inventions(recordings)
    assert refused.tried >= 5
    assert (refused.share, taken.share) == (1.0, 1.0), (refused.notes, taken.notes)


def test_planted_loops_are_pruned_with_their_values_kept(recordings: list[Recording]):
    for name, tally in prune_loops(recordings).items():
        assert tally.tried, name
        assert tally.share == 1.0, tally.notes
        assert min(tally.kept) >= 0.98


def test_an_untouched_session_is_left_alone_and_loses_nothing(recordings: list[Recording]):
    assert route_clean(recordings[:1], 8000).share == 1.0
    bars = Bars()
    print_recall(bars, recordings[:1], 8000, Sample(calls=20))
    assert bars.missed == []
