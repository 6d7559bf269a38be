"""A process that forks writers: each records to a session until it is killed, and names on its output what it was told is committed.

Run as `python writer.py STORE`. For each seed read from its input it forks one writer, which prints its process id, then `<step> <text>` for each
acknowledged record; once a writer is dead it prints `gone`. Forking spares each of them the start of an interpreter.
"""

import os
import random
import sys

from ctxfold import Session
from ctxfold.errors import FoldError, UndoError


def main(store: str) -> None:
    """Fork a writer for each seed asked for. What a writer imports on its way is imported here, once, or each of them would pay for it."""
    with Session.open("warm", goal="Survive", store=":memory:") as warm:
        step(warm, 0, "harbor")
        warm.fold()
    for seed in sys.stdin:
        writer = os.fork()
        if writer == 0:
            write(store, int(seed))
        os.waitpid(writer, 0)
        print("gone", flush=True)


def write(store: str, seed: int) -> None:
    """Record, fold, consolidate, undo and fork at random, for ever."""
    chance = random.Random(seed)
    with Session.open("trip", goal="Survive", store=store) as session:
        print(os.getpid(), flush=True)
        n = 0
        while True:
            n += 1
            text = f"text-{seed}-{n} " + "harbor " * chance.randrange(60)
            print(step(session, n, text), text, flush=True)
            decide(session, chance)


def step(session: Session, n: int, text: str) -> int:
    """Record one whole step; its number."""
    call = {"name": "go", "args": {"n": n}, "id": "c"}
    return session.record_step(explanation="Go.", calls=[call], results=[{"id": "c", "text": text}]).step


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
    main(sys.argv[1])
