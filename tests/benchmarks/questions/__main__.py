"""Asks the explorer the questions of a set, on the site they are about, and counts right, wrong and declined.

    python -m tests.benchmarks.questions [python-doc.json] [--each] [--only WORD] [--pages FOLDER] [--json FILE]

Without `--each` it prints totals alone, as whoever tunes must see the held set. `--pages` remembers each page a browser has observed once in
that folder and asks the explorer on those, without a run round it: quick to repeat, for tuning.
Exits 1 below the bars.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from urllib.parse import urlsplit

import anyio

from browser_agent import BrowserAgent
from browser_agent.agent.settings import Keeping
from tests.benchmarks.questions.judging import Given, Question, QuestionSet, Verdict, judge, load
from tests.benchmarks.questions.remembered import Remembered
from tests.benchmarks.real_sites import DOCS, static

HERE = Path(__file__).parent
MOST_LOADS = 40
LEAST_RIGHT, MOST_WRONG, LEAST_DECLINED = 0.65, 0.15, 0.8
"""Of the questions a site answers; of the same; of those it does not."""

Asked = list[tuple[Question, Given, Verdict]]


async def asked(questions: QuestionSet, chosen: list[Question], site: str) -> Asked:
    """Ask with a browser, a run and a session for each, as a user does."""
    root, found = DOCS[questions.site], []
    async with BrowserAgent(keeping=Keeping(store=":memory:")) as agent:
        for question in chosen:
            result = await agent.run(question.question, start_url=f"{site}/{questions.start}")
            source = result.sources[0] if result.sources and result.answer is not None else None
            given = Given(
                result.answer,
                source.quote if source else "",
                urlsplit(source.url).path.lstrip("/") if source else "",
                result.usage.pages,
                result.usage.seconds,
            )
            found.append((question, given, judge(question, given, root)))
            print(".", end="", file=sys.stderr, flush=True)
    return found


async def asked_remembered(questions: QuestionSet, chosen: list[Question], site: str, folder: Path) -> Asked:
    """Ask on remembered pages."""
    root, found = DOCS[questions.site], []
    async with Remembered(folder, site) as pages:
        for question in chosen:
            begun = time.monotonic()
            answer, source, loads = await pages.ask(question.question, questions.start)
            page = urlsplit(source.url).path.lstrip("/") if source else ""
            given = Given(answer, source.quote if source else "", page, loads, time.monotonic() - begun)
            found.append((question, given, judge(question, given, root)))
    return found


def show(found: Asked, each: bool) -> bool:
    """Print the totals, each answer where that is wished; whether the bars are held."""
    for question, given, verdict in found if each else ():
        mark = "ok " if (verdict == "right") == question.answerable and verdict != "wrong" else "BAD"
        print(f"{mark} {verdict:8} {question.id} {given.loads:2} loads  {question.question}")
        if mark == "BAD" and given.answer is not None:
            print(f"      {given.page}: {' '.join(given.quote.split())}")
    held = True
    for name, answerable in (("on the site", True), ("not on the site", False)):
        half = [(given, verdict) for question, given, verdict in found if question.answerable == answerable]
        if not half:
            continue
        count = {wish: sum(verdict == wish for _, verdict in half) for wish in ("right", "wrong", "declined")}
        loads = [given.loads for given, _ in half]
        print(
            f"{name:16} {len(half):3} questions: {count['right']} right, {count['wrong']} wrong, {count['declined']} declined; "
            f"loads median {statistics.median(loads):g}, most {max(loads)}; "
            f"{statistics.median(given.seconds for given, _ in half):.1f} s median"
        )
        held &= max(loads) <= MOST_LOADS
        if answerable:
            held &= count["right"] >= LEAST_RIGHT * len(half) and count["wrong"] <= MOST_WRONG * len(half)
        else:
            held &= count["declined"] >= LEAST_DECLINED * len(half)
    return held


@contextmanager
def address(site: str, remembered: bool) -> Iterator[str]:
    """Where a site is to be had; remembered pages keep one address over all runs."""
    if remembered:
        yield f"http://{site}.invalid"
    else:
        with static(DOCS[site]) as url:
            yield url


def main() -> int:
    """Ask, print, and say whether the bars are held."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("set", nargs="?", default="python-doc.json", help="a file beside this one, or a path")
    parser.add_argument("--each", action="store_true", help="print each question's outcome")
    parser.add_argument("--only", default="", help="the questions that hold this word, or whose id is this")
    parser.add_argument("--half", choices=("even", "odd"), help="every other question")
    parser.add_argument("--pages", type=Path, help="ask on pages remembered in this folder")
    parser.add_argument("--json", type=Path, help="write the outcomes to this file")
    given = parser.parse_args()
    questions = load(HERE / given.set if (HERE / given.set).exists() else Path(given.set))
    chosen = [one for one in questions.questions if given.only in one.question or given.only == one.id]
    chosen = chosen[given.half == "odd" :: 2] if given.half else chosen
    with address(questions.site, given.pages is not None) as site:
        if given.pages is not None:
            found = anyio.run(asked_remembered, questions, chosen, site, given.pages)
        else:
            found = anyio.run(asked, questions, chosen, site)
    if given.json is not None:
        given.json.write_text(json.dumps([{**asdict(q), **asdict(g), "verdict": v} for q, g, v in found], indent=1))
    return 0 if show(found, given.each) else 1


if __name__ == "__main__":
    sys.exit(main())
