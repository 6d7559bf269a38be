"""Pages that hang, crash or never come to rest cost seconds, not runs; and a browser leaves nothing behind, however it ends."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.async_api import Error

from browser_agent.actions import Click, Navigate, Outcome, Tab, Type, WaitFor
from browser_agent.actions.perform import perform
from browser_agent.browser.browser import Browser
from browser_agent.browser.limits import LIMITS
from browser_agent.browser.process import find_browsers
from browser_agent.browser.window import Window
from ctxfold.errors import BrowserGone, BrowserMissing, InputError
from tests.browser_agent.doing import do, ref, seen, visit
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

Serve = Callable[[dict[str, str]], Site]

HANG = "while (true) {}"
QUICK = replace(LIMITS, action=0.5, settle=0.5, observe=1.0, repair=0.4, whole=1.0, silence=1.0, pace=5.0)
"""Short limits that no slow machine makes longer. Pages that should answer are opened within the usual ones."""


@pytest.mark.parametrize(
    "page",
    [
        f"<title>Hangs</title><script>{HANG}</script>",
        f"<title>Hangs when looked at</title><p>Text</p><script>addEventListener('load', () => setTimeout(() => {{ {HANG} }}, 50))</script>",
    ],
    ids=["at once", "after loading"],
)
async def test_a_page_that_hangs_on_arrival_is_replaced_and_the_run_goes_on(
    window: Window, lab: str, serve: Serve, page: str
) -> None:
    site = serve({"/": page})
    window.limits = QUICK
    outcome = await do(window, Navigate(kind="navigate", url=f"{site.url}/"))
    if outcome.kind == "done":  # it was quick enough to be seen before it hung
        outcome = await perform(window, [])
    assert "does not answer yet" in outcome.message
    assert seen(outcome).url == f"{site.url}/"
    outcome = await _until_it_is_known(window, outcome)
    assert outcome.kind == "page_recovered"
    assert "the page hung and was closed" in outcome.message
    window.limits = LIMITS
    assert (await visit(window, f"{lab}/index.html")).title == "Lab"


async def _until_it_is_known(window: Window, outcome: Outcome) -> Outcome:
    """Look again for as long as the page does not answer."""
    while outcome.kind == "timed_out":
        outcome = await perform(window, [])
    return outcome


async def test_a_page_that_is_busy_for_long_is_kept_with_what_was_filled_in(window: Window, serve: Serve) -> None:
    busy = "const t = performance.now(); while (performance.now() - t < 1800);"
    site = serve({"/": f'<label>Name <input></label><button onclick="{busy}">Work</button>'})
    window.limits = replace(QUICK, silence=60.0)
    page = await visit(window, f"{site.url}/")
    await do(window, Type(kind="type", ref=ref(page, "textbox", "Name"), text="Ann"))
    outcome = await do(window, Click(kind="click", ref=ref(page, "button", "Work")))
    outcome = await _until_it_is_known(window, outcome)
    assert outcome.kind == "done"
    assert "Ann" in seen(outcome).text


@pytest.mark.parametrize("script", [HANG, f"setTimeout(() => {{ {HANG} }})"], ids=["at once", "later"])
async def test_a_click_that_hangs_the_page_is_an_outcome_and_the_run_goes_on(
    window: Window, lab: str, serve: Serve, script: str
) -> None:
    page = await visit(window, serve({"/": f'<button onclick="{script}">Hang</button>'}).url)
    window.limits = QUICK
    outcome = await do(window, Click(kind="click", ref=ref(page, "button", "Hang")))
    window.limits = LIMITS
    assert outcome.kind in ("timed_out", "page_recovered")  # the latter where a slow machine asked it longer
    assert (await visit(window, f"{lab}/index.html")).title == "Lab"  # at once, in a fresh tab
    for _ in range(400):  # the hung one is closed behind it
        await asyncio.sleep(0.05 * (len(window.pages) > 1))
    assert len(window.pages) == 1


FLOOD = "setInterval(() => { for (let i = 0; i < 500; i++) history.pushState({}, '', '?' + Math.random()) }, 0)"
HOG = "setInterval(() => { new Image().src = '/silent?' + Math.random() }, 20)"


@pytest.mark.long
@pytest.mark.parametrize("script", [FLOOD, HOG], ids=["a flood of addresses", "requests without an end"])
async def test_a_page_that_keeps_the_browser_busy_is_seen_and_left(window: Window, serve: Serve, script: str) -> None:
    site = serve({"/": f'<title>Busy</title><button onclick="{script}">Press</button>', "/next": "<title>Next</title>"})
    page = await visit(window, f"{site.url}/")
    outcome = await do(window, Click(kind="click", ref=ref(page, "button", "Press")))
    assert outcome.kind != "page_recovered"
    assert seen(outcome).title == "Busy"
    await asyncio.sleep(0.5)  # it goes on with it
    assert (await visit(window, f"{site.url}/next")).title == "Next"


async def test_nothing_that_a_page_asks_keeps_one_from_going_elsewhere(window: Window, lab: str, serve: Serve) -> None:
    stay = "onbeforeunload = e => { e.preventDefault(); e.returnValue = 'no' }"
    site = serve(
        {
            "/storm": "<button>Press</button><script>onload = () => { while (true) alert(1) }</script>",
            "/one": "<button onclick='confirm(1)'>Press</button>",
            "/stay": f'<input><button onclick="{stay}">Press</button>',
        }
    )
    await visit(window, f"{site.url}/storm")
    assert (await visit(window, f"{lab}/index.html")).title == "Lab"
    for path in ("/one", "/stay"):
        page = await visit(window, f"{site.url}{path}")
        await do(window, Click(kind="click", ref=ref(page, "button", "Press")))
        assert (await visit(window, f"{lab}/index.html")).title == "Lab"
    await visit(window, f"{site.url}/storm")
    closed = await do(window, Tab(kind="tab", op="close"))
    assert closed.kind == "done", closed.message
    assert (await visit(window, f"{lab}/form.html")).title == "Form"


async def test_a_crashed_page_is_replaced_at_once(window: Window, lab: str) -> None:
    await visit(window, f"{lab}/index.html")
    outcome = await do(window, Click(kind="click", ref=await _crash(window)))
    assert outcome.kind == "page_recovered"
    assert "the page crashed" in outcome.message
    assert (await visit(window, f"{lab}/form.html")).title == "Form"


async def _crash(window: Window) -> str:
    """Crash the page's process; a ref of what it last showed."""
    assert window.last is not None
    session = await window.page.context.new_cdp_session(window.page)
    with contextlib.suppress(Error, TimeoutError):  # nobody is left to answer
        await asyncio.wait_for(session.send("Page.crash"), 1)
    return next(iter(window.last.refs))


