"""Replays recorded sessions under several policies at once and adds up what each kept and cost."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctxfold.tokens import count
from tests.benchmarks.fidelity.measure import Asked, find_asked, is_bound, is_found
from tests.benchmarks.fidelity.policies import MakePolicy, Policy, read_policy
from tests.benchmarks.shared.recordings import RecordedEvent, Recording

SEED = 7
"""Seed of the choice among sessions and calls, so that two runs choose alike."""
CACHE_READ, CACHE_WRITE = 0.1, 1.25
"""Anthropic's prices of an input token read from the prompt cache and written into it, relative to the plain price."""


@dataclass(frozen=True)
class Sample:
    """How many sessions of a file are replayed at most, and how many calls of each are scored: 0 for all, as a cost
    needs.
    """

    sessions: int = 1_000_000
    calls: int = 0


@dataclass
class Score:
    """The sums of one policy over one set of recordings.

    Attributes:
        tokens: of all views together.
        full: tokens of the full history at the same calls.
        values: values asked for; `found` of them in the view, `bound` there beside their company.
        far: values asked for that were last seen four or more steps earlier.
        over: views above the policy's budget.
        cost: input tokens at the prices of the prompt cache; `full_cost` the same of the full history.
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
    def mean_tokens(self) -> float:
        """Mean tokens of a view."""
        return self.tokens / max(1, self.calls)

    @property
    def mean_full(self) -> float:
        """Mean tokens of the full history."""
        return self.full / max(1, self.calls)

    @property
    def shares(self) -> tuple[float, float, float]:
        """Recall, bound recall and far recall."""
        values = max(1, self.values)
        return self.found / values, self.bound / values, self.far_found / max(1, self.far)

    @property
    def relative_cost(self) -> float:
        """Input cost with prompt caching, divided by that of the full history."""
        return self.cost / max(1e-9, self.full_cost)


class _Run:
    """One policy over one recording; adds its figures to a score."""

    def __init__(self, policy: Policy, score: Score, system: int) -> None:
        self.policy = policy
        self._score = score
        self._system = system
        self._before = ""
        self._full_before = 0

    def score_call(self, full: int, asked: Sequence[Asked]) -> None:
        """Score one call. `full` is the size of the full history in tokens."""
        score, view = self._score, self.policy.view()
        tokens = count(view)
        score.calls += 1
        score.tokens += tokens
        score.full += full
        score.over += self.policy.budget is not None and tokens > self.policy.budget
        shared = count(find_common_start(self._before, view))
        score.cost += self._price(tokens, shared, bool(self._before))
        score.full_cost += self._price(full, self._full_before, bool(self._full_before))
        self._before, self._full_before = view, full
        self._grade(view, asked)

    def _price(self, tokens: int, shared: int, warm: bool) -> float:
        """Price a request, of which `shared` tokens and, in a warm cache, the system prompt are read from the cache."""
        cached = shared + (self._system if warm else 0)
        return CACHE_READ * cached + CACHE_WRITE * (self._system + tokens - cached)

    def _grade(self, view: str, asked: Sequence[Asked]) -> None:
        score, lowered = self._score, view.lower()
        for value in asked:
            found = is_found(view, lowered, value.value)
            bound = found and is_bound(view, lowered, value)
            score.values += 1
            score.found += found
            score.bound += bound
            score.far += value.far
            score.far_found += value.far and found


def score_policies(
    recordings: Sequence[Recording], policies: Mapping[str, MakePolicy], sample: Sample = Sample()
) -> list[Score]:
    """Replay recordings under policies. Returns a score for each policy, in their order."""
    chance = random.Random(SEED)
    chosen = chance.sample(list(recordings), sample.sessions) if sample.sessions < len(recordings) else recordings
    scores = [Score(spec) for spec in policies]
    for recording in chosen:
        places = recording.calling
        scored = set(chance.sample(places, sample.calls) if sample.calls and len(places) > sample.calls else places)
        system = count(recording.system)
        runs = [_Run(make(recording), score, system) for make, score in zip(policies.values(), scores, strict=True)]
        _replay(recording, scored, runs)
    return scores


def _replay(recording: Recording, scored: set[int], runs: Sequence[_Run]) -> None:
    past: list[tuple[int, RecordedEvent]] = []
    step = full = 0
    for at, event in enumerate(recording.events):
        step += event.role == "assistant"
        if at in scored:
            asked = [value for call in event.calls for value in find_asked(call, recording.system, past, step)]
            for run in runs:
                run.score_call(full, asked)
        for run in runs:
            run.policy.add(event)
        past.append((step, event))
        full += count(event.body)
    for run in runs:
        run.policy.close()


def find_common_start(one: str, two: str) -> str:
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == two[low:middle] else (low, middle - 1)
    return one[:low]


def score_same_size(recordings: Sequence[Recording], tokens: float, sample: Sample) -> Score:
    """Score drop-oldest at the limit whose views have about `tokens` tokens in the mean."""
    low, high, best = tokens / 2, tokens * 2, Score("drop")
    for _ in range(7):
        spec = f"drop:{round((low + high) / 2)}"
        (score,) = score_policies(recordings, {spec: read_policy(spec)}, sample)
        if abs(score.mean_tokens - tokens) < abs(best.mean_tokens - tokens):
            best = score
        low, high = ((low + high) / 2, high) if score.mean_tokens < tokens else (low, (low + high) / 2)
    return best
