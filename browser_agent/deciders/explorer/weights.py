"""What each sign of a passage is worth. It reads no page and compares no passages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log

from browser_agent.deciders.explorer.matching import Strengths, strongest
from browser_agent.deciders.explorer.signs import Signs

__all__ = ["Weights", "fixed"]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign is worth.

    Those that make up a term's cover, and those of rarity, were set by hand. The others are fitted by a conditional logit over the 120 best passages
    of each of 218 answerable questions of our own about three documentations, none below zero, with a quadratic penalty. Fitted on five sixths of
    them, they put a right passage first for 111; weights set by search on most of them did for 100. The last six were fitted the same way beside them,
    on 225: a right passage then gets a mean log likelihood of -1.12 in place of -1.23 where each tenth is judged by a fit on the others.
    """

    title: float = 0.85
    signature: float = 0.7
    near: float = 0.9
    section: float = 0.3
    path: float = 0.55
    page: float = 0.9
    covered: float = 0.50
    own: float = 0.91
    named: float = 0.66
    key: float = 0.11
    held: float = 0.74
    above: float = 0.34
    page_title: float = 0.95
    subject: float = 0.19
    beside: float = 1.16
    hard: float = 0.37
    soft: float = 0.57
    titled: float = 0.92
    defines: float = 0.11
    first: float = 0.09
    opens: float = 0.60
    hanging: float = 0.05
    code: float = 0.41
    short: float = 0.11
    long: float = 0.08
    chronicle: float = 1.04
    rarity: float = 0.9
    everywhere: float = 0.3
    hard_near: float = 0.49
    seen: float = 1.31
    decides: float = 0.57
    units: float = 0.08
    titles: float = 0.38
    mark: float = 0.45
    site: float = 0.5
    focus: float = 0.93
    around: float = 0.48
    measured: float = 1.22
    raises: float = 1.32
    about: float = 0.88
    example: float = 0.51

    def cover(self, signs: Signs, none: Strengths) -> Strengths:
        """How each term is matched by a passage or, at a discount, by what stands round it."""
        fields = (
            (self.title, signs.named),
            (self.signature, signs.signed),
            (self.near, signs.near),
            (self.section, signs.held),
            (self.path, signs.path),
            (self.page, signs.page),
        )
        return strongest((signs.own, *(tuple(w * s for s in strengths) for w, strengths in fields)), none)

    def fixed(self, signs: Signs) -> float:
        """What speaks for a passage whatever its terms tell."""
        return self.told(fixed(signs))

    def told(self, values: Mapping[str, float]) -> float:
        """What signs, by the names of their weights, say together."""
        return sum(value * float(getattr(self, name)) for name, value in values.items())


def fixed(signs: Signs) -> dict[str, float]:
    """The signs of a passage that hold whatever its terms tell, by the names of their weights; what speaks against it is below zero."""
    return {
        "hard": signs.hard - 0.5,
        "soft": (max(signs.soft, 1.0) if signs.sets else signs.soft) - 0.5,
        "hard_near": signs.hard_near - 0.5,
        "seen": signs.seen,
        "decides": float(signs.decides),
        "units": -log(1 + signs.units),
        "titled": signs.titled,
        "first": float(signs.first),
        "opens": signs.opens,
        "hanging": -float(signs.hanging),
        "defines": -float(signs.defines),
        "code": -float(signs.code),
        "short": -float(signs.short),
        "long": -log(1 + signs.words),
        "chronicle": -float(signs.chronicle),
        "focus": signs.focus,
        "around": signs.around,
        "measured": float(signs.measured),
        "raises": float(signs.raises),
        "about": float(signs.about),
        "example": -float(signs.example),
    }
