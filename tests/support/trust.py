"""How a view marks what came from tools and pages, read back from its text alone.

A line is marked when it stands between fences that name a record (`<<s4.3`, a name behind it where it has one, … `s4.3>>`) or begins, after its block's header, with `<`.
Every character that some reader takes for the end of a line ends one here.
"""

from __future__ import annotations

import re

from tests.support.texts import FORGED

_OPEN = re.compile(r"<<(s\d+\.\d+)(?: .*)?$")
_HEADER = re.compile(r"s\d+(?:-s\d+)?(?:, s\d+(?:-s\d+)?)*…?(?: (?:failed|partial))? ")


def trusted_lines(view: str) -> list[str]:
    """The lines of a view that speak for the user, the assistant or ctxfold itself, headers taken off."""
    fence: str | None = None
    found: list[str] = []
    for line in view.splitlines():
        if fence is not None:
            if line == f"{fence}>>" or line.startswith(f"{fence}>> "):
                fence = None
            continue
        words = _HEADER.sub("", line, count=1) if _HEADER.match(line) else line
        opened = _OPEN.match(words)
        if opened:
            fence = opened[1]
        elif not words.lstrip().startswith("<"):
            found.append(words)
    return found


def unmarked(view: str) -> list[str]:
    """The trusted lines that hold the forger's word."""
    return [line for line in trusted_lines(view) if FORGED in line]
