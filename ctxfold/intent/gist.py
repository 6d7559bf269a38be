"""A message of the user in shorter and shorter forms, for a view that has no room for all of it. Its values stand to the last; it decides no budget.

What goes first is what a later step needs least: small talk and what was said before, then what neither asks nor holds a value, then the words far from a value.
"""

from __future__ import annotations

from dataclasses import replace

from ctxfold.intent.cues import Clause, clauses, facts_of
from ctxfold.lines import Line
from ctxfold.text import Span, windows
from ctxfold.tokens import count

__all__ = ["GISTS", "gist"]

GISTS = 4
"""How many forms there are, the last but values."""

_READ = 20_000
_AROUND = 24
"""Letters that stay on both sides of a value when the rest of its clause goes."""


def gist(line: Line, form: int) -> Line:
    """A message in one of its shorter forms: never longer than it was.

    Args:
        line: the message as a view shows it.
        form: 0 keeps every clause that asks, binds or changes something, once; 1 those that ask, change or hold a value; 2 the values with the words
            around them; 3 the values alone.
    """
    mark, _, text = line.text.partition(" ")
    tail = f" […{line.tokens} tok {line.ref}]"
    text = text[:_READ]
    match form:
        case 0:
            kept = [clause.text for clause in clauses(text) if clause.binds or _acts(clause)]
        case 1:
            kept = [clause.text for clause in clauses(text) if _acts(clause) or facts_of(clause.text)]
        case 2:
            kept = _near_values(text)
        case _:
            kept = facts_of(text)
    short = f"{mark} {(' … ' if form < GISTS - 1 else '; ').join(dict.fromkeys(kept))}{tail}"
    tokens = count(short) + 1
    return replace(line, text=short, tokens=tokens) if tokens < line.tokens else line


def _acts(clause: Clause) -> bool:
    return clause.asks or clause.corrects or clause.cancels or clause.returns or clause.settles


def _near_values(text: str) -> list[str]:
    """The values of a text, each with the words around it."""
    found: list[Span] = []
    for value in facts_of(text):
        at = text.find(value)
        while at >= 0:
            found.append(Span(at, at + len(value)))
            at = text.find(value, at + len(value))
    ordered = sorted(set(found), key=lambda span: (span.start, -span.end))
    return [span.of(text) for span in windows(text, ordered, _AROUND, _AROUND)]
