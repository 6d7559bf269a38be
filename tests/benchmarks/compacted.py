"""How many of the values that a session goes on to use are in the sections that hooks inject after a host's compaction.

    python -m tests.benchmarks.compacted FILE.jsonl.gz | FOLDER … [--points 10]

Each session is recorded up to a point, and everything before it counts as gone. Asked for is each value that a later
call uses, that occurred before the point, and that nobody has repeated since. *sections*: it is in the injected text.
*recalls*: or three recalls bring it: a search for the call's other values or its step's words, and the best two records
that it names. *by id*: or a search for the value itself. Presence is not use, and the calls were made from another
context.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ctxfold import Session
from ctxfold.messages.hosts import HOSTS
from mcp_server.hooks.events import split_view
from tests.benchmarks.fidelity.measure import Asked, find_asked, is_found
from tests.benchmarks.shared.harness import add_recordings, make_parser
from tests.benchmarks.shared.recordings import RecordedEvent, Recording, Replay, find_files, read_recordings

LONGEST_QUERY, LEAST_CALLS = 2_000, 100
"""Characters of a query; shorter sessions are skipped."""


def format_score(score: Counter[str]) -> str:
    """Format a score as shares of the values asked for."""
    asked, points = max(score["asked"], 1), max(score["points"], 1)
    shares = "   ".join(f"{name} {score[name] / asked:.3f}" for name in ("sections", "recalls", "by id"))
    return f"{score['asked']:>6} values   {shares}   {score['characters'] // points:,} characters"


def measure(recording: Recording, points: int) -> Counter[str]:
    """Score one recording at so many compactions."""
    score: Counter[str] = Counter()
    calls = recording.calling
    ends = [calls[len(calls) * at // (points + 1)] for at in range(1, points + 1)]
    with Session.open("compacted", store=":memory:") as session:
        replay = Replay(session)
        for at, event in enumerate(recording.events):
            if at in ends:
                replay.settle()
                score += score_point(session, recording, at)
            replay.add(event)
    return score


def score_point(session: Session, recording: Recording, point: int) -> Counter[str]:
    """Score one compaction."""
    hooks = HOSTS["claude-code"].hooks
    assert hooks
    view = "\n".join(split_view(session, *hooks.parts))
    lowered = view.lower()
    score = Counter(characters=len(view), points=1)
    for step, words, asked, others in find_later(recording, point):
        value = asked.value
        held = is_found(view, lowered, value)
        recalled = held or is_recalled(session, make_query(step, words, others, value, lowered), value)
        by_id = recalled or any(is_found(hit.text, hit.text.lower(), value) for hit in session.recall(query=value))
        score += Counter({"asked": 1, "sections": held, "recalls": recalled, "by id": by_id})
    return score


def find_later(recording: Recording, point: int) -> Iterator[tuple[RecordedEvent, str, Asked, Sequence[Asked]]]:
    """Yield once each value that is used after a point and occurred only before it.

    Each comes with the event that uses it, the user's last words, and all values of its call.
    """
    past = list(enumerate(recording.events[:point]))
    known: set[str] = set()
    since: list[RecordedEvent] = []
    words = next((event.body for event in reversed(recording.events[:point]) if event.role == "user"), "")
    for event in recording.events[point:]:
        words = event.body if event.role == "user" else words
        for call in event.calls:
            others = find_asked(call, recording.system, past, point)
            for asked in others:
                low = asked.value.lower()
                if low not in known and not any(low in later.lowered for later in since):
                    yield event, words, asked, others
                known.add(low)
        since.append(event)


def make_query(step: RecordedEvent, words: str, others: Sequence[Asked], value: str, lowered: str) -> str:
    """Return the call's values that the view holds, else the step's words, else the user's; never the value itself."""
    low = value.lower()
    near = [other.value for other in others if low not in other.value.lower() and other.value.lower() in lowered]
    queries = (text for text in (" ".join(near), step.text, words) if text.strip() and low not in text.lower())
    return next(queries, "")[:LONGEST_QUERY]


def is_recalled(session: Session, query: str, value: str) -> bool:
    """Return whether a search, or one of the best two records that it names, brings a value: three recalls."""
    hits = session.recall(query=query, limit=5) if query else []
    texts = [hit.text for hit in hits] + [session.recall(hit.ref.partition(":")[0]).text for hit in hits[:2]]
    return any(is_found(text, text.lower(), value) for text in texts)


def main() -> None:
    """Print a line for each session and one for all."""
    parser = make_parser("compacted", __doc__)
    add_recordings(parser)
    parser.add_argument("--points", type=int, default=10, help="compactions of each session")
    chosen = parser.parse_args()
    total: Counter[str] = Counter()
    for path in find_files(chosen.paths):
        for recording in read_recordings(path)[: chosen.max_sessions]:
            if len(recording.calling) >= LEAST_CALLS:
                score = measure(recording, chosen.points)
                print(f"{path.name.removesuffix('.jsonl.gz'):<24}{format_score(score)}", flush=True)
                total += score
    print(f"{'all':<24}{format_score(total)}")


if __name__ == "__main__":
    main()
