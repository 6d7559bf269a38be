"""MiniWoB++ through our own page tools: every page loads and is seen, and scripted decisions solve its tasks by what is seen.

    python -m tests.benchmarks.miniwob [load|solve] [KIND…] [--folder DIR] [--seeds 10]

The decisions read observations alone (roles, names, text, refs) and act through `perform`; the page's own script starts the episode and
gives the reward. A kind is solved where every seed is rewarded. Exits 1 below the bars, which hold where no KIND is named.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from browser_agent.browser.browser import Browser
from browser_agent.browser.window import Window
from tests.benchmarks.miniwob import dragging, fields, picking, pressing, reading
from tests.benchmarks.miniwob.load import load
from tests.benchmarks.miniwob.play import Solver, play
from tests.benchmarks.real_sites import make_environment, serve_folder

LOADED = 130
SOLVED = 80

SOLVERS: dict[str, Solver] = {
    **fields.SOLVERS, **pressing.SOLVERS, **reading.SOLVERS, **dragging.SOLVERS, **picking.SOLVERS,
}  # fmt: skip


async def load_all(window: Window, origin: str, kinds: list[str]) -> int:
    """Load each page and say how it went; how many are as they should be."""
    good = 0
    for kind in kinds:
        loaded = await load(window, f"{origin}/{kind}.html")
        good += loaded.ok
        print(f"{kind:28} {'loads' if loaded.ok else 'FAILS'} {loaded.said}", flush=True)
    print(f"{good} of {len(kinds)} pages load, each control with a ref\n")
    return good


async def solve_all(window: Window, origin: str, kinds: list[str], seeds: int) -> int:
    """Play each kind there are decisions for, and say how it went; how many were rewarded on all seeds."""
    solved = 0
    for kind in kinds:
        begun = time.monotonic()
        if kind in SOLVERS:
            played = [await play(window, f"{origin}/{kind}.html", SOLVERS[kind], seed) for seed in range(seeds)]
            won = sum(not why for why in played)
            solved += won == seeds
            said = f"{won:>3} of {seeds} {time.monotonic() - begun:5.1f} s  {next(filter(None, played), '')}"
        else:
            said = "no decisions written"
        print(f"{kind:28} {said}"[:240], flush=True)
    print(f"{solved} of {len(kinds)} kinds solved on {seeds} of {seeds} seeds\n")
    return solved


async def run(folder: Path, what: str, named: list[str], seeds: int) -> bool:
    """Do what is asked for; whether it reached its bars."""
    make_environment(folder)
    root = next((folder / "venv" / "lib").iterdir()) / "site-packages" / "miniwob" / "html"
    all_kinds = sorted(path.stem for path in (root / "miniwob").glob("*.html"))
    kinds = named or all_kinds
    if unknown := set(kinds) - set(all_kinds):
        raise SystemExit(f"no task {', '.join(sorted(unknown))}; there are {', '.join(all_kinds)}")
    loaded = solved = True
    with serve_folder(root) as origin:
        async with await Browser.launch() as browser:
            window = await browser.window()
            if what != "solve":
                loaded = await load_all(window, f"{origin}/miniwob", kinds) >= (len(named) or LOADED)
            if what != "load":
                solved = await solve_all(window, f"{origin}/miniwob", kinds, seeds) >= (len(named) or SOLVED)
    return loaded and solved


def main() -> int:
    """Load, play, print, judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", nargs="?", choices=("both", "load", "solve"), default="both")
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "ctxfold-benchmark-sites")
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    return 0 if asyncio.run(run(given.folder, given.what, given.kinds, given.seeds)) else 1


if __name__ == "__main__":
    sys.exit(main())
