"""What a message says outright of its place: by number, by name, by words of return, of beginning, of an alternative. Each rule gives a move or nothing.

Source: explicit cues outrank similarity in Context-Agent's reading; similarity says what they point at.
"""

from __future__ import annotations

import re

from ctxfold.discourse.likeness import telling
from ctxfold.discourse.sight import Sight, freshest, name_of, ranked, spread, stay, sure
from ctxfold.discourse.values import Choice, Limb
from ctxfold.text import words

__all__ = ["begun", "counted", "fronted", "named", "returned", "turned"]


def counted(seen: Sight) -> Choice | None:
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


def named(seen: Sight) -> Choice | None:
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
                target = freshest([other for other in seen.grove.around.limbs if name in (other.branch, other.topic)])
                return Choice("switch", to=target.branch, confidence=0.9, reason=f"names {name}")
    return None


def returned(seen: Sight) -> Choice | None:
    """A return ("back to the hotel"): to the limb that is about what is named, or to what was left last where nothing is."""
    if not seen.cues.returns or not seen.limbs:
        return None
    asked = telling(seen.cues.topic)
    near = ranked(seen, seen.limbs)
    limb, _, score = near[0]
    here = stay(seen, limb)
    if score >= 0.12 and score > here - 0.02:
        return Choice("switch", to=limb.branch, confidence=sure(0.7, score - here), reason="returns to what it names")
    if score < 0.12 and here < 0.12:
        kin = [(each, about.kin) for each, about, _ in near if about.kin is not None and about.kin > 0.45]
        if kin and (seen.here.kin or 0.0) < 0.3:
            target = max(kin, key=lambda pair: (pair[1] or 0.0, pair[0].visited))[0]
            return Choice("switch", to=target.branch, confidence=0.65, reason="returns to a matter of that kind")
        if len(asked) <= 2 or len(seen.limbs) == 1:
            target = freshest([limb for limb, _ in seen.limbs])
            return Choice("switch", to=target.branch, confidence=0.6, reason="returns to what was left last")
    return None


def begun(seen: Sight) -> Choice | None:
    """A beginning ("on another note"): a new topic, unless it is about one there is."""
    if not seen.cues.begins or seen.cues.returns:
        return None
    if seen.others:
        limb, near, score = ranked(seen, seen.others)[0]
        if near.cover >= 0.3 and score > seen.here.score + 0.1:
            return Choice(
                "switch",
                to=limb.branch,
                confidence=sure(0.65, score - seen.here.score),
                reason="turns to another topic",
            )
    if seen.here.cover >= 0.4 or (seen.here.cover >= 0.2 and seen.cues.points):
        return None
    return Choice(
        "new_topic",
        to=name_of(seen.measure.message),
        confidence=sure(0.85, -seen.here.cover),
        reason="says it begins something else",
    )


def fronted(seen: Sight) -> Choice | None:
    """What stands first ("for the lunch, …"): to the limb whose matter stands first in the message, where it is not the matter at hand."""
    if not telling(seen.cues.fronted) or not seen.limbs or seen.cues.turns:
        return None
    found = [(limb, seen.measure.near(limb.turns, seen.cues.fronted)) for limb, _ in seen.limbs]
    limb, near = max(found, key=lambda each: (each[1].cover, _score_of(seen, each[0]), each[0].visited))
    turns = seen.grove.path[seen.grove.shared :] or seen.grove.path
    here = seen.measure.near(turns if limb.topic == seen.grove.around.topic else seen.grove.path, seen.cues.fronted)
    if near.cover >= 0.3 and near.cover > here.cover + 0.15:
        return Choice(
            "switch", to=limb.branch, confidence=sure(0.6, near.cover - here.cover), reason="begins with its matter"
        )
    return None


def _score_of(seen: Sight, limb: Limb) -> float:
    return next(near.score for each, near in seen.limbs if each is limb)


def turned(seen: Sight) -> Choice | None:
    """An alternative ("what if", "another option"): a fork at the turn it offers an alternative to. The source's filter holds for the softer cues."""
    path, near = seen.grove.path, seen.here
    if (
        not path
        or not (seen.cues.turns or seen.cues.soft)
        or seen.cues.every
        or (seen.cues.corrects and not seen.cues.turns)
    ):
        return None
    at = near.nearest if near.peak >= spread(seen) else len(path) - 1
    if seen.cues.turns:
        base = 0.75 - 0.2 * (seen.cues.leans and seen.cues.points)
        return Choice(
            "create", path[at].steps[-1], name_of(seen.measure.message), sure(base, 0.0), "opens an alternative"
        )
    last = seen.measure.alike(seen.measure.message, path[-1])
    ancestor = at < len(path) - 1 and near.peak > 1.25 * last + 0.02 and near.peak >= 0.12
    if ancestor and not seen.cues.leans and seen.cues.instead:
        return Choice(
            "create",
            path[at].steps[-1],
            name_of(seen.measure.message),
            sure(0.5, near.peak - last),
            "differs from an earlier turn",
        )
    return None
