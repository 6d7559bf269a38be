"""How often the first hit of a search holds what a later call used: by an id, by a path, by three words of the call.

    python -m tests.benchmarks.recall_hits FILE.jsonl.gz | FOLDER … [--searches 40] [--seed 1]

A search is made just before a recorded call, over all that was recorded until then, for an id or a path in the call's
arguments that a result brought first: by the value itself, or by the three of the call's other words that fewest events
before it hold. By a value, a hit is right if its record holds that as a whole; by words, if its step does. As many
searches are made in each file. Exits 1 below the bars.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter

from ctxfold import Session
from tests.benchmarks.shared.harness import Bars, add_recordings, make_parser
from tests.benchmarks.shared.recordings import Recording, Replay, find_files, read_recordings

BARS = {"id": 0.95, "path": 0.95, "words": 0.6}
"""The share of searches whose first hit is right."""
_WORD, _ID = re.compile(r"[^\W\d_]{3,}"), re.compile(r"(?=\S*\d)\w[\w#@.-]{3,}")
_RUN, _ESCAPE = re.compile(r"[^\s\"'`()\[\]{}<>|;,=:\\]+"), re.compile(r'\\[nrt"]')
Search = tuple[Recording, str, int, str, str]
"""A recording, the kind, the place of the call, the query and the value that it should bring."""


def holds(value: str, text: str) -> bool:
    """Whether a text holds a value as a whole."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def list_searches(recording: Recording) -> list[Search]:
    """List the searches of a recording."""
    searches: list[Search] = []
    known = Counter[str]()  # how many events held a word
    for at, event in enumerate(recording.events):
        called = " ".join(f"{call.name} {json.dumps(call.args, ensure_ascii=False)}" for call in event.calls)
        for run in dict.fromkeys(_RUN.findall(_ESCAPE.sub(" ", called))):
            kind = "path" if "/" in run.strip("/") else "id" if _ID.fullmatch(run) else ""
            first = next((each for each in recording.events[:at] if kind and holds(run, each.body)), None)
            if first is not None and first.role == "tool":
                searches.append((recording, kind, at, run, run))
                own = {*_WORD.findall(_ESCAPE.sub(" ", called).lower())} - {*_WORD.findall(run.lower())}
                words = sorted((word for word in own if known[word]), key=lambda word: (known[word], word))[:3]
                searches += [(recording, "words", at, " ".join(words), run)] if len(words) == 3 else []
        known.update({*_WORD.findall(event.lowered)})
    return searches


def is_right(search: Search) -> bool:
    """Whether the first hit of a search holds the value; prints it if not."""
    recording, kind, at, query, value = search
    with Session.open("bench", store=":memory:") as session:
        replay = Replay(session)
        for event in recording.events[:at]:
            replay.add(event)
        replay.settle()
        hit = next(iter(session.recall(query=query, limit=1)), None)
        where = "" if hit is None else f"s{hit.step}" if kind == "words" else hit.ref.partition(":")[0]
        right = bool(where) and holds(value, session.recall(where).text)
    print(end="" if right else f"{recording.id} {kind}: {query!r} brought {where}, not {value}\n", flush=True)
    return right


def main() -> int:
    """Print the share of right first hits of each kind, and the searches that failed."""
    parser = make_parser("recall_hits", __doc__)
    add_recordings(parser)
    parser.add_argument("--searches", type=int, default=40, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    given, bars = parser.parse_args(), Bars()
    chance, files = random.Random(given.seed), find_files(given.paths)
    made = {kind: list[Search]() for kind in BARS}
    for path in files:
        recordings = read_recordings(path)
        chosen = chance.sample(recordings, min(len(recordings), given.max_sessions, given.searches))
        every = [search for recording in chosen for search in list_searches(recording)]
        for kind in BARS:
            of_kind = [search for search in every if search[1] == kind]
            made[kind] += chance.sample(of_kind, min(len(of_kind), -(-given.searches // len(files))))
    for kind, searches in made.items():
        right = sum(map(is_right, searches))
        print(f"{kind}: {right} of {len(searches)}")
        bars.require(right >= BARS[kind] * len(searches), f"{kind}: {right} of {len(searches)}, bar {BARS[kind]}")
    return bars.finish()


if __name__ == "__main__":
    sys.exit(main())
