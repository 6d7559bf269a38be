"""The processes of a server and its browser, read from /proc, and whether they live on."""

from __future__ import annotations

import time
from pathlib import Path


def wait_for_browser(server: int) -> list[int]:
    """The processes below a server once its page is open, without the one that cleans up: it outlives the browser by design."""
    until = time.monotonic() + 40
    while time.monotonic() < until:
        commands = {process: command(process) for process in below(server)}
        if any("--type=renderer" in each for each in commands.values()):
            return [process for process, each in commands.items() if "reaper.py" not in each]
        time.sleep(0.05)
    raise AssertionError("no browser was started")


def below(process: int) -> list[int]:
    """A process and every one that descends from it."""
    parents = {int(entry.name): read_stat(int(entry.name)) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    found = [process]
    for one in found:
        found += [child for child, stat in parents.items() if stat[1:2] == [str(one)]]
    return found


def command(process: int) -> str:
    """Its command line in lower case; empty when it is gone."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text().lower()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def read_stat(process: int) -> list[str]:
    """Its state, its parent and more, as /proc has them; empty when it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def is_alive(process: int) -> bool:
    """Whether a process runs; one that ended and waits for its parent does not."""
    return (read_stat(process) or ["Z"])[0] != "Z"
