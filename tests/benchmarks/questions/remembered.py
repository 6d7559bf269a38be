"""Pages that were observed once in a browser, kept in a folder, and the explorer let loose on them. For tuning: nothing is recorded."""

from __future__ import annotations

import pickle
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from browser_agent.actions import Answer, Navigate, perform
from browser_agent.browser.browser import Browser
from browser_agent.deciders.explorer import Explorer
from browser_agent.deciders.protocol import Situation
from browser_agent.deciders.sources import Source
from browser_agent.network.egress import Egress
from browser_agent.observation import Observation
from ctxfold.view.render import View
from tests.benchmarks.real_sites import DOCS, static

__all__ = ["Remembered"]

_VIEW = View("", [], 0, 0, (), 0, 0)
_STEPS = 200
_LOST = "about:blank"
"""Where a browser stands whose page did not come in time: the next try may fare better, so it is not kept."""


class Remembered:
    """The pages of one site under an address that is always the same; a browser is started for those not seen yet.

    Args:
        folder: where they are kept.
        site: the address they stand under, `http://NAME.invalid` for one of the documentations.
    """

    def __init__(self, folder: Path, site: str) -> None:
        self._folder, self._site = folder, site
        self._held: dict[str, Observation | None] = {}
        self._browser: Browser | None = None
        self.explorer: Explorer | None = None
        """The one that was asked last."""
        folder.mkdir(parents=True, exist_ok=True)

    async def ask(self, question: str, start: str) -> tuple[str | None, Source | None, int]:
        """The explorer's answer, where it stands, and how many pages it opened."""
        url, loads = f"{self._site}/{start}", 1
        self.explorer = explorer = Explorer(question)
        page = await self._page(url)
        for step in range(1, _STEPS):
            decided = await explorer.decide(Situation(question, _VIEW, page, "", step, _STEPS - step))
            end = decided.decision.end
            if isinstance(end, Answer):
                return end.text, Source(end.quote or "", end.url or ""), loads
            if end is not None:
                return None, None, loads
            action = decided.decision.page_actions[0]
            assert isinstance(action, Navigate)
            page, loads = await self._page(action.url), loads + 1
        return None, None, loads

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._browser is not None:
            await self._browser.close()

    async def _page(self, url: str) -> Observation | None:
        bare = url.partition("#")[0]
        if bare not in self._held:
            file = self._folder / sha256(bare.encode()).hexdigest()[:24]
            if not file.exists():
                page = await self._observed(bare)
                if page is None or page.url == _LOST:
                    return page
                file.write_bytes(pickle.dumps(page))
            self._held[bare] = pickle.loads(file.read_bytes())
        return self._held[bare]

    async def _observed(self, url: str) -> Observation | None:
        name = (urlsplit(self._site).hostname or "").removesuffix(".invalid")
        with static(DOCS[name]) as served:
            if self._browser is None:
                self._browser = await Browser.launch(egress=Egress())
            self._browser.permit(served)
            window = await self._browser.window()
            try:
                outcome = await perform(window, [Navigate(kind="navigate", url=url.replace(self._site, served))])
            finally:
                await window.close()
        page = outcome.observation
        if page is None:
            return None
        text = page.model_copy(update={"refs": {}, "full": ""}).model_dump_json().replace(served, self._site)
        return Observation.model_validate_json(text)
