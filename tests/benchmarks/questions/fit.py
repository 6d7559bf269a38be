"""Fits the explorer's weights and its confidence on the tuning questions, and says what they are worth on questions they were not fitted on.

    python -m tests.benchmarks.questions.fit --pages FOLDER [--keep FILE] [--only python] [--encoder FOLDER]

It asks every question of `tuning-*.json` on remembered pages (`--keep` holds what came of it, so that the next fit need not ask again), then

- fits the weights of `browser_agent.explorer.weights` by a conditional logit over the best passages of each answerable question, with a
  quadratic penalty on what a weight moves a score, and prints those that would change;
- fits the chance that the first passage is right (`browser_agent.explorer.confidence`) by logistic regression, and prints the constants;
- prints right / wrong / declined by threshold, each question ranked and judged by fits on the others: by tenths, by file and by site. Nothing that
  such a figure counts was seen by either fit, nor by the weights they begin with, which are none.

With an encoder it asks with it, and also fits what nearness in meaning is worth beside the words, each time on the same questions as the weights; the
confidence is then told from what the words say, from that, and from how near the first passage comes to each word of the question. Cases kept are
of one encoder or of none, and are fitted as they were asked.

It changes no file: what it prints is copied by whoever has judged it. The held questions are never read.
"""

from __future__ import annotations

import argparse
import pickle
import random
import re
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from pathlib import Path

import anyio

from browser_agent.deciders.explorer.confidence import grounds
from browser_agent.deciders.explorer.meaning import Encoder
from browser_agent.deciders.explorer.passages import Passage, Quoting
from browser_agent.deciders.explorer.ranking import MEANT, Found
from browser_agent.deciders.explorer.weights import Weights
from ctxfold.text.encoder import encoder_of
from tests.benchmarks.questions.judging import Question, load
from tests.benchmarks.questions.remembered import Remembered

HERE = Path(__file__).parent
PASSAGES = 40
"""Passages of a question that its ranking is fitted on."""
PULL, PENALTY = 8.0, 1.0
"""How strongly what a weight moves a score, and what a ground tells, is drawn to nothing."""
WORTHS = tuple(at / 4 for at in range(25))
"""What nearness in meaning may be worth."""
ROUNDS, PACE = 120, 0.4
TOO_LITTLE = 1e-3
SHARP = 2.7
"""How much a score tells. It only sets the scale that weights are printed in."""
THRESHOLDS = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65)

Vector = list[float]


@dataclass(frozen=True)
class Ranked:
    """One of a question's passages: where it stands, its signs by the names of their weights, and whether its quote holds the answer."""

    place: tuple[str, int]
    text: str
    signs: Mapping[str, float]
    found: Found
    right: bool


@dataclass(frozen=True)
class Case:
    """What came of one question: its best passages, and the share of its terms that no page seen holds."""

    file: str
    site: str
    answerable: bool
    passages: tuple[Ranked, ...]
    missing: float


@dataclass(frozen=True)
class Fitted:
    """What each sign is worth, by the names of their weights, and what nearness in meaning is worth where it was compared."""

    names: tuple[str, ...]
    weights: tuple[float, ...]
    worth: float

    def score(self, one: Ranked) -> float:
        """What speaks for a passage."""
        near = 0.0 if one.found.meant is None else self.worth * one.found.meant.whole
        return near + dot(self.weights, [one.signs[name] for name in self.names])


@dataclass(frozen=True)
class Judged:
    """What a ranking makes of a case: what its confidence is told from, and whether its first passage is right."""

    answerable: bool
    grounds: tuple[float, ...] | None
    right: bool


def case(file: str, site: str, question: Question, pages: Remembered) -> Case:
    """What the last question came to."""
    assert pages.explorer is not None
    library = pages.explorer.library
    quoting = Quoting(library.question, library.matcher, library.shares())

    def holds(passage: Passage) -> bool:
        said = [" ".join(text.split()) for text in (quoting.quote(passage), quoting.answer(passage))]
        return any(re.search(pattern, text, re.I) for pattern in question.patterns for text in said)

    passages = tuple(
        Ranked(
            (found.passage.place.url, found.passage.place.order), found.passage.text, signs, found, holds(found.passage)
        )
        for found, signs in library.signs(PASSAGES)
    )
    return Case(file, site, question.answerable, passages, library.missing())


