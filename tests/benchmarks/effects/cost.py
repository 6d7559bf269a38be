"""What the gate costs: the time of a click and its look, with and without one."""

from __future__ import annotations

import statistics
import time

from browser_agent import Browser
from browser_agent.actions import Click
from browser_agent.actions.perform import perform
from browser_agent.browser.gate import Gate
from browser_agent.browser.window import Window
from browser_agent.network.effects import Trust
from tests.browser_agent.doing import ref, visit
from tests.sites.server import Site

ROUNDS = 60
MOST = 0.020
PAGE = (
    "<title>Shop</title><p id=t>0</p><button onclick=\"t.textContent = +t.textContent + 1; fetch('/next')\">go</button>"
    + "".join(f"<p>Line {n}</p>" for n in range(100))
)


async def timed(window: Window, url: str) -> float:
    """The median seconds of a click on a page."""
    button = ref(await visit(window, url), "button", "go")
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        await perform(window, [Click(kind="click", ref=button)])
        times.append(time.perf_counter() - began)
    return statistics.median(times)


async def report() -> int:
    """Print both medians; 1 where the gate costs more than it may."""
    with Site(pages={"/": PAGE, "/next": "next"}) as site:
        async with await Browser.launch() as browser:
            without = [await timed(await browser.window(), site.url) for _ in range(2)]
            held = [await timed(await browser.window(gate=Gate(Trust())), site.url) for _ in range(2)]
    dearer = min(held) - min(without)
    print(
        f"a click and its look, p50: {min(without) * 1000:.1f} ms without a gate, {min(held) * 1000:.1f} ms with one: {dearer * 1000:+.1f} ms"
    )
    return int(dearer > MOST)
