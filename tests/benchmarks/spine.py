"""What the core costs: recording, folding, flat appends, views, the file's size, the command line.

    python -m tests.benchmarks.spine [--steps 2000] [--folder DIR]

Times in this process are those of the processor, which a busy machine does not stretch; times by the clock are beside
them.
"""

from __future__ import annotations

import json
import os
import random
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
from tests.benchmarks.shared.harness import Bars, make_parser

BUDGET = 8_000
MOST_VIEW, MOST_CONSOLIDATION = 200.0, 100.0
"""Milliseconds of processor: 130 to 160 and 51 were measured with 500 steps of 2 kB."""
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


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


def measure_appends(folder: Path, steps: int, figures: Figures) -> None:
    """Append to a session without consolidation, fold, view, and append beside a short session, the two in turn."""
    texts, early, late = Texts(2_000), list[Took](), list[Took]()
    kinds = {"prose": texts.make_prose, "JSON": texts.make_json}
    took: dict[str, list[Took]] = {kind: [] for kind in (*kinds, "fold")}
    with Session.open("long", goal="Find the best listing", store=str(folder / "long.db")) as session:
        for n in range(200):
            record(session, n, texts.make(n))
        session.fold()
        for n in range(steps):
            kind = "prose" if n % 2 else "JSON"
            took[kind].append(measure(record, session, n, kinds[kind]()))
            if n % 10 == 9:
                took["fold"].append(measure(fold, session, session.tip - 1))
        for kind, most in (("prose", 2.0), ("JSON", 2.0), ("fold", 200.0)):
            name = "fold a step without a model" if kind == "fold" else f"record a step of 2 kB {kind}"
            clock, processor = median(took[kind])
            figures.add(f"{name} (p50)", processor, most, "ms", f"{clock:.2f} by the clock")
        measure_views("no consolidation", session, texts, figures)
        with Session.open("short", store=str(folder / "short.db")) as short:
            for n in range(160):
                early.append(measure(record, short, n, texts.make(n)))
                late.append(measure(record, session, n, texts.make(n)))
        (ours, busy), (theirs, their_busy) = median(late), median(early[10:])
        note = f"{busy:.2f} and {their_busy:.2f} ms; {ours:.2f} and {theirs:.2f} by the clock"
        figures.add(f"an append at step {session.tip} over one at step 10 (p50)", busy / their_busy, 1.5, "x", note)


def measure_views(name: str, session: Session, texts: Texts, figures: Figures, times: int = 100) -> None:
    """View a session right after each of many appends."""
    took = []
    for n in range(times):
        record(session, n, texts.make(n))
        took.append(measure(session.view, BUDGET))
    clock, processor = median(took)
    note = f"at step {session.tip}, {session.view(BUDGET).tokens} tokens; {clock:.1f} by the clock"
    figures.add(f"view({BUDGET}) after an append, {name} (p50)", processor, MOST_VIEW, "ms", note)


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
    mean, longest = statistics.fmean(processor for _, processor in took), max(processor for _, processor in took)
    note = f"{made} consolidations in {steps} steps, longest {longest:.0f} ms"
    figures.add("consolidate as the driver calls it (mean)", mean, MOST_CONSOLIDATION, "ms", note)


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
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return figures.bars.finish()


if __name__ == "__main__":
    sys.exit(main())
