"""What the core costs: recording and folding beside bare sqlite3, flat appends, views, the file's size, the command line.

    python -m tests.benchmarks.spine [--steps 2000] [--folder DIR]

Every comparison is taken within one run, the two sides in turn, so that a slow disk slows both. Bare sqlite3 writes the very rows
that the core wrote for the same steps: the same schema, indexes, search table and pragmas, one transaction a step.
"""

from __future__ import annotations

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
from pathlib import Path
from typing import Any

from ctxfold import Session
from ctxfold.errors import FoldError
from tests.benchmarks.harness import Bars, make_parser

BUDGET = 8_000
WINDOW, FOLDS = 250, 25
"""Steps of one kind in a row, and folds after them."""
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}

Row = tuple[Any, ...]


class Texts:
    """Makes results of about `size` bytes, no two alike."""

    def __init__(self, size: int, seed: int = 7) -> None:
        self.size = size
        self._chance = random.Random(seed)
        firsts, seconds = "har lan mir vel cop gar".split(), "bor tern ror vet per net den ling".split()
        self._words = [first + second for first in firsts for second in seconds]

    def make_prose(self) -> str:
        """Make sentences of random words."""
        lines: list[str] = []
        while sum(len(line) + 1 for line in lines) < self.size:
            words = " ".join(self._chance.choice(self._words) for _ in range(12))
            lines.append(f"{words} {self._chance.randrange(10**6)}.")
        return "\n".join(lines)[: self.size]

    def make_json(self) -> str:
        """Make a page of objects; some return later with another price."""
        rows: list[dict[str, object]] = []
        while True:
            number = self._chance.randrange(100_000)
            name, price = f"{self._chance.choice(self._words)} {number % 97}", self._chance.randrange(9_000) / 10
            rows.append({"id": f"L{number}", "name": name, "price": price, "open": number % 2 == 0})
            text = json.dumps({"page": self._chance.randrange(40), "rows": rows})
            if len(text) >= self.size:
                return text

    def make(self, number: int) -> str:
        """Make prose for odd numbers, JSON for even ones."""
        return self.make_prose() if number % 2 else self.make_json()


class Figures:
    """Prints each figure beside its bar."""

    def __init__(self) -> None:
        self.bars = Bars()

    def add(self, name: str, value: float, most: float, unit: str, note: str = "") -> None:
        """Print a figure that may be at most so large."""
        held = self.bars.require(value <= most, f"{name}: {value:.2f} {unit}, bar {most:g}")
        print(f"{name:<62}{value:8.2f} {unit:<2}  bar {most:g}  {'held  ' if held else 'MISSED'}  {note}", flush=True)


Took = tuple[float, float]
"""Milliseconds by the clock and of the processor, which a busy machine does not stretch."""


def measure(work: Callable[..., object], *given: object) -> Took:
    """Return how long a call took."""
    began, busy = time.perf_counter(), time.process_time()
    work(*given)
    return (time.perf_counter() - began) * 1_000, (time.process_time() - busy) * 1_000


def median(took: Iterable[Took]) -> Took:
    """Return the medians of both times."""
    clock, processor = zip(*took, strict=True)
    return statistics.median(clock), statistics.median(processor)


def record(session: Session, number: int, text: str) -> None:
    """Record one step as an agent makes it."""
    call = {"name": "look_up", "args": {"listing": number}, "id": f"c{number}"}
    session.record_step(f"Looking at listing {number}.", [call], [{"id": f"c{number}", "text": text}])


def fold(session: Session, step: int) -> None:
    """Fold one step without a model. A refusal, because nothing could be saved, is an answer too."""
    try:
        session.fold(first_step=step, last_step=step)
    except FoldError:
        return


