"""What `ctxfold wrap` leaves of other people's servers, and whether any of it is lost.

    python -m tests.benchmarks.wrapped [--folder DIR] [--only WORD] [--ids 100] [--rounds 15]

Scripted calls to Playwright's server over 8 real pages, to the filesystem, everything, SQLite and git servers, and to a shell server whose logs have 2,000 lines:
tokens passed on of those that came; every long result recalled byte for byte; ids of tables and logs inline or found by `recall`; lists and small results the
same with and without the wrapper; and what a call takes longer. Servers come from npm and the package index. Exits 1 where a bar is passed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxfold.tokens import count
from tests.benchmarks.real_sites import serve_sites
from tests.benchmarks.wrapped import scenarios
from tests.benchmarks.wrapped.scenarios import SHELL, Scenario, ids_of
from tests.support.peer import Peer, text_of

ROOT = Path(__file__).parents[3]
NPM = (
    "node@22",
    "@playwright/mcp",
    "@modelcontextprotocol/server-filesystem",
    "@modelcontextprotocol/server-everything",
)
LONG = 4_000
ADDED_SMALL, ADDED_LARGE = 0.010, 0.150
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


@dataclass
class Row:
    """The figures of one server."""

    raw: int = 0
    shown: int = 0
    results: int = 0
    lost: list[str] = field(default_factory=list)
    ids: int = 0
    unfound: list[str] = field(default_factory=list)


class Asker:
    """Calls tools through the wrapper, and compares each result with what the server said."""

    def __init__(self, host: Peer, said: Path, scenario: Scenario, ids: int) -> None:
        self.host, self.said, self.scenario, self.most = host, said, scenario, ids
        self.row = Row()
        self.chance = random.Random(11)

    def __call__(self, tool: str, **arguments: object) -> str:
        result = self.host.call(tool, **arguments)
        answers = (json.loads(line).get("result", {}) for line in reversed(self.said.read_bytes().splitlines()))
        raw = next(answer for answer in answers if "content" in answer)
        text, shown = text_of(raw), text_of(result)
        cost = count(text)
        if cost > LONG or not self.scenario.long_only:
            self.row.raw, self.row.shown, self.row.results = (
                self.row.raw + cost, self.row.shown + count(shown), self.row.results + 1,
            )  # fmt: skip
        if shown != text:
            found = re.match(r"\[(s\d+\.\d+)", shown)
            if found is None or recalled(self.host, found[1]) != text:
                self.row.lost.append(f"{tool}: {shown[:80]!r}")
            self._look_for_ids(text, shown)
        elif raw != result:
            self.row.lost.append(f"{tool}: a small result differs")
        return text

    def _look_for_ids(self, text: str, shown: str) -> None:
        every = ids_of(text)
        left = [each for each in every if each not in shown]
        self.row.ids += len(every)
        for each in self.chance.sample(left, min(self.most, len(left))):
            if each not in text_of(self.host.call("recall", query=each)):
                self.row.unfound.append(each)


def recalled(host: Peer, ref: str) -> str:
    """All that stands under a ref, part by part."""
    text, total = "", 1
    while len(text) < total:
        label, part, *_ = (block["text"] for block in host.call("recall", ref=ref, offset=len(text))["content"])
        found = re.search(r"of (\d+)", label)
        text, total = text + part, int(found[1]) if found else len(part)
    return text


def wrap(home: Path, command: Sequence[str], *options: str) -> list[str]:
    """The command that wraps another."""
    return [sys.executable, "-m", "ctxfold", "wrap", "--store", str(home / "wrapped.db"), *options, "--", *command]


def differences(scenario: Scenario, home: Path) -> list[str]:
    """Lists that differ with the wrapper, our own tool apart."""
    found: list[str] = []
    env = {"PYTHONPATH": str(ROOT)}
    with Peer(scenario.command, cwd=home) as bare, Peer(wrap(home, scenario.command), env=env, cwd=home) as wrapped:
        if bare.open().get("result") != wrapped.open().get("result"):
            found.append("initialize")
        for method in LISTS:
            one, other = bare.ask(method), wrapped.ask(method)
            if method == "tools/list":
                other["result"]["tools"] = other["result"]["tools"][:-1]
            if [one.get("result"), one.get("error")] != [other.get("result"), other.get("error")]:
                found.append(method)
    return found


def added(home: Path, command: str, size: int, rounds: int) -> tuple[float, float]:
    """Seconds that the median call of the shell server takes longer behind the wrapper, and seconds of processor that the wrapper spends on one."""
    times: dict[bool, list[float]] = {True: [], False: []}
    env = {"PYTHONPATH": str(ROOT)}
    bare = [sys.executable, "-m", SHELL]
    with Peer(bare, cwd=ROOT) as direct, Peer(wrap(home, bare), env=env, cwd=ROOT) as wrapped:
        for host in (direct, wrapped):
            host.open()
            host.call("run", command=f"{command}-warm", size=size)
        wrapped.ask(
            "tools/call", {"name": "recall", "arguments": {"query": "warm"}}
        )  # its turn comes when all before it is kept
        spent = spent_by(wrapped.process.pid)
        for number in range(rounds):
            for host in (direct, wrapped):
                began = time.perf_counter()
                host.call("run", command=f"{command}-{number}", size=size)
                times[host is wrapped].append(time.perf_counter() - began)
        spent = spent_by(wrapped.process.pid) - spent
    return statistics.median(times[True]) - statistics.median(times[False]), spent / rounds


def spent_by(process: int) -> float:
    """Seconds of processor that a process has had."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def set_up(folder: Path) -> tuple[str, Path, Path, Path]:
    """The servers, fetched once: Node, the folder of npm's commands, and the Python of the git and of the SQLite server."""
    if not (folder / "node_modules" / ".bin" / "playwright-mcp").exists():
        subprocess.run(
            ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--prefix", str(folder), *NPM], check=True
        )
    uv = str(Path(sys.executable).with_name("uv"))
    pythons = []
    for name, packages in (("git", ["mcp-server-git"]), ("sqlite", ["mcp<2", "mcp-server-sqlite"])):
        python = folder / f"venv-{name}" / "bin" / "python"
        if not python.exists():
            subprocess.run([uv, "venv", "-q", str(folder / f"venv-{name}")], check=True)
            subprocess.run([uv, "pip", "install", "-q", "--python", str(python), *packages], check=True)
        pythons.append(python)
    modules = folder / "node_modules"
    return str(modules / "node" / "bin" / "node"), modules / ".bin", pythons[0], pythons[1]


