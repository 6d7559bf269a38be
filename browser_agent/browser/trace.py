"""Keeps Playwright's trace of a window while a block runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from playwright.async_api import Error

from browser_agent.browser.install import Report
from browser_agent.browser.window import Window

__all__ = ["traced"]

_SECONDS = 20.0


@asynccontextmanager
async def traced(window: Window, path: Path, report: Report) -> AsyncIterator[None]:
    """Trace a window, and write that to a file at the end of the block, however it ends; what a browser that died had done is not in it. `playwright show-trace` opens it."""
    await window.page.context.tracing.start(screenshots=True, snapshots=True)
    try:
        yield
    finally:
        with anyio.move_on_after(_SECONDS, shield=True) as writing:
            try:
                await window.page.context.tracing.stop(path=path)
            except Error:
                report("there is no trace: the browser died, and what it had traced went with it")
        if writing.cancelled_caught:
            report(f"there is no trace: the browser did not hand it over within {_SECONDS:g} s")
