"""Finds a Chrome, Chromium or Edge on this machine, or downloads one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio

from ctxfold.cli.checks import Check
from ctxfold.config.children import child_environment
from ctxfold.errors import BrowserMissing

__all__ = ["browser"]

Report = Callable[[str], None]
"""Told, in one line, each thing that is done to get a browser running."""

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

_DOWNLOAD_SECONDS = 300.0
_PACKAGE_SECONDS = 600.0
_VERSION_SECONDS = 10.0


def installed(own: Path | None = None) -> Iterator[Path]:
    """Browsers already on this machine, best first: on the search path, in the usual places, and `own`, where Playwright keeps its own."""
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
    """Get a browser onto a machine that has none that starts. Raises BrowserMissing: nothing worked; the message holds the one command to run."""
    report("no browser that starts was found; downloading Chromium with Playwright")
    failure = await _run([sys.executable, "-m", "playwright", "install", "chromium"], _DOWNLOAD_SECONDS)
    if failure is None:
        if own in installed(own):
            return own
        failure = "it reported success but left no browser"
    report(f"Playwright's download failed: {failure}")
    if packages and is_root() and shutil.which("apt-get"):
        report("installing the distribution's chromium package")
        failure = await _install_package()
        if failure is None:
            if (found := next(installed(), None)) is not None:
                return found
            failure = "the package brought no chromium"
        report(f"the package install failed: {failure}")
    raise BrowserMissing(f"no Chrome, Chromium or Edge starts here and none could be provided; run: {fix()}")


def fix() -> str:
    """The command that provides a browser on this machine."""
    if shutil.which("apt-get"):
        return "apt-get update && apt-get install -y chromium" if is_root() else "sudo apt-get install -y chromium"
    return f"{sys.executable} -m playwright install chromium"


def is_root() -> bool:
    """Whether this process has the rights of root, under which Chromium's sandbox cannot work."""
    return sys.platform != "win32" and os.geteuid() == 0


async def _install_package() -> str | None:
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    failure = await _run([*quiet, "update"], _PACKAGE_SECONDS)
    return failure or await _run([*quiet, "install", "-y", "--no-install-recommends", "chromium"], _PACKAGE_SECONDS)


async def _run(command: list[str], seconds: float) -> str | None:
    """Run a command to its end; None when it went well, else its failure in one line."""
    try:
        with anyio.fail_after(seconds):
            done = await anyio.run_process(
                command, check=False, stderr=subprocess.STDOUT, env=child_environment(downloads=True)
            )
    except TimeoutError:
        return f"no end after {seconds:.0f} s"
    except OSError as error:
        return str(error.strerror)
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in done.stdout.decode(errors="replace").splitlines()]
    said = next((line for line in lines if line.lower().startswith(("error", "e:"))), None)
    return (said or f"exit status {done.returncode}")[:200]


def _version(path: Path) -> str:
    if sys.platform == "win32":
        return ""  # chrome.exe opens a window instead of answering
    try:
        done = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            timeout=_VERSION_SECONDS,
            check=False,
            env=child_environment(),
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def browser() -> Check:
    """Whether there is a browser to drive, an installed one or the one Playwright keeps."""
    first = next(installed(), None) or next(installed(anyio.run(_playwrights_own)), None)
    if first is None:
        return Check("browser", False, "no Chrome, Chromium or Edge; `ctxfold browse` will try to provide one", fix())
    rights = "; run as root, so without its sandbox" if is_root() else ""
    return Check("browser", True, f"{_version(first) or first.name} at {first}{rights}", "")


async def _playwrights_own() -> Path:
    """Where Playwright keeps its browser, there or not; only its driver knows."""
    from browser_agent.browser.driver import start_driver, stop_driver

    driver = await start_driver()
    try:
        return Path(driver.chromium.executable_path)
    finally:
        await stop_driver(driver)
