"""What the sections that our hooks inject after a compaction hold of the values that a recorded session goes on to use.

    python -m tests.benchmarks.compacted FILE.jsonl.gz | FOLDER … [--points 10]

Each session is recorded up to a point, as hooks would, and everything before it is taken to be gone. Asked for is each value that a later call used, that stood
before the point, and that nobody has said again since. *sections*: it stands in the injected text. *recalls*: or three recalls bring it: one search, made
of what else that call uses or of the words of its step, and the best two records that it names. *by id*: or one search for the value itself.
Presence is not use, and a recorded call is not the call that another view would have led to.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxfold import Session
from ctxfold.messages.hosts import HOSTS
from mcp_server.hooks.events import split_view
from tests.benchmarks.fidelity.measure import Asked, asked_by, holds
from tests.benchmarks.fidelity.recordings import Heard, Recording, files, read
from tests.benchmarks.fidelity.replaying import Replay

WORDS = 2_000
"""Characters of a query."""


@dataclass
class Score:
    """What was asked for, and in which way it was there."""

    asked: int = 0
    sections: int = 0
    recalls: int = 0
    by_id: int = 0
    characters: int = 0
    points: int = 0

    def line(self) -> str:
        """As shares of what was asked for."""
        shares = [each / max(self.asked, 1) for each in (self.sections, self.recalls, self.by_id)]
        mean = self.characters // max(self.points, 1)
        return f"{self.asked:>6} values   sections {shares[0]:.3f}   recalls {shares[1]:.3f}   by id {shares[2]:.3f}   {mean:,} characters"


def main() -> None:
    """Print a line for each file."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.compacted")
    parser.add_argument("paths", nargs="+", type=Path, help="gzipped recordings, or folders of them")
    parser.add_argument("--points", type=int, default=10, help="compactions of each session")
    parser.add_argument("--least", type=int, default=100, help="calls from which a session is taken")
    chosen = parser.parse_args()
    total = Score()
    for path in files(chosen.paths):
        for recording in (each for each in read(path) if len(each.calling) >= chosen.least):
            score = measure(recording, chosen.points, total)
            print(f"{path.name.removesuffix('.jsonl.gz'):<24}{score.line()}", flush=True)
    print(f"{'all':<24}{total.line()}")


def measure(recording: Recording, points: int, total: Score) -> Score:
    """The score of one recording, which is added to a total."""
    score = Score()
    calls = recording.calling
    ends = [calls[len(calls) * at // (points + 1)] for at in range(1, points + 1)]
    with Session.open("compacted", store=":memory:") as session:
        replay = Replay(session)
        for at, event in enumerate(recording.events):
            if at in ends:
                replay.settle()
                look(session, recording, at, score)
            replay.hear(event)
    for name in ("asked", "sections", "recalls", "by_id", "characters", "points"):
        setattr(total, name, getattr(total, name) + getattr(score, name))
    return score


def look(session: Session, recording: Recording, point: int, score: Score) -> None:
    """Score one compaction."""
    hooks = HOSTS["claude-code"].hooks
    assert hooks
    view = "\n".join(split_view(session, *hooks.parts))
    lowered = view.lower()
    score.characters += len(view)
    score.points += 1
    for step, spoken, each, together in later(recording, point):
        there = holds(view, lowered, each.value)
        score.asked += 1
        score.sections += there
        there = there or looked_up(session, query_of(step, spoken, together, each, lowered), each.value)
        score.recalls += there
        there = there or any(holds(hit.text, hit.text.lower(), each.value) for hit in session.recall(query=each.value))
        score.by_id += there


def later(recording: Recording, point: int) -> Iterator[tuple[Heard, str, Asked, Sequence[Asked]]]:
    """Each value that is used after a point and stood before it alone, once: with its step, the user's last words, and all values of its call."""
    past = [(at, event) for at, event in enumerate(recording.events[:point])]
    known: set[str] = set()
    since: list[Heard] = []
    spoken = next((event.body for event in reversed(recording.events[:point]) if event.role == "user"), "")
    for event in recording.events[point:]:
        spoken = event.body if event.role == "user" else spoken
        for call in event.calls:
            together = asked_by(call, recording.system, past, point)
            for each in together:
                low = each.value.lower()
                if low not in known and not any(low in said.lowered for said in since):
                    yield event, spoken, each, together
                known.add(low)
        since.append(event)


def query_of(step: Heard, spoken: str, together: Sequence[Asked], each: Asked, lowered: str) -> str:
    """What is searched for: the values of the call that are at hand, else the words of its step, else the user's. The value itself is in none of them."""
    low = each.value.lower()
    near = [other.value for other in together if low not in other.value.lower() and other.value.lower() in lowered]
    told = [text for text in (" ".join(near), step.text, spoken) if text.strip() and low not in text.lower()]
    return told[0][:WORDS] if told else ""


def looked_up(session: Session, query: str, value: str) -> bool:
    """Whether a search, or one of the best two records that it names, read whole, brings a value: three recalls."""
    hits = session.recall(query=query, limit=5) if query else []
    texts = [hit.text for hit in hits] + [session.recall(hit.ref.partition(":")[0]).text for hit in hits[:2]]
    return any(holds(text, text.lower(), value) for text in texts)


if __name__ == "__main__":
    main()
