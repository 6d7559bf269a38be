"""A process that writes to a session until it is killed: each line it prints names something it was told is committed.

Run as `python writer.py STORE SEED`; prints `ready`, then `<step> <text>` for each acknowledged record.
"""

import random
import sys

from ctxfold import Session
from ctxfold.errors import FoldError, UndoError


def main(store: str, seed: int) -> None:
    """Record, fold, consolidate, undo and fork at random, for ever."""
    chance = random.Random(seed)
    with Session.open("trip", goal="Survive", store=store) as session:
        print("ready", flush=True)
        n = 0
        while True:
            n += 1
            text = f"text-{seed}-{n} " + "harbor " * chance.randrange(60)
            step = session.record_step(
                explanation="Go.",
                calls=[{"name": "go", "args": {"n": n}, "id": "c"}],
                results=[{"id": "c", "text": text}],
            )
            print(step, text, flush=True)
            decide(session, chance)


def decide(session: Session, chance: random.Random) -> None:
    """Now and then a decision."""
    draw = chance.random()
    try:
        if draw < 0.2:
            session.fold()
        elif draw < 0.3:
            session.consolidate(1_000)
        elif draw < 0.35:
            session.undo()
        elif draw < 0.37:
            session.branch("create")
    except (FoldError, UndoError):
        return


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
