"""Finds tagged blocks in a model's reply, outside code and thinking."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ctxfold.text.strict_json import strictly

__all__ = ["LONGEST", "Marked", "Tag", "marked"]

LONGEST = 32_000
"""Characters of a directive at most."""

Tag = Literal["context", "compress"]


@dataclass(frozen=True, slots=True)
class Marked:
    """One block of a reply, from where its opening tag begins to its end, with the JSON object inside, or the fault that makes it not well-formed.

    `prose`: whether it holds words rather than something like JSON, so that it is nothing to hide from a reader.
    """

    start: int
    end: int
    tag: Tag
    body: dict[str, Any] = field(default_factory=dict)
    fault: str | None = None
    prose: bool = False


@dataclass(frozen=True, slots=True)
class _Mark:
    """One tag: where it stands, what it is, whether it closes, and whether words follow it rather than JSON."""

    start: int
    end: int
    tag: Tag
    closes: bool
    spoken: bool


_TAG = re.compile(r"<(/?)(context|compress)>")
_ESCAPED = re.compile(r"&lt;(context|compress)&gt;\s{0,20}(?:\{|&#123;|&quot;).{0,4000}?&lt;/\1&gt;", re.DOTALL)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_THOUGHT = re.compile(r"<(/?)think>")


def marked(reply: str) -> list[Marked]:
    """Every attempt at a directive in a reply, in order, none overlapping; one that is not closed runs to its end.

    Blocks in fenced code, between backticks, and before the end of a model's thinking are none.
    """
    hidden = _Stretches([*_fenced(reply), *_thought(reply)])
    marks = [mark for mark in _marks(reply) if mark.start not in hidden]
    if not marks:
        return [block for block in _escaped(reply) if block.start not in hidden]
    return list(_blocks(reply, marks))


def _blocks(reply: str, marks: Sequence[_Mark]) -> Iterator[Marked]:
    at = 0
    while at < len(marks):
        opening = marks[at]
        at += 1
        if opening.closes:
            continue
        if opening.spoken:
            closing = marks[at] if at < len(marks) else None
            if closing is not None and closing.closes and closing.tag == opening.tag:
                yield Marked(opening.start, closing.end, opening.tag, fault=_no_json(opening.tag), prose=True)
                at += 1
            continue
        inner: list[_Mark] = []
        depth = 1
        while at < len(marks) and depth:
            depth += -1 if marks[at].closes else 0 if marks[at].spoken else 1
            inner.append(marks[at])
            at += 1
        yield _open(reply, opening) if depth else _closed(reply, opening, inner)


def _open(reply: str, opening: _Mark) -> Marked:
    """A block that is never closed."""
    fault = f"the {opening.tag} block is not closed; write all of it, closing tag included"
    return Marked(opening.start, len(reply), opening.tag, fault=fault)


def _closed(reply: str, opening: _Mark, inner: Sequence[_Mark]) -> Marked:
    closing = inner[-1]
    tag = opening.tag
    if closing.tag != tag or any(not mark.spoken for mark in inner[:-1]):
        fault = f"the {tag} block holds another tag; write one block with nothing nested"
        return Marked(opening.start, closing.end, tag, fault=fault)
    return Marked(opening.start, closing.end, tag, *_object(reply[opening.end : closing.start], tag))


def _object(text: str, tag: Tag) -> tuple[dict[str, Any], str | None]:
    """The JSON object of a block, or why there is none."""
    if len(text) > LONGEST:
        return {}, f"the {tag} block has {len(text)} characters; {LONGEST} are the most"
    found = strictly(text)
    return (found, None) if isinstance(found, dict) else ({}, _no_json(tag))


def _no_json(tag: Tag) -> str:
    return f"the {tag} block does not hold one strict JSON object; write it as it is, no fence, comment or escape around it"


def _marks(reply: str) -> Iterator[_Mark]:
    """Every tag that is used; one between backticks is spoken of."""
    for found in _TAG.finditer(reply):
        start, end = found.span()
        closes = bool(found[1])
        beside = reply[end : end + 3] if closes else reply[max(0, start - 3) : start][::-1]
        if beside.startswith("`") and beside != "```":
            continue
        behind = reply[end : end + 200].lstrip()
        yield _Mark(start, end, _tag(found[2]), closes, not closes and not behind.startswith(_LIKE_JSON))


_LIKE_JSON = tuple("{[<\"'&`~")
"""What follows an opening tag that is used. Behind one that is spoken of there are words."""


def _escaped(reply: str) -> Iterator[Marked]:
    for found in _ESCAPED.finditer(reply):
        fault = f"the {found[1]} block is HTML-escaped; write its tags and its JSON as they are"
        yield Marked(found.start(), found.end(), _tag(found[1]), fault=fault)


def _tag(name: str) -> Tag:
    return "context" if name == "context" else "compress"


class _Stretches:
    """Stretches of a text, each a start and an end, which may overlap; to ask whether a place lies in one."""

    def __init__(self, stretches: Sequence[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(stretches):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, at: int) -> bool:
        found = bisect_right(self._starts, at) - 1
        return found >= 0 and at < self._ends[found]


def _fenced(reply: str) -> Iterator[tuple[int, int]]:
    """Fenced code, as CommonMark has it; a fence left open runs to the end."""
    fence, start = "", 0
    for mark in _FENCE.finditer(reply):
        if not fence:
            if mark[1][0] == "~" or "`" not in mark[2]:
                fence, start = mark[1], mark.start()
        elif mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2].strip():
            yield start, mark.end()
            fence = ""
    if fence:
        yield start, len(reply)


def _thought(reply: str) -> Iterator[tuple[int, int]]:
    """What a model thought before it answered. Its opening mark may stand in the prompt, so all before the last closing one counts."""
    marks = list(_THOUGHT.finditer(reply))
    end = max((mark.end() for mark in marks if mark[1]), default=0)
    yield 0, end
    left_open = next((mark.start() for mark in marks if not mark[1] and mark.start() >= end), len(reply))
    yield left_open, len(reply)
