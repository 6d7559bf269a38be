"""How sure the explorer may be of a passage. It ranks nothing: that a passage is the best does not make it an answer."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from browser_agent.explorer.ranking import MEANT, Found

__all__ = ["IN_FULL", "SURE", "TRUSTED", "confidence", "grounds"]

TRUSTED = 0.48
"""From here on a passage is given as the answer: of 225 questions that a site answers 49 in 100 are then answered rightly and 14 wrongly, and of 75 that
it does not answer 92 are declined. Where each file of questions is ranked and judged by fits on the others, 15 in 100 answered wrongly allow for 48
answered rightly (at 0.49)."""

SURE = 0.65
"""From here on nothing further is read."""

IN_FULL = 0.95
"""A passage stands under the very name asked about, not under one that only ends alike, when it does so this surely."""

_BASE, _SCORE, _MARGIN, _LACKS, _MISSING, _PARTLESS = -3.72, 0.73, 1.63, -1.15, -0.96, -1.5
"""Fitted by `tests/benchmarks/questions/fit.py` on 276 questions of our own, 225 of them answered on their site."""

_NEAR_BASE, _NEAR_WORDS, _NEAR = -3.73, 0.32, 5.54
"""How that evidence and nearness in meaning go together where an encoder compared them: fitted the same way with a MiniLM on 81 of those questions,
most in words other than the site's. Where words alone gave 16 right answers of 68 for 8 wrong ones, the two gave 17 for 2.
They were not fitted anew when the grounds above were: log odds then as now, but of other weights."""

_CLEAR = 1.0
"""A lead over the next best that is as large as this is as good as any."""


def confidence(best: Sequence[Found], missing: float) -> float:
    """The chance that the first of these passages answers the question, 0 to 1.

    Args:
        best: the passages that speak of the question most, best first, each with what speaks for it.
        missing: the share of the question's terms, by weight, that no page seen holds anywhere.

    Returns:
        The chance; 0 where there is no passage. It grows with the lead over the next one that says something else.
    """
    if not best:
        return 0.0
    first = best[0]
    told = zip((_SCORE, _MARGIN, _LACKS, _MISSING, _PARTLESS), grounds(best, missing), strict=True)
    evidence = _BASE + sum(weight * ground for weight, ground in told)
    if first.meant is not None:
        evidence = _NEAR_BASE + _NEAR_WORDS * evidence + _NEAR * first.meant
    return 1 / (1 + exp(-evidence))


def grounds(best: Sequence[Found], missing: float) -> tuple[float, float, float, float, float]:
    """What the chance is told from: what speaks for the first passage, its lead, what it lacks, what is missing, and whether its part is.

    Args:
        best: as `confidence` takes them, one at least.
        missing: the same.
    """
    first = best[0]
    others = (found.score for found in best[1:] if found.passage.text != first.passage.text)
    margin = min(_CLEAR, first.score - next(others, first.score - _CLEAR))
    return first.score - MEANT * (first.meant or 0.0), margin, first.lacks, missing, float(first.partless)
