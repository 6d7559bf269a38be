"""Random faults while writers work: `python -m tests.benchmarks.soak [MINUTES=20] [FAULTS=1000] [SEED=1]`.

Writers record in one store, each in a process of its own. Faults: one is killed; one is stopped for a while and goes on; its disk is full; a bit of a copy
is turned over. After each, whatever was acknowledged must be recalled byte for byte, views must be those of a fresh reader, and every error one of ours.
It ends with 1 when an error was bare, a recall or a view wrong, or a process left.
"""

from __future__ import annotations

import json
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from ctxfold import Session, verify_session
from ctxfold.errors import CtxfoldError, StoreError

WRITERS = 3
BUDGETS = (600, 8_000)

_WRITER = """
import json, resource, signal, sys
from ctxfold import Session
from ctxfold.errors import CtxfoldError
store, who, room = sys.argv[1], sys.argv[2], int(sys.argv[3])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
if room:
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
n = 0
try:
    with Session.open("soak", store=store) as session:
        while True:
            n += 1
            text = f"{who} wrote {n}: hotel H-{n} costs {n * 7} EUR. " + "word " * (n % 90)
            step = session.record_step("Looking.", calls=[{"name": "look", "args": {"n": n}, "id": "c"}], results=[{"id": "c", "text": text}]).step
            print(json.dumps([step, text]), flush=True)
            if n % 5 == 0:
                session.consolidate(budget=2_000)
except CtxfoldError as error:
    print(json.dumps([0, type(error).__name__]), flush=True)
"""


