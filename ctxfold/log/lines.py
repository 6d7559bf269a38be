"""`Line`, the unit a view is made of: its kind, its text, its ref and its price in tokens.

The marker at a line's start says who speaks: `user:` and `ai:` for what was said, `>` for a call, `<` for data from a tool or a page. Text of a tool or page
that runs over several lines stands between fences that carry its address. A line of the assistant that looks like another speaker's gets a backslash
before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from ctxfold.log.rows import Table
from ctxfold.prompts import opening
from ctxfold.tokens import count_lines

__all__ = [
    "AI",
    "ALSO",
    "BINDING",
    "DECIDED",
    "ELSEWHERE",
    "EXTRACTS",
    "GOAL",
    "GOAL_NOW",
    "HERE",
    "KEY_INFO",
    "LIFTED",
    "NOTE",
    "POSING",
    "SO_FAR",
    "SUPERSEDED",
    "THINKING",
    "TOPIC",
    "TO_DO",
    "USER",
    "Line",
    "LineKind",
    "cost",
    "fence",
    "line",
    "text_of",
    "unposed",
]


USER = "user:"
AI = "ai:"
NOTE = "note:"
GOAL = "goal:"
GOAL_NOW = "goal now:"
SO_FAR = "so far:"
TO_DO = "to-do:"
BINDING = "constraints:"
DECIDED = "decisions:"
LIFTED = "lifted:"
SUPERSEDED = "superseded:"
EXTRACTS = "extracts:"
ALSO = "also:"
HERE = "here:"
ELSEWHERE = "elsewhere:"
TOPIC = "[topic"
THINKING = "[Thought]"
KEY_INFO = "[KEY INFO]"

_WORDS = (
    *(USER, AI, NOTE, GOAL, GOAL_NOW, SO_FAR, TO_DO, BINDING, DECIDED, LIFTED, SUPERSEDED, EXTRACTS, ALSO),
    *(HERE, ELSEWHERE, TOPIC, THINKING, KEY_INFO),
    *(f"{opening(name).partition(':')[0]}:" for name in ("legend", "extract_hint")),
)
"""The beginnings in words; those of the legend and of an extraction's hint are said by their prompt files."""
_STEPS = r"s\d+(?:-s\d+)?(?:, s\d+(?:-s\d+)?)*"
_ADDRESSED = (
    rf"{_STEPS}(?:…| (?:failed|partial)(?!\S))",
    r"s\d+(?:-s\d+|, s\d+|\.\d+)\S*(?!\S)",
    r"[cdst]\d+[ \t]+(?![-+*/%&|^=!,;:.?)\]}])",
    r"\[s\d",
    r"<<s\d",
)
"""The addresses that begin a block, a constraint, a decision, an item of the to-do, a stub, a fence. `s1 = 2` is code, and begins none of them."""
_MARKED = r"[<>](?!\S)"
"""What was called, and what came back."""

POSING = re.compile(
    rf"[ \t]?(?:{'|'.join(_ADDRESSED)}|(?:s\d+\S*[ \t]+)?(?:{_MARKED}|(?i:{'|'.join(map(re.escape, _WORDS))})))"
)
"""Matches where a line begins as one of ours or another speaker's does."""


LineKind = Literal["user", "say", "call", "data", "text", "note", "stub"]
"""stub: steps of which nothing stands; user: the user's words; say: the assistant's; call: what was called; data: one row of facts; text: raw text of a tool or page; note: a note."""


class Line(NamedTuple):
    """One piece of a view, one or more lines of text.

    Attributes:
        kind: what sort of content it is.
        ref: the record it renders, `s12.2`.
        text: what stands in the view, marker included, no newline at its end.
        tokens: o200k tokens of `text` with its newline.
        cuts: of a row and of a call, where in the text its first cell begins and where each ends.
        depth: how deep it stands under the first line of its record.
        table: whether it holds the columns of a table, or cells under them.
        untrusted: whether any of it came from a tool or a page.
    """

    kind: LineKind
    ref: str
    text: str
    tokens: int
    cuts: tuple[int, ...] = ()
    depth: int = 0
    table: Table = "none"
    untrusted: bool = False

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def is_document(self) -> bool:
        """Whether it is text that was read or written over several lines."""
        return self.kind == "text" or (self.kind == "call" and self.depth > 0)

    def reworded(self, text: str) -> Line:
        """The same line with other words: a part of its own, or a mark for what is left out."""
        return Line(self.kind, self.ref, text, cost((text,)) + 1, (), self.depth, "none", self.untrusted)


def line(kind: LineKind, ref: str, text: str, depth: int = 0, untrusted: bool = False) -> Line:
    """A line without cells, its tokens counted. One token is added for the seam to the next."""
    return Line(kind, ref, text, cost((text,)) + 1, (), depth, "none", untrusted)


def cost(texts: Iterable[str]) -> int:
    """What texts of lines cost one under the other, in o200k tokens. What stands between fences is a record's own text: it is counted alone, and once."""
    return count_lines(piece for text in texts for piece in _unfenced(text))


def _unfenced(text: str) -> tuple[str, ...]:
    if not text.startswith("<<") or text.count("\n") < 2:
        return (text,)
    opening, _, rest = text.partition("\n")
    body, _, closing = rest.rpartition("\n")
    return opening, body, closing


def fence(ref: str, text: str, name: str = "") -> str:
    """Text of a tool or page as a view shows it: after `< ` when it is one line, else between fences no text can forge. `name`: what it is called in the record, where it is not all of it."""
    if len(text.splitlines()) <= 1 and text == text.rstrip("\r\n"):
        return f"< {name}: {text}" if name else f"< {text}"
    return f"<<{f'{ref} {name}' if name else ref}\n{text.replace(f'{ref}>>', f'{ref}> >')}\n{ref}>>"


_POSING = re.compile(rf"(?<=[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])(?={POSING.pattern})")


def unposed(text: str) -> str:
    """What the assistant said or wrote with a backslash before each line, but the first, that begins as another speaker's does: `user:`, `< `, `s7 >`."""
    return _POSING.sub(r"\\", text)


def text_of(lines: Iterable[Line]) -> str:
    """Lines as a view shows them, one under the other."""
    return "\n".join(line.text for line in lines)
