"""What looking at real pages costs, beside Playwright's own MCP server in the same run.

    python -m tests.benchmarks.observation [--folder DIR] [--rounds 5] [--json FILE] [--only WORD]

For each page: tokens of a default observation and of the rival's snapshot (o200k); whether every ref that can be acted on is reached
by paging; how long a look takes; and how long a click takes until the next observation, beyond a bare Playwright click, load and
snapshot on the same page in turn. Exits 1 if a bar is passed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp_types import TextContent

from browser_agent.actions import Back, Click, Navigate
from browser_agent.actions.perform import perform
from browser_agent.browser.browser import Browser
from browser_agent.browser.process import installed
from browser_agent.browser.window import Window
from browser_agent.observation import Observation
from ctxfold.tokens import count
from tests.benchmarks.real_sites import Page, sites
from tests.browser_agent.doing import seen
from tests.browser_agent.reading import interactive, whole

MOST_TOKENS = 2_000
MEAN_TOKENS = 900
LOOK_P95 = 0.600
_LOOKS = 25
CLICK_P50 = 0.150


@dataclass
class Row:
    """The figures of one page; times in seconds."""

    page: str
    tokens: int
    rival: int
    missing: int
    refs: int
    pages: int
    looks: list[float]
    rival_look: float
    clicks: list[float]
    bare: list[float]


async def measure(page: Page, window: Window, rival: Client, rounds: int) -> Row:
    """Look at one page and click on it, in turn with the rival and with bare Playwright."""
    await _open(window, page)
    observation = seen(await perform(window, []))
    looks = [await _timed(perform(window, [])) for _ in range(rounds)]
    wanted = interactive(observation.full)
    text = await whole(window)
    missing = sum(f"[{ref}]" not in text for ref in wanted)
    clicks: list[float] = []
    bare: list[float] = []
    for _ in range(rounds):
        clicks.append(await _click(window, page))
        bare.append(await _bare_click(window, page))
    rival_tokens, rival_time = await _rival(rival, page)
    return Row(
        page.name, observation.tokens, rival_tokens, missing, len(wanted), observation.pages, looks, rival_time, clicks, bare
    )  # fmt: skip


async def _timed(work: object) -> float:
    begun = time.perf_counter()
    await work  # type: ignore[misc]
    return time.perf_counter() - begun


async def _open(window: Window, page: Page) -> Observation:
    outcome = await perform(window, [Navigate(kind="navigate", url=page.url)])
    if page.script is not None:
        await window.page.evaluate(page.script)
    return seen(outcome)


def _target(observation: Observation, page: Page) -> str | None:
    if page.click is not None:
        return next((entry.ref for entry in observation.refs.values() if page.click in entry.name), None)
    leads = [link for link in observation.links if link.ref and link.main and not link.url.startswith("javascript:")]
    if leads:
        return leads[0].ref
    return next((entry.ref for entry in observation.refs.values() if entry.role == "generic" and entry.name), None)


async def _ready(window: Window, page: Page) -> str:
    """Open a page and look until what is to be clicked is there: on a busy machine a page's own script may come late."""
    await _open(window, page)
    for _ in range(_LOOKS):
        ref = _target(seen(await perform(window, [])), page)
        if ref is not None:
            return ref
        await asyncio.sleep(0.2)
    raise RuntimeError(f"{page.name}: what is to be clicked never came")


async def _click(window: Window, page: Page) -> float:
    ref = await _ready(window, page)
    taken = await _timed(perform(window, [Click(kind="click", ref=ref)]))
    await perform(window, [Back(kind="back")])
    return taken


async def _bare_click(window: Window, page: Page) -> float:
    ref = await _ready(window, page)
    bare = window.page

    async def act() -> None:
        await bare.get_by_ref(ref).click()
        await bare.wait_for_load_state("domcontentloaded")
        await bare.aria_snapshot(mode="ai")

    return await _timed(act())


async def _rival(rival: Client, page: Page) -> tuple[int, float]:
    await rival.call_tool("browser_navigate", {"url": page.url})
    if page.script is not None:
        await rival.call_tool("browser_evaluate", {"function": page.script})
    begun = time.perf_counter()
    answer = await rival.call_tool("browser_snapshot", {})
    taken = time.perf_counter() - begun
    return sum(count(part.text) for part in answer.content if isinstance(part, TextContent)), taken


@contextlib.asynccontextmanager
async def playwright_mcp(folder: Path) -> AsyncIterator[Client]:
    """Playwright's own MCP server, from the same package."""
    browser = str(next(installed()))
    arguments = ["-m", "playwright", "mcp", "--headless", "--isolated", "--no-sandbox", "--executable-path", browser]
    server = StdioServerParameters(command=sys.executable, args=arguments, cwd=str(folder))
    async with Client(server) as client:
        yield client


def report(rows: list[Row]) -> list[str]:
    """Print the table; what passes a bar."""
    print(
        f"{'page':28} {'tokens':>7} {'rival':>8} {'refs':>6} {'lost':>5} {'pages':>6} {'look ms':>8} {'rival':>7} {'click+ ms':>10}"
    )
    for row in rows:
        extra = (statistics.median(row.clicks) - statistics.median(row.bare)) * 1000
        print(
            f"{row.page:28} {row.tokens:>7,} {row.rival:>8,} {row.refs:>6,} {row.missing:>5} {row.pages:>6} "
            f"{statistics.median(row.looks) * 1000:>8.0f} {row.rival_look * 1000:>7.0f} {extra:>10.0f}"
        )
    looks = sorted(look for row in rows for look in row.looks)
    p95 = looks[max(0, round(len(looks) * 0.95) - 1)]
    over = statistics.median(statistics.median(row.clicks) - statistics.median(row.bare) for row in rows)
    mean = statistics.mean(row.tokens for row in rows)
    print(
        f"mean tokens {mean:,.0f} (bar {MEAN_TOKENS:,}); most {max(row.tokens for row in rows):,} (bar {MOST_TOKENS:,}); rival {statistics.mean(row.rival for row in rows):,.0f}"
    )
    print(
        f"look p50 {statistics.median(looks) * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms (bar {LOOK_P95 * 1000:.0f}); click beyond bare p50 {over * 1000:.0f} ms (bar {CLICK_P50 * 1000:.0f})"
    )
    passed = []
    passed += [f"{row.page}: {row.tokens} tokens" for row in rows if row.tokens > MOST_TOKENS]
    passed += [f"{row.page}: {row.missing} refs lost" for row in rows if row.missing]
    passed += [f"mean {mean:.0f} tokens"] if mean > MEAN_TOKENS else []
    passed += [f"look p95 {p95 * 1000:.0f} ms"] if p95 > LOOK_P95 else []
    passed += [f"click p50 {over * 1000:.0f} ms"] if over > CLICK_P50 else []
    return passed


async def run(folder: Path, rounds: int, only: str) -> list[Row]:
    """Measure every page."""
    rows: list[Row] = []
    with sites(folder) as pages:
        async with await Browser.launch() as browser, playwright_mcp(folder) as rival:
            for page in pages:
                if only in page.name:
                    window = await browser.window()
                    rows.append(await measure(page, window, rival, rounds))
                    await window.close()
                    print(f"  {page.name}: {rows[-1].tokens} tokens", file=sys.stderr, flush=True)
    return rows


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "ctxfold-benchmark-sites")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    rows = asyncio.run(run(given.folder, given.rounds, given.only))
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    passed = report(rows)
    for line in passed:
        print("OVER THE BAR:", line)
    return 1 if passed else 0


if __name__ == "__main__":
    sys.exit(main())