class Soak:
    """One store, its writers, and what they were told is kept.

    Args:
        folder: where the store lies.
        seed: of its chances.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.store = folder / "soak.db"
        self.chance = random.Random(seed)
        self.kept: dict[int, str] = {}
        self.tally: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._writers: list[tuple[subprocess.Popen[bytes], Path]] = []
        self._started = 0
        self._folder = folder
        Session.open("soak", goal="Keep everything.", store=str(self.store)).close()

    def start(self, room: int = 0) -> None:
        """Start a writer; with `room`, one that may write files of that many bytes alone."""
        self._started += 1
        out = self._folder / f"writer-{self._started}"
        with out.open("wb") as told, (self._folder / "stderr").open("ab") as errors:
            command = [sys.executable, "-c", _WRITER, str(self.store), f"w{self._started}", str(room)]
            self._writers.append((subprocess.Popen(command, stdout=told, stderr=errors), out))

    def fault(self) -> None:
        """One fault, and what must hold after it."""
        while len(self._writers) < WRITERS:
            self.start()
        self._wait_for_words()
        time.sleep(self.chance.uniform(0.0, 0.3))
        kind = self.chance.choice(["kill", "kill", "hang", "full"])
        self.tally[kind] += 1
        match kind:
            case "kill":
                self._end(self.chance.randrange(len(self._writers)))
            case "hang":
                process, _ = self.chance.choice(self._writers)
                process.send_signal(signal.SIGSTOP)
                time.sleep(self.chance.uniform(0.1, 1.0))
                process.send_signal(signal.SIGCONT)
            case _:
                self.start(self.store.stat().st_size // 2 + 8_192)
                self._wait_for_words()
                self._end(len(self._writers) - 1)

    def _wait_for_words(self) -> None:
        """Wait until each writer was told something, or ended."""
        until = time.monotonic() + 60
        while any(not out.stat().st_size and process.poll() is None for process, out in self._writers):
            if time.monotonic() > until:
                self.wrong.append("a writer says nothing")
                return
            time.sleep(0.02)

    def check(self) -> None:
        """All writers ended: every acknowledged record is there, the history replays, two readers see the same."""
        while self._writers:
            self._end(0)
        try:
            with Session.open("soak", store=str(self.store), create=False) as session:
                for step, text in self.kept.items():
                    if session.recall(f"s{step}.3").text != text:
                        self.wrong.append(f"recall of s{step} is wrong")
                views = [session.view(budget) for budget in BUDGETS]
            with Session.open("soak", store=str(self.store), create=False) as session:
                if [session.view(budget).text for budget in BUDGETS] != [view.text for view in views]:
                    self.wrong.append("two readers see different views")
            if any(view.tokens > budget for view, budget in zip(views, BUDGETS, strict=True)):
                self.wrong.append("a view is above its budget")
            verify_session("soak", store=str(self.store))
        except CtxfoldError as error:
            self.wrong.append(f"{type(error).__name__}: {error}")

    def _end(self, which: int) -> None:
        """Kill a writer, and take in what it was told is kept."""
        process, out = self._writers.pop(which)
        process.kill()
        process.wait(30)
        for line in out.read_text().splitlines():
            with suppress(json.JSONDecodeError):  # the last line of one that was killed
                step, text = json.loads(line)
                if step:
                    self.kept[step] = text
                else:
                    self.tally[text] += 1
        out.unlink()

    def flip(self) -> None:
        """Turn over a bit of a copy, while nobody writes: it is read as it was, or refused, or what is left out is said."""
        self.tally["flip"] += 1
        copy = self._folder / "copy.db"
        for beside in self._folder.glob("copy.db*"):
            beside.unlink()
        raw = bytearray(self.store.read_bytes())
        raw[self.chance.randrange(len(raw))] ^= 1 << self.chance.randrange(8)
        copy.write_bytes(raw)
        told = _Told()
        logging.getLogger("ctxfold").addHandler(told)
        try:
            same = self._read(copy) == self._read(self.store)
        except CtxfoldError:
            self.tally["flip refused"] += 1
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            self.wrong.append(f"bare error: {error!r:.200}")
        else:
            self.tally["flip changed nothing" if same else "flip said" if told.count else "flip unseen"] += 1
            if not same and not told.count:
                self.wrong.append("a bit changed a view or a recall unseen")
        finally:
            logging.getLogger("ctxfold").removeHandler(told)

    def _read(self, store: Path) -> list[str]:
        """Views, and some of what was acknowledged."""
        with Session.open("soak", store=str(store), create=False) as session:
            shown = [session.view(budget).text for budget in BUDGETS]
            return shown + [
                session.recall(f"s{step}").text for step in sorted(self.kept)[:: max(1, len(self.kept) // 20)]
            ]


class _Told(logging.Handler):
    """Counts what is said."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1


def soak(minutes: float, faults: int, seed: int) -> Soak:
    """Faults until there were enough of them or the time is over, with a check after every tenth, and flips of bits while nobody writes."""
    with tempfile.TemporaryDirectory(prefix="ctxfold-soak-") as folder:
        one = Soak(Path(folder), seed)
        until = time.monotonic() + minutes * 60
        done = 0
        while done < faults and time.monotonic() < until and not one.wrong:
            try:
                one.fault()
            except StoreError as error:
                one.wrong.append(f"{type(error).__name__}: {error}")
            done += 1
            if done % 10 == 0:
                one.check()
                for _ in range(15):
                    one.flip()
                done += 15
        one.check()
        errors = (Path(folder) / "stderr").read_text()
        if "Traceback" in errors:
            one.wrong.append(f"a writer's own error: {errors[-600:]}")
    return one


def main() -> int:
    """Soak and report."""
    minutes, faults, seed = (*map(float, sys.argv[1:]), *(20.0, 1_000.0, 1.0)[len(sys.argv) - 1 :])
    os.nice(5)
    started = time.monotonic()
    one = soak(minutes, int(faults), int(seed))
    kinds = ", ".join(f"{kind} {number}" for kind, number in one.tally.most_common())
    print(f"{time.monotonic() - started:.0f} s; {len(one.kept)} records kept; {kinds}")
    for what in one.wrong:
        print(f"WRONG: {what}")
    return 1 if one.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
