"""MiniWoB++ through our own page tools: every page loads with a ref for each control, and scripted decisions solve its
tasks.

    python -m tests.benchmarks.miniwob [load | solve | both] [KIND…] [--folder DIR] [--seeds 10]

The decisions read observations alone and act through `perform`; the page's own script starts an episode and gives the
reward. A kind is solved when every seed is rewarded. Exits 1 below the bars.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from browser_agent.browser.browser import Browser
from browser_agent.browser.window import Window
from tests.benchmarks.miniwob.play import find_faults, play
from tests.benchmarks.miniwob.solvers import SOLVERS
from tests.benchmarks.shared.harness import Bars, make_parser
from tests.benchmarks.shared.real_sites import SITES_FOLDER, make_environment
from tests.sites.server import Site

LOADED, SOLVED = 130, 50
"""Kinds that must load, and kinds that must be solved."""


async def load_all(window: Window, origin: str, kinds: list[str]) -> int:
    """Load each page. Returns how many have no fault."""
    good = 0
    for kind in kinds:
        faults = await find_faults(window, f"{origin}/{kind}.html")
        good += not faults
        print(f"{kind:28} {f'FAILS {faults}' if faults else 'loads'}", flush=True)
    print(f"{good} of {len(kinds)} pages load, each control with a ref\n")
    return good


async def solve_all(window: Window, origin: str, kinds: list[str], seeds: int) -> int:
    """Play each kind. Returns how many were rewarded on all seeds."""
    solved = 0
    for kind in kinds:
        began = time.monotonic()
        played = [await play(window, f"{origin}/{kind}.html", SOLVERS[kind], seed) for seed in range(seeds)]
        solved += not any(played)
        took = f"{time.monotonic() - began:5.1f} s"
        print(f"{kind:28} {played.count(''):>3} of {seeds} {took}  {next(filter(None, played), '')}"[:240], flush=True)
    print(f"{solved} of {len(kinds)} kinds solved on {seeds} of {seeds} seeds\n")
    return solved


async def run(folder: Path, what: str, named: list[str], seeds: int, bars: Bars) -> None:
    """Load and play what is named, or all."""
    make_environment(folder)
    root = next((folder / "venv" / "lib").iterdir()) / "site-packages" / "miniwob" / "html"
    every = sorted(path.stem for path in (root / "miniwob").glob("*.html"))
    if unknown := set(named) - set(every):
        raise SystemExit(f"no task {', '.join(sorted(unknown))}; choose among {', '.join(every)}")
    with Site(root) as site:
        async with await Browser.launch() as browser:
            window, address = await browser.window(), f"{site.url}/miniwob"
            if what != "solve":
                loaded = await load_all(window, address, named or every)
                bars.require(loaded >= (len(named) or LOADED), f"{loaded} pages load")
            if what != "load":
                solvable = [kind for kind in named or every if kind in SOLVERS]
                solved = await solve_all(window, address, solvable, seeds)
                bars.require(solved >= (len(named) or SOLVED), f"{solved} kinds solved")


def main() -> int:
    """Load, play and judge."""
    parser = make_parser("miniwob", __doc__)
    parser.add_argument("what", nargs="?", choices=("both", "load", "solve"), default="both")
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    parser.add_argument("--folder", type=Path, default=SITES_FOLDER, help="where the tasks are kept for the next run")
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    bars = Bars()
    asyncio.run(run(given.folder, given.what, given.kinds, given.seeds, bars))
    return bars.finish()


if __name__ == "__main__":
    sys.exit(main())
