"""Questions from a file, and whether a run's candidates hold the passage that answers one."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

from browser_agent import RunResult, Source

__all__ = ["Judged", "Question", "judge", "load", "write_sites"]


@dataclass(frozen=True)
class Question:
    """One question; `patterns` match the passages that answer it, and are empty where the site, one of its file's or Python's documentation, does not."""

    id: str
    question: str
    answerable: bool
    patterns: tuple[str, ...] = ()
    site: str = ""


@dataclass(frozen=True)
class Judged:
    """What came of a question.

    Attributes:
        question: the question.
        right: which candidate answers it, from 1; 0 for none.
        answered: whether the explorer was sure.
        false_quotes: candidates that do not stand on their page.
        pages: pages opened.
    """

    question: Question
    right: int
    answered: bool
    false_quotes: int
    pages: int


def load(path: Path) -> list[Question]:
    """Read the questions of a file."""
    held = json.loads(path.read_text(encoding="utf-8"))
    return [
        Question(one["id"], one["question"], one["answerable"], tuple(one.get("patterns") or ()), one.get("site", ""))
        for one in held["questions"]
    ]


def write_sites(path: Path, folder: Path) -> dict[str, Path]:
    """Write the sites of a file as pages with a menu and a footer; the folder of each."""
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
    """Judge a run.

    Args:
        question: what was asked.
        result: what the run came to.
        site: the site's address.
        root: the folder of its pages.
    """
    right = next((at for at, one in enumerate(result.candidates, 1) if _answers(question, one)), 0)
    false = sum(not _stands(one, site, root) for one in (*result.candidates, *result.sources))
    return Judged(question, right, result.answer is not None, false, result.usage.pages)


def _answers(question: Question, source: Source) -> bool:
    text = " ".join(source.quote.split())
    return any(re.search(pattern, text, re.I) for pattern in question.patterns)


def _stands(source: Source, site: str, root: Path) -> bool:
    page = root / (urlsplit(source.url.removeprefix(site)).path.strip("/") or "index.html")
    return page.is_file() and _join_characters(source.quote) in _join_characters(_read_text(page))


def _join_characters(text: str) -> str:
    """A text without space, and without the prompts: the site's script puts a button named `>>>` before an example, which no file holds."""
    return "".join(text.split()).replace(">>>", "")


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Leave out scripts and styles."""
        self._silent += tag in {"script", "style"}

    def handle_endtag(self, tag: str) -> None:
        """Go on after them."""
        self._silent -= tag in {"script", "style"}

    def handle_data(self, data: str) -> None:
        """Keep the text."""
        if not self._silent:
            self.parts.append(data)


def _read_text(page: Path) -> str:
    reader = _Text()
    reader.feed(page.read_text(encoding="utf-8", errors="replace"))
    return "".join(reader.parts).replace("¶", "")
