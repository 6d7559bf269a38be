"""Changes of mind that no cue word says, and what is said and changes nothing. The whole of it is `python -m tests.benchmarks.intent.minds`."""

import pytest

from tests.benchmarks.intent.minds import CASES, changed, disturbed

MENDED = [case for case in CASES["worked"] if not changed(case)]


def test_most_changes_of_mind_without_a_cue_are_followed() -> None:
    assert len(MENDED) >= 26
    for name, least in (("check", 14), ("fresh", 10)):
        assert sum(not changed(case) for case in CASES[name]) >= least


@pytest.mark.parametrize("case", CASES["steady"], ids=lambda case: case["asked"][0][:24])
def test_what_is_merely_told_changes_nothing(case) -> None:
    assert not [(words, found) for words in case["then"] if (found := disturbed(case["asked"], words))]
