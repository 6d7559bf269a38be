"""How sure the explorer may be of a passage. It ranks nothing: that a passage is the best does not make it an answer."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from browser_agent.explorer.ranking import Found

__all__ = ["IN_FULL", "SURE", "TRUSTED", "confidence"]

TRUSTED = 0.38
"""From here on a passage is given as the answer."""

SURE = 0.65
"""From here on nothing further is read."""

IN_FULL = 0.95
"""A passage stands under the very name asked about, not under one that only ends alike, when it does so this surely."""

_BASE, _SCORE, _MARGIN, _LACKS, _MISSING = -3.16, 1.49, 1.28, -1.14, -0.43
"""Fitted by logistic regression with a quadratic penalty on 197 questions of our own, 163 of them answered on their site, most in words other
than the site's; checked on each quarter in turn, fitted on the others."""

_PARTLESS = -2.5
"""What it costs that a section nowhere holds the parameter asked about: too seldom in those questions to be fitted."""

_CLEAR = 0.6
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
    others = (found.score for found in best[1:] if found.passage.text != first.passage.text)
    margin = min(_CLEAR, first.score - next(others, first.score - _CLEAR))
    evidence = _BASE + _SCORE * first.score + _MARGIN * margin + _LACKS * first.lacks + _MISSING * missing
    evidence += _PARTLESS * first.partless
    return 1 / (1 + exp(-evidence))
