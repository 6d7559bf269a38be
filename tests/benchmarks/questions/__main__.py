"""How often the explorer, which has no model, finds the right passage: first, or among its three candidates.

    python -m tests.benchmarks.questions [python-doc.json | python-held-out.json | small-sites.json] [--each]

Python's documentation is Debian's python3-doc. Each question is a run of its own in a browser, as a user makes it.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import anyio

from browser_agent import BrowserAgent, RunResult, Source
from browser_agent.agent.settings import Keeping
from tests.benchmarks.shared.harness import make_parser
from tests.benchmarks.shared.real_sites import DOCS
from tests.sites.server import Site

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        patterns: match the passages that answer it; empty where the site has no answer.
        site: the site of its file that is asked; empty for Python's documentation.
    """

    id: str
    question: str
    answerable: bool
    patterns: tuple[str, ...] = ()
    site: str = ""


@dataclass(frozen=True)
class Judged:
    """The outcome of a question.

    Attributes:
        right: the number of the candidate that answers it, from 1; 0 for none.
        answered: whether the explorer was sure.
        false_quotes: candidates that are not on their page.
        pages: pages opened.
    """

    question: Question
    right: int
    answered: bool
    false_quotes: int
    pages: int


def read_questions(path: Path) -> list[Question]:
    """Read the questions of a file."""
    rows = json.loads(path.read_text(encoding="utf-8"))["questions"]
    return [
        Question(row["id"], row["question"], row["answerable"], tuple(row.get("patterns") or ()), row.get("site", ""))
        for row in rows
    ]


def write_sites(path: Path, folder: Path) -> dict[str, Path]:
    """Write the sites of a file as pages with a menu and a footer. Returns the folder of each."""
    sites = json.loads(path.read_text(encoding="utf-8")).get("sites", {})
    for name, site in sites.items():
        (folder / name).mkdir()
        menu = " ".join(f"<a href={file}>{page['title']}</a>" for file, page in site["pages"].items())
        for file, page in site["pages"].items():
            text = (
                f"<!doctype html><html lang=en><meta charset=utf-8><title>{page['title']} – {site['title']}</title>"
                f"<header><a href=index.html>{site['title']}</a></header><nav>{menu}</nav>"
                f"<main><h1>{page['title']}</h1>{page['html']}</main><footer>{site['footer']}</footer>"
            )
            (folder / name / file).write_text(text, encoding="utf-8")
    return {name: folder / name for name in sites}


def judge(question: Question, result: RunResult, site: str, root: Path) -> Judged:
    """Judge a run on the site at an address, whose pages are the files under `root`."""
    right = next((at for at, source in enumerate(result.candidates, 1) if _is_answer(question, source)), 0)
    false = sum(not _is_on_page(source, site, root) for source in (*result.candidates, *result.sources))
    return Judged(question, right, result.answer is not None, false, result.usage.pages)


def _is_answer(question: Question, source: Source) -> bool:
    text = " ".join(source.quote.split())
    return any(re.search(pattern, text, re.I) for pattern in question.patterns)


def _is_on_page(source: Source, site: str, root: Path) -> bool:
    page = root / (urlsplit(source.url.removeprefix(site)).path.strip("/") or "index.html")
    return page.is_file() and _strip_spaces(source.quote) in _strip_spaces(_read_text(page))


def _strip_spaces(text: str) -> str:
    """Remove blanks, and the prompts that the site's script adds as a button before an example."""
    return "".join(text.split()).replace(">>>", "")


def _read_text(page: Path) -> str:
    html = re.sub(r"(?s)<(script|style)\b.*?</\1>|<!--.*?-->", "", page.read_text(encoding="utf-8", errors="replace"))
    return unescape(re.sub(r"<[^>]*>", "", html)).replace("¶", "")


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
        sites = {name: stack.enter_context(Site(folder)).url for name, folder in folders.items()}
        show(anyio.run(ask, read_questions(file), folders, sites), given.each)


if __name__ == "__main__":
    main()
