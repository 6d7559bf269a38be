"""The spine's figures: recording and folding beside bare sqlite3, flat appends, quick views, the size of the file, a quick command line.

    python -m tests.benchmarks.spine [--steps 10000] [--folder DIR] [--json FILE]

Every figure that is a comparison is taken within one run, the two sides in turn, window by window, so that a slow disk slows both.
Bare sqlite3 writes the very rows that the core wrote for the same steps: the same schema, indexes, search table and pragmas, one transaction a step.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxfold import Session
from ctxfold.errors import FoldError

WINDOW = 500
FOLDS = 50
BUDGET = 8_000


@dataclass
class Figure:
    """One line of the table: what was measured, the bar it must not pass."""

    name: str
    value: float
    bar: float
    unit: str
    note: str = ""

    @property
    def held(self) -> bool:
        """Whether it stays at or under its bar."""
        return self.value <= self.bar


@dataclass
class Text:
    """Results of about `size` bytes, prose and JSON in turn, no two alike."""

    size: int
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    words: list[str] = field(
        default_factory=lambda: [
            f"{a}{b}"
            for a in ("har", "lan", "mir", "vel", "cop", "gar")
            for b in ("bor", "tern", "ror", "vet", "per", "net", "den", "ling")
        ]
    )

    def prose(self) -> str:
        """Sentences of random words."""
        out: list[str] = []
        length = 0
        while length < self.size:
            out.append(
                " ".join(self.chance.choice(self.words) for _ in range(12)) + f" {self.chance.randrange(10**6)}."
            )
            length += len(out[-1]) + 1
        return "\n".join(out)[: self.size]

    def rows(self) -> str:
        """A page of objects; some come back later with another price, as real results do."""
        rows: list[dict[str, object]] = []
        while True:
            number = self.chance.randrange(100_000)
            rows.append(
                {
                    "id": f"L{number}",
                    "name": f"{self.chance.choice(self.words)} {number % 97}",
                    "price": self.chance.randrange(9_000) / 10,
                    "open": number % 2 == 0,
                }
            )
            text = json.dumps({"page": self.chance.randrange(40), "rows": rows})
            if len(text) >= self.size:
                return text


def record(session: Session, n: int, text: str) -> int:
    """One step as an agent makes it."""
    return session.record_step(
        explanation=f"Looking at listing {n}.",
        calls=[{"name": "look_up", "args": {"listing": n}, "id": f"c{n}"}],
        results=[{"id": f"c{n}", "text": text}],
    ).step


class Took(float):
    """Milliseconds that a call took by the clock; `cpu` are those of the processor, which a busy machine does not stretch."""

    cpu: float


def timed(work: Callable[..., object], *given: object) -> Took:
    """How long a call took."""
    started, busy = time.perf_counter(), time.process_time()
    work(*given)
    took = Took((time.perf_counter() - started) * 1_000)
    took.cpu = (time.process_time() - busy) * 1_000
    return took


def cpu(took: list[Took]) -> float:
    """The median in milliseconds of the processor."""
    return statistics.median(one.cpu for one in took)


class Bare:
    """Plain sqlite3 under the same schema and pragmas, given the rows that the core has just written."""

    def __init__(self, core: Path, copy: Path) -> None:
        self.source = sqlite3.connect(core, isolation_level=None)
        self.source.execute("PRAGMA query_only = 1")
        self.target = sqlite3.connect(copy, isolation_level=None)
        self.target.execute("PRAGMA journal_mode = WAL")
        self.target.execute("PRAGMA synchronous = FULL")
        made = self.source.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type = 'index', type = 'trigger', rowid"
        ).fetchall()
        self.search = [name for name, sql in made if sql.upper().startswith("CREATE VIRTUAL")]
        shadows = {f"{name}_{part}" for name in self.search for part in ("data", "idx", "content", "docsize", "config")}
        for name, sql in made:
            if name not in shadows and not name.startswith("sqlite_"):
                self.target.execute(sql)
        self.tables = [
            name
            for name, sql in made
            if sql.upper().startswith("CREATE TABLE") and name not in shadows and not name.startswith("sqlite_")
        ]
        self.keys = {
            name: [row[1] for row in self.source.execute(f"PRAGMA table_info({name})") if row[5]] or ["rowid"]
            for name in self.tables
        }
        self.columns = {
            name: [row[1] for row in self.source.execute(f"PRAGMA table_info({name})")] for name in self.tables
        }
        self.seen: dict[str, dict[tuple[Any, ...], tuple[Any, ...]]] = {name: {} for name in self.tables}
        self.searched = 0
        self.copy_all()

    def rows(self, name: str) -> dict[tuple[Any, ...], tuple[Any, ...]]:
        """Every row of a table by its key."""
        key, columns = ", ".join(self.keys[name]), ", ".join(self.columns[name])
        width = len(self.keys[name])
        return {
            row[:width]: row[width:]
            for row in self.source.execute(f"SELECT {key}, {columns} FROM {name} ORDER BY {key}")
        }

    def changes(self) -> tuple[dict[str, list[tuple[Any, ...]]], dict[str, list[tuple[Any, ...]]]]:
        """The rows that are new and the rows that changed since the last look."""
        new: dict[str, list[tuple[Any, ...]]] = {}
        changed: dict[str, list[tuple[Any, ...]]] = {}
        for name in self.tables:
            held, now = self.seen[name], self.rows(name)
            new[name] = [row for key, row in now.items() if key not in held]
            changed[name] = [row for key, row in now.items() if key in held and held[key] != row]
            self.seen[name] = now
        return new, changed

    def copy_all(self) -> None:
        """Bring the copy level, outside any timing."""
        new, changed = self.changes()
        self.target.execute("BEGIN")
        for name in self.tables:
            self.put(name, [*changed[name], *new[name]])
        self.target.execute("COMMIT")

    def put(self, name: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Write rows to one table."""
        marks = ", ".join("?" * len(self.columns[name]))
        self.target.executemany(f"INSERT OR REPLACE INTO {name} VALUES ({marks})", rows)

    def write(self, commits: int, texts: list[list[str]]) -> list[Took]:
        """Write what the core has written since the last look, spread over as many transactions; milliseconds of each."""
        new, changed = self.changes()
        took: list[Took] = []
        for n in range(commits):
            share = {
                name: rows[len(rows) * n // commits : len(rows) * (n + 1) // commits]
                for name, rows in new.items()
                if rows
            }
            again = {name: rows for name, rows in changed.items() if rows and len(rows) < 5}
            said = texts[n] if n < len(texts) else []
            took.append(timed(self.commit, share, again, said))
        return took

    def commit(
        self, share: dict[str, list[tuple[Any, ...]]], again: dict[str, list[tuple[Any, ...]]], said: list[str]
    ) -> None:
        """One transaction."""
        self.target.execute("BEGIN IMMEDIATE")
        for name, rows in (*share.items(), *again.items()):
            self.put(name, rows)
        for name in self.search:
            for text in said:
                self.searched += 1
                self.target.execute(f"INSERT INTO {name} (rowid, text) VALUES (?, ?)", (self.searched, text))
        self.target.execute("COMMIT")

    def close(self) -> None:
        """Both ends."""
        self.source.close()
        self.target.close()


@dataclass
class Times:
    """Milliseconds by what was done, core and bare."""

    core: dict[str, list[Took]] = field(default_factory=dict)
    bare: dict[str, list[Took]] = field(default_factory=dict)

    def add(self, name: str, core: list[Took], bare: list[Took]) -> None:
        """One window of both."""
        self.core.setdefault(name, []).extend(core)
        self.bare.setdefault(name, []).extend(bare)

    def beyond(self, name: str) -> Figure:
        """How far the core's median stands above bare sqlite3's."""
        core, bare = statistics.median(self.core[name]), statistics.median(self.bare[name])
        return Figure(
            f"{name}, beyond bare sqlite3 (p50)",
            core - bare,
            1.0,
            "ms",
            f"core {core:.2f}, bare {bare:.2f}; cpu {cpu(self.core[name]):.2f} and {cpu(self.bare[name]):.2f}; core p99 {statistics.quantiles(self.core[name], n=100)[98]:.2f}",
        )


def long_run(folder: Path, steps: int) -> tuple[list[Figure], Path]:
    """A session of that many steps without consolidation: appends, folds, views, size."""
    store = folder / "long.db"
    text = Text(2_000)
    times = Times()
    with Session.open("long", goal="Find the best listing", store=str(store)) as session:
        for n in range(200):
            record(session, n, text.prose() if n % 2 else text.rows())
        session.fold()
        bare = Bare(store, folder / "bare.db")
        for _ in range(0, steps, WINDOW):
            for kind, make in (("prose", text.prose), ("JSON", text.rows)):
                said = [make() for _ in range(WINDOW // 2)]
                first = session.tip + 1
                core = [timed(record, session, n, one) for n, one in enumerate(said, first)]
                searched = [
                    [f"Looking at listing {n}.", json.dumps({"listing": n}), one] for n, one in enumerate(said, first)
                ]
                times.add(f"record a step of 2 kB {kind}", core, bare.write(len(said), searched))
                folded = [timed(fold, session, n) for n in range(first, session.tip, len(said) * 2 // FOLDS)]
                times.add("fold a step (embedded)", folded, bare.write(len(folded), []))
        figures = [times.beyond(name) for name in times.core]
        figures += views("no consolidation", session, text)
        figures.append(flat(session, folder))
    bare.close()
    return figures, store


def fold(session: Session, step: int) -> None:
    """A micro fold by the embedded folder; where nothing could be saved the refusal is the answer."""
    try:
        session.fold(first_step=step, last_step=step)
    except FoldError:
        return


def views(how: str, session: Session, text: Text, times: int = 100) -> list[Figure]:
    """A view right after each of many appends, and the first one of a new handle."""
    took = []
    for n in range(times):
        record(session, n, text.prose() if n % 2 else text.rows())
        took.append(timed(session.view, BUDGET))
    shown = session.view(BUDGET)
    assert shown.tokens <= BUDGET
    return [
        Figure(
            f"view({BUDGET}) after an append, {how} (p50)",
            statistics.median(took),
            10.0,
            "ms",
            f"at step {session.tip}, {shown.tokens} tokens; cpu {cpu(took):.1f}; p99 {statistics.quantiles(took, n=100)[98]:.1f}",
        )
    ]


def flat(session: Session, folder: Path) -> Figure:
    """The cost of an append late beside that of one at step 10, in turn."""
    late, early = [], []
    text = Text(2_000, random.Random(11))
    with Session.open("short", store=str(folder / "short.db")) as short:
        for n in range(10):
            record(short, n, text.prose())
        for n in range(150):
            one, two = (text.prose(), text.prose()) if n % 2 else (text.rows(), text.rows())
            late.append(timed(record, session, n, one))
            early.append(timed(record, short, n, two))
    return Figure(
        f"an append at step {session.tip} over one at step 10 (p50)",
        statistics.median(late) / statistics.median(early),
        1.5,
        "x",
        f"{statistics.median(late):.2f} and {statistics.median(early):.2f} ms; cpu {cpu(late):.2f} and {cpu(early):.2f}",
    )


def driven(folder: Path, steps: int) -> list[Figure]:
    """A session whose driver consolidates after every step."""
    text = Text(2_000, random.Random(3))
    made = 0
    took: list[float] = []
    with Session.open("driven", goal="Find the best listing", store=str(folder / "driven.db")) as session:
        for n in range(steps):
            record(session, n, text.prose() if n % 2 else text.rows())
            started = time.perf_counter()
            made += bool(session.consolidate(BUDGET))
            took.append((time.perf_counter() - started) * 1_000)
        figures = views("consolidated", session, text)
    figures.append(
        Figure(
            "consolidate as the driver calls it (mean)",
            statistics.fmean(took),
            5.0,
            "ms",
            f"{made} consolidations in {steps} steps, longest {max(took):.0f} ms",
        )
    )
    return figures


def size(folder: Path, name: str, bytes_each: int, steps: int, bar: float) -> Figure:
    """The closed store over the bytes of its raw log."""
    store = folder / f"{name}.db"
    text = Text(bytes_each, random.Random(5))
    raw = 0
    with Session.open(name, store=str(store)) as session:
        for n in range(steps):
            said = text.prose() if n % 2 else text.rows()
            raw += len(said.encode())
            if bytes_each >= 2_000:
                raw += len(f"Looking at listing {n}.") + len(json.dumps({"name": "look_up", "args": {"listing": n}}))
                record(session, n, said)
            elif n % 3:
                session.record_reply(said)
            else:
                session.record_turn(user=said)
            if n % 10 == 9:
                fold(session, session.tip)
    held = sum(file.stat().st_size for file in folder.glob(store.name + "*"))
    return Figure(
        f"file over raw log, entries of {bytes_each} B",
        held / raw,
        bar,
        "x",
        f"{held / 1e6:.1f} MB for {raw / 1e6:.1f} MB, {steps} steps",
    )


def command_line() -> list[Figure]:
    """`ctxfold --help` to its end, and `ctxfold serve` to its first answer."""
    program = str(Path(sys.executable).with_name("ctxfold"))
    helps = sorted(
        timed(lambda: subprocess.run([program, "--help"], capture_output=True, check=True)) / 1_000 for _ in range(7)
    )
    serves = sorted(timed(lambda: served(program)) / 1_000 for _ in range(5))
    return [
        Figure("ctxfold --help (median of 7)", statistics.median(helps), 0.3, "s", f"fastest {helps[0]:.2f}"),
        Figure(
            "ctxfold serve to its first answer (median of 5)",
            statistics.median(serves),
            1.5,
            "s",
            f"fastest {serves[0]:.2f}",
        ),
    ]


def served(program: str) -> None:
    """Start the server, greet it, wait for its answer and close its input."""
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "benchmark", "version": "1"},
        },
    }
    with tempfile.TemporaryDirectory() as home:
        server = subprocess.Popen(
            [program, "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={"HOME": home, "CTXFOLD_HOME": home, "PATH": "/usr/bin:/bin"},
        )
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(hello) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        assert answer["id"] == 1, answer
        server.stdin.close()
        server.wait(timeout=20)
        server.stdout.close()


def main() -> int:
    """Measure, print the table, say whether every bar held."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", type=int, default=10_000)
    options.add_argument("--folder", type=Path, help="where the stores are made (the disk that is measured)")
    options.add_argument("--json", type=Path, help="also write the figures here")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as made:
        folder = Path(made)
        figures, store = long_run(folder, chosen.steps)
        print(f"long run: {store.stat().st_size / 1e6:.0f} MB", file=sys.stderr)
        figures += driven(folder, chosen.steps)
        figures.append(size(folder, "large", 2_200, chosen.steps // 2, 2.0))
        figures.append(size(folder, "small", 200, chosen.steps, 4.0))
        figures += command_line()
    width = max(len(figure.name) for figure in figures)
    for figure in figures:
        print(
            f"{figure.name:<{width}}  {figure.value:8.2f} {figure.unit:<2}  bar {figure.bar:g}  {'held ' if figure.held else 'MISSED'}  {figure.note}"
        )
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"load of the machine: {load} on {os.cpu_count()} processors; above one each, read the processor's figures")
    if chosen.json:
        chosen.json.write_text(json.dumps([vars(figure) for figure in figures], indent=1))
    return 0 if all(figure.held for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
