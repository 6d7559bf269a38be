"""Whatever a text repeats, the time to read it grows with its length alone."""

from collections.abc import Callable

import pytest

from ctxfold.text.sentences import lines, sentences
from ctxfold.text.values import entities
from ctxfold.text.words import words
from tests.ctxfold.text.hostile import LONG, NAMES, within

LONG_RUNS = [pytest.param(read, marks=pytest.mark.long) for read in (sentences, lines)]


@pytest.mark.parametrize("text", LONG, ids=NAMES)
@pytest.mark.parametrize("read", [words, entities, *LONG_RUNS])
def test_much_of_one_thing_is_read_in_time(read: Callable[[str], object], text: str) -> None:
    within(5.0, lambda: read(text))
