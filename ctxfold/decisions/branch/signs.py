"""What speaks for each place a message may belong to: signs between about -1 and 1, by name. It weighs none of them and decides nothing.

Source: Context-Agent's two questions, the same core object and dependence on it, and its cues; each becomes a sign beside the others, so that a
cue without its matter, or a matter without a cue, can still be outweighed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from statistics import median

from ctxfold.decisions.branch.likeness import telling
from ctxfold.decisions.branch.matter import covered, squashed
from ctxfold.decisions.branch.sight import Beside, Sight, name_of, spread, usual
from ctxfold.workspace.forest import Choice, Turn

__all__ = ["Place", "places"]


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere a message may belong.

    Attributes:
        choice: the move that leads there; its confidence and reason are not yet said.
        signs: what speaks for it, and how strongly.
    """

    choice: Choice
    signs: Mapping[str, float]


def places(seen: Sight) -> Iterator[Place]:
    """Every place there is: here, each limb, an alternative, a topic of its own; here first.

    Args:
        seen: the forest and the message.
    """
    yield Place(Choice("continue"), _here(seen))
    best = max((beside.near.score for beside in seen.limbs), default=0.0)
    meant = max((beside.near.meant for beside in seen.limbs), default=0.0)
    last = max((beside.limb.visited for beside in seen.limbs), default=0)
    spread = _held(seen)
    most = max((seen.matter.mass(beside.shared, spread) for beside in seen.limbs), default=0.0)
    latest = _latest(seen)
    for beside in seen.limbs:
        fresh = float(beside.limb.visited == last)
        rivals = [seen.shared, *(other.shared for other in seen.limbs if other is not beside)]
        dear = max([seen.here.meant, *(other.near.meant for other in seen.limbs if other is not beside)])
        newest = float(beside.limb.visited == latest[beside.limb.topic] and not beside.sibling)
        signs = {
            "there.over": _over(seen, beside.shared, rivals),
            "there.meant.over": beside.near.meant - dear if beside.near.meant else 0.0,
            "there.latest": newest,
            "there.latest.back": newest * seen.cues.returns,
            "there.best": float(best > 0 and beside.near.score >= best - 0.01),
            "there.fresh": fresh,
            "there.meant.best": float(meant > 0 and beside.near.meant >= meant - 0.01),
            "there.fresh.back": fresh * seen.cues.returns,
            "there.mass.best": squashed(3 * most) * (seen.matter.mass(beside.shared, spread) >= most - 0.01),
        }
        yield Place(Choice("switch", to=beside.limb.branch), signs | _there(seen, beside))
    name = name_of(seen.measure.message)
    if seen.grove.path:
        yield Place(Choice("create", at=_fork(seen), to=name), _aside(seen))
        yield Place(Choice("new_topic", to=name), _anew(seen))


def _latest(seen: Sight) -> Mapping[str, int]:
    """Of each topic beside the path, when one of its limbs was last stood on."""
    found: dict[str, int] = {}
    for beside in seen.limbs:
        found[beside.limb.topic] = max(found.get(beside.limb.topic, 0), beside.limb.visited)
    return found


def _over(seen: Sight, shared: Mapping[str, float], rivals: Sequence[Mapping[str, float]]) -> float:
    """How much of the message stands in one place and in no other."""
    most = {word: max((rival[word] for rival in rivals), default=0.0) for word in seen.matter.asked}
    return squashed(seen.matter.more(shared, most))


def _here(seen: Sight) -> dict[str, float]:
    """What speaks for going on."""
    cues, near = seen.cues, seen.here
    last = seen.measure.near(seen.grove.path[-1:])
    asked = telling(seen.measure.message)
    streak, matter, spread = _streak(seen), seen.matter, _held(seen)
    newest = matter.shared(seen.grove.path[-1:])
    others = [beside.shared for beside in seen.limbs]
    dear = max((beside.near.meant for beside in seen.limbs), default=0.0)
    return {
        "here.over": _over(seen, seen.shared, others) if others else 0.0,
        "here.over.kept": _over(seen, seen.kept, others) if others else 0.0,
        "here.opening": squashed(matter.mass(matter.shared(seen.owned[:1]))),
        "here.chooses": float(cues.chooses),
        "here.first.begins": float(streak == 1 and cues.begins),
        "here.first.returns": float(streak == 1 and cues.returns),
        "here.setup": float(cues.deictic),
        "here.meant.over": near.meant - dear if dear else 0.0,
        "here.number": squashed(matter.numbers(seen.grove.path)),
        "here.stranger": matter.stranger(seen.grove.path),
        "here.person": matter.person(seen.grove.path[-3:]),
        "here.mass": squashed(matter.mass(seen.shared, spread)),
        "here.mass.last": squashed(matter.mass(newest)),
        "here.mass.cover": covered(matter.mass(seen.shared), matter.total),
        "here.thin": exp(-matter.total),
        "here.leans": float(cues.leans),
        "here.points": float(cues.points),
        "here.corrects": float(cues.corrects),
        "here.short": max(0.0, 1 - len(asked) / 4),
        "here.cover": near.cover,
        "here.score": near.score,
        "here.last": last.cover,
        "here.kin": near.kin or 0.0,
        "here.first": float(streak == 1),
        "here.second": float(streak == 2),
        "here.asks": float(seen.measure.message.rstrip().endswith(("?", "？")) and len(asked) <= 4),
        "here.meant": near.meant,
        "here.meant.middle": near.middle,
        "here.meant.last": last.meant,
        "here.meant.rank": near.rank,
    }


