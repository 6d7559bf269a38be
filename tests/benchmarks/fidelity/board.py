"""Replays recorded sessions under several policies at once and adds up what each of them kept and cost. It prints nothing."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ctxfold.tokens import count
from tests.benchmarks.fidelity.measure import Asked, asked_by, holds, holds_bound
from tests.benchmarks.fidelity.policies import Policy, policy
from tests.benchmarks.fidelity.recordings import Heard, Recording

__all__ = ["Score", "Wish", "score"]

SEED = 7
"""Of the choice among sessions and calls, so that two runs choose alike."""
KEPT, NEW = 0.1, 1.25
"""Price of an input token that the prompt cache holds, and of one written into it, as shares of the plain price."""


@dataclass(frozen=True)
class Wish:
    """What is replayed.

    Attributes:
        sessions: at most so many sessions of a file, chosen at random.
        calls: at most so many calls of a session are scored; 0 for all. Only then does the cost mean something.
        explain: told of each value that a session's view lost or held loosely.
    """

    sessions: int = 1_000_000
    calls: int = 0
    explain: Callable[[str], None] | None = None


@dataclass
class Score:
    """What one policy kept and cost over one set; sums while it is filled.

    Attributes:
        spec: the policy.
        calls: calls scored.
        tokens: of all views together.
        full: of the full history at the same calls.
        values: values asked for.
        found: of these, in the view.
        bound: of these, in the view beside what they stood beside.
        far: values asked for that were last seen long before.
        far_found: of these, in the view.
        over: views above the session's budget.
        cost: input tokens by the cache's prices.
        full_cost: the same of the full history.
    """

    spec: str
    calls: int = 0
    tokens: int = 0
    full: int = 0
    values: int = 0
    found: int = 0
    bound: int = 0
    far: int = 0
    far_found: int = 0
    over: int = 0
    cost: float = 0.0
    full_cost: float = 0.0

    @property
    def budget(self) -> int | None:
        """What no view may exceed; None where the policy has no budget of its own."""
        kind, _, number = self.spec.partition(":")
        return int(number) if kind in ("session", "intent", "stepped", "routed") else None

    @property
    def mean_tokens(self) -> float:
        """Tokens of a view."""
        return self.tokens / max(1, self.calls)

    @property
    def mean_full(self) -> float:
        """Tokens of the full history at a call."""
        return self.full / max(1, self.calls)

    @property
    def recall(self) -> float:
        """Share of the values found."""
        return self.found / max(1, self.values)

    @property
    def bound_recall(self) -> float:
        """Share of the values found beside what they stood beside."""
        return self.bound / max(1, self.values)

    @property
    def far_recall(self) -> float:
        """Share of the far values found."""
        return self.far_found / max(1, self.far)

    @property
    def relative_cost(self) -> float:
        """Input cost with prompt caching, over that of the full history."""
        return self.cost / max(1e-9, self.full_cost)

    def grade(self, view: str, asked: Sequence[Asked], explain: Callable[[str], None] | None) -> None:
        """Look for what a call asks for in its view."""
        lowered = view.lower()
        for each in asked:
            found = holds(view, lowered, each.value)
            bound = found and holds_bound(view, lowered, each)
            self.values += 1
            self.found += found
            self.bound += bound
            self.far += each.far
            self.far_found += each.far and found
            if explain is not None and self.budget is not None and not bound:
                explain(f"{self.spec} {'holds loosely' if found else 'lost'} {each.value!r}")


class _Run:
    """One policy over one session.

    Args:
        made: the policy.
        score: where its figures are added.
        system: tokens of the system prompt.
    """

    def __init__(self, made: Policy, score: Score, system: int) -> None:
        self.policy = made
        self._score = score
        self._system = system
        self._before = ""
        self._full_before = 0

    def call(self, full: int, asked: Sequence[Asked], explain: Callable[[str], None] | None) -> None:
        """Score one call; `full` is the size of the full history in tokens."""
        score, view = self._score, self.policy.view()
        tokens = count(view)
        score.calls += 1
        score.tokens += tokens
        score.full += full
        score.over += score.budget is not None and tokens > score.budget
        cached = count(_shared(self._before, view)) + (self._system if self._before else 0)
        score.cost += KEPT * cached + NEW * (self._system + tokens - cached)
        cached = self._system + self._full_before if self._full_before else 0
        score.full_cost += KEPT * cached + NEW * (self._system + full - cached)
        self._before, self._full_before = view, full
        score.grade(view, asked, explain)


def score(recordings: Sequence[Recording], specs: Sequence[str], wish: Wish) -> list[Score]:
    """Replay sessions under policies.

    Args:
        recordings: the sessions of a set.
        specs: the policies.
        wish: how much of them.

    Returns:
        A score for each policy, in their order.
    """
    chance = random.Random(SEED)
    chosen = chance.sample(list(recordings), wish.sessions) if wish.sessions < len(recordings) else list(recordings)
    scores = [Score(spec) for spec in specs]
    for recording in chosen:
        places = recording.calling
        scored = set(chance.sample(places, wish.calls) if wish.calls and len(places) > wish.calls else places)
        _replay(recording, scored, scores, wish.explain)
    return scores


def _replay(
    recording: Recording, scored: set[int], scores: Sequence[Score], explain: Callable[[str], None] | None
) -> None:
    system = count(recording.system)
    runs = [_Run(policy(each.spec)(), each, system) for each in scores]
    past: list[tuple[int, Heard]] = []
    step = full = 0
    for at, event in enumerate(recording.events):
        step += event.role == "assistant"
        if at in scored:
            asked = [need for call in event.calls for need in asked_by(call, recording.system, past, step)]
            for run in runs:
                run.call(full, asked, _placed(explain, f"{recording.id}, event {at}"))
        for run in runs:
            run.policy.add(event)
        past.append((step, event))
        full += count(event.body)
    for run in runs:
        run.policy.close()


def _placed(explain: Callable[[str], None] | None, place: str) -> Callable[[str], None] | None:
    return None if explain is None else lambda said: explain(f"{said}: {place}")


def _shared(one: str, two: str) -> str:
    """The text both start with."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == two[low:middle]:
            low = middle
        else:
            high = middle - 1
    return one[:low]
