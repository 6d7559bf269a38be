"""Ends the browser and removes its folders when this process is gone, even by a kill: a child process waits for it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

GRACE = 1.5
"""Seconds the browser gets to leave by itself once we are gone."""

_SWEEP = 2.0
"""Seconds in which folders are removed again and again: processes that are ending still write to them."""
_PROFILE = "--user-data-dir="
_TICK = 0.05
"""Seconds between two looks at processes and folders that should go."""
_OF_WINDOWS = 'Get-CimInstance Win32_Process | ForEach-Object { "$($_.ProcessId) $($_.CommandLine)" }'
_LISTING = ["powershell", "-Command", _OF_WINDOWS] if sys.platform == "win32" else ["ps", "-axo", "pid=,command="]
"""The command that lists processes with their arguments on systems without /proc."""


class Reaper:
    """Our end of the pipe. Closing it, by any death, sets the child to work; it gets only the variables in
    `environment`.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=dict(environment),
        )

    def tell(self, kind: Literal["folder", "mark", "now"], value: str = "") -> None:
        """Have the child remove a folder, end the processes with `value` at the end of an argument, or begin at once
        when the pipe closes.
        """
        stdin = self._child.stdin
        if stdin is None or stdin.closed:
            return
        with contextlib.suppress(OSError):  # the reaper died; closing the browser still cleans up
            stdin.write(json.dumps({kind: value}).encode() + b"\n")
            stdin.flush()

    def reap(self, timeout: float = GRACE + _SWEEP + 1.0) -> None:
        """Have the work done now, and wait for it. The reaper can be used once."""
        self.tell("now")
        with contextlib.suppress(OSError):
            if self._child.stdin is not None:
                self._child.stdin.close()
        try:
            self._child.wait(timeout)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()


def _main() -> None:
    """Listen until the pipe closes, then clean up."""
    for name in {"SIGINT", "SIGTERM", "SIGHUP"} & {*dir(signal)}:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    folders, marks, grace = list[str](), list[str](), GRACE
    for line in sys.stdin.buffer:
        order = json.loads(line)
        if "folder" in order:
            folders += [order["folder"], *_find_sockets(order["folder"])]
        if "mark" in order:
            marks.append(order["mark"])
        if "now" in order:
            grace = 0.0
    until = time.monotonic() + grace
    while (running := find_marked(marks)) and time.monotonic() < until:
        time.sleep(_TICK)
    for pid, profile in running.items():
        folders += [profile, *_find_sockets(profile)] if profile else []
        _end(pid)
    _remove(folders)


def find_marked(marks: Iterable[str]) -> dict[int, str]:
    """Return the processes with an argument that ends with one of `marks`, and the profile folder each was given."""
    wanted, marked = tuple(marks), dict[int, str]()
    for pid, arguments in _list_processes():
        if any(argument.endswith(wanted) for argument in arguments):
            profiles = (argument.partition("=")[2] for argument in arguments if argument.startswith(_PROFILE))
            marked[pid] = next(profiles, "")
    return marked


def _list_processes() -> Iterable[tuple[int, list[str]]]:
    """List the processes of this machine, each with its arguments."""
    proc = Path("/proc")
    if proc.is_dir():
        for entry in proc.iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):  # it ended while we looked
                    raw = (entry / "cmdline").read_bytes()
                    yield int(entry.name), raw.decode(errors="replace").rstrip("\0").split("\0")
        return
    listing = subprocess.run(_LISTING, capture_output=True, text=True, check=False).stdout
    for line in listing.splitlines():
        pid, _, command = line.strip().partition(" ")
        yield int(pid), command.split()


def _find_sockets(profile: str) -> list[str]:
    """Return the folder of the socket that a profile's browser listens on: it is outside the profile, and a kill
    leaves it.
    """
    with contextlib.suppress(OSError):
        socket = Path(profile, "SingletonSocket").readlink()
        if socket.parent.name.lstrip(".").startswith(("org.chromium.", "com.google.Chrome.", "com.microsoft.")):
            return [str(socket.parent)]
    return []


def _end(pid: int) -> None:
    """Kill `pid`, with its group where it leads one, and never a group we did not start."""
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/T", "/F", "/PID", str(pid)], capture_output=True, check=False)
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)


def _remove(folders: Iterable[str]) -> None:
    """Remove folders, again and again while processes that are ending still write to them."""
    until = time.monotonic() + _SWEEP
    left = [Path(folder) for folder in folders]
    while left:
        for folder in left:
            shutil.rmtree(folder, ignore_errors=True)
        left = [folder for folder in left if folder.exists()]
        if not left or time.monotonic() > until:
            return
        time.sleep(_TICK)


if __name__ == "__main__":
    _main()
