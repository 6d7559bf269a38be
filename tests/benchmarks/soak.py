"""Random faults while writers work: `python -m tests.benchmarks.soak [MINUTES=20] [FAULTS=1000] [SEED=1]`.

Writers record in one store, each in a process of its own. Faults: one is killed; one is stopped for a while and goes on; its disk is full; a bit of a copy
is turned over; who drives a browser is killed. After each tenth whatever was acknowledged must be recalled byte for byte, views must be those of a fresh
reader, and every error one of ours. It ends with 1 when an error was bare, a recall or a view wrong, or a process left.
"""

from __future__ import annotations

import json
import logging
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ctxfold import Session, verify_session
from ctxfold.errors import CtxfoldError

WRITERS = 3
BUDGETS = (600, 8_000)
BATCH = 10
"""Faults of processes between two checks."""
FLIPS = 15
"""Bits turned over after each check."""
CHECKS = 4
"""Checks after which a new store is begun: what is checked stays small, so that time goes to faults."""
_PATIENCE = 60.0

_DRIVER = """
import asyncio
from browser_agent import Browser
async def drive():
    browser = await Browser.launch()
    window = await browser.window()
    await window.page.goto("data:text/html,<title>Here</title>")
    print("here", flush=True)
    await asyncio.sleep(600)
asyncio.run(drive())
"""


@dataclass
class Tally:
    """What happened, and what was wrong."""

    faults: Counter[str] = field(default_factory=Counter)
    said: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    kept: int = 0


def write(store: Path, who: str, room: int) -> None:
    """Record until something stops it, and print what was acknowledged; with `room`, no file may grow above that many bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if room:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    n = 0
    try:
        with Session.open("soak", store=str(store)) as session:
            while True:
                n += 1
                text = f"{who} wrote {n}: hotel H-{n} costs {n * 7} EUR. " + "word " * (n % 90)
                calls = [{"name": "look", "args": {"n": n}, "id": "c"}]
                step = session.record_step("Looking.", calls=calls, results=[{"id": "c", "text": text}]).step
                print(json.dumps([step, text]), flush=True)
                if n % 5 == 0:
                    session.consolidate(budget=2_000)
    except CtxfoldError as error:
        print(json.dumps([0, type(error).__name__]), flush=True)


class Soak:
    """One store, its writers, and what they were told is kept."""

    def __init__(self, folder: Path, chance: random.Random, tally: Tally) -> None:
        self.store = folder / "soak.db"
        self.chance = chance
        self.tally = tally
        self.kept: dict[int, str] = {}
        self._writers: list[tuple[int, Path]] = []
        self._started = 0
        self._folder = folder
        with Session.open("soak", goal="Keep everything.", store=str(self.store)) as session:
            session.record_step("Beginning.")
            session.consolidate(budget=2_000)  # what is loaded once is loaded before the forks

    def start(self, room: int = 0) -> None:
        """Begin a writer: a fork of this process, which has no store open and no thread."""
        self._started += 1
        out = self._folder / f"writer-{self._started}"
        out.touch()
        writer = os.fork()
        if writer:
            self._writers.append((writer, out))
            return
        try:
            os.dup2(os.open(out, os.O_WRONLY), 1)
            sys.stdout = os.fdopen(1, "w")
            write(self.store, f"w{self._started}", room)
        except BaseException:  # noqa: BLE001 - whatever it is, it is what is looked for
            (self._folder / f"bare-{self._started}").write_text(traceback.format_exc())
        finally:
            os._exit(0)

    def fault(self) -> None:
        """One fault of a process."""
        while len(self._writers) < WRITERS:
            self.start()
        self._wait_for_words()
        time.sleep(self.chance.uniform(0.0, 0.2))
        kind = self.chance.choice(["kill", "kill", "hang", "full"])
        self.tally.faults[kind] += 1
        match kind:
            case "kill":
                self._end(self.chance.randrange(len(self._writers)))
            case "hang":
                writer, _ = self.chance.choice(self._writers)
                os.kill(writer, signal.SIGSTOP)
                time.sleep(self.chance.uniform(0.1, 0.6))
                os.kill(writer, signal.SIGCONT)
            case _:
                self.start(self.store.stat().st_size // 2 + 8_192)
                self._wait_for_words()
                self._end(len(self._writers) - 1)

    def _wait_for_words(self) -> None:
        """Wait until each writer was told something."""
        until = time.monotonic() + _PATIENCE
        while any(not out.stat().st_size for _, out in self._writers):
            if time.monotonic() > until:
                self.tally.wrong.append("a writer says nothing")
                return
            time.sleep(0.005)

    def _end(self, which: int) -> None:
        """Kill a writer, and take in what it was told is kept."""
        writer, out = self._writers.pop(which)
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        for line in out.read_text().splitlines():
            with suppress(json.JSONDecodeError):  # the last line of one that was killed
                step, text = json.loads(line)
                if step:
                    self.kept[step] = text
                else:
                    self.tally.said[text] += 1
        out.unlink()

    def check(self) -> list[str]:
        """All writers ended: every acknowledged record is there, the history replays, two readers see the same. What is read then."""
        while self._writers:
            self._end(0)
        wrong = self.tally.wrong
        wrong += [f"bare error: {bare.read_text()[-600:]}" for bare in self._folder.glob("bare-*")]
        try:
            with Session.open("soak", store=str(self.store), create=False) as session:
                wrong += [f"s{n} is wrong" for n, text in self.kept.items() if session.recall(f"s{n}.3").text != text]
                views = [session.view(budget) for budget in BUDGETS]
            if any(view.tokens > budget for view, budget in zip(views, BUDGETS, strict=True)):
                wrong.append("a view is above its budget")
            verify_session("soak", store=str(self.store))
            shown = self._read(self.store)
        except CtxfoldError as error:
            wrong.append(f"{type(error).__name__}: {error}")
            return []
        if shown[: len(BUDGETS)] != [view.text for view in views]:
            wrong.append("two readers see different views")
        return shown

    def flip(self, raw: bytes, good: list[str]) -> None:
        """Turn over a bit of a copy: it is read as it was, or refused, or what is left out is said."""
        self.tally.faults["flip"] += 1
        copy = self._folder / "copy.db"
        for beside in self._folder.glob("copy.db*"):
            beside.unlink()
        at = self.chance.randrange(len(raw))
        copy.write_bytes(raw[:at] + bytes([raw[at] ^ 1 << self.chance.randrange(8)]) + raw[at + 1 :])
        told = _Told()
        logging.getLogger("ctxfold").addHandler(told)
        try:
            same = self._read(copy) == good
        except CtxfoldError:
            self.tally.said["flip refused"] += 1
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            self.tally.wrong.append(f"bare error: {error!r:.200}")
        else:
            self.tally.said["flip changed nothing" if same else "flip said" if told.count else "flip unseen"] += 1
            if not same and not told.count:
                self.tally.wrong.append(f"bit at {at} changed a view or a recall unseen")
        finally:
            logging.getLogger("ctxfold").removeHandler(told)

    def _read(self, store: Path) -> list[str]:
        """Views, and some of what was acknowledged."""
        with Session.open("soak", store=str(store), create=False) as session:
            shown = [session.view(budget).text for budget in BUDGETS]
            some = sorted(self.kept)[:: max(1, len(self.kept) // 20)]
            return shown + [session.recall(f"s{step}").text for step in some]


class _Told(logging.Handler):
    """Counts what is said."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1


