"""What `ctxfold doctor` says about the browser, through the entry-point group `ctxfold.checks`. It starts none and installs none."""

from __future__ import annotations

from pathlib import Path

import anyio

from browser_agent.provision import Probe, probe
from ctxfold.doctor import Check

__all__ = ["browser"]


def browser() -> Check:
    """Whether there is a browser to drive, an installed one or the one Playwright keeps."""
    found = probe()
    if not found.candidates:
        found = probe(anyio.run(_playwrights_own))
    return Check("browser", bool(found.candidates), _fact(found), found.fix or "")


def _fact(found: Probe) -> str:
    if not found.candidates:
        return "no Chrome, Chromium or Edge; `ctxfold browse` will try to provide one"
    rights = "; run as root, so without its sandbox" if found.root else ""
    first = found.candidates[0]
    return f"{found.version or first.path.name} at {first.path}{rights}"


async def _playwrights_own() -> Path:
    """Where Playwright keeps its browser, there or not; only its driver knows."""
    from playwright.async_api import async_playwright

    async with async_playwright() as driver:
        return Path(driver.chromium.executable_path)
