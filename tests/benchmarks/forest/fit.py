"""Fits the weights of the embedded mover to the labelled dialogues, and says how well it does on dialogues it was not fitted to.

    python -m tests.benchmarks.forest.fit [--encoder FOLDER] [--left-out] [--write]     (needs the extra `embed`)

The model is McFadden's conditional logit (1974) over the places of each message, with a quadratic penalty, fitted by gradient descent. Each message is
seen as the labels grew the forest before it. `--left-out` fits ten times, each time without a tenth of the dialogues, and prints how that fares on
those, at several levels of doubt; `--write` replaces the weights that ship. Dialogues held out are never read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import ctxfold.discourse.choose as mover
from ctxfold.discourse import Choice
from ctxfold.discourse.likeness import Encoder
from ctxfold.discourse.sight import look
from ctxfold.discourse.signs import Place, places
from ctxfold.encoder import encoder_of
from tests.benchmarks.forest.dialogues import Manner, Set, dialogues
from tests.benchmarks.forest.woods import told

PENALTY = 0.5
ROUNDS = 600
FOLDS = 10
RATE = 0.08


@dataclass(frozen=True)
class Example:
    """A message's places, and which of them is right."""

    which: Set
    dialogue: str
    words: str
    places: tuple[Place, ...]
    right: int


def examples(encoder: Encoder | None) -> list[Example]:
    """The messages of the dialogues that may be worked with, with talkative, empty and straying replies."""
    found = []
    sets: tuple[Set, ...] = ("work", "other", "fresh", "terse")
    manners: tuple[Manner, ...] = get_args(Manner)
    for which, dialogue in ((name, each) for name in sets for each in dialogues(name)):
        for manner in manners:
            for wood, turn, right in told(dialogue, manner):
                grove = wood.grove()
                seen = tuple(places(look(grove, turn.words, encoder))) if grove.path or not grove.around.empty else ()
                at = next((at for at, place in enumerate(seen) if _same(place.choice, right)), None)
                if at is not None:
                    found.append(Example(which, dialogue.name, turn.words, seen, at))
    return found


def _same(one: Choice, other: Choice) -> bool:
    return one.action == other.action and (one.action != "switch" or one.to == other.to)


def fit(seen: Sequence[Example]) -> dict[str, float]:
    """Weights under which the right places are likely, as small as that allows."""
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
        slope = PENALTY * weights + ((given - right).reshape(-1) @ flat) / len(get_args(Manner))
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
        given = mover.shares(example.places, weights)
        best = max(range(1, len(given)), key=lambda at: given[at])
        at = best if given[best] >= doubt * (given[best] + given[0]) else 0
        attached += at == example.right
        moves += example.right > 0
        found += example.right > 0 and at > 0
        false += example.right == 0 and at > 0
    return attached, moves, found, false


def _line(name: str, n: int, counts: tuple[int, int, int, int]) -> str:
    attached, moves, found, false = counts
    return f"{name:<18} turns {n:>4}  attach {attached / n:.3f}  moves found {found / max(1, moves):.3f}  false {false / n:.3f}"


def _left_out(seen: Sequence[Example]) -> None:
    """Cross-validation by dialogue: how messages fare under weights that were fitted to other dialogues."""
    names = list(dict.fromkeys((example.which, example.dialogue) for example in seen))
    folds = []
    for at in range(FOLDS):
        out = set(names[at::FOLDS])
        rest = [example for example in seen if (example.which, example.dialogue) not in out]
        folds.append(([example for example in seen if (example.which, example.dialogue) in out], fit(rest)))
    for doubt in (0.5, 0.45, 0.4, 0.35, 0.3):
        counts = [fares(own, weights, doubt) for own, weights in folds]
        total = tuple(map(sum, zip(*counts, strict=True)))
        print(_line(f"left out, {doubt}", len(seen), (total[0], total[1], total[2], total[3])))


def main() -> int:
    """Fit, report, and where it is asked for write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--encoder", metavar="FOLDER")
    options.add_argument("--left-out", action="store_true")
    options.add_argument("--write", action="store_true")
    chosen = options.parse_args()
    seen = examples(encoder_of(chosen.encoder))
    weights = fit(seen)
    print(_line("fitted to", len(seen), fares(seen, weights)))
    if chosen.left_out:
        _left_out(seen)
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
