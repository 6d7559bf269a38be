"""Starts a browser process or connects to a running one, and ends what it started."""

from __future__ import annotations

import asyncio
import re
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
from playwright.async_api import Browser as Chromium
from playwright.async_api import Error, Playwright, ProxySettings

from browser_agent.browser.driver import start_driver, stop_driver
from browser_agent.browser.install import Report, installed, is_root, provide
from browser_agent.browser.reaper import Reaper
from ctxfold.config.children import child_environment
from ctxfold.errors import BrowserGone, BrowserMissing

_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
)
_UNWANTED = ("--disable-ipc-flooding-protection",)
"""What Playwright would start a browser with and a person's has not: without this protection a page that changes its address in a loop stops the whole browser."""
_FILTERED = (
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # names are resolved by the proxy alone
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
_START_SECONDS = 20.0
_CLOSE_SECONDS = 2.0
_FATAL = re.compile(r"FATAL:[^\]]*\] *(.+)")
_ERR = re.compile(r"\[err\] (.+)")
_NO_SANDBOX = re.compile(r"no usable sandbox|setuid sandbox|running as root without --no-sandbox", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Plan:
    """How to come by a browser: start one, `headed` or not, from `executable` or from whatever is found; or connect.

    `proxy` is the address of the only way out it gets.
    """

    headed: bool = False
    executable: Path | None = None
    endpoint: str | None = None
    proxy: str | None = None


@dataclass(frozen=True, slots=True)
class BrowserProcess:
    """A live browser. `folder` holds its downloads and goes with it; `executable` is None for one we connected to."""

    driver: Playwright
    chromium: Chromium
    reaper: Reaper
    folder: Path
    executable: Path | None


async def start_browser(plan: Plan, report: Report) -> BrowserProcess:
    """Start or connect to a browser. Raises BrowserMissing: none is there, none could be provided, or none that is there starts; BrowserGone: nothing answers at the endpoint."""
    folder = Path(tempfile.mkdtemp(prefix="ctxfold-browser-"))
    reaper = Reaper(child_environment())
    reaper.remove_folder(folder)
    driver: Playwright | None = None
    try:
        driver = await start_driver()
        if plan.endpoint is not None:
            return BrowserProcess(driver, await _connect(driver, plan.endpoint), reaper, folder, None)
        reaper.end_marked(_mark(folder))
        chromium, executable = await _launch(driver, plan, folder, report)
        await _entrust(chromium, reaper)
        return BrowserProcess(driver, chromium, reaper, folder, executable)
    except BaseException:
        with anyio.CancelScope(shield=True):
            if driver is not None:
                await stop_driver(driver)
            await asyncio.to_thread(reaper.reap)
        raise


async def stop_browser(running: BrowserProcess) -> None:
    """End what we started, within a few seconds, and remove its folders. Never raises for a browser already gone."""
    with suppress(Error, TimeoutError):
        await asyncio.wait_for(running.chromium.close(), _CLOSE_SECONDS)
    await stop_driver(running.driver)
    await asyncio.to_thread(running.reaper.reap)


def proxy_settings(proxy: str | None) -> ProxySettings | None:
    """Playwright's words for going through `proxy` and nowhere else, this machine's own addresses included."""
    return ProxySettings(server=proxy, bypass="<-loopback>") if proxy else None


async def kill_browser(running: BrowserProcess) -> None:
    """End a browser that no longer answers: by its process, without asking it."""
    await asyncio.gather(asyncio.to_thread(running.reaper.reap), stop_driver(running.driver))


def check_executable(path: Path) -> None:
    """Raise BrowserMissing where there is no file that could be a browser."""
    if not path.is_file():
        raise BrowserMissing(f"no browser at {str(path)!r}; give the path of a Chrome, Chromium or Edge")


async def _connect(driver: Playwright, endpoint: str) -> Chromium:
    speaks_cdp = endpoint.startswith(("http://", "https://")) or "/devtools/" in endpoint
    connect = driver.chromium.connect_over_cdp if speaks_cdp else driver.chromium.connect
    try:
        return await connect(endpoint, timeout=_START_SECONDS * 1000)
    except Error as error:
        raise BrowserGone(
            f"no browser answers at {endpoint!r}; start one with --remote-debugging-port, or leave the endpoint out"
        ) from error


async def _launch(driver: Playwright, plan: Plan, folder: Path, report: Report) -> tuple[Chromium, Path]:
    own = Path(driver.chromium.executable_path)
    if plan.executable is not None:
        check_executable(plan.executable)
        return await _try(driver, plan.executable, plan, folder, report), plan.executable
    failed = False
    for path in installed(own):
        try:
            return await _try(driver, path, plan, folder, report), path
        except BrowserMissing as failure:
            report(str(failure))
            failed = True
    provided = await provide(own, report, packages=not failed)
    return await _try(driver, provided, plan, folder, report), provided


async def _try(driver: Playwright, path: Path, plan: Plan, folder: Path, report: Report) -> Chromium:
    """Start the browser at `path`, with its sandbox where that can work."""
    report(f"starting {path}")
    if is_root():
        report("running as root: the browser's own sandbox is off (--no-sandbox)")
        return await _start_at(driver, path, plan, folder, sandbox=False)
    try:
        return await _start_at(driver, path, plan, folder, sandbox=True)
    except BrowserMissing as error:
        if _NO_SANDBOX.search(str(error.__cause__)) is None:
            raise
    report("this system gives the browser no sandbox: it is off (--no-sandbox)")
    return await _start_at(driver, path, plan, folder, sandbox=False)


async def _start_at(driver: Playwright, path: Path, plan: Plan, folder: Path, *, sandbox: bool) -> Chromium:
    try:
        return await driver.chromium.launch(
            executable_path=path,
            headless=not plan.headed,
            chromium_sandbox=sandbox,
            ignore_default_args=list(_UNWANTED),
            args=[*_FLAGS, *(_FILTERED if plan.proxy else ()), f"--ctxfold-run={_mark(folder)}"],
            proxy=proxy_settings(plan.proxy),
            artifacts_dir=folder,
            env={**child_environment()},
            timeout=_START_SECONDS * 1000,
        )
    except Error as error:
        raise BrowserMissing(f"{path} does not start: {_reason(error.message)}; name another browser") from error


def _reason(message: str) -> str:
    """Why a browser did not start: its own last word, else Playwright's first."""
    last = _FATAL.search(message) or _ERR.search(message)
    return (last[1] if last is not None else message.strip().splitlines()[0])[:160].rstrip(" .")


async def _entrust(chromium: Chromium, reaper: Reaper) -> None:
    """Tell the reaper the browser's process and its profile folder, as the browser itself names them."""
    session = await chromium.new_browser_cdp_session()
    processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    for process in processes:
        if process["type"] == "browser":
            reaper.end_process(process["id"])
    command: str = (await session.send("SystemInfo.getInfo"))["commandLine"]
    for profile in re.findall(r"--user-data-dir=(\S+)", command):
        reaper.remove_folder(Path(profile))
    await session.detach()


def _mark(folder: Path) -> str:
    return folder.name
