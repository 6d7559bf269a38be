"""What one desk has under way in browsers: live pages, and runs. It is made at first use, so that a server nobody browses with loads no browser library.

It drives nothing: that is `browser_agent.hosted`. It lends a session's handle and ends everything when the desk closes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from browser_agent.agent.settings import BrowserChoice, RunLimits
from ctxfold.config import model_default
from ctxfold.models import Model

if TYPE_CHECKING:
    from browser_agent.agent.confirm import Confirm
    from browser_agent.host.pages import Means, Pages
    from browser_agent.host.runs import Runs
    from browser_agent.network.secrets import Secret

__all__ = ["Browsing", "Web"]


@dataclass(frozen=True, slots=True)
class Web:
    """How a server browses, as whoever started it said.

    Attributes:
        allow: domains that may be reached, and no others; none for every public one.
        secrets: values that may be typed by placeholder.
        confirm: when a person is asked before something consequential.
        choice: which browser is started.
        uploads: folders that files may be uploaded from.
        model: who decides the runs; None for what is there.
        limits: when a run ends at the latest.
    """

    allow: tuple[str, ...] = ()
    secrets: tuple[Secret, ...] = ()
    confirm: Confirm = "auto"
    choice: BrowserChoice = field(default_factory=BrowserChoice)
    uploads: tuple[Path, ...] = ()
    model: str | None = None
    limits: RunLimits = field(default_factory=RunLimits)


class Browsing:
    """The browsers of one desk.

    Args:
        web: how it browses.
        store: where sessions are kept; None for the configured default.
        downloads: tells the folder below which downloads go, when it is first needed.
        folder: the model that folds, plans and extracts beside whoever drives; None for the embedded deciders.
    """

    def __init__(self, web: Web, store: str | None, downloads: Callable[[], Path], folder: Model | None = None) -> None:
        self._web = web
        self._store = store
        self._downloads = downloads
        self._folder = folder

    @cached_property
    def pages(self) -> Pages:
        """The live pages."""
        from browser_agent.host.pages import Pages

        return Pages(self._means)

    @cached_property
    def runs(self) -> Runs:
        """The runs."""
        from browser_agent.host.runs import Runs

        web = self._web
        return Runs(self._means, self.pages, web.model or model_default(), web.limits, self._store)

    async def close(self) -> None:
        """End every browser at once."""
        made = [self.__dict__[name] for name in ("runs", "pages") if name in self.__dict__]
        async with anyio.create_task_group() as tasks:
            for one in made:
                tasks.start_soon(one.close)

    @cached_property
    def _means(self) -> Means:
        from browser_agent.agent.confirm import Safety
        from browser_agent.host.pages import Means

        web = self._web
        safety = Safety(web.allow, web.secrets, web.confirm)
        return Means(self._downloads(), safety, web.choice, web.uploads, self._folder)