async def test_a_page_still_on_its_way_says_so_and_comes_when_waited_for(window: Window, serve: Serve) -> None:
    site = serve({})
    window.limits = replace(LIMITS, navigation=0.5)
    outcome = await do(window, Navigate(kind="navigate", url=f"{site.url}/held"))
    assert outcome.kind == "timed_out"
    assert "wait" in seen(outcome).text
    site.released.set()
    arrived = await do(window, WaitFor(kind="wait_for", event="load", seconds=30))
    assert arrived.ok, arrived.message
    assert "It came." in seen(arrived).text


async def test_a_browser_that_dies_is_started_again(lab: str) -> None:
    said: list[str] = []
    known = _drivers(os.getpid())
    async with await Browser.launch(report=said.append) as browser:
        window, other = await browser.window(), await browser.window()
        await visit(window, f"{lab}/index.html")
        await visit(other, f"{lab}/index.html")
        for pid in _chromium_of(_drivers(os.getpid()) - known):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        outcome = await do(window, Navigate(kind="navigate", url=f"{lab}/form.html"))
        assert outcome.kind == "page_recovered"
        assert (await visit(window, f"{lab}/form.html")).title == "Form"
        assert (await perform(other, [])).kind == "page_recovered"
        assert (await visit(other, f"{lab}/form.html")).title == "Form"
    assert sum("again" in line for line in said) == 1


async def test_a_page_too_large_for_a_snapshot_is_seen_in_its_words(window: Window, lab: str) -> None:
    window.limits = replace(LIMITS, observe=0.001)
    page = await visit(window, f"{lab}/terms.html")
    assert "too large" in page.text
    assert "Open the box." in page.text
    assert page.refs == {}
    assert {section.title for section in page.sections} >= {"Tools", "History"}


async def test_a_given_browser_that_is_not_there_or_no_browser_is_said(tmp_path: Path) -> None:
    with pytest.raises(BrowserMissing, match="no browser at"):
        await Browser.launch(executable=tmp_path / "none")
    sham = tmp_path / "sham"
    sham.write_text("#!/bin/sh\nexit 1\n")
    sham.chmod(0o755)
    with pytest.raises(BrowserMissing, match="does not start"):
        await Browser.launch(executable=sham)


