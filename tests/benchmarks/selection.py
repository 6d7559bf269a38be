"""How much of an answer a query-focused selection keeps, on the Python FAQ as Debian packages it. Run it; it asserts nothing.

    python tests/benchmarks/selection.py [--share 0.1] [--root /usr/share/doc/python3.11/html]

Each question of the FAQ is the query, the section under it the answer, the whole page the text to choose from. A tenth of the page's tokens
may stay. The figure is the share of the answer's tokens that do, averaged over the questions, against what the best possible choice would
keep (an answer can be longer than the budget). *kept* counts tokens in place; *words* counts the answer's words found anywhere in the selection.

`page`: the page as it is, contents list and headings included. `bare`: both left out, so that the query's own words stand nowhere
but in the answers. The other rows are what a method must beat: the page's start, and BM25 without the neighbours.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ctxfold.select.choose import select
from ctxfold.select.score import BM25
from ctxfold.text.sentences import Span, sentences
from ctxfold.text.words import query_words, words
from ctxfold.tokens import count, head

ROOT = Path("/usr/share/doc/python3.11/html")
_BLOCKS = "p, li, dt, dd, pre, h1, h2, h3, h4, tr, div, section"


@dataclass(frozen=True)
class Case:
    """One question: the text to choose from and where its answer stands in it."""

    page: str
    query: str
    text: str
    answer: Span


def cases(root: Path, bare: bool) -> Iterator[Case]:
    """Every question of the FAQ pages below `root`."""
    for path in sorted((root / "faq").glob("*.html")):
        tree = LexborHTMLParser(path.read_text(encoding="utf-8"))
        main = tree.css_first("div[role=main]")
        if main is None:
            continue
        for node in main.css("a.headerlink" + (", .contents, nav" if bare else "")):
            node.decompose()
        for node in main.css(_BLOCKS):
            node.insert_before("\n")
        yield from _page_cases(path.name, main, bare)


def _page_cases(page: str, main: LexborNode, bare: bool) -> Iterator[Case]:
    questions = []
    for section in main.css("section"):
        title = section.css_first("h1, h2, h3, h4")
        inner = [node for node in section.css("section") if node.mem_id != section.mem_id]
        if title is None or inner or "?" not in title.text():
            continue
        query = title.text().strip()
        title.remove() if bare else title.insert_after("\n")
        questions.append((query, section.text().strip().removeprefix(query).strip()))
    text = main.text()
    for query, answer in questions:
        at = text.find(answer)
        if at >= 0 and answer:
            yield Case(page, query, text, Span(at, at + len(answer)))


def plain_bm25(text: str, query: str, budget: int) -> tuple[Span, ...]:
    """The same choice by BM25 alone: what the neighbours are worth."""
    units = sentences(text)
    scores = BM25(words(unit.of(text)) for unit in units).scores(query_words(query))
    chosen: list[Span] = []
    for at in sorted(range(len(units)), key=lambda at: -scores[at]):
        cost = count(units[at].of(text)) + 1
        if cost <= budget and scores[at] > 0:
            chosen.append(units[at])
            budget -= cost
    return tuple(sorted(chosen))


def kept(case: Case, spans: tuple[Span, ...]) -> tuple[float, float]:
    """The share of the answer's tokens, and of its words, that a selection holds."""
    inside = [Span(max(span.start, case.answer.start), min(span.end, case.answer.end)) for span in spans]
    tokens = sum(count(span.of(case.text)) for span in inside if span.start < span.end)
    answer = case.answer.of(case.text)
    wanted = Counter(words(answer))
    got = Counter(words(" ".join(span.of(case.text) for span in spans)))
    return min(1.0, tokens / count(answer)), sum((wanted & got).values()) / max(1, sum(wanted.values()))


def measure(found: list[Case], share: float, choose: Callable[[str, str, int], tuple[Span, ...]]) -> str:
    """One row of the table."""
    in_place, anywhere, started = 0.0, 0.0, time.perf_counter()
    for case in found:
        spans = choose(case.text, case.query, int(count(case.text) * share))
        tokens, of_words = kept(case, spans)
        in_place += tokens / len(found)
        anywhere += of_words / len(found)
    return f"kept {in_place:6.1%}   words {anywhere:6.1%}   {(time.perf_counter() - started) / len(found) * 1000:6.1f} ms a query"


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--share", type=float, default=0.1, help="of the page's tokens that may stay")
    parser.add_argument("--root", type=Path, default=ROOT, help="the documentation's HTML folder")
    options = parser.parse_args()
    if not (options.root / "faq").is_dir():
        print(
            f"NOT MEASURED: no Python documentation at {options.root}. Install Debian's python3-doc, or name it with --root.",
            file=sys.stderr,
        )
        return 3
    for bare in (False, True):
        found = list(cases(options.root, bare))
        best = sum(min(1.0, count(c.text) * options.share / count(c.answer.of(c.text))) for c in found) / len(found)
        print(
            f"{'bare' if bare else 'page'}: {len(found)} questions, {options.share:.0%} of the page; the best possible choice keeps {best:.1%}"
        )
        print(f"  select     {measure(found, options.share, select)}")
        print(f"  BM25 alone {measure(found, options.share, plain_bm25)}")
        print(
            f"  head       {measure(found, options.share, lambda text, _query, budget: (Span(0, len(head(text, budget))),))}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
