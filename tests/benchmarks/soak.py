"""Random faults while writers work: `python -m tests.benchmarks.soak [--minutes 20] [--faults 1000] [--seed 1]`.

Writers record in one store, each in a process of its own. A fault kills one, stops one for a while, or fills its disk.
After every ten faults each acknowledged record must be recalled byte for byte, the history must replay, a second reader
must see the same views within their budgets, and every error must be one of ours.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ctxfold import Session, verify_session
from ctxfold.errors import CtxfoldError
from tests.benchmarks.shared.harness import make_parser

WRITERS = 3
BUDGETS = (600, 8_000)
BATCH, CHECKS = 10, 4
"""Faults between two checks, and checks after which a new store begins, so that checks stay quick."""
PATIENCE = 60.0
"""Seconds until a writer that acknowledges nothing counts as stuck."""


@dataclass
class SoakTally:
    """Faults by kind, errors of writers by name, what was wrong, and the number of records kept."""

    faults: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    kept: int = 0


def write(store: Path, name: str, most: int) -> None:
    """Record until stopped, and print what was acknowledged. No file may grow above `most` bytes, if given."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if most:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    n = 0
    try:
        with Session.open("soak", store=str(store)) as session:
            while True:
                n += 1
                text = f"{name} wrote {n}: hotel H-{n} costs {n * 7} EUR. " + "word " * (n % 90)
                call = {"name": "look", "args": {"n": n}, "id": "c"}
                step = session.record_step("Looking.", [call], [{"id": "c", "text": text}]).step
                print(json.dumps([step, text]), flush=True)
                if n % 5 == 0:
                    session.consolidate(budget=2_000)
    except CtxfoldError as error:
        print(json.dumps([0, type(error).__name__]), flush=True)


class Soak:
    """One store and its writers."""

    def __init__(self, folder: Path, chance: random.Random, tally: SoakTally) -> None:
        self.store = folder / "soak.db"
        self.kept: dict[int, str] = {}
        self._folder, self._chance, self._tally = folder, chance, tally
        self._writers: list[tuple[int, Path]] = []
        self._started = 0
        with Session.open("soak", goal="Keep everything.", store=str(self.store)) as session:
            session.record_step("Beginning.")
            session.consolidate(budget=2_000)  # loads every module before the first fork

    def start(self, most: int = 0) -> None:
        """Fork a writer. This process has no store open and no thread."""
        self._started += 1
        out = self._folder / f"writer-{self._started}"
        out.touch()
        if writer := os.fork():
            self._writers.append((writer, out))
            return
        try:
            os.dup2(os.open(out, os.O_WRONLY), 1)
            sys.stdout = os.fdopen(1, "w")
            write(self.store, f"w{self._started}", most)
        except BaseException:  # noqa: BLE001 - a bare error of any kind is what the soak looks for
            (self._folder / f"bare-{self._started}").write_text(traceback.format_exc())
        finally:
            os._exit(0)

    def fault(self) -> None:
        """Bring about one fault."""
        while len(self._writers) < WRITERS:
            self.start()
        self._wait_for_words()
        time.sleep(self._chance.uniform(0.0, 0.2))
        kind = self._chance.choice(["kill", "kill", "hang", "full"])
        self._tally.faults[kind] += 1
        if kind == "kill":
            self._end(self._chance.randrange(len(self._writers)))
        elif kind == "hang":
            writer, _ = self._chance.choice(self._writers)
            os.kill(writer, signal.SIGSTOP)
            time.sleep(self._chance.uniform(0.1, 0.6))
            os.kill(writer, signal.SIGCONT)
        else:
            self.start(self.store.stat().st_size // 2 + 8_192)
            self._wait_for_words()
            self._end(len(self._writers) - 1)

    def _wait_for_words(self) -> None:
        """Wait until each writer has printed something."""
        until = time.monotonic() + PATIENCE
        while any(not out.stat().st_size for _, out in self._writers) and time.monotonic() < until:
            time.sleep(0.005)
        if time.monotonic() >= until:
            self._tally.wrong.append("a writer acknowledges nothing")

    def _end(self, at: int) -> None:
        """Kill a writer, and take in what was acknowledged. Its last line may be cut off."""
        writer, out = self._writers.pop(at)
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        for line in out.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                step, text = json.loads(line)
                if step:
                    self.kept[step] = text
                else:
                    self._tally.errors[text] += 1
        out.unlink()

    def check(self) -> None:
        """End all writers and look for anything lost or wrong."""
        while self._writers:
            self._end(0)
        wrong = self._tally.wrong
        wrong += [f"bare error: {bare.read_text()[-600:]}" for bare in self._folder.glob("bare-*")]
        store = str(self.store)
        try:
            with Session.open("soak", store=store, create=False) as first:
                wrong += [f"s{n} is wrong" for n, text in self.kept.items() if first.recall(f"s{n}.3").text != text]
                verify_session("soak", store=store)
                with Session.open("soak", store=store, create=False) as second:
                    for view, budget in [(first.view(budget), budget) for budget in BUDGETS]:
                        wrong += ["a view is above its budget"] * (view.tokens > budget)
                        wrong += ["two readers see different views"] * (second.view(budget).text != view.text)
        except CtxfoldError as error:
            wrong.append(f"{type(error).__name__}: {error}")


def soak(minutes: float, faults: int, seed: int) -> SoakTally:
    """Bring about faults until there were enough, the time is over, or something is wrong."""
    tally, chance = SoakTally(), random.Random(seed)
    until = time.monotonic() + minutes * 60
    while tally.faults.total() < faults and time.monotonic() < until and not tally.wrong:
        with tempfile.TemporaryDirectory(prefix="ctxfold-soak-") as folder:
            run = Soak(Path(folder), chance, tally)
            for _ in range(CHECKS):
                for _ in range(BATCH):
                    run.fault()
                run.check()
                if tally.wrong or tally.faults.total() >= faults or time.monotonic() >= until:
                    break
            tally.kept += len(run.kept)
    return tally


def main() -> int:
    """Soak and report."""
    parser = make_parser("soak", __doc__)
    for name, default in (("minutes", 20), ("faults", 1_000), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    chosen = parser.parse_args()
    os.nice(5)
    tally = soak(chosen.minutes, chosen.faults, chosen.seed)
    print(f"faults {dict(tally.faults)}, errors {dict(tally.errors)}; {tally.kept} records kept")
    for wrong in tally.wrong:
        print(f"WRONG: {wrong}")
    return int(bool(tally.wrong))


if __name__ == "__main__":
    sys.exit(main())
