"""What the programs we start are told of our environment: what they need, and no key."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from browser_agent.browser.browser import Browser
from ctxfold.config import child_environment, list_private_variables
from tests.browser_agent.doing import visit
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

KEYS = (
    "ANTHROPIC_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "PLAYWRIGHT_SERVICE_ACCESS_TOKEN",
    "SOME_PASSWORD",
    "BASH_FUNC_x%%",
)
PLANTED = "planted-9f31c2"


def children(pid: int) -> list[int]:
    """The processes below one, however deep."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (entry / "stat").exists():
            parent = int((entry / "stat").read_text().rpartition(") ")[2].split()[1])
            parents.setdefault(parent, []).append(int(entry.name))
    found = list(parents.get(pid, []))
    for child in found:
        found += parents.get(child, [])
    return found


def read(pid: int, what: str) -> bytes:
    """A file that the system keeps on a process."""
    return Path(f"/proc/{pid}/{what}").read_bytes()


async def test_no_program_that_is_started_is_given_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver, the browser with all its processes, and what ends them when we are gone."""
    before = set(children(os.getpid()))
    for name in KEYS:
        monkeypatch.setenv(name, PLANTED)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    with Site(pages={"/": "<title>Here</title><main><h1>Here</h1></main>"}) as site:
        async with await Browser.launch() as browser:
            window = await browser.window()
            assert (await visit(window, site.url)).title == "Here"
            started = [child for child in children(os.getpid()) if child not in before]
            told = {read(child, "cmdline"): read(child, "environ") for child in started}
    for part in (b"run-driver", b"--type=renderer", b"reaper"):
        assert any(part in name for name in told)
    assert not [name for name, said in told.items() if PLANTED.encode() in said]
    assert any(b"LC_ALL=C.UTF-8" in said for said in told.values())
    assert "PLAYWRIGHT_NODEJS_PATH" not in os.environ


def test_what_a_child_is_given_is_listed_and_the_rest_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://user:word@proxy.example:3128")
    for name in KEYS:
        monkeypatch.setenv(name, PLANTED)
    assert PLANTED not in child_environment().values()
    assert "HTTPS_PROXY" not in child_environment()
    assert "HTTPS_PROXY" in child_environment(downloads=True)
    assert set(KEYS) <= set(list_private_variables())
    assert child_environment()["PATH"] == os.environ["PATH"]
    done = subprocess.run([sys.executable, "-c", "print(1)"], env=child_environment(), capture_output=True, check=True)
    assert done.stdout.strip() == b"1"
