"""How often the explorer, which has no model, finds the right passage: first, or among its three candidates.

    python -m tests.benchmarks.questions [python-doc.json | python-held-out.json | small-sites.json] [--each]

Python's documentation is Debian's python3-doc. Each question is a run of its own in a browser, as a user makes it.
"""

from __future__ import annotations

import statistics
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from browser_agent import BrowserAgent
from browser_agent.agent.settings import Keeping
from tests.benchmarks.questions.judging import Judged, Question, judge, read_questions, write_sites
from tests.benchmarks.shared.harness import make_parser
from tests.benchmarks.shared.real_sites import DOCS, serve_folder

HERE = Path(__file__).parent


async def ask(questions: list[Question], folders: dict[str, Path], sites: dict[str, str]) -> list[Judged]:
    """Ask each question of its site, with one browser for all and a session each."""
    judged = []
    async with BrowserAgent(keeping=Keeping(store=":memory:")) as agent:
        for question in questions:
            site = sites[question.site]
            result = await agent.run(question.question, start_url=f"{site}/index.html")
            judged.append(judge(question, result, site, folders[question.site]))
            print(".", end="", file=sys.stderr, flush=True)
    return judged


def show(judged: list[Judged], each: bool) -> None:
    """Print the totals, and with `each` the outcome of each question."""
    for one in judged if each else ():
        where = f"candidate {one.right}" if one.right else "not found" if one.question.answerable else "no answer there"
        print(f"{where:16} {'answered' if one.answered else 'declined'} {one.pages:2} pages  {one.question.question}")
    asked = [one for one in judged if one.question.answerable]
    others = [one for one in judged if not one.question.answerable]
    rightly = sum(one.answered and one.right == 1 for one in asked)
    print(f"first {sum(one.right == 1 for one in asked)} of {len(asked)}")
    print(f"among three {sum(one.right > 0 for one in asked)} of {len(asked)}")
    print(f"answered {sum(one.answered for one in asked)}, rightly {rightly}")
    print(f"declined {sum(not one.answered for one in others)} of {len(others)}")
    print(f"false quotes {sum(one.false_quotes for one in judged)}")
    print(f"pages, median {statistics.median(one.pages for one in judged):g}, most {max(one.pages for one in judged)}")


def main() -> None:
    """Ask and print."""
    parser = make_parser("questions", __doc__)
    parser.add_argument("set", nargs="?", default="python-doc.json", help="a file in this folder, or a path")
    parser.add_argument("--each", action="store_true", help="print the outcome of each question")
    given = parser.parse_args()
    file = HERE / given.set if (HERE / given.set).exists() else Path(given.set)
    with ExitStack() as stack:
        small = write_sites(file, Path(stack.enter_context(TemporaryDirectory())))
        folders = small or {"": DOCS["python"]}
        if missing := [folder for folder in folders.values() if not folder.is_dir()]:
            parser.error(f"there is no {missing[0]}; install python3-doc")
        sites = {name: stack.enter_context(serve_folder(folder)) for name, folder in folders.items()}
        show(anyio.run(ask, read_questions(file), folders, sites), given.each)


if __name__ == "__main__":
    main()
