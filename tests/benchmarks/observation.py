"""What looking at real pages costs, beside Playwright's own MCP server in the same run.

    python -m tests.benchmarks.observation [--folder DIR] [--rounds 5] [--only WORD]

For each page: tokens of a default observation and of the rival's snapshot; whether paging reaches every ref that can be
acted on; how long a look takes; and how long a click takes until the next observation, beyond a bare Playwright click,
load and snapshot on the same page in turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from pathlib import Path

from mcp import Client, StdioServerParameters

from browser_agent.actions import Back, Click, Navigate
from browser_agent.actions.perform import perform
from browser_agent.browser.browser import Browser
from browser_agent.browser.process import find_browsers
from browser_agent.browser.window import Window
from browser_agent.observation import Observation
from ctxfold.tokens import count
from tests.benchmarks.shared.harness import Bars, join_texts, make_parser
from tests.benchmarks.shared.real_sites import SITES_FOLDER, RealPage, serve_sites
from tests.browser_agent.doing import seen
from tests.browser_agent.reading import interactive, whole

MOST_TOKENS = 2_000
MEAN_TOKENS = 900
LOOK_P95 = 0.600
_LOOKS = 25
CLICK_P50 = 0.150


@dataclass
class Row:
    """The figures of one page. Times are in seconds."""

    page: str
    tokens: int
    rival: int
    missing: int
    refs: int
    pages: int
    looks: list[float]
    rival_look: float
    beyond: float


async def measure(page: RealPage, window: Window, rival: Client, rounds: int) -> Row:
    """Look at one page and click on it, in turn with bare Playwright and the rival."""
    await _open(window, page)
    observation = seen(await perform(window, []))
    looks = [await _time(perform(window, [])) for _ in range(rounds)]
    wanted = interactive(observation.full)
    text = await whole(window)
    missing = sum(f"[{ref}]" not in text for ref in wanted)
    clicks = [(await _click(window, page), await _bare_click(window, page)) for _ in range(rounds)]
    ours, bare = (statistics.median(times) for times in zip(*clicks, strict=True))
    rival_tokens, rival_time = await _look_by_rival(rival, page)
    size = (observation.tokens, rival_tokens, missing, len(wanted), observation.pages)
    return Row(page.name, *size, looks, rival_time, ours - bare)


async def _time(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


async def _open(window: Window, page: RealPage) -> Observation:
    outcome = await perform(window, [Navigate(kind="navigate", url=page.url)])
    if page.script is not None:
        await window.page.evaluate(page.script)
    return seen(outcome)


def _find_target(observation: Observation, page: RealPage) -> str | None:
    if page.click is not None:
        return next((entry.ref for entry in observation.refs.values() if page.click in entry.name), None)
    leads = [link for link in observation.links if link.ref and link.main and not link.url.startswith("javascript:")]
    if leads:
        return leads[0].ref
    return next((entry.ref for entry in observation.refs.values() if entry.role == "generic" and entry.name), None)


async def _wait_for_target(window: Window, page: RealPage) -> str:
    """Open a page and look until the control to click is there: on a busy machine a page's own script may come late."""
    await _open(window, page)
    for _ in range(_LOOKS):
        ref = _find_target(seen(await perform(window, [])), page)
        if ref is not None:
            return ref
        await asyncio.sleep(0.2)
    raise RuntimeError(f"{page.name}: the control to click never came")


async def _click(window: Window, page: RealPage) -> float:
    ref = await _wait_for_target(window, page)
    taken = await _time(perform(window, [Click(kind="click", ref=ref)]))
    await perform(window, [Back(kind="back")])
    return taken


async def _bare_click(window: Window, page: RealPage) -> float:
    ref = await _wait_for_target(window, page)
    bare = window.page

    async def act() -> None:
        await bare.get_by_ref(ref).click()
        await bare.wait_for_load_state("domcontentloaded")
        await bare.aria_snapshot(mode="ai")

    return await _time(act())


async def _look_by_rival(rival: Client, page: RealPage) -> tuple[int, float]:
    await rival.call_tool("browser_navigate", {"url": page.url})
    if page.script is not None:
        await rival.call_tool("browser_evaluate", {"function": page.script})
    begun = time.perf_counter()
    answer = await rival.call_tool("browser_snapshot", {})
    return count(join_texts(answer)), time.perf_counter() - begun


@contextlib.asynccontextmanager
async def playwright_mcp(folder: Path) -> AsyncIterator[Client]:
    """Start Playwright's own MCP server, from the same package."""
    browser = str(next(find_browsers()))
    arguments = ["-m", "playwright", "mcp", "--headless", "--isolated", "--no-sandbox", "--executable-path", browser]
    server = StdioServerParameters(command=sys.executable, args=arguments, cwd=str(folder))
    async with Client(server) as client:
        yield client


def report(rows: list[Row], bars: Bars) -> None:
    """Print the table and judge it."""
    names = ("tokens", "rival", "refs", "lost", "pages", "look ms", "rival", "click+ ms")
    print(f"{'page':28}" + "".join(f"{name:>10}" for name in names))
    for row in rows:
        times = (statistics.median(row.looks) * 1000, row.rival_look * 1000, row.beyond * 1000)
        figures = (row.tokens, row.rival, row.refs, row.missing, row.pages, *times)
        print(f"{row.page:28}" + "".join(f"{figure:>10,.0f}" for figure in figures))
        bars.require(row.tokens <= MOST_TOKENS, f"{row.page}: {row.tokens} tokens")
        bars.require(not row.missing, f"{row.page}: {row.missing} refs lost")
    looks = sorted(look for row in rows for look in row.looks)
    p50, p95 = statistics.median(looks), looks[max(0, round(len(looks) * 0.95) - 1)]
    click = statistics.median(row.beyond for row in rows)
    mean, rival = statistics.mean(row.tokens for row in rows), statistics.mean(row.rival for row in rows)
    most = max(row.tokens for row in rows)
    print(f"mean tokens {mean:,.0f} (bar {MEAN_TOKENS:,}); most {most:,} (bar {MOST_TOKENS:,}); rival {rival:,.0f}")
    print(f"look p50 {p50 * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms (bar {LOOK_P95 * 1000:.0f})")
    print(f"click beyond bare p50 {click * 1000:.0f} ms (bar {CLICK_P50 * 1000:.0f})")
    bars.require(mean <= MEAN_TOKENS, f"mean {mean:.0f} tokens")
    bars.require(p95 <= LOOK_P95, f"look p95 {p95 * 1000:.0f} ms")
    bars.require(click <= CLICK_P50, f"click p50 {click * 1000:.0f} ms")


async def run(folder: Path, rounds: int, only: str) -> list[Row]:
    """Measure every page."""
    rows: list[Row] = []
    with serve_sites(folder) as pages:
        async with await Browser.launch() as browser, playwright_mcp(folder) as rival:
            for page in pages:
                if only in page.name:
                    window = await browser.window()
                    rows.append(await measure(page, window, rival, rounds))
                    await window.close()
                    print(f"  {page.name}: {rows[-1].tokens} tokens", file=sys.stderr, flush=True)
    return rows


def main() -> int:
    """Measure and judge."""
    parser = make_parser("observation", __doc__)
    parser.add_argument("--folder", type=Path, default=SITES_FOLDER, help="where the sites are kept for the next run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", metavar="WORD", help="pages with this in their name")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    bars = Bars()
    report(asyncio.run(run(given.folder, given.rounds, given.only)), bars)
    return bars.finish()


if __name__ == "__main__":
    sys.exit(main())
