"""The embedded decider: where in a forest a message belongs, in one look at all topics. Deterministic; no model, no network. It applies nothing.

Source: Context-Agent: attach to the topic the message depends on, then look for a fork point that is not simply the turn before. What is
doubtful continues: a wrong move hides what was said last, a missed one hides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ctxfold.discourse.cues import Cues, cues_of
from ctxfold.discourse.likeness import Encoder, Measure, Nearness, telling
from ctxfold.discourse.values import Choice, Grove, Limb, Turn
from ctxfold.text import words

__all__ = ["choose"]

_DOUBT = 0.5
"""Confidence below which a message continues."""


@dataclass(frozen=True, slots=True)
class _Sight:
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
    seen = _look(grove, message, encoder)
    for rule in (_counted, _named, _returned, _begun, _fronted, _drawn, _turned, _strange):
        made = rule(seen)
        if made is not None:
            return (
                made
                if made.confidence >= _DOUBT
                else Choice("continue", confidence=1 - made.confidence, reason=f"in doubt: {made.reason}")
            )
    return Choice("continue", confidence=_certain(seen), reason="goes on")


def _look(grove: Grove, message: str, encoder: Encoder | None) -> _Sight:
    limbs = [limb for limb in grove.around.limbs if limb.turns]
    own = grove.path[grove.shared :] or grove.path
    measure = Measure(_topics(grove, limbs), message, encoder)
    return _Sight(
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


def _certain(seen: _Sight) -> float:
    """How sure it is that a message goes on."""
    best = max((near.score for _, near in seen.limbs), default=0.0)
    return round(min(1.0, max(0.5, 0.75 + seen.here.score - best)), 2)


def _counted(seen: _Sight) -> Choice | None:
    """By number ("the second option", "plan B"), where there is more than one."""
    number, grove = seen.cues.ordinal, seen.grove
    if number is None:
        return None
    if seen.cues.kind == "topic" and len(grove.topics) > 1:
        topics = list(grove.topics)
        at = number - 1 if number > 0 else len(topics) - 1
        if at < len(topics) and topics[at][0] != grove.around.topic:
            return Choice("switch", to=topics[at][1], confidence=0.85, reason=f"names topic {at + 1}")
        return None
    names = grove.branches
    at = number - 1 if number > 0 else len(names) - 1
    if len(names) < 2 or at >= len(names) or seen.cues.turns:
        return None
    if names[at] == grove.around.branch:
        return Choice("continue", confidence=0.8, reason=f"names branch {at + 1}, this one")
    return Choice("switch", to=names[at], confidence=0.85, reason=f"names branch {at + 1}")


_GIVEN = re.compile(r"^(?:main|(?:branch|topic)-\d+)$")


def _named(seen: _Sight) -> Choice | None:
    """A branch's own name, said by someone who goes there."""
    said = " ".join(words(seen.measure.message))
    for limb in seen.grove.around.limbs:
        for name in dict.fromkeys((limb.branch, limb.topic)):
            if _GIVEN.match(name) or name == seen.grove.around.topic:
                continue
            spelled = " ".join(words(name.replace("-", " ")))
            if (
                spelled
                and f" {spelled} " in f" {said} "
                and (seen.cues.returns or ("-" in name and not seen.cues.turns))
            ):
                target = _freshest([other for other in seen.grove.around.limbs if name in (other.branch, other.topic)])
                return Choice("switch", to=target.branch, confidence=0.9, reason=f"names {name}")
    return None


def _freshest(limbs: Sequence[Limb]) -> Limb:
    return max(limbs, key=lambda limb: limb.visited)


def _returned(seen: _Sight) -> Choice | None:
    """A return ("back to the hotel"): to the limb that is about what is named, or to what was left last where nothing is."""
    if not seen.cues.returns or not seen.limbs:
        return None
    named = telling(seen.cues.topic)
    ranked = _ranked(seen, seen.limbs)
    limb, _, score = ranked[0]
    stay = _stay(seen, limb)
    if score >= 0.12 and score > stay - 0.02:
        return Choice("switch", to=limb.branch, confidence=_sure(0.7, score - stay), reason="returns to what it names")
    if score < 0.12 and stay < 0.12:
        kin = [(each, about.kin) for each, about, _ in ranked if about.kin is not None and about.kin > 0.45]
        if kin and (seen.here.kin or 0.0) < 0.3:
            target = max(kin, key=lambda pair: (pair[1] or 0.0, pair[0].visited))[0]
            return Choice("switch", to=target.branch, confidence=0.65, reason="returns to a matter of that kind")
        if len(named) <= 2 or len(seen.limbs) == 1:
            target = _freshest([limb for limb, _ in seen.limbs])
            return Choice("switch", to=target.branch, confidence=0.6, reason="returns to what was left last")
    return None


