"""How sure the explorer may be of a passage. It ranks nothing: that a passage is the best does not make it an answer."""

from __future__ import annotations

from math import exp

from browser_agent.explorer.ranking import Found

__all__ = ["SURE", "TRUSTED", "confidence"]

TRUSTED = 0.58
"""From here on a passage is given as the answer."""

SURE = 0.85
"""From here on nothing further is read."""

_COVER, _OWN, _SUBJECT, _MISSING, _BASE = 4.0, 0.6, 2.1, -4.8, -3.1
"""Fitted by logistic regression on questions of our own, with and without an answer on the site."""


def confidence(found: Found, missing: float) -> float:
    """The chance that a passage answers the question, 0 to 1.

    Args:
        found: the passage and what speaks for it.
        missing: the share of the question's terms, by weight, that no page seen holds anywhere.
    """
    evidence = _BASE + _COVER * found.cover + _OWN * found.own + _SUBJECT * found.subject + _MISSING * missing
    return 1 / (1 + exp(-evidence))
