"""What refactoring makes of loops planted in recorded sessions.

    python -m tests.benchmarks.refactoring [FILE.jsonl.gz | FOLDER …] [--max-sessions N]

Without a file it takes the small session of the fidelity benchmark. A loop is a call that fails three to six times,
planted at a random place with a fixed seed. Each must be pruned, and 98 % of the values in its results kept. A planted
loop is plainer than one that grew, so the shares are a floor. `no_guesses` counts the refactorings of sessions without
any.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from ctxfold import Session
from ctxfold.select.pieces import values_in
from tests.benchmarks.fidelity.__main__ import SAMPLE
from tests.benchmarks.shared.harness import Bars, add_recordings, make_parser
from tests.benchmarks.shared.recordings import RecordedCall, Recording, Replay, find_files, read_recordings

SEED = 11
LEAST_BEFORE, LEAST_KEPT = 6, 0.98
"""Events before a loop, and the mean share of its values that must be kept, at least."""
WIDE = 200_000
"""A budget that every recording fits into."""
ERRORS = (
    "Error: the upstream service timed out; ticket {code}",
    '{{"error": "rate limit reached", "retry_after": {number}, "ticket": "{code}"}}',
    "Traceback (most recent call last): connection reset by peer, see report {code}",
    "not found: nothing matches, nearest is {code}",
)

Answered = tuple[RecordedCall, str]
"""A call and its result."""


@dataclass(frozen=True)
class PlantedLoop:
    """A session in memory, recorded up to the end of a loop.

    Attributes:
        steps: the steps of the loop.
        found: the values that its results hold.
    """

    session: Session
    steps: tuple[int, ...]
    found: frozenset[str]


def _pair_results(recording: Recording, end: int) -> Iterator[Answered]:
    """Pair each call before a place with its result, by id or else by order."""
    events = recording.events[:end]
    for at, event in enumerate(events):
        ids = [call.id for call in event.calls]
        results: dict[str, str] = {}
        for result in events[at + 1 :] if ids else ():
            if result.role != "tool":
                break
            results[result.call_id if result.call_id in ids else ids[min(len(results), len(ids) - 1)]] = result.text
        yield from ((call, results[call.id]) for call in event.calls if call.id in results)


def _record_call(session: Session, answered: Answered, text: str) -> int:
    """Record a step of one call and its result. Returns the step's number."""
    call, result = answered
    calls = [{"name": call.name, "args": call.args, "id": call.id}]
    return session.record_step(text, calls, [{"id": call.id, "text": result}]).step


def _record_start(recording: Recording, chance: random.Random) -> tuple[Session, list[Answered]] | None:
    """Record events up to a random result that another does not follow. Returns the session and the answered calls."""
    roles = [*(event.role for event in recording.events), "end"]
    places = [
        at + 1
        for at, event in enumerate(recording.events)
        if at >= LEAST_BEFORE and event.role == "tool" != roles[at + 1] and event.text
    ]
    end = chance.choice(places) if places else 0
    answered = list(_pair_results(recording, end))
    if not answered:
        return None
    session = Session.open("planted", store=":memory:")
    replay = Replay(session)
    for event in recording.events[:end]:
        replay.add(event)
    replay.settle()
    return session, answered


def plant_failing_call(recording: Recording, chance: random.Random) -> PlantedLoop | None:
    """Make the same call three to six times, refused with the same words, which hold a value worth keeping."""
    start = _record_start(recording, chance)
    if start is None:
        return None
    session, answered = start
    call, _ = chance.choice(answered)
    text = chance.choice(ERRORS).format(code=f"T-{chance.randint(1000, 9999)}", number=chance.randint(1, 60))
    steps = [
        _record_call(session, (call, text), chance.choice(["", "Let me try that again.", f"Attempt {at}."]))
        for at in range(chance.randint(3, 6))
    ]
    return PlantedLoop(session, tuple(steps), frozenset(values_in(text)))


def judge_loops(recordings: Sequence[Recording], bars: Bars) -> None:
    """Let the router refactor each recording with a loop at its end, and print a row."""
    name = "a call that fails"
    pruned, kept = list[bool](), list[float]()
    for at, recording in enumerate(recordings):
        planted = plant_failing_call(recording, random.Random(f"{SEED} {name} {at}"))
        if planted is None:
            continue
        with planted.session as session:
            done = session.refactor()
            text = session.view(WIDE).text.lower()
        good = done.applied and done.operator == "path_prune" and len(set(done.steps) & set(planted.steps)) >= 2
        pruned.append(bars.require(good, f"{name}, {recording.id}: {done.operator}: {done.reason}"))
        kept += [sum(value in text for value in planted.found) / len(planted.found)] if planted.found else []
    share = fmean(kept or [1.0])
    print(
        f"  {name:<20}{sum(pruned)} of {len(pruned)} pruned, {share:.3f} of the values kept, least {min(kept, default=1.0):.3f}"
    )
    bars.require(share >= LEAST_KEPT, f"{name}: {share:.3f} of the values kept")


def main() -> int:
    """Print the table."""
    parser = make_parser("refactoring", __doc__)
    add_recordings(parser, needed=False)
    chosen, bars = parser.parse_args(), Bars()
    for path in find_files(chosen.paths or [SAMPLE]):
        recordings = read_recordings(path)[: chosen.max_sessions]
        print(f"{path.name.removesuffix('.jsonl.gz')}: {len(recordings)} sessions", flush=True)
        judge_loops(recordings, bars)
    return bars.finish()


if __name__ == "__main__":
    sys.exit(main())
