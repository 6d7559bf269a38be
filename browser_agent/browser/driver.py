"""Starts Playwright's driver, which is given only what it needs of our environment."""

# Playwright hands its driver the whole environment, and no argument of its says otherwise. What it does let one say is the program that the driver is
# started by: a script of ours, which drops the rest and becomes that program. Where a script cannot be run so (Windows, a folder without programs),
# the driver gets the environment as it is; the browser that it starts does not.

from __future__ import annotations

import asyncio
import shlex
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from os import X_OK, access
from pathlib import Path

import anyio
import playwright
from playwright.async_api import Error, Playwright, async_playwright

from ctxfold.config.children import NODE, driver_program, kept_from_children, node_at

__all__ = ["start_driver", "stop_driver"]

_DRIVER_SECONDS = 10.0
"""Seconds that the driver is waited for as it ends: some tenths of one, but where a loaded machine is slow, one that was given up earlier stays behind with its pipes open."""
_SCRIPT = "node"


async def start_driver() -> Playwright:
    """Start Playwright's driver. One that is not wanted any more as it comes up is ended: nobody else could."""
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
    """End a driver; one that is gone already is no failure."""
    with suppress(Error, TimeoutError):
        await asyncio.wait_for(driver.stop(), _DRIVER_SECONDS)


class _Starts:
    """The drivers that are being started. They share one script, which stands for as long as there is one of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._held = ExitStack()

    @contextmanager
    def one(self) -> Iterator[None]:
        """For the length of the block, what starts a driver starts it by our script."""
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
    node = driver_program() or Path(playwright.__file__).parent / "driver" / "node"
    if sys.platform == "win32" or not access(node, X_OK):
        return
    script = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="ctxfold-driver-"))) / _SCRIPT
    dropped = " ".join(f"-u {shlex.quote(name)}" for name in (*kept_from_children(), NODE))
    script.write_text(f'#!/bin/sh\nexec env {dropped} {shlex.quote(str(node))} "$@"\n', encoding="utf-8")
    script.chmod(0o700)
    if access(script, X_OK):
        held.enter_context(node_at(script))


_STARTS = _Starts()