def _ranked(seen: _Sight, limbs: Sequence[tuple[Limb, Nearness]]) -> list[tuple[Limb, Nearness, float]]:
    """Limbs by how near the message, or what it names behind its cue, is to them; of near equals the one left last."""
    found = [(limb, near, _both(near.score, _part(seen, limb.turns))) for limb, near in limbs]
    best = max(score for _, _, score in found) - _TIE
    return sorted(
        found, key=lambda each: (each[2] >= best, each[0].visited if each[2] >= best else 0, each[2]), reverse=True
    )


_TIE = 0.01
"""Scores that differ by less are the same."""


def _part(seen: _Sight, turns: Sequence[Turn]) -> float:
    return seen.measure.near(turns, seen.cues.topic).score if telling(seen.cues.topic) else 0.0


def _both(whole: float, part: float) -> float:
    """A message's nearness and that of what it names: the better of the two, the other one telling between equals."""
    return 0.8 * max(whole, part) + 0.2 * min(whole, part) if part else whole


def _stay(seen: _Sight, limb: Limb) -> float:
    """How near the message is to where one stands, beside a limb: of this topic's branches only what is their own counts."""
    near = seen.own if limb.topic == seen.grove.around.topic else seen.here
    turns = seen.grove.path[seen.grove.shared :] or seen.grove.path
    part = _part(seen, turns if limb.topic == seen.grove.around.topic else seen.grove.path)
    return _both(near.score, part)


_STRANGE = 0.33
"""How near by an encoder is no longer near: below two in three of what this dialogue has shown."""
_MEANT = 0.6
"""How near by an encoder is near: above the middle of what this dialogue has shown."""


def _sure(base: float, margin: float) -> float:
    return round(max(0.0, min(0.99, base + margin)), 2)


def _begun(seen: _Sight) -> Choice | None:
    """A beginning ("on another note"): a new topic, unless it is about one there is."""
    if not seen.cues.begins or seen.cues.returns:
        return None
    if seen.others:
        limb, near, score = _ranked(seen, seen.others)[0]
        if near.cover >= 0.3 and score > seen.here.score + 0.1:
            return Choice(
                "switch",
                to=limb.branch,
                confidence=_sure(0.65, score - seen.here.score),
                reason="turns to another topic",
            )
    if seen.here.cover >= 0.4 or (seen.here.cover >= 0.2 and seen.cues.points):
        return None
    return Choice(
        "new_topic",
        to=_name(seen.measure.message),
        confidence=_sure(0.85, -seen.here.cover),
        reason="says it begins something else",
    )


def _fronted(seen: _Sight) -> Choice | None:
    """What stands first ("for the lunch, …"): to the limb whose matter stands first in the message, where it is not the matter at hand."""
    named = telling(seen.cues.fronted)
    if not named or not seen.limbs or seen.cues.turns:
        return None
    found = [(limb, seen.measure.near(limb.turns, seen.cues.fronted)) for limb, _ in seen.limbs]
    limb, near = max(found, key=lambda each: (each[1].cover, _score_of(seen, each[0]), each[0].visited))
    turns = seen.grove.path[seen.grove.shared :] or seen.grove.path
    here = seen.measure.near(turns if limb.topic == seen.grove.around.topic else seen.grove.path, seen.cues.fronted)
    if near.cover >= 0.3 and near.cover > here.cover + 0.15:
        return Choice(
            "switch", to=limb.branch, confidence=_sure(0.6, near.cover - here.cover), reason="begins with its matter"
        )
    return None


def _score_of(seen: _Sight, limb: Limb) -> float:
    return next(near.score for each, near in seen.limbs if each is limb)


