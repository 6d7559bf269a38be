"""Whether a change that should only be quicker says the same, to the byte: forms, tiles, revisions and views, before and after.

    python -m tests.benchmarks.sameness KEPT.json [RECORDINGS.jsonl.gz | FOLDER …] [--sessions 20] [--seeds 200]

The first run, on the tree as it was, writes KEPT.json; each later one makes the same sessions again and names those that came out otherwise, and in what.
It replays recordings (without any, the small one of the fidelity board), invented results of many shapes, and random operations.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sqlite3
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ctxfold import Session
from ctxfold.errors import FoldError
from ctxfold.log.json import canonical
from tests.benchmarks.fidelity.__main__ import SAMPLE
from tests.benchmarks.fidelity.recordings import Recording, files, read
from tests.benchmarks.fidelity.replaying import Replay
from tests.benchmarks.spine import Text, record
from tests.support.operations import Driver, random_run
from tests.support.texts import ODD

BUDGETS = (300, 1_000, 3_000, 8_000, 60_000)
TABLES = {
    "forms": "SELECT step, k, at, kind, origin, call_id, form FROM record ORDER BY id",
    "steps": "SELECT n, parent, lane, depth, open, tokens, raw, upto, raw_upto FROM step ORDER BY session, n",
    "tiles": "SELECT id, first, last, tokens, body FROM tile ORDER BY session, id",
    "events": "SELECT seq, head, prev, kind, decider, cause, json, revision FROM event ORDER BY session, seq",
}
"""What a store says, without times."""

Print = dict[str, str]
"""A digest of each part of what one session says."""


class Digests:
    """The digests of one session's parts while it is made."""

    def __init__(self) -> None:
        self._made = {name: hashlib.sha256() for name in (*TABLES, "views")}

    def say(self, part: str, *values: object) -> None:
        """Take in some values."""
        self._made[part].update(repr(values).encode("utf-8", "surrogatepass"))

    def look(self, session: Session, *budgets: int) -> None:
        """Take in views."""
        for budget in budgets:
            shown = session.view(budget)
            self.say("views", budget, shown.text, shown.tokens, shown.stable, shown.refs, shown.unfolded)

    def read(self, store: Path) -> None:
        """Take in what a closed store holds."""
        with sqlite3.connect(store) as held:
            for part, query in TABLES.items():
                for row in held.execute(query):
                    self.say(part, *(_unpacked(part, value) for value in row))
        held.close()

    @property
    def all(self) -> Print:
        """The digests."""
        return {part: made.hexdigest()[:20] for part, made in self._made.items()}


def _unpacked(part: str, value: object) -> object:
    """A packed column as it was before packing, so that packing may change; of a tile what it says, in whatever order."""
    if part not in ("forms", "tiles") or not isinstance(value, bytes):
        return value
    raw = zlib.decompress(value[1:]) if value[0] else value[1:]
    return canonical(json.loads(raw)) if part == "tiles" else raw


def consolidated(recording: Recording, budget: int, store: Path) -> Print:
    """A recording as a driver with a budget keeps it: consolidated and looked at after each step."""
    made = Digests()
    with Session.open("same", goal="See it through", store=str(store)) as session:
        replay = Replay(session)
        for event in recording.events:
            if replay.hear(event):
                session.consolidate(budget)
                made.look(session, budget)
        replay.settle()
        made.look(session, *BUDGETS)
    made.read(store)
    return made.all


def folded(recording: Recording, store: Path) -> Print:
    """A recording of which every few steps one is folded alone, looked at in every size now and then, and undone in part."""
    made = Digests()
    with Session.open("same", store=str(store)) as session:
        replay = Replay(session)
        for at, event in enumerate(recording.events):
            if not replay.hear(event):
                continue
            if at % 5 == 0:
                made.say("views", _fold(session))
            if at % 11 == 0:
                made.look(session, *BUDGETS)
        replay.settle()
        made.look(session, *BUDGETS)
    made.read(store)
    return made.all


def _fold(session: Session, first: int | None = None) -> str:
    """Fold a step; the tile, or why not."""
    try:
        return session.fold(first_step=first, last_step=first).text
    except FoldError as error:
        return str(error)


