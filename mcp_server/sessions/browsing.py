"""The live pages and browsing runs of one user's sessions, created at first use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from browser_agent.agent.result import Safety
from browser_agent.agent.settings import BrowserChoice, RunLimits
from ctxfold.models import Model, Roles, spending

if TYPE_CHECKING:
    from browser_agent.host.pages import Means, Pages
    from browser_agent.host.runs import Runs


@dataclass(frozen=True, slots=True)
class BrowsingSettings:
    """How a server browses.

    Attributes:
        safety: the sites, secrets and effects allowed; its `local` is the pool's.
        model: who decides the runs; None for the default.
    """

    safety: Safety = field(default_factory=Safety)
    choice: BrowserChoice = field(default_factory=BrowserChoice)
    uploads: tuple[Path, ...] = ()
    model: str | None = None
    limits: RunLimits = field(default_factory=RunLimits)


@dataclass
class Browsing:
    """The browsers of one session pool. `downloads` returns the folder below which downloads go."""

    settings: BrowsingSettings
    store: str | None
    downloads: Callable[[], Path]
    folder: Model | Roles | None
    local: bool

    @cached_property
    def pages(self) -> Pages:
        """The live pages."""
        from browser_agent.host.pages import Pages

        return Pages(self._means)

    @cached_property
    def runs(self) -> Runs:
        """The runs."""
        from browser_agent.host.runs import Runs

        decides = spending(self.settings.model, self.settings.limits.dollars, self.folder)
        limits = replace(self.settings.limits, dollars=decides.dollars)
        return Runs(self._means, self.pages, decides.model, limits, self.store)

    async def close(self) -> None:
        """End every browser at once."""
        async with anyio.create_task_group() as tasks:
            for name in ("runs", "pages"):
                if name in self.__dict__:
                    tasks.start_soon(self.__dict__[name].close)

    @cached_property
    def _means(self) -> Means:
        from browser_agent.host.pages import Means

        settings = self.settings
        safety = replace(settings.safety, local=self.local)
        return Means(self.downloads(), safety, settings.choice, settings.uploads, self.folder)
