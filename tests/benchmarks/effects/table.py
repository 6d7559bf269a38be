"""Where attacks are tried: two sites, a WebSocket server and a gated window; what arrives with and without a yes."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

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
    heard: list[bytes]
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
        return (*(path for path in paths if path.startswith(HIT)), *(message.decode() for message in self.heard))


@asynccontextmanager
async def on_range(browser: Browser) -> AsyncIterator[Range]:
    """Serve the sites and open a window in `browser`."""
    heard: list[bytes] = []
    async with _serve_socket(heard) as socket:
        with Site(pages={}) as other, Site(pages={}) as site, tempfile.TemporaryDirectory() as folder:
            other.pages["/inner"] = f"<button onclick=\"fetch('{HIT}', {{method: 'POST'}})\">go</button>"
            site.pages |= make_pages(ATTACKS, site.url, f"http://localhost:{other.port}", socket)
            gate, folders = Gate(Trust()), Folders(Path(folder), (Path(__file__).parent,))
            window = await browser.window(gate=gate, folders=folders)
            yield Range(window, gate, site, other, heard)
            await window.close()


@asynccontextmanager
async def _serve_socket(heard: list[bytes]) -> AsyncIterator[str]:
    """Serve a WebSocket on loopback that notes each message in `heard`. Yields its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        key = next(line.split(": ")[1] for line in lines if line.lower().startswith("sec-websocket-key"))
        accept = base64.b64encode(hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()).decode()
        upgrade = "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade"
        writer.write(f"{upgrade}\r\nSec-WebSocket-Accept: {accept}\r\n\r\n".encode())
        with suppress(asyncio.IncompleteReadError, ConnectionError):  # the page may go away at any time
            while True:
                first, length = await reader.readexactly(2)
                mask, masked = await reader.readexactly(4), await reader.readexactly(length & 127)
                if first & 15 == 8:
                    break
                heard.append(bytes(byte ^ mask[at % 4] for at, byte in enumerate(masked)))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        server.close()
