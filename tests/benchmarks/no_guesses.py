"""What the deciders without a model do to recorded dialogues unasked: messages moved, register entries, refactorings.
All should be 0.

    python -m tests.benchmarks.no_guesses FOLDER | FILE.jsonl.gz … [--budget 8000] [--max-sessions N]

Before each message of the user `branch("auto")` is asked; after each event the session is consolidated and maintained,
as a driver would; after each message of the assistant `plan()` and `refactor("auto")` are asked. Exits 1 when anything
was guessed.
"""

from __future__ import annotations

import sys
from collections import Counter

from ctxfold import Session
from ctxfold.workspace import By
from tests.benchmarks.shared.harness import add_recordings, make_parser
from tests.benchmarks.shared.recordings import Recording, Replay, find_files, read_recordings

GUESSES = ("moved", "branches", "items", "constraints", "decisions", "refactored")
COUNTED = ("sessions", "messages", *GUESSES, "extractions")
_EMBEDDED = By("embedded")


def replay(recording: Recording, budget: int) -> Counter[str]:
    """Replay one recording. Returns how often each thing was done."""
    found: Counter[str] = Counter(sessions=1)
    with Session.open("replayed", store=":memory:") as session:
        replayed = Replay(session)
        for event in recording.events:
            if event.role == "user" and event.text.strip():
                replayed.settle()
                moved = session.branch("auto", query=event.text)
                found += Counter(messages=1, moved=int(moved.action != "continue" or moved.branch != "main"))
            replayed.add(event)
            session.consolidate(budget)
            if event.role == "assistant":
                session.plan(by=_EMBEDDED)
                found += Counter(refactored=int(session.refactor("auto", by=_EMBEDDED).applied))
        intent = session.intent
        found += Counter(items=len(intent.items), constraints=len(intent.constraints), decisions=len(intent.decisions))
        found += Counter(branches=sum(len(topic.branches) for topic in session.tree()) - 1)
        found += Counter(extractions=sum(event.kind == "extracted" for event in session.history(100_000)))
    return found


def main() -> int:
    """Print a line a file and a sum. Returns 1 when anything was guessed."""
    parser = make_parser("no_guesses", __doc__)
    add_recordings(parser)
    parser.add_argument("--budget", type=int, default=8_000)
    chosen = parser.parse_args()
    total: Counter[str] = Counter()
    for path in find_files(chosen.paths):
        found: Counter[str] = Counter()
        for recording in read_recordings(path)[: chosen.max_sessions]:
            found += replay(recording, chosen.budget)
        print(f"{path.name}: {', '.join(f'{name} {found[name]}' for name in COUNTED)}", flush=True)
        total += found
    print(f"all: {', '.join(f'{name} {total[name]}' for name in COUNTED)}")
    return int(any(total[name] for name in GUESSES))


if __name__ == "__main__":
    sys.exit(main())