def _drawn(seen: _Sight) -> Choice | None:
    """A message that speaks of another limb's matter, with no cue at all."""
    lean = 0.15 * seen.cues.leans + 0.1 * seen.cues.every
    for limbs, least in ((seen.others, 0.12), (seen.siblings, 0.15)):
        if not limbs:
            continue
        limb, near, score = _ranked(seen, limbs)[0]
        stay = seen.own.score if limbs is not seen.others and limb.topic == seen.grove.around.topic else seen.here.score
        margin = score - stay - max(least, _usual(seen, limb)) - lean
        if margin > 0 and (near.cover >= 0.1 or (near.meant or 0.0) >= _MEANT) and score >= 0.2:
            return Choice(
                "switch", to=limb.branch, confidence=_sure(0.55, margin), reason="speaks of what stands there"
            )
    return _akin(seen)


def _akin(seen: _Sight) -> Choice | None:
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


def _usual(seen: _Sight, limb: Limb) -> float:
    """How much nearer to a limb than to their own path the turns of this path were that went on: what lies above it means something."""
    path = seen.grove.path
    strays = sorted(
        seen.measure.near(limb.turns, path[at].said).score - seen.measure.near(path[:at], path[at].said).score
        for at in range(max(1, len(path) - _SAMPLE), len(path))
    )
    return strays[int(0.8 * (len(strays) - 1))] if len(strays) >= _ENOUGH else 0.0


_SAMPLE = 8
"""Turns a threshold is calibrated by, the newest."""
_ENOUGH = 4
"""Turns below which there is nothing to calibrate by."""


def _turned(seen: _Sight) -> Choice | None:
    """An alternative ("what if", "another option"): a fork at the turn it offers an alternative to. The source's filter holds for the softer cues."""
    path, near = seen.grove.path, seen.here
    if (
        not path
        or not (seen.cues.turns or seen.cues.soft)
        or seen.cues.every
        or (seen.cues.corrects and not seen.cues.turns)
    ):
        return None
    at = near.nearest if near.peak >= _spread(seen) else len(path) - 1
    if seen.cues.turns:
        sure = 0.75 - 0.2 * (seen.cues.leans and seen.cues.points)
        return Choice(
            "create", path[at].steps[-1], _name(seen.measure.message), _sure(sure, 0.0), "opens an alternative"
        )
    last = seen.measure.alike(seen.measure.message, path[-1])
    ancestor = at < len(path) - 1 and near.peak > 1.25 * last + 0.02 and near.peak >= 0.12
    if ancestor and not seen.cues.leans and "instead" in seen.measure.message.lower():
        return Choice(
            "create",
            path[at].steps[-1],
            _name(seen.measure.message),
            _sure(0.5, near.peak - last),
            "differs from an earlier turn",
        )
    return None


def _spread(seen: _Sight) -> float:
    """How alike the turns of this path are to one another: what lies above it is a likeness, for this dialogue and this measure."""
    path = seen.grove.path[-_SAMPLE:]
    found = sorted(
        seen.measure.alike(one.said, other) for at, one in enumerate(path) for other in path[:at] if one.said
    )
    return found[len(found) // 2] if found else 0.0


def _strange(seen: _Sight) -> Choice | None:
    """A request that stands by itself and shares nothing with anything said: a new topic."""
    asked = telling(seen.measure.message)
    weight = sum(1.0 if word.isascii() else 0.4 for word in asked)
    if seen.cues.leans or seen.cues.every or not seen.cues.opens or weight < 2 or not seen.grove.path:
        return None
    nearest = max([seen.here.cover, *(near.cover for _, near in seen.limbs)])
    kin = seen.here.kin
    if nearest > 0.15 or (seen.here.peak > 0.16 if seen.here.meant is None else seen.here.meant > _MEANT):
        return None
    to = _name(seen.measure.message)
    if (
        seen.here.meant is not None
        and max([seen.here.meant, *(near.meant or 0.0 for _, near in seen.limbs)]) < _STRANGE
    ):
        return Choice("new_topic", to=to, confidence=0.65, reason="means something else than all before")
    if kin is not None and kin <= 0.3 and weight >= 2.5:
        sure = _sure(0.7 - 0.15 * seen.cues.points, 0.2 - nearest - kin / 2)
        return Choice("new_topic", to=to, confidence=sure, reason="another matter")
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


_NAME_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{2,19}")


def _name(message: str) -> str | None:
    """A name made of a message's first telling words; None where it has none in Latin letters."""
    found = dict.fromkeys(word.lower() for word in _NAME_WORD.findall(message) if telling(word))
    return "-".join(list(found)[:3]) or None
