"""Finds, provides, starts or connects to a browser, with a driver that is given no keys, and ends both."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import playwright
from playwright.async_api import Browser as Chromium
from playwright.async_api import Error, Playwright, ProxySettings, async_playwright

from browser_agent.browser.reaper import Reaper, find_marked
from ctxfold.cli.doctor import HealthCheck
from ctxfold.config import NODE, child_environment, driver_program, list_private_variables, node_at
from ctxfold.errors import BrowserGone, BrowserMissing

# Playwright hands its driver the whole environment, and has no argument against that. It does let us name the program
# that the driver is started by: a script of ours, which drops the rest and becomes that program. Where a script cannot
# be run so (Windows, a folder without programs), the driver gets the environment as it is; its browser does not.
_DRIVER_SECONDS = 10.0
"""Seconds a driver has to end. It takes tenths of one; on a loaded machine one given up earlier keeps pipes open."""
_SCRIPT = "node"


async def start_driver() -> Playwright:
    """Start Playwright's driver. A caller that is cancelled waits until it is up, and ends it: nobody else could."""
    with _STARTS.one():
        starting = asyncio.ensure_future(async_playwright().start())
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True):
                await asyncio.wait({starting}, timeout=_DRIVER_SECONDS)
                if starting.done() and starting.exception() is None:
                    await stop_driver(starting.result())
            raise


async def stop_driver(driver: Playwright) -> None:
    """End a driver; one that is gone already is fine."""
    with suppress(Error, TimeoutError):
        await asyncio.wait_for(driver.stop(), _DRIVER_SECONDS)


class _Starts:
    """Counts the drivers that are being started. They share one script, which is removed after the last of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._held = ExitStack()

    @contextmanager
    def one(self) -> Iterator[None]:
        """In this block a driver is started by our script."""
        with self._lock:
            self._count += 1
            if self._count == 1:
                _hold_script(self._held)
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1
                if not self._count:
                    self._held.close()


def _hold_script(held: ExitStack) -> None:
    """Write the script that starts the driver without our keys, and name it to Playwright, as long as `held` lasts."""
    node = driver_program() or Path(playwright.__file__).parent / "driver" / "node"
    if sys.platform == "win32" or not os.access(node, os.X_OK):
        return
    script = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="ctxfold-driver-"))) / _SCRIPT
    dropped = " ".join(f"-u {shlex.quote(name)}" for name in (*list_private_variables(), NODE))
    script.write_text(f'#!/bin/sh\nexec env {dropped} {shlex.quote(str(node))} "$@"\n', encoding="utf-8")
    script.chmod(0o700)
    if os.access(script, os.X_OK):
        held.enter_context(node_at(script))


_STARTS = _Starts()


Report = Callable[[str], None]
"""Called with one line for each thing that is done to get a browser running."""

_NAMES = (
    "google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "chrome", "microsoft-edge",
    "microsoft-edge-stable", "msedge",
)  # fmt: skip
_PLACES = {
    "linux": ("/usr/bin/google-chrome", "/opt/google/chrome/chrome", "/usr/bin/chromium", "/usr/lib/chromium/chromium",
              "/opt/microsoft/msedge/msedge"),
    "darwin": ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
               "/Applications/Chromium.app/Contents/MacOS/Chromium",
               "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge"),
    "win32": ("C:/Program Files/Google/Chrome/Application/chrome.exe",
              "C:/Program Files (x86)/Google/Chrome/Application/chrome.exe",
              "C:/Program Files/Microsoft/Edge/Application/msedge.exe",
              "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe"),
}  # fmt: skip

_PYTHON = (sys.executable, "-P", "-m")
"""Runs a module of this Python, or of the user's own packages, and none that lies in the working directory."""
_DOWNLOAD_SECONDS, _PACKAGE_SECONDS = 300.0, 600.0
"""Seconds for a download of a browser, and for each step of a package's installation."""


def find_browsers(own: Path | None = None) -> Iterator[Path]:
    """Browsers on this machine, best first: on the search path, in the usual places, and at `own`, Playwright's."""
    seen: set[Path] = set()
    named = (shutil.which(name) for name in _NAMES)
    for place in (*named, *_PLACES.get(sys.platform, ()), own):
        if place is None:
            continue
        path = Path(place)
        if path.is_file() and os.access(path, os.X_OK) and path.resolve() not in seen:
            seen.add(path.resolve())
            yield path


