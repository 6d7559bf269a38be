"""How much a line has to do with the query: what is left out of the reckoning to save time changes no figure."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from ctxfold.folding.relevance import Query
from ctxfold.text import words

WORDS = [
    "fly", "flies", "Flying", "don't", "JAMES's", "L68014", "get_user.homePath", "used", "stopped", "running", "a.b.c", "3.50", "dies", "eyes", "y",
    "ye", "boxes", "rock'n'roll", "HTTPServers", "x" * 70, "naïve", "東京都", "İstanbul", "ﬁnding", "stories", "hurried",
]  # fmt: skip
SAID = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@given(SAID, SAID, SAID)
def test_a_score_is_the_weight_of_the_words_in_common_by_the_length_of_the_line(
    goal: str, asked: str, line: str
) -> None:
    query = Query.of([(goal, 1.0), (asked, 0.6)])
    there = set(words(line))
    common = sum(weight for word, weight in query.weights if word in there)
    assert query.score(line) == (common / math.sqrt(len(there)) if there else 0.0)
