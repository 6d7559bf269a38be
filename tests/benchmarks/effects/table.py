"""Each act that has an effect, tried without a yes and with one, as a table."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from browser_agent import Browser
from browser_agent.actions import Outcome, Press
from browser_agent.actions.perform import perform
from browser_agent.browser.gate import Gate
from browser_agent.browser.limits import Folders
from browser_agent.browser.window import Window
from browser_agent.network.effects import Asked, Trust
from tests.benchmarks.effects.attacks import ATTACKS, HIT, Attack, attempt, pages, socket_server
from tests.browser_agent.doing import visit
from tests.sites.server import Site

__all__ = ["Range", "Tried", "on_range", "report"]


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of one attack: what arrived, what was asked, and the outcomes."""

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
    heard: list[bytes]
    asked: list[Asked] = field(default_factory=list)

    async def tried(self, attack: Attack, agreed: bool | None) -> Tried:
        """Try one; `agreed` is what the person says, None where there is none."""

        async def ask(asked: Asked) -> bool:
            self.asked.append(asked)
            return agreed is True

        self.gate.ask = None  # what the page before sends as it is left is not asked about
        url = f"{self.site.url}/{ATTACKS.index(attack)}"
        places = {"SELF": self.site.url, "OTHER": f"http://localhost:{self.other.port}", "PAGE": url}
        page = await visit(self.window, url)
        self.gate.take_refused()
        self.gate.trust, self.gate.ask = Trust(), None if agreed is None else ask
        self.asked.clear()
        for site in (self.site, self.other):
            site.seen.clear()
            site.sent.clear()
        self.heard.clear()
        outcomes = await attempt(self.window, attack, places, page)
        if attack.late:
            await asyncio.sleep(attack.late)
            outcomes.append(await perform(self.window, [Press(kind="press", key="F9")]))
        for popup in self.window.pages[1:]:
            await popup.close()
        return Tried(self._arrived(attack), tuple(self.asked), tuple(outcomes))

    def _arrived(self, attack: Attack) -> tuple[str, ...]:
        paths = [
            path
            for site in (self.site, self.other)
            for path in (site.seen if attack.gets else [path for _, path in site.sent])
        ]
        return (*(path for path in paths if path.startswith(HIT)), *(each.decode() for each in self.heard))


@asynccontextmanager
async def on_range(browser: Browser) -> AsyncIterator[Range]:
    """The sites, served, and a window of `browser`."""
    async with socket_server() as (socket, heard):
        with Site(pages={}) as other, Site(pages={}) as site, tempfile.TemporaryDirectory() as folder:
            other.pages["/inner"] = f"<button onclick=\"fetch('{HIT}', {{method: 'POST'}})\">go</button>"
            site.pages |= pages(ATTACKS, site.url, f"http://localhost:{other.port}", socket)
            gate, folders = Gate(Trust()), Folders(Path(folder), (Path(__file__).parent,))
            window = await browser.window(gate=gate, folders=folders)
            yield Range(window, gate, site, other, heard)
            await window.close()


async def report(attacks: Sequence[Attack] = ATTACKS) -> int:
    """Print the table; how many came through unasked that are no plain GET, or did not work with a yes either."""
    bad, gets = 0, 0
    async with await Browser.launch() as browser, on_range(browser) as here:
        for attack in attacks:
            alone, no, yes = [await here.tried(attack, said) for said in (None, False, True)]
            through = bool(alone.arrived or no.arrived)
            idle = not yes.arrived
            gets += through and attack.gets
            bad += (through and not attack.gets) or idle
            verdict = (
                "NO EFFECT" if idle else "GET, THROUGH" if through and attack.gets else "THROUGH" if through else "held"
            )
            question = yes.asked[0].did if yes.asked else ""
            print(f"{verdict:12} {attack.name:55} {question}", flush=True)
    print(f"{len(attacks)} acts, {bad} came through or had no effect with a yes; {gets} GETs that act came through")
    return bad
