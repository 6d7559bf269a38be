"""Ranks short texts by how well they fit a query's words, by Okapi BM25.

Source of the formula: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the idf that
never falls below zero. The neighbour bonus is ours: in running text an answer often follows the sentence that names its subject, and does
not name it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log

__all__ = ["BM25"]

_SOON = 1.2
"""How soon more repeats of a word stop counting: the customary k1."""
_BACKWARDS = 0.75
"""Of what goes forwards: an answer stands after its subject more often than before it."""


class BM25:
    """An index over documents given as word lists, in their order. It grows by `add`; nothing leaves it.

    Args:
        documents: one sequence of words each, as `words` gives them.
        b: how much a long document is held against it, 0 (not) to 1 (in full).
    """

    def __init__(self, documents: Iterable[Sequence[str]] = (), b: float = 0.75) -> None:
        self._b = b
        self._lengths: list[int] = []
        self._total = 0
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for document in documents:
            self.add(document)

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, document: Sequence[str]) -> int:
        """Takes one more document in, after the others."""
        index = len(self._lengths)
        postings = self._postings
        for word, times in Counter(document).items():
            held = postings.get(word)
            if held is None:
                postings[word] = [(index, times)]
            else:
                held.append((index, times))
        self._lengths.append(len(document))
        self._total += len(document)
        return index

    def scores(self, query: Iterable[str] | Mapping[str, float], neighbours: float = 0.0) -> list[float]:
        """How well each document fits a query.

        Args:
            query: its words, as `query_words` gives them; a word given twice counts once. Or what each counts, as `query_weights` says.
            neighbours: for sentences in text order, the share of its score that each passes on to the next, which passes the same share of
                that on, and so forth; three quarters of it go to the one before. From 0, the plain score, to below 1.

        Returns:
            One score a document, in order. Without the bonus it is 0.0 where no word of the query stands; with it, where none stands
            anywhere.
        """
        lengths = self._lengths
        found = [0.0] * len(lengths)
        mean = self._total / len(lengths) if self._total else 1.0
        base, slope = _SOON * (1 - self._b), _SOON * self._b / mean
        shares = query if isinstance(query, Mapping) else dict.fromkeys(query, 1.0)
        for word, share in shares.items():
            held = self._postings.get(word, ())
            weight = share * self.rarity(word) * (_SOON + 1)
            for index, times in held:
                found[index] += weight * times / (times + base + slope * lengths[index])
        return _with_neighbours(found, neighbours) if neighbours else found

    def rarity(self, word: str) -> float:
        """The idf of a word: near 0 when every document holds it, higher the fewer do."""
        holders = len(self._postings.get(word, ()))
        return log(1 + (len(self._lengths) - holders + 0.5) / (holders + 0.5))


def _with_neighbours(found: list[float], share: float) -> list[float]:
    """Each score with what its neighbours pass on, forwards and backwards; linear in their number however far it reaches."""
    lifted = found[:]
    for order, passed in ((range(len(found)), share), (range(len(found) - 1, -1, -1), share * _BACKWARDS)):
        carried = 0.0
        for at in order:
            lifted[at] += carried
            carried = (carried + found[at]) * passed
    return lifted
