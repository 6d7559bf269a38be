"""Fits the weights of the embedded mover to the labelled dialogues, and says how well it does on dialogues it was not fitted to.

    python -m tests.benchmarks.forest.fit [--encoder FOLDER] [--left-out] [--write] [--manner M]…     (needs the extra `embed`)

The model is McFadden's conditional logit (1974) over the places of each message, with a quadratic penalty, fitted by gradient descent. Each message is
seen twice: as the labels grew the forest before it, and as the decider's own choices did under weights that never saw the dialogue, so that it learns to
come back from its mistakes. `--left-out` prints how messages fare under weights fitted without their dialogue, in both kinds of forest; `--write` replaces
the weights that ship. Dialogues held out are never read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import ctxfold.decisions.branch.choose as mover
from ctxfold.decisions.branch.likeness import Encoder
from ctxfold.decisions.branch.sight import look
from ctxfold.decisions.branch.signs import Place, places
from ctxfold.text.encoder import encoder_of
from ctxfold.workspace.forest import Choice, Grove
from tests.benchmarks.forest.dialogues import Dialogue, Manner, Set, dialogues
from tests.benchmarks.forest.woods import Decider, grown, told

PENALTY = 0.3
ROUNDS = 300
FOLDS = 5
RATE = 0.08


@dataclass(frozen=True)
class Example:
    """A message's places, and which of them is right."""

    which: Set
    dialogue: str
    words: str
    places: tuple[Place, ...]
    right: int


FITTED: tuple[Set, ...] = ("work", "other", "fresh", "terse", "scripted")
"""The sets that may be worked with."""


def examples(encoder: Encoder | None, manners: Sequence[Manner]) -> list[Example]:
    """The messages of the dialogues that may be worked with, in forests that the labels grew.

    Args:
        encoder: adds its sense of meaning.
        manners: of the replies.
    """
    return [
        example
        for which, dialogue in _dialogues()
        for manner in manners
        for wood, turn, right in told(dialogue, manner)
        if (example := _example(which, dialogue, turn.words, _seen(wood.grove(), turn.words, encoder), right))
    ]


def stumbled(
    encoder: Encoder | None, manners: Sequence[Manner], which: Set, dialogue: Dialogue, weights: Mapping[str, float]
) -> list[Example]:
    """The messages of a dialogue in the forests that the decider grows with some weights, its mistakes standing."""
    found = []

    def decide(grove: Grove, words: str) -> Choice:
        seen = _seen(grove, words, encoder)
        return seen[_picked(seen, weights, mover.DOUBT)].choice if seen else Choice("continue")

    decider: Decider = decide
    for manner in manners:
        for wood, turn, right in grown(dialogue, manner, decider):
            example = _example(which, dialogue, turn.words, _seen(wood.grove(), turn.words, encoder), right)
            found += [example] if example else []
    return found


def _dialogues() -> list[tuple[Set, Dialogue]]:
    return [(which, dialogue) for which in FITTED for dialogue in dialogues(which)]


def _seen(grove: Grove, words: str, encoder: Encoder | None) -> tuple[Place, ...]:
    """The places of a message; none for the first of all."""
    return tuple(places(look(grove, words, encoder))) if grove.path or not grove.around.empty else ()


def _example(which: Set, dialogue: Dialogue, words: str, seen: tuple[Place, ...], right: Choice) -> Example | None:
    at = next((at for at, place in enumerate(seen) if _same(place.choice, right)), None)
    return None if at is None else Example(which, dialogue.name, words, seen, at)


def _same(one: Choice, other: Choice) -> bool:
    return one.action == other.action and (one.action != "switch" or one.to == other.to)


def fit(seen: Sequence[Example], per: int = 1) -> dict[str, float]:
    """Weights under which the right places are likely, as small as that allows.

    Args:
        seen: the messages.
        per: how often each was seen, with replies of several manners.
    """
    import numpy as np

    names = sorted(
        {name for example in seen for place in example.places for name, value in place.signs.items() if value}
    )
    column = {name: at for at, name in enumerate(names)}
    most = max(len(example.places) for example in seen)
    signs = np.zeros((len(seen), most, len(names)))
    there = np.full((len(seen), most), -1e9)
    right = np.zeros((len(seen), most))
    for row, example in enumerate(seen):
        right[row, example.right] = 1.0
        for at, place in enumerate(example.places):
            there[row, at] = 0.0
            for name, value in place.signs.items():
                if value:
                    signs[row, at, column[name]] = value
    flat = signs.reshape(-1, len(names))
    weights, pull, swing = np.zeros(len(names)), np.zeros(len(names)), np.zeros(len(names))
    for turn in range(1, ROUNDS + 1):
        told = (flat @ weights).reshape(right.shape) + there
        given = np.exp(told - told.max(axis=1, keepdims=True))
        given /= given.sum(axis=1, keepdims=True)
        slope = PENALTY * weights + ((given - right).reshape(-1) @ flat) / per
        pull, swing = 0.9 * pull + 0.1 * slope, 0.99 * swing + 0.01 * slope**2
        rate = RATE * (1 if turn < 0.75 * ROUNDS else 0.3)
        weights = weights - rate * (pull / (1 - 0.9**turn)) / (np.sqrt(swing / (1 - 0.99**turn)) + 1e-8)
    return {name: float(weights[column[name]]) for name in names}


