"""Saves the files that a page downloads into one folder, each under a free and safe name."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable
from pathlib import Path

from playwright.async_api import Download, Error

_UNSAFE = re.compile(r"[^\w.\- ]+")
_NAME = 120


class Downloads:
    """The downloads of one window. `scrub` takes secrets out of names; `take` hands out what has arrived since it was last asked."""

    def __init__(self, folder: Path, scrub: Callable[[str], str]) -> None:
        self.folder = folder
        self._scrub = scrub
        self._began = 0
        self._saving: set[asyncio.Task[None]] = set()
        self._arrived: list[str] = []
        self._news = asyncio.Event()

    @property
    def count(self) -> int:
        """How many have begun."""
        return self._began

    def began(self, download: Download) -> None:
        """Note that a download began, and save it as it comes in."""
        self._began += 1
        task = asyncio.ensure_future(self._save(download))
        self._saving.add(task)
        task.add_done_callback(self._saving.discard)
        self._news.set()

    async def wait_begun(self, count: int, seconds: float) -> bool:
        """Wait until more than `count` have begun; whether they have."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._began <= count:
                    self._news.clear()
                    await self._news.wait()
        return self._began > count

    async def wait_saved(self, seconds: float) -> bool:
        """Wait until all that began have arrived; whether they have."""
        if self._saving:
            await asyncio.wait(set(self._saving), timeout=seconds)
        return not self._saving

    def take(self) -> tuple[str, ...]:
        """Paths of the files that arrived since the last call."""
        arrived, self._arrived = tuple(self._arrived), []
        return arrived

    async def _save(self, download: Download) -> None:
        with contextlib.suppress(Error, OSError):  # one that was cancelled or broke off leaves no file to list
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self._free(_safe(self._scrub(download.suggested_filename)))
            await download.save_as(path)
            self._arrived.append(str(path))

    def _free(self, name: str) -> Path:
        """A path in the folder that no file has yet, and claimed."""
        stem, dot, ending = name.rpartition(".")
        for number in range(1, 10_000):
            numbered = (
                name if number == 1 else f"{stem or ending}-{number}{dot if stem else ''}{ending if stem else ''}"
            )
            path = self.folder / numbered
            with contextlib.suppress(FileExistsError):
                path.touch(exist_ok=False)
                return path
        raise FileExistsError(name)


def _safe(name: str) -> str:
    """A file name without anything a path, a shell or a file system could take for more than a name."""
    return _UNSAFE.sub("_", name).strip(" .")[-_NAME:] or "download"
