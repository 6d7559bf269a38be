"""Labelled dialogues that wander: read from text files, replayed through a session's public surface.

A line is `label needs=… | words`. A label is a topic, `topic:branch` for a branch of it; `<n` says after which turn a new branch leaves. `needs`
are the turns whose words the answer depends on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

FOLDER = Path(__file__).parent

Event = Literal["continue", "switch", "fork", "new_topic"]


@dataclass(frozen=True)
class Turn:
    """A message of the user, where it belongs, what it does, which turns it needs (from 0), and after which a fork leaves (from 1)."""

    words: str
    label: str
    event: Event
    needs: tuple[int, ...]
    after: int = 0

    @property
    def topic(self) -> str:
        """Its topic's label."""
        return self.label.partition(":")[0]


@dataclass(frozen=True)
class Dialogue:
    """A dialogue by name."""

    name: str
    turns: tuple[Turn, ...]


def read(path: Path) -> Dialogue:
    """A dialogue from its file."""
    turns: list[Turn] = []
    seen: list[str] = []
    for line in path.read_text("utf-8").splitlines()[1:]:
        head, _, words = line.partition(" | ")
        label, *rest = head.split()
        label, _, after = label.partition("<")
        before = turns[-1].label if turns else label
        event: Event = (
            "continue" if label == before else "switch" if label in seen else "fork" if ":" in label else "new_topic"
        )
        needs = tuple(int(n) - 1 for part in rest for n in part.removeprefix("needs=").split(","))
        seen.append(label)
        turns.append(Turn(words.strip(), label, event, needs, int(after or 0)))
    return Dialogue(path.stem, tuple(turns))


Set = Literal["work", "other", "fresh", "terse", "scripted", "held", "fresh-check", "terse-check", "scripted-check"]


def dialogues(which: Set) -> list[Dialogue]:
    """A set of dialogues: `work`, `fresh`, `terse` and `scripted` the decider was worked on with, `other` has other domains and manners, `scripted` reads
    as the author of a benchmark writes; `held` and those that end in `-check` were held out.
    """
    if which not in ("work", "held"):
        return [read(path) for path in sorted((FOLDER / which).glob("*.txt"))]
    return [
        read(path)
        for path in sorted((FOLDER / "dialogues").glob("*.txt"))
        if ("held" in path.stem) == (which == "held")
    ]


_FILLER = (
    "There is a bit more to weigh here than it seems at first sight. In most cases the simple way holds up well, and you can refine it once the rest is clear. "
    "Keep an eye on the details that are hard to change afterwards, and settle those before the others. If something does not fit, say so and we adjust it. "
)


Manner = Literal["echo", "filler", "stray"]


def reply(turn: Turn, at: int, tokens: int, manner: Manner) -> str:
    """A modelled reply about as long as a model's: what was asked, restated with values of its own, then talk; with `stray`, one that brushes much else."""
    chance = random.Random(f"{turn.words}{at}")
    words = _long_words(turn.words)
    pieces = (
        [f"On your question about {' '.join(words[:6])}, here is what I would do."]
        if manner == "echo"
        else ["Sure, here is what I would do."]
    )
    length = 0
    while length < tokens * 4.6:
        if manner == "stray":
            drawn = [chance.choice(words if words and chance.random() < 0.25 else _strays()) for _ in range(9)]
            pieces.append(f"{' '.join(drawn).capitalize()}.")
        elif manner == "echo" and words and chance.random() < 0.4:
            pieces.append(
                f"{chance.choice(words).capitalize()}: count on about {chance.randint(12, 990)} here, and check it once more."
            )
        else:
            pieces.append(_FILLER)
        length = sum(map(len, pieces))
    return " ".join(pieces)


def _long_words(text: str) -> list[str]:
    return [word.strip(".,:;?!") for word in text.split() if len(word) > 3]


@cache
def _strays() -> list[str]:
    """Words of every dialogue that may be worked with: what a long answer may brush."""
    worked: tuple[Set, ...] = ("work", "other", "fresh", "terse", "scripted")
    return [
        word for which in worked for each in dialogues(which) for turn in each.turns for word in _long_words(turn.words)
    ]


def numbers(words: str) -> Iterator[str]:
    """Every number of a message."""
    digits = ""
    for char in f"{words} ":
        if char.isdigit() or (digits and char in ".,"):
            digits += char
        elif digits:
            yield digits.strip(".,")
            digits = ""