async def cases(folder: Path, only: str, encoder: Encoder | None) -> list[Case]:
    """Ask all tuning questions."""
    found = []
    for file in sorted(HERE.glob("tuning-*.json")):
        questions = load(file)
        if only not in questions.site:
            continue
        async with Remembered(folder, f"http://{questions.site}.invalid", encoder) as pages:
            for question in questions.questions:
                await pages.ask(question.question, questions.start)
                found.append(case(file.name, questions.site, question, pages))
        print(f"{file.name}: {len(questions.questions)} asked", file=sys.stderr, flush=True)
    return found


# Ranking


def ranking(given: Sequence[Case], names: Sequence[str]) -> Fitted:
    """Weights under which the right passages of the cases are likeliest, none below zero; with an encoder what nearness is then worth beside them."""
    telling = [
        one for one in given if one.answerable and 0 < sum(two.right for two in one.passages) < len(one.passages)
    ]
    groups = [
        ([[one.signs[name] for name in names] for one in case.passages], [one.right for one in case.passages])
        for case in telling
    ]
    spread = [statistics.pvariance([row[at] for rows, _ in groups for row in rows]) for at in range(len(names))]
    pull = [PULL * SHARP**2 * one or 1.0 for one in spread]
    bend = list(pull)
    for rows, _ in groups:
        for at, column in enumerate(zip(*rows, strict=True)):
            bend[at] += SHARP**2 * statistics.pvariance(column)
    weights = [0.0] * len(names)
    for _ in range(ROUNDS):
        slope = [-strength * weight for strength, weight in zip(pull, weights, strict=True)]
        for rows, right in groups:
            add_slope(slope, weights, rows, right)
        weights = [
            max(0.0, weight + PACE * rise / most) for weight, rise, most in zip(weights, slope, bend, strict=True)
        ]
    return max(
        (Fitted(tuple(names), tuple(weights), worth) for worth in WORTHS), key=lambda one: likelihood(telling, one)
    )


def likelihood(given: Sequence[Case], fitted: Fitted) -> float:
    """How likely the right passages of the cases are, as a logarithm."""
    total = 0.0
    for case in given:
        chances = softmax([SHARP * fitted.score(one) for one in case.passages])
        total += log(sum(chance for chance, one in zip(chances, case.passages, strict=True) if one.right) + 1e-12)
    return total


def add_slope(slope: Vector, weights: Vector, rows: Sequence[Vector], right: Sequence[bool]) -> None:
    """Add what one question says of how the weights should change."""
    chances = softmax([SHARP * dot(weights, row) for row in rows])
    held = sum(chance for chance, is_right in zip(chances, right, strict=True) if is_right) or 1e-12
    for row, chance, is_right in zip(rows, chances, right, strict=True):
        pull = SHARP * ((chance / held if is_right else 0.0) - chance)
        if abs(pull) > TOO_LITTLE:
            for at, value in enumerate(row):
                slope[at] += pull * value


def judged(case: Case, fitted: Fitted) -> Judged:
    """What the explorer would make of a case under these weights: the best passage of each section, best first."""
    scored = sorted(((fitted.score(one), one) for one in case.passages), key=lambda pair: -pair[0])
    tops: dict[tuple[str, int], tuple[float, Ranked]] = {}
    for score, one in scored:
        tops.setdefault(one.place, (score, one))
    best = [replace(one.found, score=score) for score, one in tops.values()]
    told = grounds(best, case.missing) if best else None
    return Judged(case.answerable, told, bool(scored) and scored[0][1].right)


# Confidence


def chance(given: Sequence[Judged]) -> Vector:
    """Base and weights of the grounds under which what came of the cases is likeliest, by Newton's method."""
    rows = [([1.0, *one.grounds], float(one.right)) for one in given if one.grounds is not None]
    size = len(rows[0][0])
    weights = [0.0] * size
    for _ in range(30):
        slope = [-PENALTY * weight * (at > 0) for at, weight in enumerate(weights)]
        bend = [[PENALTY * (at == to and at > 0) for to in range(size)] for at in range(size)]
        for row, right in rows:
            likely = sigmoid(dot(weights, row))
            for at, value in enumerate(row):
                slope[at] += (right - likely) * value
                for to, other in enumerate(row):
                    bend[at][to] += likely * (1 - likely) * value * other
        weights = [weight + step for weight, step in zip(weights, solved(bend, slope), strict=True)]
    return weights


