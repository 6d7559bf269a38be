"""Lines cut into pieces that can be kept one by one. It knows what hangs together, never what is worth keeping."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from ctxfold.log.lines import Line
from ctxfold.tokens import count, head
from ctxfold.view.headed import headed

__all__ = ["depth", "pieces"]

_PIECE = 120
"""o200k tokens a piece costs at most."""
_CUT_FROM = 40
"""o200k tokens from which a text is cut into pieces."""
_STEM = re.compile(r"([^\s:]{12,}:)(?=\S)(?!//)")
"""What many lines of one text may begin with: a file's name before the number of a line, a host's before its message."""


def pieces(line: Line) -> Iterator[Line]:
    """The pieces of a line: a long text in its own lines, each marked as the whole was; any other line as it is.

    A text that has a name is led by it, its lines a step deeper. Lines of one text that begin alike, up to a colon, become one piece with what they
    share and one for the rest of each, a step deeper; so do the rows of a table under their header.
    """
    if line.kind in ("user", "note", "data") or line.tokens <= _CUT_FROM:
        yield line
        return
    mark, body, name = _opened(line)
    keys = line.keys if line.kind != "text" else ()
    told = [text for text in body.splitlines() if text.strip()]
    if len(told) == 1:
        yield _piece(line, f"{mark}{told[0]}", keys)
        return
    if mark != "< ":
        for at, text in enumerate(told):
            heads = not at and line.kind == "call" and text.endswith(":")
            yield _piece(line, f"{mark.removesuffix(' ') if heads else mark}{text}", () if at else keys)
        return
    if name:
        yield _piece(line, f"< {name}:", ())
        mark = "<  "
    for (row, stem), run in groupby([(text.strip(), row) for text, row in headed(told)], _begins):
        same = [text for text, _ in run]
        shared = stem if len(same) > 1 else ""
        if shared:
            yield _piece(line, f"{mark}{shared}", ())
        for text in same:
            yield _piece(line, f"{mark} {text[len(shared) :].strip()}" if shared or row else f"{mark}{text}", ())


def depth(line: Line) -> int:
    """How deep a piece stands under those before it, in characters."""
    return len(line.text) - 1 - len(line.text[1:].lstrip(" "))


def _piece(line: Line, text: str, keys: tuple[int, ...]) -> Line:
    shown = text if text.isascii() and len(text) <= _PIECE else head(text, _PIECE)
    return line.reworded(shown, count(shown) + 1, keys)


def _begins(headed: tuple[str, bool]) -> tuple[bool, str]:
    """Whether a line is a row of a table, and what other lines beside it may begin with too."""
    text, row = headed
    found = None if row else _STEM.match(text)
    return row, found[1] if found else ""


def _opened(line: Line) -> tuple[str, str, str]:
    """The mark each piece of a text takes, the text without its fence, and the name on that."""
    if line.text.startswith("<<"):
        fence, _, text = line.text.partition("\n")
        return "< ", text[: text.rindex("\n")], fence.partition(" ")[2]
    if line.text.startswith("< "):
        return "< ", line.text[2:], ""
    if line.kind == "say":
        return "", line.text, ""
    if "\n" in line.text:
        return ">   ", line.text.lstrip("> "), ""
    return line.text[: line.indent], line.text[line.indent :], ""
