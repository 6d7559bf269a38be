"""Finds what a page says without a label: short texts that hold the word they are asked for by, and the text beneath a heading."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from browser_agent.observation.blocks import blocks
from browser_agent.observation.inline import AROUND, INTERACTIVE, REF, cut, is_inline, render, terms
from browser_agent.observation.rows import Labelled
from ctxfold.log.page import Node

__all__ = ["Phrase", "find_beneath", "find_phrases", "names_itself", "pick_column", "stands_by_number"]

_APART = AROUND | {"deletion", "heading", "option"}
"""What holds none of a page's own values: what stands around it, what is struck out, titles."""
_ALIKE = frozenset({"listitem", "article", "row"})
_MOST_WORDS = 6
_LOWEST = 6
"""The level of the lowest heading; a term that is defined stands below it."""
_LONGEST = 600


@dataclass(frozen=True, slots=True)
class Phrase:
    """A short text. `spot` says where in the page it stands, equal on pages that are built alike; `beside`, the elements before and after it."""

    text: str
    spot: str
    beside: tuple[Node, ...] = ()


def find_phrases(root: Node) -> tuple[Phrase, ...]:
    """The short texts of a page's own part, each once, without those of controls."""
    found: dict[str, Phrase] = {}
    for node, spot, beside in _own(root):
        if is_inline(node) and not any(inner.role in INTERACTIVE for inner in node.walk()):
            text = render([node], refs=False).text
            if 1 < len(text.split()) <= _MOST_WORDS:
                found.setdefault(text, Phrase(text, spot, beside))
    return tuple(found.values())


def stands_by_number(phrase: Phrase) -> bool:
    """Whether what stands directly before or after a short text holds a number and is as short: such as a price and what is in stock."""
    texts = (render([node], refs=False).text for node in phrase.beside if is_inline(node))
    return any(re.search(r"\d", text) and len(text.split()) <= _MOST_WORDS for text in texts)


def find_beneath(root: Node) -> Mapping[str, tuple[str, ...]]:
    """By each heading of a page, as often as it stands there, the text beneath it, up to the next heading that is not below it."""
    found: dict[str, tuple[str, ...]] = {}
    lines = blocks(root)
    for at, head in enumerate(lines):
        if not 0 < head.level <= _LOWEST:
            continue
        own = takewhile(lambda one: one.region == head.region and not 0 < one.level <= head.level, lines[at + 1 :])  # noqa: B023
        text = " ".join(one.section if one.level else REF.sub("", one.text) for one in own)
        if text:
            found[head.section] = (*found.get(head.section, ()), cut(text, _LONGEST))
    return found


def names_itself(called: frozenset[str], text: str) -> bool:
    """Whether a short text says more than the words that a value is called by, and all of these."""
    return bool(called) and called < terms(text) and len(text.split()) <= _MOST_WORDS


def pick_column(called: frozenset[str], rows: Sequence[Sequence[Labelled]]) -> list[str] | None:
    """For each row its one text that names itself, in a row without one what stands in the same place, empty where nothing does; None where most rows have none. What all rows say is a label and no value."""
    found = [{one.text for one in row if names_itself(called, one.text)} for row in rows]
    labels = frozenset.intersection(*map(frozenset, found)) if found else frozenset()
    column = ["".join(texts - labels) if len(texts - labels) == 1 else "" for texts in found]
    return _fill_gaps(column, rows) if 2 * sum(map(bool, column)) > len(rows) else None


def _fill_gaps(column: Sequence[str], rows: Sequence[Sequence[Labelled]]) -> list[str]:
    """A column with what stands in the same place, counted from either end, in rows that have nothing for it, where no other column is called as that is."""
    own: Counter[str] = Counter()
    others: set[str] = set()
    from_start, from_end = set(), set()
    for text, row in zip(column, rows, strict=True):
        place = next((at for at, one in enumerate(row) if text and one.text == text), None)
        if place is not None:
            own[row[place].label] += 1
            others.update(one.label for one in row if one.text != text)
            from_start.add(place)
            from_end.add(place - len(row))
    same = [*from_start][:1] if len(from_start) == 1 else [*from_end][:1] if len(from_end) == 1 else []

    def stands_there(row: Sequence[Labelled]) -> str:
        one = row[same[0]] if same and -len(row) <= same[0] < len(row) else None
        fits = one is not None and one.label and (one.label in own or one.label not in others)
        return one.text if one is not None and fits and len(one.text.split()) <= _MOST_WORDS else ""

    return [text or stands_there(row) for text, row in zip(column, rows, strict=True)]


def _own(root: Node) -> Iterator[tuple[Node, str, tuple[Node, ...]]]:
    """The nodes of a page outside menus, controls and things alike that stand beside each other; each with its spot, and what stands before and after it."""
    stack: list[tuple[Node, str, str, tuple[Node, ...]]] = [(root, "", "", ())]
    while stack:
        node, path, spot, beside = stack.pop()
        yield node, spot, beside
        alike = Counter(child.role for child in node.children)
        seen: Counter[str] = Counter()
        inner = []
        for at, child in enumerate(node.children):
            seen[child.role] += 1
            if child.role in _APART | INTERACTIVE or (child.role in _ALIKE and alike[child.role] > 1):
                continue
            way = f"{path}/{child.role}{seen[child.role]}"
            of = f"{way} of {alike[child.role]}"
            inner.append((child, way, of, node.children[max(0, at - 1) : at] + node.children[at + 1 : at + 2]))
        stack.extend(reversed(inner))
