"""A run of 300 steps over real documentation: no view above its budget, and every observation recalled byte for byte by a new process.

    python -m tests.benchmarks.long_browse [--steps 300] [--budget 8000]

The decisions are a script of the kind a model gives: open, read on, find, look around, fold what was seen. The site is Debian's
python3-doc, served on loopback.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

import browser_agent.agent.run as run_module
from browser_agent.actions import Outcome, PageAction
from browser_agent.actions.perform import perform
from browser_agent.agent.agent import BrowserAgent
from browser_agent.agent.result import RunResult, StepTaken
from browser_agent.agent.settings import Keeping, RunLimits, Watching
from browser_agent.browser.window import Window
from tests.benchmarks.real_sites import DOCS
from tests.sites.server import Site

SESSION = "long-browse"
WORDS = ("return", "raise", "default", "file", "object", "version", "list", "error", "string", "module")
READ_BACK = """
import hashlib, json, sys
from ctxfold import Session
store, refs = sys.argv[1], json.loads(sys.argv[2])
with Session.open("long-browse", store=store, create=False) as session:
    print(json.dumps([hashlib.sha256(session.recall(ref).text.encode()).hexdigest() for ref in refs]))
"""


def script(folder: Path, site: str, pages: Sequence[str], steps: int) -> Path:
    """A script of decisions: pages in turn, on each some reading; micro folds on most steps, a deep one now and then."""
    chance = random.Random(11)
    decisions: list[dict[str, Any]] = []
    here, begun = "", 2
    while len(decisions) < steps - 1:
        step = len(decisions) + 2
        if len(decisions) % 4 == 0:
            here = pages[len(decisions) // 4 % len(pages)]
            action: dict[str, Any] = {"kind": "navigate", "url": f"{site}/{here}"}
        elif len(decisions) % 4 == 1:
            action = {"kind": "find", "query": chance.choice(WORDS)}
        elif len(decisions) % 4 == 2:
            action = {"kind": "read", "page": 1}
        else:
            action = {"kind": "scroll", "direction": "bottom"}
        decision: dict[str, Any] = {"thought": f"Step {step}: look at {here}.", "actions": [action]}
        if step % 20 == 0:
            decision["fold"] = {"summary": f"Looked through the pages up to {here}.", "first_step": begun}
            begun = step
        elif step % 3:
            decision["fold"] = {"summary": f"Saw {here}."}
        decisions.append(decision)
    decisions.append({"thought": "Seen enough.", "actions": [{"kind": "give_up", "reason": "the script ends here"}]})
    file = folder / "script.jsonl"
    file.write_text("\n".join(json.dumps(decision) for decision in decisions), encoding="utf-8")
    return file


async def browse(
    model: str, site: str, store: Path, steps: int, budget: int
) -> tuple[RunResult, list[StepTaken], list[str]]:
    """The run; what was told of each step, and what each page's snapshot hashed to when it was taken."""
    told: list[StepTaken] = []
    taken: list[str] = []

    async def watched(window: Window, actions: Sequence[PageAction], need: str | None = None) -> Outcome:
        outcome = await perform(window, actions, need)
        if outcome.observation is not None:
            taken.append(hashlib.sha256(outcome.observation.full.encode()).hexdigest())
        return outcome

    vars(run_module)["perform"] = watched
    limits = RunLimits(steps=steps + 5, seconds=3600)
    async with BrowserAgent(model, budget, limits, keeping=Keeping(SESSION, str(store))) as agent:
        result = await agent.run("Read the documentation.", site, Watching(step=told.append))
    return result, told, taken


def main() -> int:
    """Run, read back, print the figures, say whether every bar held."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", type=int, default=300)
    options.add_argument("--budget", type=int, default=8_000)
    chosen = options.parse_args()
    docs = DOCS["python"].resolve()
    if not docs.is_dir():
        print(f"no documentation at {docs}: install the package python3-doc", file=sys.stderr)
        return 3
    pages = sorted(str(page.relative_to(docs)) for page in (docs / "library").glob("*.html"))
    with tempfile.TemporaryDirectory() as made, Site(docs) as site:
        folder = Path(made)
        store = folder / "ctxfold.db"
        model = f"script:{script(folder, site.url, pages, chosen.steps)}"
        began = time.monotonic()
        result, told, taken = anyio.run(browse, model, site.url, store, chosen.steps, chosen.budget)
        seconds = time.monotonic() - began
        refs = [step.ref for step in told[: len(taken)]]
        read = subprocess.run(
            [sys.executable, "-c", READ_BACK, str(store), json.dumps(refs)], capture_output=True, text=True, check=True
        )
        same = json.loads(read.stdout) == taken
        size = store.stat().st_size
    views = [step.view_tokens for step in told]
    over = sum(tokens > chosen.budget for tokens in views)
    failed = sum(not step.ok for step in told)
    print(f"steps                {len(told)} in {seconds:.0f} s, {failed} not done")
    print(
        f"views                median {statistics.median(views):,.0f}, largest {max(views):,} of {chosen.budget:,} tokens; {over} above"
    )
    print(
        f"unfolded             {result.usage.unfolded_tokens:,} tokens, {result.usage.unfolded_tokens / max(views):.0f} times the largest view"
    )
    print(
        f"read back            {len(taken)} observations by a new process: {'byte for byte the same' if same else 'DIFFERENT'}"
    )
    print(f"store                {size / 1e6:.1f} MB")
    held = len(told) >= chosen.steps and over == 0 and same
    print("held" if held else "MISSED")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