def frontier(given: Sequence[Case], names: Sequence[str], parts: Sequence[Sequence[int]]) -> None:
    """Print right, wrong and declined by threshold, each part ranked and judged by fits on the others."""
    seen: list[tuple[Judged, float]] = []
    for part in parts:
        aside = set(part)
        others = [one for at, one in enumerate(given) if at not in aside]
        fitted = ranking(others, names)
        telling = chance([judged(one, fitted) for one in others])
        for at in part:
            one = judged(given[at], fitted)
            seen.append((one, sigmoid(dot(telling, [1.0, *one.grounds])) if one.grounds is not None else 0.0))
    print(f"  a right passage first for {sum(one.right for one, _ in seen)}")
    for threshold in THRESHOLDS:
        count = {"right": 0, "wrong": 0, "declined": 0}
        for one, likely in seen:
            if one.answerable and likely >= threshold:
                count["right" if one.right else "wrong"] += 1
            count["declined"] += not one.answerable and likely < threshold
        print(f"  {threshold:.2f}: " + ", ".join(f"{number} {name}" for name, number in count.items()))


# Arithmetic


def dot(one: Sequence[float], two: Sequence[float]) -> float:
    """The sum of products."""
    return sum(left * right for left, right in zip(one, two, strict=True))


def sigmoid(value: float) -> float:
    """The logistic function."""
    return 1 / (1 + exp(-max(-30.0, min(30.0, value))))


def softmax(scores: Vector) -> Vector:
    """Shares that add up to 1."""
    most = max(scores)
    raised = [exp(score - most) for score in scores]
    return [value / sum(raised) for value in raised]


def solved(matrix: list[Vector], wanted: Vector) -> Vector:
    """The solution of a few linear equations, by elimination."""
    rows = [[*row, goal] for row, goal in zip(matrix, wanted, strict=True)]
    for at in range(len(rows)):
        pivot = max(range(at, len(rows)), key=lambda row: abs(rows[row][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [value / rows[at][at] for value in rows[at]]
        for other in range(len(rows)):
            if other != at:
                rows[other] = [mine - rows[other][at] * own for mine, own in zip(rows[other], rows[at], strict=True)]
    return [row[-1] for row in rows]


def main() -> int:
    """Ask or take what was kept, fit, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=Path, required=True, help="where pages are remembered")
    parser.add_argument("--keep", type=Path, help="what came of the questions: read where it is there, else written")
    parser.add_argument("--only", default="", help="one site")
    parser.add_argument("--encoder", help="the folder of a sentence encoder to ask with")
    asked = parser.parse_args()
    if asked.keep is not None and asked.keep.exists():
        given: list[Case] = pickle.loads(asked.keep.read_bytes())
    else:
        given = anyio.run(cases, asked.pages, asked.only, encoder_of(asked.encoder))
        if asked.keep is not None:
            asked.keep.write_bytes(pickle.dumps(given))
    show(given)
    return 0


def show(given: list[Case]) -> None:
    """Fit both, and print what they are and what they are worth."""
    names = sorted(given[0].passages[0].signs)
    weights = ranking(given, names)
    stand = Fitted(tuple(names), tuple(float(getattr(Weights(), name)) for name in names), MEANT)
    for name, old, new in zip(names, stand.weights, weights.weights, strict=True):
        if abs(old - new) >= 0.05:
            print(f"{name}: {old:.2f} -> {new:.2f}")
    if any(one.found.meant is not None for case in given for one in case.passages):
        print(f"nearness in meaning: {stand.worth:.2f} -> {weights.worth:.2f}")
    for label, fitted in (("as they stand", stand), ("fitted", weights)):
        made = [judged(one, fitted) for one in given]
        base, *rest = chance(made)
        print(f"weights {label}: a right passage first for {sum(one.right for one in made)}")
        print(f"  confidence: base {base:.2f}, " + ", ".join(f"{weight:.2f}" for weight in rest))
    count = f"{sum(one.answerable for one in given)} answerable, {sum(not one.answerable for one in given)} not"
    order = list(range(len(given)))
    random.Random(1).shuffle(order)
    tenths = [order[at::10] for at in range(10)]
    files = [[at for at, one in enumerate(given) if one.file == file] for file in sorted({one.file for one in given})]
    sites = [[at for at, one in enumerate(given) if one.site == site] for site in sorted({one.site for one in given})]
    for label, parts in (("tenths", tenths), ("files", files), ("sites", sites)):
        if len(parts) > 1:
            print(f"{count}; ranked and judged by fits on the other {label}:")
            frontier(given, names, parts)


if __name__ == "__main__":
    sys.exit(main())
