"""What the embedded decider sees of a forest: the message's cues, and how near the message is to where one stands and to every limb. It decides nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ctxfold.discourse.cues import Cues, cues_of
from ctxfold.discourse.likeness import Encoder, Measure, Nearness, telling
from ctxfold.discourse.values import Grove, Limb, Turn

__all__ = ["SAMPLE", "Sight", "freshest", "look", "name_of", "ranked", "spread", "stay", "sure"]

SAMPLE = 8
"""Turns a threshold is calibrated by, the newest."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What the decider sees: the forest, the message, and how near the message is to everything."""

    grove: Grove
    cues: Cues
    measure: Measure
    here: Nearness
    own: Nearness
    limbs: tuple[tuple[Limb, Nearness], ...]

    @property
    def others(self) -> list[tuple[Limb, Nearness]]:
        """The limbs of other topics."""
        return [(limb, near) for limb, near in self.limbs if limb.topic != self.grove.around.topic]

    @property
    def siblings(self) -> list[tuple[Limb, Nearness]]:
        """The other branches of this topic."""
        return [(limb, near) for limb, near in self.limbs if limb.topic == self.grove.around.topic]


def look(grove: Grove, message: str, encoder: Encoder | None) -> Sight:
    """All that can be seen of a message's place.

    Args:
        grove: the forest, before the message is recorded.
        message: the user's words.
        encoder: adds its sense of meaning.
    """
    limbs = [limb for limb in grove.around.limbs if limb.turns]
    own = grove.path[grove.shared :] or grove.path
    measure = Measure(_topics(grove, limbs), message, encoder)
    return Sight(
        grove,
        cues_of(message),
        measure,
        measure.near(grove.path),
        measure.near(own),
        tuple((limb, measure.near(limb.turns)) for limb in limbs),
    )


def _topics(grove: Grove, limbs: Sequence[Limb]) -> list[list[tuple[Turn, ...]]]:
    """The limbs of each topic, oldest first: the active topic's with the path's own turns, and what it shares with a branch before them."""
    here = {limb.branch: limb.turns for limb in limbs if limb.topic == grove.around.topic}
    here[grove.around.branch] = grove.path[grove.shared :]
    trunk = [grove.path[: grove.shared]] if grove.shared else []
    found = {grove.around.topic: [*trunk, *(here[name] for name in grove.branches if here.get(name))]}
    for limb in limbs:
        if limb.topic != grove.around.topic:
            found.setdefault(limb.topic, []).append(limb.turns)
    return list(found.values())


def ranked(seen: Sight, limbs: Sequence[tuple[Limb, Nearness]]) -> list[tuple[Limb, Nearness, float]]:
    """Limbs by how near the message, or what it names behind its cue, is to them; of near equals the one left last."""
    found = [(limb, near, _both(near.score, _part(seen, limb.turns))) for limb, near in limbs]
    best = max(score for _, _, score in found) - _TIE
    return sorted(
        found, key=lambda each: (each[2] >= best, each[0].visited if each[2] >= best else 0, each[2]), reverse=True
    )


_TIE = 0.01
"""Scores that differ by less are the same."""


def _part(seen: Sight, turns: Sequence[Turn]) -> float:
    return seen.measure.near(turns, seen.cues.topic).score if telling(seen.cues.topic) else 0.0


def _both(whole: float, part: float) -> float:
    """A message's nearness and that of what it names: the better of the two, the other one telling between equals."""
    return 0.8 * max(whole, part) + 0.2 * min(whole, part) if part else whole


def stay(seen: Sight, limb: Limb) -> float:
    """How near the message is to where one stands, beside a limb: of this topic's branches only what is their own counts."""
    near = seen.own if limb.topic == seen.grove.around.topic else seen.here
    turns = seen.grove.path[seen.grove.shared :] or seen.grove.path
    part = _part(seen, turns if limb.topic == seen.grove.around.topic else seen.grove.path)
    return _both(near.score, part)


def sure(base: float, margin: float) -> float:
    """A confidence from a base and how clear it is, below 1."""
    return round(max(0.0, min(0.99, base + margin)), 2)


def freshest(limbs: Sequence[Limb]) -> Limb:
    """The limb that was left last."""
    return max(limbs, key=lambda limb: limb.visited)


def spread(seen: Sight) -> float:
    """How alike the turns of this path are to one another: what lies above it is a likeness, for this dialogue and this measure."""
    path = seen.grove.path[-SAMPLE:]
    found = sorted(
        seen.measure.alike(one.said, other) for at, one in enumerate(path) for other in path[:at] if one.said
    )
    return found[len(found) // 2] if found else 0.0


_NAME_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{2,19}")


def name_of(message: str) -> str | None:
    """A name made of a message's first telling words; None where it has none in Latin letters."""
    found = dict.fromkeys(word.lower() for word in _NAME_WORD.findall(message) if telling(word))
    return "-".join(list(found)[:3]) or None
