"""How much a line has to do with the query: what is left out of the reckoning to save time changes no figure."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from ctxfold.text import words
from ctxfold.view.relevance import Query

WORDS = [
    "fly", "flies", "Flying", "don't", "JAMES's", "L68014", "get_user.homePath", "used", "stopped", "running", "a.b.c", "3.50", "dies", "eyes", "y",
    "ye", "boxes", "rock'n'roll", "HTTPServers", "x" * 70, "naïve", "東京都", "İstanbul", "ﬁnding", "stories", "hurried",
]  # fmt: skip
SAID = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@given(SAID, SAID, st.lists(SAID, min_size=1, max_size=5))
def test_a_score_is_the_weight_of_the_words_in_common_by_their_rarity_and_the_length_of_the_line(
    goal: str, asked: str, lines: list[str]
) -> None:
    query = Query.of([(goal, 1.0), (asked, 0.6)])
    theirs = [set(words(line)) for line in lines]

    def rarity(word: str) -> float:
        holding = sum(word in there for there in theirs)
        return (math.log(1 + len(lines) / holding) / math.log(1 + len(lines))) ** 2

    for there, score in zip(theirs, query.scores(lines), strict=True):
        common = sum(weight * rarity(word) for word, weight in query.weights if word in there)
        assert score == (common / math.sqrt(len(there)) if there else 0.0)
