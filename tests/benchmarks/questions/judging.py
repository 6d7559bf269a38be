"""Reads questions from a file and judges whether a run's candidates hold the passage that answers one."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

from browser_agent import RunResult, Source


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