def written(size: int, seed: int, store: Path) -> Print:
    """Invented results of one size: prose, rows, and JSON of any shape."""
    made, chance = Digests(), random.Random(seed)
    text = Text(size, chance)
    seen: list[str] = []
    with Session.open("same", store=str(store)) as session:
        for n in range(60):
            said = (text.prose, text.rows, lambda: json.dumps(_any(chance, 3)), lambda: chance.choice(seen))[n % 4]()
            seen.append(said)
            record(session, n, said)
            if n % 6 == 5:
                made.say("views", _fold(session, session.tip - chance.randrange(3)))
            if n % 15 == 14:
                made.look(session, *BUDGETS)
    made.read(store)
    return made.all


_NAMES = ("id", "name", "price", "status", "code", "when", "of", "user_id", "tags", "deep", "a b", "Zahl", "価格")


def _any(chance: random.Random, depth: int) -> Any:
    """JSON of any shape, with fields that name things, values that repeat, odd numbers and odd words."""
    kind = chance.random()
    if depth == 0 or kind < 0.1:
        words = (
            "^",
            "",
            "open",
            "a b",
            'say "so"',
            "價格",
            "x=1",
            "1e3",
            "L" + str(chance.randrange(9)),
            "naïve\u2028no",
        )
        return chance.choice([None, True, False, 0, -1.0, 2.50, 1e22, chance.randrange(99), *words])
    if kind < 0.45:
        names = chance.sample(_NAMES, chance.randrange(1, 7))
        return {name: _any(chance, depth - 1) for name in names}
    if kind < 0.75:
        names = chance.sample(_NAMES, chance.randrange(1, 6))
        return [{name: _any(chance, max(0, depth - 2)) for name in names} for _ in range(chance.randrange(1, 9))]
    return [_any(chance, depth - 1) for _ in range(chance.randrange(0, 7))]


def wandered(seed: int, folder: Path) -> Print:
    """A random sequence of operations on one session."""
    made, store = Digests(), folder / "store.db"
    driver = Driver(str(store))
    try:
        random_run(driver, random.Random(seed), ODD, 14)
        made.look(driver.session, *BUDGETS)
    finally:
        driver.close()
    made.read(store)
    return made.all


def prints(paths: list[Path], sessions: int, seeds: int) -> Iterator[tuple[str, Print]]:
    """Every session's name and digests."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for path in files(paths):
            for at, recording in enumerate(read(path)[:sessions]):
                for budget in (1_000, 3_000, 8_000):
                    store = folder / f"{path.stem}-{at}-{budget}.db"
                    yield f"{path.name} {at} at {budget}", consolidated(recording, budget, store)
                yield f"{path.name} {at} folded", folded(recording, folder / f"{path.stem}-{at}.db")
        for size in (60, 200, 700, 2_000, 6_000):
            for seed in range(6):
                yield f"written {size} {seed}", written(size, seed, folder / f"written-{size}-{seed}.db")
        for seed in range(seeds):
            place = folder / f"seed-{seed}"
            place.mkdir()
            yield f"seed {seed}", wandered(seed, place)


def main() -> int:
    """Keep the digests, or compare with those kept; 1 when anything differs."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("kept", type=Path)
    options.add_argument("paths", type=Path, nargs="*")
    options.add_argument("--sessions", type=int, default=20, help="at most so many of each file")
    options.add_argument("--seeds", type=int, default=200, help="random sequences of operations")
    chosen = options.parse_args()
    found = dict(prints(chosen.paths or [SAMPLE], chosen.sessions, chosen.seeds))
    if not chosen.kept.exists():
        chosen.kept.write_text(json.dumps(found, indent=1))
        print(f"kept the digests of {len(found)} sessions in {chosen.kept}; run this again after the change")
        return 0
    kept: dict[str, Print] = json.loads(chosen.kept.read_text())
    other = {name: found.get(name, {}) for name, parts in kept.items() if found.get(name) != parts}
    for name, parts in other.items():
        print(f"{name}: {', '.join(part for part in kept[name] if parts.get(part) != kept[name][part])}")
    print(f"{len(kept) - len(other)} of {len(kept)} sessions say the same")
    return 1 if other or not kept else 0


if __name__ == "__main__":
    sys.exit(main())