async def provide(own: Path, report: Report, *, packages: bool = True) -> Path:
    """Get a browser onto a machine where none starts. Raises BrowserMissing: nothing worked; it names the command."""
    report("no browser that starts was found; downloading Chromium with Playwright")
    failure = await _run([*_PYTHON, "playwright", "install", "chromium"], _DOWNLOAD_SECONDS)
    if failure is None:
        if own in find_browsers(own):
            return own
        failure = "it reported success but left no browser"
    report(f"Playwright's download failed: {failure}")
    if packages and is_root() and shutil.which("apt-get"):
        report("installing the distribution's chromium package")
        apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
        failure = await _run([*apt, "update"], _PACKAGE_SECONDS) or await _run(
            [*apt, "install", "-y", "--no-install-recommends", "chromium"], _PACKAGE_SECONDS
        )
        if failure is None:
            if (installed := next(find_browsers(), None)) is not None:
                return installed
            failure = "the package brought no chromium"
        report(f"the package install failed: {failure}")
    raise BrowserMissing(f"no Chrome, Chromium or Edge starts here and none could be provided; run: {name_fix()}")


def name_fix() -> str:
    """Return the command that provides a browser on this machine."""
    if shutil.which("apt-get"):
        return "apt-get update && apt-get install -y chromium" if is_root() else "sudo apt-get install -y chromium"
    return shlex.join((*_PYTHON, "playwright", "install", "chromium"))


def is_root() -> bool:
    """Return whether this process has the rights of root, under which Chromium's sandbox cannot work."""
    return sys.platform != "win32" and os.geteuid() == 0


async def _run(command: list[str], seconds: float) -> str | None:
    """Run a command to its end. Returns its failure in one line, or None."""
    try:
        with anyio.fail_after(seconds):
            environment = child_environment(downloads=True)
            done = await anyio.run_process(command, check=False, stderr=subprocess.STDOUT, env=environment)
    except TimeoutError:
        return f"no end after {seconds:.0f} s"
    except OSError as error:
        return str(error.strerror)
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in done.stdout.decode(errors="replace").splitlines()]
    fault = next((line for line in lines if line.lower().startswith(("error", "e:"))), None)
    return (fault or f"exit status {done.returncode}")[:200]


def check_browser() -> HealthCheck:
    """Check that there is a browser to drive, an installed one or the one Playwright keeps."""
    first = next(find_browsers(), None) or next(find_browsers(anyio.run(_find_own)), None)
    if first is None:
        missing = "no Chrome, Chromium or Edge; `ctxfold browse` will try to provide one"
        return HealthCheck("browser", False, missing, name_fix())
    rights = "; run as root, so without its sandbox" if is_root() else ""
    return HealthCheck("browser", True, f"{first}{rights}", "")


async def _find_own() -> Path:
    """Return where Playwright would keep its browser; only its driver knows."""
    driver = await start_driver()
    try:
        return Path(driver.chromium.executable_path)
    finally:
        await stop_driver(driver)