class BareStore:
    """Plain sqlite3 under the schema and pragmas of a core's store; writes the rows that the core has just written."""

    def __init__(self, core: Path, copy: Path) -> None:
        self._core = sqlite3.connect(core, isolation_level=None)
        self._core.execute("PRAGMA query_only = 1")
        self._copy = sqlite3.connect(copy, isolation_level=None)
        self._copy.execute("PRAGMA journal_mode = WAL")
        self._copy.execute("PRAGMA synchronous = FULL")
        made = self._core.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type = 'index', type = 'trigger', rowid"
        ).fetchall()
        self._search = [name for name, sql in made if sql.upper().startswith("CREATE VIRTUAL")]
        shadows = {
            f"{name}_{part}" for name in self._search for part in ("data", "idx", "content", "docsize", "config")
        }
        made = [(name, sql) for name, sql in made if name not in shadows and not name.startswith("sqlite_")]
        for _, sql in made:
            self._copy.execute(sql)
        self._columns: dict[str, list[str]] = {}
        self._keys: dict[str, list[str]] = {}
        for name in [name for name, sql in made if sql.upper().startswith("CREATE TABLE")]:
            info = self._core.execute(f"PRAGMA table_info({name})").fetchall()
            self._columns[name] = [row[1] for row in info]
            self._keys[name] = [row[1] for row in info if row[5]] or ["rowid"]
        self._seen: dict[str, dict[Row, Row]] = {name: {} for name in self._columns}
        self._searched = 0
        new, changed = self._find_changes()
        self._commit({name: [*changed[name], *new[name]] for name in self._columns}, [])

    def _find_changes(self) -> tuple[dict[str, list[Row]], dict[str, list[Row]]]:
        """Return the rows that are new, and those that changed, since the last call."""
        new: dict[str, list[Row]] = {}
        changed: dict[str, list[Row]] = {}
        for name, columns in self._columns.items():
            key, width = ", ".join(self._keys[name]), len(self._keys[name])
            query = f"SELECT {key}, {', '.join(columns)} FROM {name} ORDER BY {key}"
            before, now = self._seen[name], {row[:width]: row[width:] for row in self._core.execute(query)}
            new[name] = [row for key, row in now.items() if key not in before]
            changed[name] = [row for key, row in now.items() if key in before and before[key] != row]
            self._seen[name] = now
        return new, changed

    def write(self, commits: int, texts: list[list[str]]) -> list[Took]:
        """Write what the core wrote since the last call, spread over as many transactions. Returns the time of each."""
        new, changed = self._find_changes()
        again = {name: rows for name, rows in changed.items() if len(rows) < 5}
        took: list[Took] = []
        for n in range(commits):
            share = {
                name: rows[len(rows) * n // commits : len(rows) * (n + 1) // commits] for name, rows in new.items()
            }
            rows = {name: [*share[name], *again.get(name, [])] for name in share}
            took.append(measure(self._commit, rows, texts[n] if n < len(texts) else []))
        return took

    def _commit(self, rows: dict[str, list[Row]], texts: list[str]) -> None:
        self._copy.execute("BEGIN IMMEDIATE")
        for name, several in rows.items():
            if several:
                marks = ", ".join("?" * len(self._columns[name]))
                self._copy.executemany(f"INSERT OR REPLACE INTO {name} VALUES ({marks})", several)
        for name in self._search:
            for text in texts:
                self._searched += 1
                self._copy.execute(f"INSERT INTO {name} (rowid, text) VALUES (?, ?)", (self._searched, text))
        self._copy.execute("COMMIT")

    def close(self) -> None:
        """Close both ends."""
        self._core.close()
        self._copy.close()


def measure_appends(folder: Path, steps: int, figures: Figures) -> None:
    """Append to a session without consolidation, fold, view, and append beside a short session."""
    store, texts = folder / "long.db", Texts(2_000)
    core: dict[str, list[Took]] = {}
    bare: dict[str, list[Took]] = {}
    with Session.open("long", goal="Find the best listing", store=str(store)) as session:
        for n in range(200):
            record(session, n, texts.make(n))
        session.fold()
        copy = BareStore(store, folder / "bare.db")
        for at in range(0, steps, WINDOW):
            kind, make = (("prose", texts.make_prose), ("JSON", texts.make_json))[at // WINDOW % 2]
            made, first, name = [make() for _ in range(WINDOW)], session.tip + 1, f"record a step of 2 kB {kind}"
            core.setdefault(name, []).extend(measure(record, session, n, text) for n, text in enumerate(made, first))
            words = [
                [f"Looking at listing {n}.", json.dumps({"listing": n}), text] for n, text in enumerate(made, first)
            ]
            bare.setdefault(name, []).extend(copy.write(WINDOW, words))
            name, every = "fold a step without a model", range(first, session.tip, WINDOW // FOLDS)
            core.setdefault(name, []).extend(measure(fold, session, n) for n in every)
            bare.setdefault(name, []).extend(copy.write(len(every), []))
        copy.close()
        for name in core:
            (ours, busy), (theirs, their_busy) = median(core[name]), median(bare[name])
            note = f"core {ours:.2f}, bare {theirs:.2f}; cpu {busy:.2f} and {their_busy:.2f}"
            figures.add(f"{name}, beyond bare sqlite3 (p50)", ours - theirs, 1.0, "ms", note)
        measure_views("no consolidation", session, texts, figures)
        late, early = [], []
        with Session.open("short", store=str(folder / "short.db")) as short:
            for n in range(160):
                early.append(measure(record, short, n, texts.make(n)))
                late.append(measure(record, session, n, texts.make(n)))
        (ours, busy), (theirs, their_busy) = median(late), median(early[10:])
        note = f"{ours:.2f} and {theirs:.2f} ms; cpu {busy:.2f} and {their_busy:.2f}"
        figures.add(f"an append at step {session.tip} over one at step 10 (p50)", ours / theirs, 1.5, "x", note)


def measure_views(name: str, session: Session, texts: Texts, figures: Figures, times: int = 100) -> None:
    """View a session right after each of many appends."""
    took = []
    for n in range(times):
        record(session, n, texts.make(n))
        took.append(measure(session.view, BUDGET))
    clock, processor = median(took)
    note = f"at step {session.tip}, {session.view(BUDGET).tokens} tokens; cpu {processor:.1f}"
    figures.add(f"view({BUDGET}) after an append, {name} (p50)", clock, 10.0, "ms", note)


def measure_consolidation(folder: Path, steps: int, figures: Figures) -> None:
    """Consolidate a session after every step, as a driver does."""
    texts, took, made = Texts(2_000, 3), list[Took](), 0
    with Session.open("driven", goal="Find the best listing", store=str(folder / "driven.db")) as session:
        for n in range(steps):
            record(session, n, texts.make(n))
            before = session.workspace
            took.append(measure(session.consolidate, BUDGET))
            made += session.workspace != before
        measure_views("consolidated", session, texts, figures)
    mean, longest = statistics.fmean(clock for clock, _ in took), max(clock for clock, _ in took)
    note = f"{made} consolidations in {steps} steps, longest {longest:.0f} ms"
    figures.add("consolidate as the driver calls it (mean)", mean, 5.0, "ms", note)


def measure_size(folder: Path, size: int, steps: int, most: float, figures: Figures) -> None:
    """Compare the closed store with the bytes of its raw log, a tenth of the steps folded."""
    store, texts, raw = folder / f"size-{size}.db", Texts(size, 5), 0
    with Session.open("size", store=str(store)) as session:
        for n in range(steps):
            text = texts.make(n)
            raw += len(text.encode())
            if size >= 2_000:
                raw += len(f"Looking at listing {n}.") + len(json.dumps({"name": "look_up", "args": {"listing": n}}))
                record(session, n, text)
            elif n % 3:
                session.record_reply(text)
            else:
                session.record_turn(user=text)
            if n % 10 == 9:
                fold(session, session.tip)
    held = sum(file.stat().st_size for file in folder.glob(store.name + "*"))
    note = f"{held / 1e6:.1f} MB for {raw / 1e6:.1f} MB, {steps} steps"
    figures.add(f"file over raw log, entries of {size} B", held / raw, most, "x", note)


def measure_commands(figures: Figures) -> None:
    """Run `ctxfold --help` to its end, and `ctxfold serve` to its first answer."""
    program = str(Path(sys.executable).with_name("ctxfold"))
    helps = [measure(lambda: subprocess.run([program, "--help"], capture_output=True, check=True)) for _ in range(7)]
    serves = [measure(greet_server, program) for _ in range(5)]
    for name, took, most in (("ctxfold --help", helps, 0.3), ("ctxfold serve to its first answer", serves, 1.5)):
        note = f"fastest {min(took)[0] / 1000:.2f}"
        figures.add(f"{name} (median of {len(took)})", median(took)[0] / 1000, most, "s", note)


def greet_server(program: str) -> None:
    """Start the server, wait for its first answer, and close its input."""
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "CTXFOLD_HOME": home, "PATH": "/usr/bin:/bin"}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with subprocess.Popen([program, "serve"], text=True, env=env, **pipes) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write(json.dumps(HELLO) + "\n")
            server.stdin.flush()
            assert json.loads(server.stdout.readline())["id"] == 1


def main() -> int:
    """Measure and judge."""
    parser = make_parser("spine", __doc__)
    parser.add_argument("--steps", type=int, default=2_000)
    parser.add_argument("--folder", type=Path, help="where the stores are made, on the disk to measure")
    chosen = parser.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        measure_appends(Path(folder), chosen.steps, figures)
        measure_consolidation(Path(folder), chosen.steps, figures)
        measure_size(Path(folder), 2_200, chosen.steps // 2, 2.0, figures)
        measure_size(Path(folder), 200, chosen.steps, 4.0, figures)
    measure_commands(figures)
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"load of the machine: {load} on {os.cpu_count()} processors; above one each, read the processor's figures")
    return figures.bars.finish()


if __name__ == "__main__":
    sys.exit(main())
