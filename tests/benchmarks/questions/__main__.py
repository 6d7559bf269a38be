"""Asks the explorer the questions of a file on Python's documentation or small sites, and prints how often the right passage is first or among the three.

    python -m tests.benchmarks.questions [python-doc.json | python-held-out.json | small-sites.json] [--each]

Python's documentation is Debian's python3-doc. Each question is a run of its own in a browser, as a user makes it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from browser_agent import BrowserAgent
from browser_agent.agent.settings import Keeping
from tests.benchmarks.questions.judging import Judged, Question, judge, load, write_sites
from tests.benchmarks.real_sites import DOCS, static

HERE = Path(__file__).parent
START = "index.html"


async def ask(questions: list[Question], folders: dict[str, Path], sites: dict[str, str]) -> list[Judged]:
    """Ask each question of its site, with a browser for all and a session each."""
    found = []
    async with BrowserAgent(keeping=Keeping(store=":memory:")) as agent:
        for question in questions:
            site = sites[question.site]
            result = await agent.run(question.question, start_url=f"{site}/{START}")
            found.append(judge(question, result, site, folders[question.site]))
            print(".", end="", file=sys.stderr, flush=True)
    return found


def show(found: list[Judged], each: bool) -> None:
    """Print the totals, and each question's outcome where that is wished."""
    for one in found if each else ():
        where = f"candidate {one.right}" if one.right else "not found" if one.question.answerable else "no answer there"
        print(f"{where:16} {'answered' if one.answered else 'declined'} {one.pages:2} pages  {one.question.question}")
    asked = [one for one in found if one.question.answerable]
    others = [one for one in found if not one.question.answerable]
    print(f"first {sum(one.right == 1 for one in asked)} of {len(asked)}")
    print(f"among three {sum(one.right > 0 for one in asked)} of {len(asked)}")
    print(
        f"answered {sum(one.answered for one in asked)}, rightly {sum(one.answered and one.right == 1 for one in asked)}"
    )
    print(f"declined {sum(not one.answered for one in others)} of {len(others)}")
    print(f"false quotes {sum(one.false_quotes for one in found)}")
    print(f"pages, median {statistics.median(one.pages for one in found):g}, most {max(one.pages for one in found)}")


def main() -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("set", nargs="?", default="python-doc.json", help="a file beside this one, or a path")
    parser.add_argument("--each", action="store_true", help="print each question's outcome")
    given = parser.parse_args()
    file = HERE / given.set if (HERE / given.set).exists() else Path(given.set)
    with ExitStack() as held:
        small = write_sites(file, Path(held.enter_context(TemporaryDirectory())))
        folders = small or {"": DOCS["python"]}
        sites = {name: held.enter_context(static(folder)) for name, folder in folders.items()}
        show(anyio.run(ask, load(file), folders, sites), given.each)


if __name__ == "__main__":
    main()
