"""A hook that is killed at any moment: what its host was given in place of a result is in the log, to the byte."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time

import pytest

from tests.mcp_server.hooks.test_events import ROWS, bash, event, kept

COMMAND = [sys.executable, "-m", "mcp_server.hooks", "claude-code"]


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_killed_hook_loses_nothing_that_its_host_saw_replaced() -> None:
    rng = random.Random(20)
    started = time.perf_counter()
    subprocess.run(COMMAND, input=event("claude-code", "PostToolUse", **bash(ROWS, "whole")), check=True, timeout=60)
    most = 1.2 * (time.perf_counter() - started)
    seen = []
    for at in range(100):
        rows = f"{ROWS}\nonly-{at}-here"
        hook = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, _ = hook.communicate(
                event("claude-code", "PostToolUse", **bash(rows, f"call-{at}")), timeout=rng.random() * most
            )
        except subprocess.TimeoutExpired:
            hook.kill()
            out, _ = hook.communicate()
        seen += [(re.findall(r"ctxfold recall \S+ (s\d+\.\d+)", out.decode())[-1], rows)] if out else []
    assert 10 < len(seen) < 100
    with kept("claude-code") as session:
        for ref, rows in seen:
            same = session.recall(ref).text == rows
            assert same, ref
