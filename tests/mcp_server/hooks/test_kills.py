"""A hook or its helper that is killed at any moment: what the host was given in place of a result is in the log, to the byte."""

from __future__ import annotations

import fcntl
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from mcp_server.hooks.helper import find_socket
from tests.mcp_server.hooks.test_events import ROWS, bash, event, kept

COMMAND = [sys.executable, "-m", "mcp_server.hooks", "claude-code"]


def long_result(at: int, rows: str) -> bytes:
    return event("claude-code", "PostToolUse", **bash(rows, f"call-{at}"))


def kill_helper() -> bool:
    """Kill the helper that runs, if one does: then it holds the lock in which its number stands."""
    try:
        with open(f"{find_socket()}.lock") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.kill(int(lock.read()), signal.SIGKILL)
                return True
    except (OSError, ValueError):
        return False  # none was started yet, or it ends just now
    return False


@contextmanager
def helper_killed_again_and_again(rng: random.Random, most: float) -> Iterator[list[bool]]:
    """Kill the helper at random moments."""
    ended, killed = threading.Event(), []

    def kill() -> None:
        while not ended.wait(rng.random() * 4 * most):
            killed.append(kill_helper())

    thread = threading.Thread(target=kill)
    thread.start()
    yield killed
    ended.set()
    thread.join()


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_killed_hook_or_helper_loses_nothing_that_the_host_saw_replaced() -> None:
    rng = random.Random(20)
    started = time.perf_counter()
    subprocess.run(COMMAND, input=long_result(-1, ROWS), check=True, timeout=60)
    most = 1.2 * (time.perf_counter() - started)
    seen = []
    with helper_killed_again_and_again(random.Random(21), most) as killed:
        for at in range(100):
            rows = f"{ROWS}\nonly-{at}-here"
            hook = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            try:
                out, _ = hook.communicate(long_result(at, rows), timeout=rng.random() * most)
            except subprocess.TimeoutExpired:
                hook.kill()
                out, _ = hook.communicate()
            seen += [(re.findall(r"ctxfold recall \S+ (s\d+\.\d+)", out.decode())[-1], rows)] if out else []
    assert 10 < len(seen) < 100
    assert any(killed)
    with kept("claude-code") as session:
        for ref, rows in seen:
            same = session.recall(ref).text == rows
            assert same, ref