def _there(seen: Sight, beside: Beside) -> dict[str, float]:
    """What speaks for a limb, against where one stands."""
    cues, near = seen.cues, beside.near
    turns, stay = (seen.owned, seen.own) if beside.sibling else (seen.grove.path, seen.here)
    gain = near.score - stay.score
    kind, matter = "other" if not beside.sibling else "sibling" if beside.limb.turns else "stem", seen.matter
    kept = seen.kept if beside.sibling else seen.shared
    return {
        f"there.{kind}.mass": squashed(matter.more(beside.shared, kept)),
        f"there.{kind}.lost": squashed(matter.more(kept, beside.shared)),
        "there.number": squashed(matter.numbers(beside.turns, turns)),
        "there.person": matter.person(beside.turns) - matter.person(turns),
        "there.mass.cover": covered(matter.mass(beside.shared) - matter.mass(kept), matter.total),
        "there.mass.two": float(matter.lone(beside.shared, kept) >= 2),
        f"there.{kind}": 1.0,
        f"there.{kind}.chooses": float(cues.chooses),
        f"there.{kind}.original": float(cues.original) * float(_oldest(seen, beside)),
        f"there.{kind}.opening": squashed(matter.more(matter.shared(beside.turns[:1]), kept)),
        "there.oldest": float(_oldest(seen, beside)),
        "there.setup": float(cues.deictic),
        f"there.{kind}.gain": gain,
        f"there.{kind}.back": float(cues.returns),
        "there.score": near.score,
        "there.cover": near.cover - stay.cover,
        "there.own": near.own,
        "there.clear": max(0.0, gain - max(0.0, usual(seen, beside.turns))),
        "there.back.part": _gain(seen, beside, turns, cues.topic) if cues.returns else 0.0,
        "there.front": _gain(seen, beside, turns, cues.fronted) if cues.fronted else 0.0,
        "there.back.meant": _meant(seen, beside, turns, cues.topic) if cues.returns else 0.0,
        "there.front.meant": _meant(seen, beside, turns, cues.fronted) if cues.fronted else 0.0,
        "there.kin": 0.0 if near.kin is None or stay.kin is None else near.kin - stay.kin,
        "there.begins": float(cues.begins),
        "there.leans": float(cues.leans),
        "there.turns": float(cues.turns),
        "there.every": float(cues.every),
        "there.last": seen.measure.near(beside.turns[-2:]).cover,
        f"there.{kind}.young": float(_streak(seen) <= 2),
        f"there.{kind}.asks": float(len(telling(seen.measure.message)) <= 2 and not cues.returns),
        "there.empty": float(not beside.limb.turns),
        "there.meant": near.meant - stay.meant,
        "there.meant.middle": near.middle - stay.middle,
        "there.meant.rank": near.rank - stay.rank,
        "there.meant.all": near.meant,
        "there.meant.last": seen.measure.near(beside.turns[-2:]).meant - seen.measure.near(seen.grove.path[-2:]).meant,
    }


def _gain(seen: Sight, beside: Beside, turns: Sequence[Turn], part: str) -> float:
    """How much nearer a part of the message is to a limb than to where one stands."""
    if not telling(part):
        return 0.0
    there, here = seen.measure.near(beside.turns, part), seen.measure.near(turns, part)
    return 0.5 * (there.score - here.score) + 0.5 * (there.cover - here.cover)


def _meant(seen: Sight, beside: Beside, turns: Sequence[Turn], part: str) -> float:
    """How much nearer the meaning of a part of the message is to a limb than to where one stands."""
    return seen.measure.near(beside.turns, part).meant - seen.measure.near(turns, part).meant


def _oldest(seen: Sight, beside: Beside) -> bool:
    """Whether a limb is the one its topic began with."""
    if not beside.sibling:
        return beside.limb.forked_at == 0
    return not beside.limb.turns or beside.limb.branch == seen.grove.branches[0]


