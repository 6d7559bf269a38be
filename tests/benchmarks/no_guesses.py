"""What the deciders without a model do to recorded dialogues that nobody here wrote: messages moved, register entries and refactorings made. All should be 0.

    python -m tests.benchmarks.no_guesses FOLDER | FILE.jsonl.gz … [--budget 8000] [--max-sessions N]

Calls are left in. Before each message of the user `branch("auto")` is asked; after each event the session is consolidated and maintained, as a driver
would; after each message of the assistant `plan()` and `refactor("auto")` are asked. Ends with 1 when a message moved, or an entry stands in a register.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from ctxfold import Session
from ctxfold.workspace import By
from tests.benchmarks.fidelity.recordings import Recording, files, read
from tests.benchmarks.fidelity.replaying import Replay

_EMBEDDED = By("embedded")


def replay(recording: Recording, budget: int) -> Counter[str]:
    """Replay one recording; what was done to it unasked."""
    found: Counter[str] = Counter(sessions=1)
    with Session.open("replayed", store=":memory:") as session:
        heard = Replay(session)
        for event in recording.events:
            if event.role == "user" and event.text.strip():
                heard.settle()
                moved = session.branch("auto", query=event.text)
                found += Counter(messages=1, moved=int(moved.action != "continue" or moved.branch != "main"))
            heard.hear(event)
            session.consolidate(budget)
            session.maintain(budget)
            if event.role == "assistant":
                session.plan(by=_EMBEDDED)
                found += Counter(refactored=int(session.refactor("auto", by=_EMBEDDED).applied))
        intent = session.intent
        found += Counter(items=len(intent.items), constraints=len(intent.constraints), decisions=len(intent.decisions))
        found += Counter(branches=sum(len(topic.branches) for topic in session.tree()) - 1)
        found += Counter(extractions=sum(event.kind == "extracted" for event in session.history(100_000)))
    return found


def main() -> int:
    """Replay, print a line a file and a sum; 1 when anything was guessed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.no_guesses")
    parser.add_argument("paths", nargs="+", type=Path, help="gzipped recordings, or folders of them")
    parser.add_argument("--budget", type=int, default=8_000)
    parser.add_argument("--max-sessions", type=int, default=1_000_000)
    chosen = parser.parse_args()
    whole: Counter[str] = Counter()
    for path in files(chosen.paths):
        found: Counter[str] = Counter()
        for recording in read(path)[: chosen.max_sessions]:
            found += replay(recording, chosen.budget)
        print(f"{path.name}: {_told(found)}", flush=True)
        whole += found
    print(f"all: {_told(whole)}")
    return int(any(whole[name] for name in ("moved", "branches", "items", "constraints", "decisions")))


def _told(found: Counter[str]) -> str:
    counted = (
        "sessions",
        "messages",
        "moved",
        "branches",
        "items",
        "constraints",
        "decisions",
        "refactored",
        "extractions",
    )
    return ", ".join(f"{name} {found[name]}" for name in counted)


if __name__ == "__main__":
    sys.exit(main())