def kill_driver(folder: Path, tally: Tally) -> None:
    """Kill who drives a browser: the browser, its driver and its watcher must go too, and its profile."""
    tally.faults["driver killed"] += 1
    kept = folder / "driven"
    kept.mkdir()
    environment = os.environ | {"TMPDIR": str(kept)}
    driver = subprocess.Popen([sys.executable, "-c", _DRIVER], stdout=subprocess.PIPE, env=environment)
    line = driver.stdout.readline() if driver.stdout is not None else b""
    began = _processes_of(kept)
    driver.kill()
    driver.wait(30)
    if line != b"here\n" or len(began) < 3:
        tally.wrong.append(f"no browser was driven: {line!r}, {len(began)} processes")
    until = time.monotonic() + _PATIENCE
    while (left := _processes_of(kept)) and time.monotonic() < until:
        time.sleep(0.05)
    tally.wrong += [f"process left: {name:.200}" for name in left.values()]
    tally.wrong += [f"left behind: {path}" for path in kept.glob("*")]


def _processes_of(folder: Path) -> dict[int, str]:
    """The processes that were begun with this folder as theirs for temporary files, or are told of it."""
    found: dict[int, str] = {}
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (place / "cmdline").read_bytes()
            if str(folder).encode() in command + (place / "environ").read_bytes():
                found[int(place.name)] = command.replace(b"\0", b" ").decode(errors="replace")
    return found


def soak(minutes: float, faults: int, seed: int) -> Tally:
    """Faults until there were enough of them or the time is over."""
    tally, chance = Tally(), random.Random(seed)
    until = time.monotonic() + minutes * 60

    def goes_on() -> bool:
        return tally.faults.total() < faults and time.monotonic() < until and not tally.wrong

    while goes_on():
        with tempfile.TemporaryDirectory(prefix="ctxfold-soak-") as folder:
            one = Soak(Path(folder), chance, tally)
            for _ in range(CHECKS):
                for _ in range(BATCH):
                    one.fault()
                good, raw = one.check(), one.store.read_bytes()
                for _ in range(FLIPS if good else 0):
                    one.flip(raw, good)
                if not goes_on():
                    break
            tally.kept += len(one.kept)
            kill_driver(Path(folder), tally)
    return tally


def main() -> int:
    """Soak and report."""
    minutes, faults, seed = (*map(float, sys.argv[1:]), *(20.0, 1_000.0, 1.0)[len(sys.argv) - 1 :])
    os.nice(5)
    started = time.monotonic()
    tally = soak(minutes, int(faults), int(seed))
    for what, counted in (("faults", tally.faults), ("said", tally.said)):
        print(f"{what} {counted.total()}: {', '.join(f'{name} {number}' for name, number in counted.most_common())}")
    print(f"{time.monotonic() - started:.0f} s; {tally.kept} records kept; {len(tally.wrong)} wrong")
    for what in tally.wrong:
        print(f"WRONG: {what}")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
