"""How long a browser lives on after the server that started it was ended in one way or another."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Literal, get_args

from tests.mcp_server.conftest import ROOT, Host
from tests.sites.server import Site

__all__ = ["WAYS", "Way", "alive", "gone_after"]

Way = Literal["stdin", "term", "int", "kill", "parent"]
"""Its stdin is closed; it gets SIGTERM, SIGINT, SIGKILL; its parent is killed while its stdin stays open."""

WAYS: tuple[Way, ...] = get_args(Way)

_SIGNALS = {"term": signal.SIGTERM, "int": signal.SIGINT, "kill": signal.SIGKILL}
_SERVE = "from mcp_server.cli.serve import serve; serve(['--caps', 'core,browser'])"
_PARENT = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', sys.argv[1]]).wait()"


def gone_after(way: Way, most: float) -> float:
    """Start a server, let it open a page, end it, and wait for its browser to be gone.

    Args:
        way: how it is ended.
        most: seconds waited for at most.

    Returns:
        Seconds until neither the server nor its browser was there; `most` and more when one still was.
    """
    with Site(pages={"/": "<title>Home</title><p>Hello.</p>"}) as site, tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"PYTHONPATH": str(ROOT), "CTXFOLD_HOME": home}
        host = Host(_PARENT, env=environment, arguments=[_SERVE]) if way == "parent" else Host(_SERVE, env=environment)
        try:
            host.begin()
            host.call("open_session", session="trip")
            host.call("page_open", session="trip", url=site.url)
            watched = [process for process in below(host.process.pid) if not _keeps(process)]
            assert any("chrom" in command(process) for process in watched)
            began = time.monotonic()
            _end(host, way)
            while (left := [one for one in watched if alive(one)]) and time.monotonic() - began < most:
                time.sleep(0.02)
            return time.monotonic() - began if not left else most + 1
        finally:
            host.process.kill()
            host.process.wait(10)
            for pipe in (host.process.stdin, host.process.stdout, host.process.stderr):
                if pipe is not None:
                    pipe.close()


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


def _keeps(process: int) -> bool:
    """Whether it is the small process that cleans up after us: it outlives the browser by design."""
    return "keeper.py" in command(process)


def _parent(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0
