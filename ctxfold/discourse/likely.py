"""Where a message belongs that says nothing of its place: by how near it is to everything there is. Each rule gives a move or nothing.

Source: Context-Agent: the same core object and dependence on it make a message part of a topic.
"""

from __future__ import annotations

from ctxfold.discourse.likeness import telling
from ctxfold.discourse.sight import SAMPLE, Sight, name_of, ranked, sure
from ctxfold.discourse.values import Choice, Limb

__all__ = ["drawn", "strange"]

_STRANGE = 0.33
"""How near by an encoder is no longer near: below two in three of what this dialogue has shown."""
_MEANT = 0.6
"""How near by an encoder is near: above the middle of what this dialogue has shown."""


def drawn(seen: Sight) -> Choice | None:
    """A message that speaks of another limb's matter, with no cue at all."""
    lean = 0.15 * seen.cues.leans + 0.1 * seen.cues.every
    for limbs, least in ((seen.others, 0.12), (seen.siblings, 0.15)):
        if not limbs:
            continue
        limb, near, score = ranked(seen, limbs)[0]
        stay = seen.own.score if limbs is not seen.others and limb.topic == seen.grove.around.topic else seen.here.score
        margin = score - stay - max(least, _usual(seen, limb)) - lean
        if margin > 0 and (near.cover >= 0.1 or (near.meant or 0.0) >= _MEANT) and score >= 0.2:
            return Choice("switch", to=limb.branch, confidence=sure(0.55, margin), reason="speaks of what stands there")
    return _akin(seen)


def _akin(seen: Sight) -> Choice | None:
    """A message of another topic's field, that shares no word with anything."""
    near = [(limb, about.kin or 0.0) for limb, about in seen.others]
    if seen.cues.leans or seen.here.kin is None or seen.here.kin > 0.1 or seen.here.cover > 0.05 or not near:
        return None
    topics = {limb.topic for limb, kin in near if kin >= 0.5}
    if len(topics) != 1:
        return None
    limb = max(
        ((limb, kin) for limb, kin in near if limb.topic in topics), key=lambda each: (each[1], each[0].visited)
    )[0]
    return Choice("switch", to=limb.branch, confidence=0.55, reason="a matter of that kind")


def _usual(seen: Sight, limb: Limb) -> float:
    """How much nearer to a limb than to their own path the turns of this path were that went on: what lies above it means something."""
    path = seen.grove.path
    strays = sorted(
        seen.measure.near(limb.turns, path[at].said).score - seen.measure.near(path[:at], path[at].said).score
        for at in range(max(1, len(path) - SAMPLE), len(path))
    )
    return strays[int(0.8 * (len(strays) - 1))] if len(strays) >= _ENOUGH else 0.0


_ENOUGH = 4
"""Turns below which there is nothing to calibrate by."""


def strange(seen: Sight) -> Choice | None:
    """A request that stands by itself and shares nothing with anything said: a new topic."""
    asked = telling(seen.measure.message)
    weight = sum(1.0 if word.isascii() else 0.4 for word in asked)
    if seen.cues.leans or seen.cues.every or not seen.cues.opens or weight < 2 or not seen.grove.path:
        return None
    nearest = max([seen.here.cover, *(near.cover for _, near in seen.limbs)])
    kin = seen.here.kin
    if nearest > 0.15 or (seen.here.peak > 0.16 if seen.here.meant is None else seen.here.meant > _MEANT):
        return None
    to = name_of(seen.measure.message)
    if (
        seen.here.meant is not None
        and max([seen.here.meant, *(near.meant or 0.0 for _, near in seen.limbs)]) < _STRANGE
    ):
        return Choice("new_topic", to=to, confidence=0.65, reason="means something else than all before")
    if kin is not None and kin <= 0.3 and weight >= 2.5:
        certain = sure(0.7 - 0.15 * seen.cues.points, 0.2 - nearest - kin / 2)
        return Choice("new_topic", to=to, confidence=certain, reason="another matter")
    if (
        seen.cues.brings
        and nearest <= 0.1
        and weight >= (2.5 if kin is not None else 3)
        and (kin or 0.0) < 0.62
        and not seen.cues.points
    ):
        return Choice("new_topic", to=to, confidence=0.6, reason="brings in something of its own")
    if seen.cues.also and weight >= 2.5 and nearest <= 0.1 and (kin is None or kin < 0.8):
        return Choice("new_topic", to=to, confidence=0.6, reason="one thing more, that shares nothing with the others")
    if kin is None and weight >= 5 and nearest <= 0.05 and not seen.cues.points:
        return Choice("new_topic", to=to, confidence=0.55, reason="shares nothing with what was said")
    return None
