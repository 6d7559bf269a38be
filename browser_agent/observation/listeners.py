"""Has a snapshot show and address what a page's scripts listen on, as it does what looks like a control."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.resources import files

from playwright.async_api import Error, Page

__all__ = ["pointed_at"]

_SCRIPT = files("browser_agent.observation").joinpath("listeners.js").read_text(encoding="utf-8")
_END = "function () { for (const look of this) look.cancel(); }"


@asynccontextmanager
async def pointed_at(page: Page) -> AsyncIterator[None]:
    """Inside, what scripts of the page listen on has the cursor of a control; its document is not changed. Raises playwright.async_api.Error: the page crashed or was closed."""
    session = await page.context.new_cdp_session(page)
    try:
        # Only a console of the browser may ask what is listened to.
        asked = {"expression": _SCRIPT, "includeCommandLineAPI": True, "silent": True}
        found = (await session.send("Runtime.evaluate", asked))["result"]
        yield
        if found.get("subtype") == "array":  # else the page's own scripts changed what this one calls
            ended = {"objectId": found["objectId"], "functionDeclaration": _END, "silent": True}
            with suppress(Error):  # the document was replaced meanwhile
                await session.send("Runtime.callFunctionOn", ended)
    finally:
        with suppress(Error):  # it ended with its page
            await session.detach()
