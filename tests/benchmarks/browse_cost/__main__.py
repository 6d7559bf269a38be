"""What a run with a model costs beside lean pages appended, over documentation and shop pages, by the account of a prefix cache.

    python -m tests.benchmarks.browse_cost [--steps 20 50 200 500] [--budget 8000] [--pages FILE]

Prices are beside a token read in full: .05 from the cache, 1.25 into it, 5 written by the model. `rewritten` counts the requests that did not read all
that the one before had put into the cache: those behind a fold. `memory` is what the process grew by in the second half of the run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio

import browser_agent.agent.run as run_module
from browser_agent.actions import Outcome, PageAction
from browser_agent.agent.agent import BrowserAgent
from browser_agent.agent.settings import Keeping, RunLimits
from browser_agent.browser.window import Window
from tests.benchmarks.browse_cost.pages import Pages, gather, keep_pages, read_pages
from tests.benchmarks.browse_cost.streams import STREAMS, Bill, Priced, append_only, decisions

BARS = {20: 1.0, 50: 1.0, 200: 0.35, 500: 0.20}
BESIDE = 2_400
"""Tokens that system and schema may take beside the budget."""
MOST_GROWN = 0.10
"""By how much the process may grow in the second half of a run."""


async def priced(pages: Pages, stream: str, steps: int, budget: int) -> tuple[Bill, Bill, float]:
    """The bill of one run, that of its pages appended, and the share by which the process grew in its second half."""
    script = decisions(stream, list(pages.looks), steps)
    model = Priced(script)
    outcomes: list[Outcome] = []

    async def performed(window: Window, actions: Sequence[PageAction], need: str | None = None) -> Outcome:
        outcomes.append(await pages.perform(window, actions, need))
        return outcomes[-1]

    vars(run_module)["perform"] = performed
    pages.begin()
    limits = RunLimits(steps=steps + 5, seconds=3600)
    async with BrowserAgent(model, budget, limits, keeping=Keeping(f"{stream}-{steps}", ":memory:")) as agent:
        await agent.run("Find out which of these names a default that was asked for, and say where it stands.")
    if model.first is None:
        raise RuntimeError("the run asked its model nothing")
    grown = model.resident[-1] / model.resident[len(model.resident) // 2] - 1
    return model.bill, append_only(model.first, script, outcomes), grown


def tell(stream: str, steps: int, ours: Bill, theirs: Bill, grown: float, budget: int) -> bool:
    """Print one run. Returns whether its bars hold."""
    ratio, largest = ours.cost / theirs.cost, max(ours.requests)
    bar = BARS.get(steps, 1.0)
    held = ratio <= bar and largest <= budget + BESIDE and grown < MOST_GROWN
    share = f"read {ours.read / steps:,.0f}, written {ours.written / steps:,.0f}, full {ours.full / steps:,.0f}, said {ours.output / steps:,.0f}"
    print(
        f"{stream:6} {steps:4} steps  {ratio:.3f} of append-only (bar {bar:.2f}); a step: {share}; largest {largest:,} (bar {budget + BESIDE:,}); "
        f"rewritten {ours.rewritten}; memory {grown:+.1%}  {'ok' if held else 'MISSED'}",
        flush=True,
    )
    return held


def main() -> int:
    """Print every figure; 0 where all bars hold."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", type=int, nargs="*", default=list(BARS))
    options.add_argument("--streams", nargs="*", default=list(STREAMS))
    options.add_argument("--budget", type=int, default=8_000)
    options.add_argument("--many", type=int, default=24, help="pages of each site")
    options.add_argument("--pages", type=Path, help="keeps the observations from one run to the next")
    chosen = options.parse_args()
    if chosen.pages is not None and chosen.pages.exists():
        pages = read_pages(chosen.pages)
    else:
        pages = anyio.run(gather, chosen.many)
        if chosen.pages is not None:
            keep_pages(pages, chosen.pages)
    sizes = [one.tokens for looks in pages.looks.values() for one in looks.values()]
    print(json.dumps({"observations": len(sizes), "mean tokens": round(sum(sizes) / len(sizes))}))
    held = True
    for stream in chosen.streams:
        for steps in chosen.steps:
            ours, theirs, grown = anyio.run(priced, pages, stream, steps, chosen.budget)
            held &= tell(stream, steps, ours, theirs, grown, chosen.budget)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
