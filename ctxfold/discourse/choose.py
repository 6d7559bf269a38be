"""The embedded decider: where in a forest a message belongs, in one look at all topics. Deterministic; no model, no network. It applies nothing.

Source: Context-Agent: attach to the topic the message depends on, then look for a fork point that is not simply the turn before. What is
doubtful continues: a wrong move hides what was said last, a missed one hides nothing.
"""

from __future__ import annotations

from ctxfold.discourse.cued import begun, counted, fronted, named, returned, turned
from ctxfold.discourse.likely import drawn, strange
from ctxfold.discourse.likeness import Encoder
from ctxfold.discourse.sight import Sight, look
from ctxfold.discourse.values import Choice, Grove

__all__ = ["choose"]

_DOUBT = 0.5
"""Confidence below which a message continues."""
_RULES = (counted, named, returned, begun, fronted, drawn, turned, strange)
"""In this order; the first that gives a move is heard."""


def choose(grove: Grove, message: str, encoder: Encoder | None = None) -> Choice:
    """Decide where a message belongs.

    Args:
        grove: the forest as it stands, before the message is recorded.
        message: the user's words.
        encoder: adds its sense of meaning to the words alone.

    Returns:
        The move. Below a confidence of one half it is to continue.
    """
    if not grove.path and grove.around.empty:
        return Choice("continue", confidence=1.0, reason="the first message")
    seen = look(grove, message, encoder)
    for rule in _RULES:
        made = rule(seen)
        if made is not None:
            return (
                made
                if made.confidence >= _DOUBT
                else Choice("continue", confidence=1 - made.confidence, reason=f"in doubt: {made.reason}")
            )
    return Choice("continue", confidence=_certain(seen), reason="goes on")


def _certain(seen: Sight) -> float:
    """How sure it is that a message goes on."""
    best = max((near.score for _, near in seen.limbs), default=0.0)
    return round(min(1.0, max(0.5, 0.75 + seen.here.score - best)), 2)