_FLAGS = (
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-gpu",
    "--disable-quic", "--no-first-run",
)  # fmt: skip
_UNWANTED = ("--disable-ipc-flooding-protection",)
"""Playwright's flags that we drop: a page that changes its address in a loop would stop the whole browser."""
_FILTERED = (
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # names are resolved by the proxy alone
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
_START_SECONDS = 20.0
"""Seconds in which a browser must start."""
_CLOSE_SECONDS = 2.0
"""Seconds in which a browser that is asked to must close."""
_FATAL = re.compile(r"FATAL:[^\]]*\] *(.+)")
_ERR = re.compile(r"\[err\] (.+)")
_NO_SANDBOX = re.compile(r"no usable sandbox|setuid sandbox|running as root without --no-sandbox", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """How to come by a browser: start one, `headed` or not, from `executable` or from whatever is found; or connect.

    `proxy` is the address of its only way out.
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


async def start_browser(plan: LaunchPlan, report: Report) -> BrowserProcess:
    """Start or connect to a browser.

    Raises:
        BrowserMissing: none is there, none could be provided, or none that is there starts.
        BrowserGone: nothing answers at the endpoint.
    """
    folder = Path(tempfile.mkdtemp(prefix="ctxfold-browser-"))
    reaper = Reaper(child_environment())
    reaper.tell("folder", str(folder))
    driver: Playwright | None = None
    try:
        driver = await start_driver()
        if plan.endpoint is not None:
            return BrowserProcess(driver, await _connect(driver, plan.endpoint), reaper, folder, None)
        reaper.tell("mark", folder.name)
        chromium, executable = await _launch(driver, plan, folder, report)
        for profile in filter(None, find_marked([folder.name]).values()):
            reaper.tell("folder", profile)
        return BrowserProcess(driver, chromium, reaper, folder, executable)
    except BaseException:
        with anyio.CancelScope(shield=True):
            if driver is not None:
                await stop_driver(driver)
            await asyncio.to_thread(reaper.reap)
        raise


async def end_browser(running: BrowserProcess, *, ask: bool) -> None:
    """End what we started within a few seconds, by asking it or by its process, and remove its folders."""
    if ask:
        with suppress(Error, TimeoutError):  # it is gone already
            await asyncio.wait_for(running.chromium.close(), _CLOSE_SECONDS)
    await asyncio.gather(asyncio.to_thread(running.reaper.reap), stop_driver(running.driver))


def proxy_settings(proxy: str | None) -> ProxySettings | None:
    """Playwright's settings to go through `proxy` for every address, this machine's own included."""
    return ProxySettings(server=proxy, bypass="<-loopback>") if proxy else None


async def _connect(driver: Playwright, endpoint: str) -> Chromium:
    """Connect to a running browser. Raises BrowserGone: nothing answers at the endpoint."""
    speaks_cdp = endpoint.startswith(("http://", "https://")) or "/devtools/" in endpoint
    connect = driver.chromium.connect_over_cdp if speaks_cdp else driver.chromium.connect
    try:
        return await connect(endpoint, timeout=_START_SECONDS * 1000)
    except Error as error:
        raise BrowserGone(
            f"no browser answers at {endpoint!r}; start one with --remote-debugging-port, or leave the endpoint out"
        ) from error


async def _launch(driver: Playwright, plan: LaunchPlan, folder: Path, report: Report) -> tuple[Chromium, Path]:
    """Start the given browser, else the first on this machine that starts, else one that is installed now."""
    own = Path(driver.chromium.executable_path)
    if plan.executable is not None:
        if not plan.executable.is_file():
            raise BrowserMissing(f"no browser at {str(plan.executable)!r}; give the path of a Chrome, Chromium or Edge")
        return await _start_at(driver, plan.executable, plan, folder, report), plan.executable
    failed = False
    for path in find_browsers(own):
        try:
            return await _start_at(driver, path, plan, folder, report), path
        except BrowserMissing as failure:
            report(str(failure))
            failed = True
    provided = await provide(own, report, packages=not failed)
    return await _start_at(driver, provided, plan, folder, report), provided


async def _start_at(driver: Playwright, path: Path, plan: LaunchPlan, folder: Path, report: Report) -> Chromium:
    """Start the browser at `path`, with its sandbox where that can work."""
    report(f"starting {path}")
    if is_root():
        report("running as root: the browser's own sandbox is off (--no-sandbox)")
    start = partial(
        driver.chromium.launch,
        executable_path=path,
        headless=not plan.headed,
        ignore_default_args=list(_UNWANTED),
        args=[*_FLAGS, *(_FILTERED if plan.proxy else ()), f"--ctxfold-run={folder.name}"],
        proxy=proxy_settings(plan.proxy),
        artifacts_dir=folder,
        env={**child_environment()},
        timeout=_START_SECONDS * 1000,
    )
    try:
        try:
            return await start(chromium_sandbox=not is_root())
        except Error as error:
            if is_root() or _NO_SANDBOX.search(error.message) is None:
                raise
        report("this system gives the browser no sandbox: it is off (--no-sandbox)")
        return await start(chromium_sandbox=False)
    except Error as error:
        raise BrowserMissing(f"{path} does not start: {_find_reason(error.message)}; name another browser") from error


def _find_reason(message: str) -> str:
    """Return why a browser did not start: its own last word, else Playwright's first."""
    last = _FATAL.search(message) or _ERR.search(message)
    return (last[1] if last is not None else message.strip().splitlines()[0])[:160].rstrip(" .")
