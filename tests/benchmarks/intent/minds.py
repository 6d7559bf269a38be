"""Changes of mind in words nobody planned for: what is open after each, at first sight; and turns that change nothing.

    python -m tests.benchmarks.intent.minds [--set worked|check|fresh|second|third|fourth] [--show]

A case is what was asked, one further message, and for each item that must then be open the words that stand in it. After a turn that changes
nothing every item must be what it was before.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ctxfold import Session

CASES: Mapping[str, Sequence[Mapping[str, Any]]] = json.loads(Path(__file__).with_name("minds.json").read_text("utf-8"))
SETS = ("worked", "check", "fresh", "second", "third", "fourth")
REPLY = "All right."


def _opened(session: Session, asked: Sequence[str]) -> None:
    for words in asked:
        session.record_turn(user=words)
        session.maintain(8_000)
        session.record_reply(REPLY)


def changed(case: Mapping[str, Any]) -> list[str]:
    """What is open after a change of mind, where that is not what the user now wants; nothing where it is."""
    with Session.open("minds", store=":memory:") as session:
        _opened(session, case["asked"])
        session.record_turn(user=case["then"])
        session.maintain(8_000)
        left = [item.text for item in session.intent.open]
    wanted = case["open"]
    right = len(left) == len(wanted) and all(
        any(all(word in text for word in words) for text in left) for words in wanted
    )
    return [] if right else left or ["nothing"]


def disturbed(asked: Sequence[str], words: str) -> list[str]:
    """Items that a message altered which changes nothing."""
    with Session.open("minds", store=":memory:") as session:
        _opened(session, asked)
        before = {item.id: item for item in session.intent.items}
        session.record_turn(user=words)
        session.maintain(8_000)
        return [
            f"{item.id} {item.state} {item.text}" for item in session.intent.items if before.get(item.id, item) != item
        ]


def main() -> int:
    """Score the sets and the turns that change nothing."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--set", choices=SETS)
    options.add_argument("--show", action="store_true")
    chosen = options.parse_args()
    for name in (chosen.set,) if chosen.set else SETS:
        wrong = [(case, left) for case in CASES[name] if (left := changed(case))]
        print(f"{name}: right {len(CASES[name]) - len(wrong)} of {len(CASES[name])}")
        for case, left in wrong if chosen.show else ():
            print(f"  {case['then']}\n    wanted {case['open']}, was {left}")
    steady = [
        (words, found)
        for case in CASES["steady"]
        for words in case["then"]
        if (found := disturbed(case["asked"], words))
    ]
    total = sum(len(case["then"]) for case in CASES["steady"])
    print(f"steady: {total - len(steady)} of {total} change nothing")
    for words, found in steady:
        print(f"  {words}: {found}")
    return int(bool(steady))


if __name__ == "__main__":
    sys.exit(main())
