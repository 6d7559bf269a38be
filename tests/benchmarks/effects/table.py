"""Where attacks are tried: two sites, a WebSocket server and a gated window; what arrives with and without a yes."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from websockets.asyncio.server import ServerConnection, serve

from browser_agent import Browser
from browser_agent.actions import Outcome, Press
from browser_agent.actions.perform import perform
from browser_agent.browser.gate import Gate
from browser_agent.browser.limits import Folders
from browser_agent.browser.window import Window
from browser_agent.network.effects import Asked, Trust
from tests.benchmarks.effects.attacks import ATTACKS, HIT, Attack, attempt, make_pages
from tests.browser_agent.doing import visit
from tests.sites.server import Site


@dataclass(frozen=True, slots=True)
class Tried:
    """The outcome of one attack: requests that arrived, questions that were asked, outcomes of its acts."""

    arrived: tuple[str, ...]
    asked: tuple[Asked, ...]
    outcomes: tuple[Outcome, ...]


@dataclass
class Range:
    """The sites that attacks are tried on, and the window they are tried in."""

    window: Window
    gate: Gate
    site: Site
    other: Site
    heard: list[str]
    asked: list[Asked] = field(default_factory=list)

    async def tried(self, attack: Attack, agreed: bool | None) -> Tried:
        """Try an attack. `agreed` is the answer of the person; None if there is no person."""

        async def ask(asked: Asked) -> bool:
            self.asked.append(asked)
            return agreed is True

        self.gate.ask = None  # the page before may send as it is left: nobody is asked
        url = f"{self.site.url}/{ATTACKS.index(attack)}"
        places = {"SELF": self.site.url, "OTHER": f"http://localhost:{self.other.port}", "PAGE": url}
        page = await visit(self.window, url)
        self.gate.take_refused()
        self.gate.trust, self.gate.ask = Trust(), None if agreed is None else ask
        for noted in (self.asked, self.heard, self.site.seen, self.site.sent, self.other.seen, self.other.sent):
            noted.clear()
        outcomes = await attempt(self.window, attack, places, page)
        if attack.late:
            await asyncio.sleep(attack.late)
            outcomes.append(await perform(self.window, [Press(kind="press", key="F9")]))
        for _ in range(150 if agreed else 0):  # what a yes let go may still be on its way
            if not self._list_arrived(attack):
                await asyncio.sleep(0.02)
        for popup in self.window.pages[1:]:
            await popup.close()
        return Tried(self._list_arrived(attack), tuple(self.asked), tuple(outcomes))

    def _list_arrived(self, attack: Attack) -> tuple[str, ...]:
        paths = [path for site in (self.site, self.other) for _, path in site.sent]
        if attack.gets:
            paths = [*self.site.seen, *self.other.seen]
        return (*(path for path in paths if path.startswith(HIT)), *self.heard)


@asynccontextmanager
async def on_range(browser: Browser) -> AsyncIterator[Range]:
    """Serve the sites and open a window in `browser`."""
    heard: list[str] = []

    async def hear(socket: ServerConnection) -> None:
        async for message in socket:
            heard.append(str(message))  # noqa: PERF401 - at once, not when the socket closes

    async with serve(hear, "127.0.0.1", 0) as sockets:
        socket = f"ws://127.0.0.1:{sockets.sockets[0].getsockname()[1]}/"
        with Site(pages={}) as other, Site(pages={}) as site, tempfile.TemporaryDirectory() as folder:
            other.pages["/inner"] = f"<button onclick=\"fetch('{HIT}', {{method: 'POST'}})\">go</button>"
            site.pages |= make_pages(ATTACKS, site.url, f"http://localhost:{other.port}", socket)
            gate, folders = Gate(Trust()), Folders(Path(folder), (Path(__file__).parent,))
            window = await browser.window(gate=gate, folders=folders)
            yield Range(window, gate, site, other, heard)
            await window.close()