async def test_a_browser_that_comes_back_has_its_storage_state_again(lab: str, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    cookie = {"name": "berth", "value": "seven", "url": lab}
    async with await Browser.launch() as browser:
        first = await browser.window()
        await first.page.context.add_cookies([cookie])  # type: ignore[list-item]
        await first.page.context.storage_state(path=state)
        window = await browser.window(storage_state=state)
        for lost in (False, True):
            if lost:
                await browser._running.chromium.close()
                await window.recover()
            await visit(window, f"{lab}/index.html")
            assert await window.page.evaluate("document.cookie") == "berth=seven"


async def test_an_endpoint_nobody_answers_at_or_that_is_none_is_said() -> None:
    with pytest.raises(BrowserGone, match="no browser answers"):
        await Browser.connect("http://127.0.0.1:2")
    with pytest.raises(InputError, match="not a browser endpoint"):
        await Browser.connect("localhost:9222")


@pytest.fixture
def scratch() -> Iterator[Path]:
    """An empty folder for temporary files, its path short enough for a browser's socket."""
    with tempfile.TemporaryDirectory(prefix="cf-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def foreign(scratch: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A browser somebody else started: its DevTools address, and its process."""
    path = next(find_browsers())
    profile = scratch / "profile"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", f"--user-data-dir={profile}"]
    process = subprocess.Popen(
        [path, *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    port = profile / "DevToolsActivePort"
    try:
        _until(lambda: port.exists() and port.read_text().count("\n") >= 1)
        yield f"http://127.0.0.1:{port.read_text().splitlines()[0]}", process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.long
async def test_a_browser_we_connected_to_is_left_running(
    lab: str, foreign: tuple[str, subprocess.Popen[bytes]]
) -> None:
    endpoint, process = foreign
    async with await Browser.connect(endpoint) as browser:
        assert browser.executable is None
        window = await browser.window()
        assert (await visit(window, f"{lab}/index.html")).title == "Lab"
    assert process.poll() is None
    async with await Browser.connect(endpoint) as browser:
        await visit(await browser.window(), f"{lab}/form.html")


RUN = """
import asyncio, sys
from browser_agent import Browser
from browser_agent.actions import Navigate
from browser_agent.actions.perform import perform

async def main():
    async with await Browser.launch() as browser:
        window = await browser.window()
        await perform(window, [Navigate(kind="navigate", url=sys.argv[1])])
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read) if sys.argv[2] == "stdin" else await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "how",
    [
        "SIGKILL",
        "SIGTERM",
        *(
            pytest.param(how, marks=pytest.mark.long)
            for how in ("SIGINT", "stdin", "SIGKILL of the group", "SIGKILL while hung")
        ),
    ],
)
def test_nothing_stays_behind_whatever_ends_the_process(scratch: Path, lab: str, serve: Serve, how: str) -> None:
    hung = serve({"/": f"<script>setTimeout(() => {{ {HANG} }}, 300)</script>"})
    url = f"{hung.url}/" if how == "SIGKILL while hung" else f"{lab}/index.html"
    run = subprocess.Popen(
        [sys.executable, "-c", RUN, url, "stdin" if how == "stdin" else ""],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(scratch)},
        start_new_session=True,
    )
    try:
        assert run.stdout is not None
        assert run.stdout.readline() == b"ready\n"
        ours = _carrying(str(scratch))
        assert ours
        assert list(scratch.iterdir())
        match how:
            case "stdin":
                assert run.stdin is not None
                run.stdin.close()
            case "SIGKILL of the group":
                os.killpg(run.pid, signal.SIGKILL)
            case _:
                run.send_signal(getattr(signal, how.split()[0]))
        run.wait(60)
        _until(lambda: not any(_alive(pid) for pid in ours) and not list(scratch.iterdir()))
    finally:
        run.kill()
        run.wait()
        for stream in (run.stdin, run.stdout):
            if stream is not None:
                stream.close()


@pytest.mark.parametrize("killed", [False, True])
async def test_closing_a_browser_leaves_no_process_and_no_folder(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", None)
    browser = await Browser.launch()
    ours = _carrying(str(scratch))
    assert ours
    if killed:
        for pid in ours:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.5)  # the driver notices, and removes the profile
    await browser.close()
    assert not any(_alive(pid) for pid in ours)
    assert not os.listdir(scratch)
    await browser.close()


async def test_a_browser_that_is_ended_waits_for_a_driver_that_is_slow_to_leave_also_when_it_is_cancelled() -> None:
    before = _drivers(os.getpid())
    browser = await Browser.launch()
    (driver,) = _drivers(os.getpid()) - before
    os.kill(driver, signal.SIGSTOP)
    ending = asyncio.ensure_future(browser.end())
    await asyncio.sleep(0.1)
    ending.cancel()
    await asyncio.wait({ending}, timeout=0.5)
    assert not ending.done()
    os.kill(driver, signal.SIGCONT)
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert not _alive(driver)


def _until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.05)


def _commands() -> Iterator[tuple[int, int, str]]:
    """Every process: its id, its parent's, its command line."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                parent = int((entry / "stat").read_text().rpartition(") ")[2].split()[1])
                yield int(entry.name), parent, command


def _carrying(text: str) -> list[int]:
    return [
        pid
        for pid, _, command in _commands()
        if (text in command and "type=" in command) or f"user-data-dir={text}" in command
    ]


def _drivers(parent: int) -> set[int]:
    """The drivers beneath `parent`, one for each browser it started."""
    return {pid for pid, above, command in _commands() if above == parent and "run-driver" in command}


def _chromium_of(drivers: set[int]) -> list[int]:
    """The browser processes beneath these drivers."""
    return [pid for pid, above, _ in _commands() if above in drivers]


def _alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[0] != "Z"
    return False
