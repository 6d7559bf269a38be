"""Fits the weights of the embedded mover to the labelled dialogues, and says how well it does on dialogues it was not fitted to.

    python -m tests.benchmarks.forest.fit [--encoder FOLDER] [--left-out] [--write]

The model is McFadden's conditional logit (1974) over the places of each message, with a quadratic penalty, fitted by gradient descent. Each message is
seen as the labels grew the forest before it. `--left-out` fits once for each dialogue without it and prints how that fares on it; `--write`
replaces the weights that ship. Dialogues held out are never read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import get_args

import ctxfold.discourse.choose as mover
from ctxfold.discourse import Choice
from ctxfold.discourse.likeness import Encoder
from ctxfold.discourse.sight import look
from ctxfold.discourse.signs import Place, places
from ctxfold.encoder import encoder_of
from tests.benchmarks.forest.dialogues import Set, dialogues
from tests.benchmarks.forest.woods import Manner, told

PENALTY = 0.3
ROUNDS = 300
RATE = 0.08


@dataclass(frozen=True)
class Example:
    """A message's places, and which of them is right."""

    dialogue: str
    words: str
    places: tuple[Place, ...]
    right: int


def examples(encoder: Encoder | None) -> list[Example]:
    """The messages of the dialogues that may be worked with, with talkative and with empty replies."""
    found = []
    sets: tuple[Set, ...] = ("work", "other", "fresh")
    manners: tuple[Manner, ...] = get_args(Manner)
    for dialogue in (each for which in sets for each in dialogues(which)):
        for manner in manners:
            for wood, turn, right in told(dialogue, manner):
                grove = wood.grove()
                seen = tuple(places(look(grove, turn.words, encoder))) if grove.path or not grove.around.empty else ()
                at = next((at for at, place in enumerate(seen) if _same(place.choice, right)), None)
                if at is not None:
                    found.append(Example(dialogue.name, turn.words, seen, at))
    return found


def _same(one: Choice, other: Choice) -> bool:
    return one.action == other.action and (one.action != "switch" or one.to == other.to)


def fit(seen: Sequence[Example]) -> dict[str, float]:
    """Weights under which the right places are likely, as small as that allows."""
    names = sorted(
        {name for example in seen for place in example.places for name, value in place.signs.items() if value}
    )
    weights, pull, swing = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    for turn in range(1, ROUNDS + 1):
        slope = {name: PENALTY * weights[name] for name in names}
        for example in seen:
            given = mover.shares(example.places, weights)
            for at, place in enumerate(example.places):
                error = (given[at] - (at == example.right)) / len(get_args(Manner))
                for name, value in place.signs.items():
                    if value:
                        slope[name] += error * value
        for name in names:
            pull[name] = 0.9 * pull[name] + 0.1 * slope[name]
            swing[name] = 0.99 * swing[name] + 0.01 * slope[name] ** 2
            rate = RATE * (1 if turn < 0.75 * ROUNDS else 0.3)
            weights[name] -= rate * (pull[name] / (1 - 0.9**turn)) / (sqrt(swing[name] / (1 - 0.99**turn)) + 1e-8)
    return weights


def fares(seen: Sequence[Example], weights: Mapping[str, float]) -> tuple[int, int, int, int]:
    """Of messages: how many were attached, moves there were, moves found, moves that were none."""
    attached = moves = found = false = 0
    for example in seen:
        given = mover.shares(example.places, weights)
        best = max(range(1, len(given)), key=lambda at: given[at])
        at = best if given[best] >= given[0] else 0
        attached += at == example.right
        moves += example.right > 0
        found += example.right > 0 and at > 0
        false += example.right == 0 and at > 0
    return attached, moves, found, false


def _line(name: str, n: int, counts: tuple[int, int, int, int]) -> str:
    attached, moves, found, false = counts
    return f"{name:<18} turns {n:>4}  attach {attached / n:.3f}  moves found {found / max(1, moves):.3f}  false {false / n:.3f}"


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
        total = (0, 0, 0, 0)
        for name in dict.fromkeys(example.dialogue for example in seen):
            own = [example for example in seen if example.dialogue == name]
            counts = fares(own, fit([example for example in seen if example.dialogue != name]))
            total = (total[0] + counts[0], total[1] + counts[1], total[2] + counts[2], total[3] + counts[3])
            print(_line(f"  without {name}", len(own), counts), flush=True)
        print(_line("left out", len(seen), total))
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
