"""How sure the explorer may be of a passage. It ranks nothing: that a passage is the best does not make it an answer."""

from __future__ import annotations

from math import exp

from browser_agent.explorer.ranking import Found

__all__ = ["SURE", "TRUSTED", "confidence"]

TRUSTED = 0.5
"""From here on a passage is given as the answer."""

SURE = 0.9
"""From here on nothing further is read."""


def confidence(found: Found, missing: float) -> float:
    """The chance that a passage answers the question, 0 to 1.

    Args:
        found: the passage and what speaks for it.
        missing: the share of the question's terms, by weight, that no page seen holds anywhere.
    """
    evidence = (
        6.0 * found.cover + 2.0 * found.own + 1.0 * found.subject + 1.5 * (found.kind - 0.5) - 6.0 * missing - 4.6
    )
    return 1 / (1 + exp(-evidence))
