"""The embedded decider: where in a forest a message belongs, in one look at all topics. Deterministic; no model, no network. It applies nothing.

Source: Context-Agent: attach to the topic the message depends on, then look for a fork point that is not simply the turn before. Every place is
weighed by the same few signs; the weights are fitted to labelled dialogues (`python -m tests.benchmarks.forest.fit`) and ship as data. What is
doubtful continues: a wrong move hides what was said last, a missed one hides nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from math import exp

from ctxfold.decisions.branch.likeness import Encoder
from ctxfold.decisions.branch.outright import outright
from ctxfold.decisions.branch.sight import look
from ctxfold.decisions.branch.signs import Place, places
from ctxfold.workspace.forest import Choice, Grove

__all__ = ["DOUBT", "choose", "shares"]

DOUBT = 0.45
"""How sure a move must be, beside going on: below it a message continues. Where the fit's cross-validation finds more moves at no cost in messages
attached (`python -m tests.benchmarks.forest.fit --left-out`)."""


def choose(grove: Grove, message: str, encoder: Encoder | None = None) -> Choice:
    """Decide where a message belongs.

    Args:
        grove: the forest as it stands, before the message is recorded.
        message: the user's words.
        encoder: adds its sense of meaning to the words alone.

    Returns:
        The move; below `DOUBT` it is to continue.
    """
    if not grove.path and grove.around.empty:
        return Choice("continue", confidence=1.0, reason="the first message")
    seen = look(grove, message, encoder)
    told = outright(seen)
    if told is not None:
        return told
    found = list(places(seen))
    weights = _weights(encoder is not None)
    given = shares(found, weights)
    at = max(range(1, len(found)), key=lambda at: given[at], default=0)
    sure = given[at] / (given[at] + given[0]) if at else 0.0
    if sure >= DOUBT:
        return replace(found[at].choice, confidence=round(sure, 2), reason=_reason(found[at], weights))
    doubt = f"in doubt: {_reason(found[at], weights)}" if sure > 0.25 else "goes on"
    return Choice("continue", confidence=round(1 - sure, 2), reason=doubt)


def shares(found: Sequence[Place], weights: Mapping[str, float]) -> list[float]:
    """How likely each place is: shares that sum to 1.

    Args:
        found: the places.
        weights: of each sign.
    """
    told = [sum(weights.get(name, 0.0) * value for name, value in place.signs.items()) for place in found]
    most = max(told)
    raised = [exp(score - most) for score in told]
    return [each / sum(raised) for each in raised]


_REASONS = {
    "there.back": "returns to what it names",
    "there.other.back": "returns to another topic",
    "there.sibling.back": "returns to another branch",
    "there.fresh.back": "returns to what was left last",
    "there.front": "begins with its matter",
    "there.kin": "a matter of that kind",
    "there.meant": "means what was said there",
    "there": "speaks of what stands there",
    "aside": "opens an alternative",
    "anew.begins": "says it begins something else",
    "anew.also": "asks for one thing more",
    "anew.brings": "brings in something of its own",
    "anew.meant": "means something else than all before",
    "anew": "another matter",
}
"""What a sign that spoke loudest is called; the longest beginning that fits."""


def _reason(place: Place, weights: Mapping[str, float]) -> str:
    """Why, by the sign that spoke loudest."""
    loudest = max(place.signs, key=lambda name: weights.get(name, 0.0) * place.signs[name])
    fits = [name for name in _REASONS if loudest == name or loudest.startswith(f"{name}.")]
    return _REASONS[max(fits, key=len)] if fits else "goes on"


@cache
def _weights(meaning: bool) -> Mapping[str, float]:
    """The weight of each sign. With an encoder both fits are mixed: an encoder strange to a dialogue's language must not outweigh its words."""
    text = files(__package__).joinpath("weights.json").read_text(encoding="utf-8")
    read: Mapping[str, Mapping[str, float]] = json.loads(text)
    words, both = read["words"], read["meaning"]
    if not meaning:
        return words
    return {name: (1 - _MIXED) * words.get(name, 0.0) + _MIXED * both.get(name, 0.0) for name in {*words, *both}}


_MIXED = 0.85
"""What the fit with an encoder counts, against the one by words alone."""
