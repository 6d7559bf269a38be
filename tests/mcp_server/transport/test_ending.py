import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mcp_server.conftest import ROOT, SERVE, Host
from tests.sites.server import Site
from tests.support.leaving import command, is_alive, wait_for_browser

Start = Callable[..., Host]

LEAVE = 30.0
"""Seconds after which a process that should have left fails a test; how fast it leaves is a benchmark's matter."""

NOISY = f"""
import atexit, os, subprocess
print("noise at import")
atexit.register(print, "noise at exit")
import mcp_server.sessions.pool as pool
resumed = pool._open_session
def noisy(*arguments):
    print("noise at run", flush=True)
    os.write(1, b"raw noise")
    subprocess.run(["echo", "noise of a child"], check=True)
    return resumed(*arguments)
pool._open_session = noisy
{SERVE}
"""

STUCK = f"""
import threading
import mcp_server.sessions.pool as pool
pool._open_session = lambda *arguments: threading.Event().wait()
{SERVE}
"""

PARENT = """
import signal, subprocess, sys
server = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdin=0)
print(server.pid, flush=True)
signal.pause()
"""


def left(host: Host, within: float = LEAVE) -> int:
    """The exit code; the test fails if the process takes longer."""
    return host.process.wait(within)


def end(host: Host, number: signal.Signals | None) -> None:
    """Send a signal, or close stdin."""
    if number is not None:
        host.process.send_signal(number)
        return
    assert host.process.stdin is not None
    host.process.stdin.close()


@pytest.mark.parametrize(
    "number",
    [None, signal.SIGTERM, *(pytest.param(one, marks=pytest.mark.long) for one in (signal.SIGINT, signal.SIGHUP))],
)
def test_it_leaves_when_its_host_closes_stdin_and_on_a_signal(host: Start, number: signal.Signals | None) -> None:
    one = host()
    one.begin()
    one.call("open_session", session="paris-trip")
    end(one, number)
    assert left(one) == (0 if number is None else 128 + number)


@pytest.mark.parametrize("number", [None, signal.SIGTERM])
def test_it_leaves_in_time_even_from_a_call_that_never_returns(host: Start, number: signal.Signals | None) -> None:
    one = host(STUCK)
    one.begin()
    one.send("tools/call", name="open_session", arguments={"session": "paris-trip"})
    one.ask("ping")
    end(one, number)
    left(one)


def test_it_leaves_when_its_parent_is_killed_though_stdin_stays_open(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    arguments = [sys.executable, "-c", PARENT, SERVE]
    with subprocess.Popen(arguments, stdin=reader, stdout=subprocess.PIPE, env=environment, cwd="/") as parent:
        assert parent.stdout is not None
        server = int(parent.stdout.readline())
        hello = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
        os.write(writer, hello.encode() + b"\n")
        assert b'"serverInfo"' in parent.stdout.readline()
        gone = os.pidfd_open(server)
        parent.kill()
        assert select.select([gone], [], [], LEAVE)[0]
        os.close(gone)
    os.close(reader)
    os.close(writer)


@pytest.mark.parametrize("number", [None, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_no_browser_outlives_the_server(host: Start, number: signal.Signals | None) -> None:
    one = host("from mcp_server.cli.serve import serve; serve(['--caps', 'core,browser'])")
    with Site(pages={"/": "<title>Home</title><p>Hello.</p>"}) as site:
        one.begin()
        one.call("open_session", session="trip")
        one.call("page_open", session="trip", url=site.url)
        processes = wait_for_browser(one.process.pid)
        end(one, number)
        left(one)
        until = time.monotonic() + LEAVE
        while any(map(is_alive, processes)):
            assert time.monotonic() < until, [command(process) for process in processes]
            time.sleep(0.02)


def test_stdout_carries_the_protocol_alone_whatever_prints(host: Start) -> None:
    one = host(NOISY)
    one.begin()
    one.call("open_session", session="paris-trip")
    assert one.process.stdout is not None
    assert one.process.stderr is not None
    end(one, None)
    left(one)
    assert one.process.stdout.read() == b""
    noise = one.process.stderr.read().decode()
    assert all(word in noise for word in ("noise at import", "noise at run", "raw noise", "noise of a child"))


def test_it_works_with_home_and_path_alone_from_the_root_folder(host: Start) -> None:
    one = host(
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); {SERVE}",
        env={name: os.environ[name] for name in ("HOME", "PATH")},
    )
    one.begin()
    assert "created yes" in one.call("open_session", session="paris-trip")