def _aside(seen: Sight) -> dict[str, float]:
    """What speaks for an alternative."""
    cues = seen.cues
    return {
        "aside": 1.0,
        "aside.turns": float(cues.turns),
        "aside.mishap": float(cues.turns and cues.mishap),
        "aside.chooses": float(cues.chooses),
        "aside.soft": float(cues.soft and not cues.turns),
        "aside.instead": float(cues.instead),
        "aside.leans": float(cues.leans),
        "aside.points": float(cues.points),
        "aside.begins": float(cues.begins),
        "aside.returns": float(cues.returns),
        "aside.every": float(cues.every),
        "aside.corrects": float(cues.corrects and not cues.turns),
        "aside.turns.cover": seen.here.cover * cues.turns,
        "aside.known": max((beside.near.cover for beside in seen.limbs), default=0.0) * cues.turns,
        "aside.new": (1 - _known(seen)) * _weight(seen) * cues.turns,
        "aside.mass.new": _unknown(seen) * cues.turns,
        "aside.mass.here": squashed(seen.matter.mass(seen.shared)) * cues.turns,
        "aside.meant": seen.here.meant,
    }


def _anew(seen: Sight) -> dict[str, float]:
    """What speaks for a topic of its own."""
    cues, weight, known = seen.cues, _weight(seen), _known(seen)
    nears = [seen.here, *(beside.near for beside in seen.limbs)]
    kin = [near.kin for near in nears if near.kin is not None]
    lone = (1 - known) * weight * (not cues.leans)
    shared = max(seen.matter.mass(each) for each in (seen.shared, *(beside.shared for beside in seen.limbs)))
    return {
        "anew": 1.0,
        "anew.begins": float(cues.begins),
        "anew.stranger.person": seen.matter.stranger(
            [*seen.grove.path, *(turn for beside in seen.limbs for turn in beside.turns)]
        ),
        "anew.begins.young": float(cues.begins and len(seen.grove.path) <= 2),
        "anew.chooses": float(cues.chooses),
        "anew.setup": float(cues.deictic),
        "anew.opens": float(cues.opens),
        "anew.brings": float(cues.brings),
        "anew.also": float(cues.also),
        "anew.weight": weight,
        "anew.lone": lone,
        "anew.lone.opens": lone * cues.opens,
        "anew.lone.brings": lone * cues.brings,
        "anew.known": known,
        "anew.kin": max(kin, default=0.5),
        "anew.kin.here": 0.5 if seen.here.kin is None else seen.here.kin,
        "anew.stranger": float(bool(kin) and max(kin) < 0.3) * weight,
        "anew.leans": float(cues.leans),
        "anew.points": float(cues.points),
        "anew.returns": float(cues.returns),
        "anew.turns": float(cues.turns),
        "anew.every": float(cues.every),
        "anew.soft": float(cues.soft),
        "anew.long": _length(seen),
        "anew.here.last": seen.measure.near(seen.grove.path[-1:]).cover,
        "anew.young": float(len(seen.grove.path) <= 2),
        "anew.mass": _unknown(seen),
        "anew.mass.known": squashed(shared),
        "anew.mass.cover": covered(shared, seen.matter.total),
        "anew.mass.lone": _unknown(seen) * exp(-2 * shared) * (not cues.leans),
        "anew.meant": max(near.meant for near in nears),
        "anew.meant.middle": max(near.middle for near in nears),
        "anew.meant.rank": max(near.rank for near in nears),
        "anew.meant.here": seen.here.meant,
    }


def _streak(seen: Sight) -> int:
    """Turns said here since one last stood elsewhere."""
    left = max((turn.steps[-1] for beside in seen.limbs for turn in beside.limb.turns), default=0)
    return sum(turn.steps[0] > left for turn in seen.grove.path) if left else len(seen.grove.path)


def _known(seen: Sight) -> float:
    """The share of the message's telling words that stand anywhere."""
    return max([seen.here.cover, *(beside.near.cover for beside in seen.limbs)])


def _held(seen: Sight) -> Mapping[str, float]:
    """By what each of the message's words is divided for standing in several places."""
    own = seen.kept if any(beside.sibling for beside in seen.limbs) else seen.shared
    return seen.matter.spread([own, *(beside.shared for beside in seen.limbs)])


def _unknown(seen: Sight) -> float:
    """How much the message brings that stands nowhere, from 0 to 1."""
    held = [seen.shared, *(beside.shared for beside in seen.limbs)]
    new = sum(weight * (1 - max(each[word] for each in held)) for word, weight in seen.matter.asked.items())
    return squashed(new / 2)


def _weight(seen: Sight) -> float:
    """How much the message tells, from 0 to 1; a pair of characters of an unspaced script tells less than a word."""
    told = sum(1.0 if word.isascii() or len(word) > 2 else 0.4 for word in telling(seen.measure.message))
    return min(1.0, told / 6)


def _length(seen: Sight) -> float:
    """How much longer the message is than those before it on the path: who begins something explains it."""
    before = median(len(turn.said) for turn in seen.grove.path[-6:])
    return max(-1.0, min(1.0, len(seen.measure.message) / max(before, 1.0) - 1))


def _fork(seen: Sight) -> int:
    """The step an alternative leaves after: the turn it is nearest to, where it is nearer than turns are to one another; else the last."""
    near, path = seen.here, seen.grove.path
    at = near.nearest if near.peak >= spread(seen) else len(path) - 1
    return path[at].steps[-1]