def fares(
    seen: Sequence[Example], weights: Mapping[str, float], doubt: float = mover.DOUBT
) -> tuple[int, int, int, int]:
    """Of messages: how many were attached, moves there were, moves found, moves that were none."""
    attached = moves = found = false = 0
    for example in seen:
        at = _picked(example.places, weights, doubt)
        attached += at == example.right
        moves += example.right > 0
        found += example.right > 0 and at > 0
        false += example.right == 0 and at > 0
    return attached, moves, found, false


def _picked(seen: Sequence[Place], weights: Mapping[str, float], doubt: float) -> int:
    """The place that is taken: the likeliest, unless going on is likelier still."""
    given = mover.shares(seen, weights)
    best = max(range(1, len(given)), key=lambda at: given[at], default=0)
    return best if best and given[best] >= doubt * (given[best] + given[0]) else 0


def _line(name: str, n: int, counts: tuple[int, int, int, int]) -> str:
    attached, moves, found, false = counts
    return f"{name:<18} turns {n:>4}  attach {attached / n:.3f}  moves found {found / max(1, moves):.3f}  false {false / n:.3f}"


@dataclass(frozen=True)
class Fold:
    """Dialogues that were left out: their messages in both kinds of forest."""

    told: list[Example]
    stumbled: list[Example]


def folds(seen: Sequence[Example], encoder: Encoder | None, manners: Sequence[Manner]) -> list[Fold]:
    """The dialogues in parts, each with the forests that weights grow which were fitted to the other parts."""
    every = _dialogues()
    found = []
    for at in range(FOLDS):
        out = {(which, dialogue.name): (which, dialogue) for which, dialogue in every[at::FOLDS]}
        weights = fit([each for each in seen if (each.which, each.dialogue) not in out], len(manners))
        found.append(
            Fold(
                [each for each in seen if (each.which, each.dialogue) in out],
                [each for pair in out.values() for each in stumbled(encoder, manners, *pair, weights)],
            )
        )
    return found


def _left_out(parts: Sequence[Fold], per: int) -> None:
    """How messages fare under weights that were fitted to the other parts."""
    fitted = [
        fit([each for other in parts if other is not part for each in (*other.told, *other.stumbled)], per)
        for part in parts
    ]
    for doubt in (0.5, 0.45, 0.4):
        for kind in ("told", "stumbled"):
            counts = [fares(getattr(part, kind), own, doubt) for part, own in zip(parts, fitted, strict=True)]
            total = tuple(map(sum, zip(*counts, strict=True)))
            n = sum(len(getattr(part, kind)) for part in parts)
            print(_line(f"{kind}, {doubt}", n, (total[0], total[1], total[2], total[3])))


def main() -> int:
    """Fit, report, and where it is asked for write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--encoder", metavar="FOLDER")
    options.add_argument("--left-out", action="store_true")
    options.add_argument("--write", action="store_true")
    options.add_argument("--manner", action="append", choices=get_args(Manner))
    chosen = options.parse_args()
    manners: tuple[Manner, ...] = tuple(chosen.manner or get_args(Manner))
    encoder = encoder_of(chosen.encoder)
    seen = examples(encoder, manners)
    parts = folds(seen, encoder, manners)
    weights = fit([*seen, *(each for part in parts for each in part.stumbled)], len(manners))
    print(_line("fitted to", len(seen), fares(seen, weights)))
    if chosen.left_out:
        _left_out(parts, len(manners))
    if chosen.write:
        path = Path(mover.__file__).with_name("weights.json")
        held = json.loads(path.read_text("utf-8")) if path.exists() else {}
        held["meaning" if chosen.encoder else "words"] = {
            name: round(value, 3) for name, value in sorted(weights.items())
        }
        path.write_text(json.dumps(held, indent=1, sort_keys=True) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
