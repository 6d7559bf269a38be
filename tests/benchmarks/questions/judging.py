"""Question sets and the judging of answers, as the README beside it says. It asks nothing."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal

__all__ = ["Given", "Question", "QuestionSet", "Verdict", "judge", "load"]

Verdict = Literal["right", "wrong", "declined"]

_JUDGED = 1_200
"""The characters of an answer and of a quote that are looked at."""


@dataclass(frozen=True)
class Question:
    """One question; `page` and `patterns` are empty where the site does not answer it."""

    id: str
    question: str
    answerable: bool
    page: str = ""
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True)
class QuestionSet:
    """Questions about one site: which of the installed documentations, and where it is entered."""

    name: str
    site: str
    start: str
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Given:
    """What was answered: nothing where `answer` is None. `page` is the path below the site's root, without fragment."""

    answer: str | None
    quote: str = ""
    page: str = ""
    loads: int = 0
    seconds: float = 0.0


def load(path: Path) -> QuestionSet:
    """Read a set from its file."""
    held = json.loads(path.read_text(encoding="utf-8"))
    questions = tuple(
        Question(one["id"], one["question"], one["answerable"], one.get("page") or "", tuple(one.get("patterns") or ()))
        for one in held["questions"]
    )
    return QuestionSet(held["name"], held["site"].split()[0].lower(), held["start"], questions)


def judge(question: Question, given: Given, root: Path) -> Verdict:
    """What an answer is worth.

    Args:
        question: what was asked.
        given: what was answered.
        root: the folder of the site, to hold the quote against its page.
    """
    if given.answer is None:
        return "declined"
    if not question.answerable or not stands(given, root):
        return "wrong"
    said = [" ".join(text.split())[:_JUDGED] for text in (given.quote, given.answer)]
    return "right" if any(re.search(p, text, re.I) for p in question.patterns for text in said) else "wrong"


def stands(given: Given, root: Path) -> bool:
    """Whether the quote is on the page named."""
    page = root / (given.page or "index.html")
    if page.is_dir():
        page = page / "index.html"
    return bool(given.quote) and page.is_file() and _squeezed(given.quote) in _squeezed(_text(page))


def _squeezed(text: str) -> str:
    return "".join(text.split())


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Scripts and styles say nothing."""
        self._silent += tag in {"script", "style"}

    def handle_endtag(self, tag: str) -> None:
        """And end."""
        self._silent -= tag in {"script", "style"}

    def handle_data(self, data: str) -> None:
        """Keep what is read."""
        if not self._silent:
            self.parts.append(data)


def _text(page: Path) -> str:
    reader = _Text()
    reader.feed(page.read_text(encoding="utf-8", errors="replace"))
    return "".join(reader.parts).replace("¶", "")
