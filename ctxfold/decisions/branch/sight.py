"""What the embedded decider sees of a forest: the message's cues, and how near the message is to where one stands and to every limb. It decides nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctxfold.decisions.branch.cues import Cues, cues_of
from ctxfold.decisions.branch.likeness import Encoder, Measure, Nearness, telling
from ctxfold.decisions.branch.matter import Matter
from ctxfold.text.phrases import pattern
from ctxfold.workspace.forest import Grove, Limb, Turn

__all__ = ["SAMPLE", "Beside", "Sight", "look", "name_of", "spread", "usual"]

SAMPLE = 8
"""Turns a threshold is calibrated by, the newest."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A limb as the decider sees it.

    Attributes:
        limb: the limb.
        turns: what it is known by: its own turns, or where it has none those it shares with the path.
        near: how near the message is to them.
        sibling: whether it is a branch of the topic at hand.
        shared: of each telling word of the message, how surely it stands there.
    """

    limb: Limb
    turns: tuple[Turn, ...]
    near: Nearness
    sibling: bool
    shared: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Sight:
    """What the decider sees: the forest, the message, and how near the message is to everything.

    Attributes:
        grove: the forest.
        cues: what the message says of its place.
        measure: what it is compared by.
        here: how near it is to the active path.
        owned: the turns of the path that stand on no other branch; all of them where there are none.
        own: how near it is to those.
        limbs: the limbs it might belong to.
        matter: the message's telling words.
        shared: of each, how surely it stands on the path.
        kept: the same for the turns that stand on no other branch.
    """

    grove: Grove
    cues: Cues
    measure: Measure
    here: Nearness
    owned: tuple[Turn, ...]
    own: Nearness
    limbs: tuple[Beside, ...]
    matter: Matter
    shared: Mapping[str, float]
    kept: Mapping[str, float]


def look(grove: Grove, message: str, encoder: Encoder | None) -> Sight:
    """All that can be seen of a message's place.

    Args:
        grove: the forest, before the message is recorded.
        message: the user's words.
        encoder: adds its sense of meaning.
    """
    owned = grove.path[grove.shared :] or grove.path
    measure = Measure(_topics(grove, [limb for limb in grove.around.limbs if limb.turns]), message, encoder)
    every = [*grove.path, *(turn for limb in grove.around.limbs for turn in limb.turns)]
    matter = Matter(message, measure.told(every))
    limbs = []
    for limb in grove.around.limbs:
        sibling = limb.topic == grove.around.topic
        turns = limb.turns or (grove.path[: grove.shared] if sibling else ())
        if turns:
            limbs.append(Beside(limb, turns, measure.near(turns), sibling, matter.shared(turns)))
    here, own = measure.near(grove.path), measure.near(owned)
    shared, kept = matter.shared(grove.path), matter.shared(owned)
    return Sight(grove, cues_of(message), measure, here, owned, own, tuple(limbs), matter, shared, kept)


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


def spread(seen: Sight) -> float:
    """How alike the turns of this path are to one another: what lies above it is a likeness, for this dialogue and this measure."""
    path = seen.grove.path[-SAMPLE:]
    found = sorted(
        seen.measure.alike(one.said, other) for at, one in enumerate(path) for other in path[:at] if one.said
    )
    return found[len(found) // 2] if found else 0.0


def usual(seen: Sight, turns: Sequence[Turn]) -> float:
    """How much nearer to a stretch than to their own path the turns of this path were that went on: what lies above it means something."""
    path = seen.grove.path
    strays = sorted(
        seen.measure.near(turns, path[at].said).score - seen.measure.near(path[:at], path[at].said).score
        for at in range(max(1, len(path) - SAMPLE), len(path))
    )
    return strays[int(0.8 * (len(strays) - 1))] if len(strays) >= _ENOUGH else 0.0


_ENOUGH = 4
"""Turns below which there is nothing to calibrate by."""


_NAME_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{2,19}")


def name_of(message: str) -> str | None:
    """A name made of a message's first telling words, not of those that only lead to its matter; None where it has none in Latin letters."""
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", message) if not unicodedata.combining(sign))
    matter = pattern("message.begins").sub(" ", plain)
    found = dict.fromkeys(word.lower() for word in _NAME_WORD.findall(matter) if telling(word))
    found = found or dict.fromkeys(word.lower() for word in _NAME_WORD.findall(plain) if telling(word))
    return "-".join(list(found)[:3]) or None