def every(folder: Path, only: str, stack: ExitStack) -> Iterator[Scenario]:
    """The scenarios whose name holds a word."""
    node, commands, git, sqlite = set_up(folder)
    made = [
        scenarios.files(node, commands),
        scenarios.everything(node, commands),
        scenarios.sqlite(sqlite, folder),
        scenarios.git(git, folder),
        scenarios.shell(),
    ]
    yield from (scenario for scenario in made if only in scenario.name)
    if only in "@playwright/mcp":
        yield scenarios.browsing(node, commands, stack.enter_context(serve_sites(folder)))


def measure(scenario: Scenario, home: Path, ids: int) -> Row:
    """Run one scenario through the wrapper."""
    said = home / "said.jsonl"
    said.write_bytes(b"")
    tee = [sys.executable, str(Path(__file__).with_name("tee.py")), str(said), *scenario.command]
    cwd = ROOT if SHELL in scenario.command else home
    with Peer(wrap(home, tee), env={"PYTHONPATH": str(ROOT)}, cwd=cwd) as host:
        host.open()
        asker = Asker(host, said, scenario, ids)
        for _ in scenario.script(asker):
            pass
    return asker.row


def main() -> int:
    """Run it and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="where servers and sites are put, and found the next time")
    parser.add_argument("--only", default="", metavar="WORD", help="servers with this in their name")
    parser.add_argument("--ids", type=int, default=100, help="ids looked for of each result")
    parser.add_argument("--rounds", type=int, default=15, help="calls timed of each size; 0 for none")
    given: Any = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as spare, ExitStack() as stack:
        folder, home = (given.folder or Path(spare)).absolute(), Path(spare) / "home"
        folder.mkdir(parents=True, exist_ok=True)
        home.mkdir()
        os.environ["CTXFOLD_HOME"] = str(home)
        for scenario in every(folder, given.only, stack):
            row, other = measure(scenario, home, given.ids), differences(scenario, home)
            share = row.shown / row.raw if row.raw else 0.0
            good = share <= scenario.bar and not (row.lost or row.unfound or other)
            failed |= not good
            print(
                f"{'ok  ' if good else 'FAIL'} {scenario.name}: {row.results} results, {row.raw} tokens, {row.shown} passed on, {share:.1%}"
                f" (bar {scenario.bar:.0%}); lost {row.lost}; {row.ids} ids, not found {row.unfound}; lists that differ {other}",
                flush=True,
            )
        for name, size, bar in (("1 kB", 1_000, ADDED_SMALL), ("500 kB", 500_000, ADDED_LARGE)) if given.rounds else ():
            longer, spent = added(home, f"long-{name}", size, given.rounds)
            failed |= longer > bar
            verdict = "ok  " if longer <= bar else "FAIL"
            print(
                f"{verdict} a call of {name}: +{longer * 1000:.1f} ms (bar {bar * 1000:g}), {spent * 1000:.1f} of processor"
            )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
