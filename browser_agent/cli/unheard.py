"""Keeps the end of a run that was told to end free of noise. It hides nothing of a run that ended by itself.

A Ctrl-C at a terminal reaches the browser's driver too: what Playwright's own tasks then fail with, nobody awaits, and asyncio prints each with its
traceback once the task is collected.
"""

from __future__ import annotations

import asyncio
from typing import Any

__all__ = ["Unheard"]


class Unheard:
    """Holds what a loop reports of failures that nobody awaited, until it is known how the run ended."""

    def __init__(self) -> None:
        self._held: list[dict[str, Any]] | None = []
        self._told_to_end = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def listen(self) -> None:
        """Take the reports of the loop that runs now."""
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(self._report)

    def ended(self, *, told: bool) -> None:
        """The run is over: what is held is passed on, unless it was `told` to end. So is what still comes."""
        held, self._held, self._told_to_end = self._held, None, told
        for context in held or ():
            if self._loop is not None:
                self._report(self._loop, context)

    def _report(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if self._held is not None:
            self._held.append(context)
        elif not self._told_to_end:
            loop.default_exception_handler(context)
