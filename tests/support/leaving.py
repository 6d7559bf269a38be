"""How long a browser lives on, and what lies about, after what started it was ended in one way or another."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Literal, get_args

from tests.mcp_server.conftest import ROOT, Host
from tests.sites.server import Site

__all__ = ["STARTED", "WAYS", "Left", "Started", "Way", "alive", "ended", "gone_after"]

Way = Literal["stdin", "term", "int", "kill", "parent"]
"""Its stdin is closed; it gets SIGTERM, SIGINT, SIGKILL; its parent is killed while its stdin stays open."""

WAYS: tuple[Way, ...] = get_args(Way)

Started = Literal["serve", "browse", "script"]
"""The server with an open page; a run at the shell; a program that uses the library."""

STARTED: tuple[Started, ...] = get_args(Started)

Left = tuple[float, tuple[str, ...]]
"""Seconds until no process was there, and the temporary files that were left after that."""

_SIGNALS = {"term": signal.SIGTERM, "int": signal.SIGINT, "kill": signal.SIGKILL}
_SERVE = "from mcp_server.cli.serve import serve; serve(['--caps', 'core,browser'])"
_BROWSE = (
    "import sys; from ctxfold.cli import main; main(['browse', 'Wait.', '--start-url', {url!r}, '--model', {model!r}])"
)
_SCRIPT = """
import asyncio
from browser_agent import BrowserAgent
async def main():
    async with BrowserAgent(model={model!r}) as agent:
        await agent.run("Wait.", start_url={url!r})
asyncio.run(main())
"""
_PARENT = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', sys.argv[1]]).wait()"
_LONGEST = 5.0
"""Seconds that temporary files are waited for once the processes are gone."""


def gone_after(way: Way, most: float) -> float:
    """Start a server, let it open a page, end it, and wait for its browser to be gone.

    Args:
        way: how it is ended.
        most: seconds waited for at most.

    Returns:
        Seconds until neither the server nor its browser was there; `most` and more when one still was.
    """
    return ended("serve", way, most)[0]


def ended(started: Started, way: Way, most: float) -> Left:
    """Start something that browses, end it, and wait for its browser and its temporary files to be gone.

    Args:
        started: what is started.
        way: how it is ended.
        most: seconds waited for its processes at most.
    """
    with Site(pages={"/": "<title>Home</title><p>Hello.</p>"}) as site, tempfile.TemporaryDirectory() as home:
        scratch = Path(home, "tmp")
        scratch.mkdir()
        environment = os.environ | {"PYTHONPATH": str(ROOT), "CTXFOLD_HOME": home, "TMPDIR": str(scratch)}
        program = _program(started, site.url, Path(home))
        host = (
            Host(_PARENT, env=environment, arguments=[program]) if way == "parent" else Host(program, env=environment)
        )
        try:
            watched = _watched(host, started, site.url)
            began = time.monotonic()
            _end(host, way)
            while (left := [one for one in watched if alive(one)]) and time.monotonic() - began < most:
                time.sleep(0.02)
            took = time.monotonic() - began if not left else most + 1
            while any(scratch.iterdir()) and time.monotonic() - began < _LONGEST:
                time.sleep(0.05)
            return took, tuple(sorted(entry.name for entry in scratch.iterdir()))
        finally:
            host.process.kill()
            host.process.wait(10)
            for pipe in (host.process.stdin, host.process.stdout, host.process.stderr):
                if pipe is not None:
                    pipe.close()


def _program(started: Started, url: str, home: Path) -> str:
    wait = {"kind": "wait_for", "text": "never shown", "seconds": 30}
    script = home / "waits.jsonl"
    script.write_text(json.dumps({"thought": "Wait.", "actions": [wait]}), "utf-8")
    match started:
        case "serve":
            return _SERVE
        case "browse":
            return _BROWSE.format(url=url, model=f"script:{script}")
        case "script":
            return _SCRIPT.format(url=url, model=f"script:{script}")


def _watched(host: Host, started: Started, url: str) -> list[int]:
    """The processes it started, once its page is open."""
    if started == "serve":
        host.begin()
        host.call("open_session", session="trip")
        host.call("page_open", session="trip", url=url)
    until = time.monotonic() + 40
    while time.monotonic() < until:
        found = [process for process in below(host.process.pid) if not _reaps(process)]
        if sum("--type=renderer" in command(process) for process in found) and started == "serve":
            return found
        if any("--type=renderer" in command(process) for process in found):
            time.sleep(1.0)  # the run is under way
            return [process for process in below(host.process.pid) if not _reaps(process)]
        time.sleep(0.05)
    raise AssertionError("no browser was started")


def _end(host: Host, way: Way) -> None:
    if way == "stdin":
        assert host.process.stdin is not None
        host.process.stdin.close()
    elif way == "parent":
        host.process.kill()
    else:
        host.process.send_signal(_SIGNALS[way])


def below(process: int) -> list[int]:
    """A process and every one that descends from it."""
    parents = {int(entry.name): _parent(int(entry.name)) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    found = [process]
    for one in found:
        found += [child for child, its in parents.items() if its == one]
    return found


def command(process: int) -> str:
    """Its command line in lower case; empty when it is gone."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text().lower()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def alive(process: int) -> bool:
    """Whether a process runs; one that ended and waits for its parent does not."""
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


def _reaps(process: int) -> bool:
    """Whether it is the small process that cleans up after us: it outlives the browser by design."""
    return "reaper.py" in command(process)


def _parent(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0
