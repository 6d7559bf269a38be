"""`ctxfold browse` at a shell: lines, answer, exit codes, and an end by Ctrl-C that leaves nothing behind."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxfold import Session
from ctxfold.errors import UnknownSession
from tests.browser_agent.agent.scripts import decide, script
from tests.sites.server import Site

Serve = Callable[[dict[str, str]], Site]
CTXFOLD = [sys.executable, "-m", "ctxfold"]
TIDES = (
    "<title>Tides</title><main><h1>Tides</h1><p>Tides rise and fall.</p><h2 id=spring>Spring tides</h2>"
    "<p>Spring tides come twice a month, at new moon and at full moon.</p></main>"
)
HOME = "<title>Harbour</title><main><h1>Harbour</h1><p>Ships.</p><a href=/tides>Spring tides</a></main>"


def ctxfold(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*CTXFOLD, *arguments], capture_output=True, text=True, timeout=90, check=False)


def test_an_answer_is_printed_with_its_source_and_its_cost(serve: Serve):
    site = serve({"/": HOME, "/tides": TIDES})
    done = ctxfold("browse", "Do spring tides come at full moon?", "--start-url", site.url, "--session", "tides")
    assert done.returncode == 0, done.stderr
    assert "“Spring tides come twice a month, at new moon and at full moon.”" in done.stdout
    assert f"{site.url}/tides#spring" in done.stdout
    assert done.stdout.startswith("The explorer (no model) answers in the page's words:")
    assert "   2 open tides" in done.stderr
    assert "/8,000 tok" in done.stderr
    assert re.search(r"^\d+ steps decided by explorer; ", done.stderr, re.M)
    assert done.stderr.endswith(f"see it:  {shlex.join(CTXFOLD)} context tides\n")


def test_nothing_found_is_said_and_exits_with_1(serve: Serve):
    site = serve({"/": HOME, "/tides": TIDES})
    done = ctxfold("browse", "What does a mooring licence for Rotterdam cost?", "--start-url", site.url, "--json")
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert result["status"] == "none_found"
    assert result["answer"] is None
    assert (result["decider"], result["answered_by"]) == ("explorer", "explorer")


@pytest.mark.long
def test_what_is_missing_is_one_line_and_exits_with_2_or_3(serve: Serve):
    site = serve({"/": HOME})
    cases = {
        ("browse", "Find it."): (2, "--start-url"),
        ("browse", "--resume", "--session", "nowhere"): (2, "nowhere"),
        ("browse", "x", "--start-url", site.url, "--model", "gpt"): (2, "explorer"),
        ("browse", "x", "--start-url", site.url, "--browser", "/no/browser"): (3, "/no/browser"),
        ("browse", "x", "--start-url", "http://127.0.0.1:9/"): (3, "check the address"),
    }
    for arguments, (code, words) in cases.items():
        done = ctxfold(*arguments)
        last = done.stderr.strip().splitlines()[-1]
        assert (done.returncode, last.startswith("error: "), words in last) == (code, True, True), (arguments, done)
        assert "Go on with" not in done.stderr, arguments
    done = ctxfold("browse", "x", "--start-url", site.url, "--model", "gpt")
    assert done.stderr.count("\n") == 1
    done = ctxfold("browse", "x", "--start-url", site.url, "--browser", "/no/browser", "--session", "unmade")
    assert done.returncode == 3
    with pytest.raises(UnknownSession):
        Session.open("unmade", create=False)


def test_a_failure_in_the_middle_is_one_line_and_says_how_to_go_on(serve: Serve, tmp_path: Path):
    site = serve({"/": HOME, "/tides": TIDES})
    model = script(tmp_path, decide("Wait.", {"kind": "scroll", "direction": "down"}))
    command = ["browse", "Find a ship.", "--start-url", site.url]
    done = ctxfold(*command, "--session", "ship", "--model", model, "--max-steps", "30")
    *_, kept, failed = done.stderr.strip().splitlines()
    assert done.returncode == 3
    resumed = f"browse --resume --session ship --model {model} --max-steps 30"
    assert kept == f"what was done is kept. Go on with:  {shlex.join(CTXFOLD)} {resumed}"
    assert failed.startswith("error: script:")


def test_an_interrupt_leaves_no_browser_and_says_how_to_go_on(serve: Serve, tmp_path: Path):
    site = serve({"/": HOME, "/tides": TIDES})
    wait = {"kind": "wait_for", "text": "never", "seconds": 25}
    model = script(tmp_path, decide("Wait.", wait), decide("There.", {"kind": "give_up", "reason": "no ship came"}))
    command = ["browse", "Find a ship.", "--start-url", site.url, "--session", "ship", "--model", model]
    with subprocess.Popen([*CTXFOLD, *command], stderr=subprocess.PIPE, text=True, start_new_session=True) as running:
        assert running.stderr is not None
        said = ""
        while "   1 open" not in said:
            line = running.stderr.readline()
            assert line, said
            said += line
        os.kill(running.pid, signal.SIGINT)
        said += running.stderr.read()
        assert running.wait(60) == 130
    assert "ctxfold browse --resume --session ship" in said
    assert "Traceback" not in said
    deadline = time.monotonic() + 60
    while _in_group(running.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _in_group(running.pid)
    with Session.open("ship", create=False) as session:
        assert session.tip >= 1
    again = script(tmp_path, decide("There.", {"kind": "give_up", "reason": "no ship came"}))
    done = ctxfold("browse", "--resume", "--session", "ship", "--model", again)
    assert done.returncode == 1, done.stderr
    assert "no ship came" in done.stdout


def _in_group(group: int) -> list[int]:
    """Processes of a session that are still there; zombies do not count."""
    left = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == group and fields[0] != "Z":
            left.append(int(entry.name))
    return left
