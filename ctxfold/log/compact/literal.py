"""A Python literal read as the JSON it says: what a tool gives that answers with `str()` of its records. Nothing is run, and names stay unread."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ctxfold.log.compact.cells import parse, quoted

__all__ = ["literal"]

_LARGEST = 400_000
"""Characters of a literal at most: each of its tokens is looked at."""
_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\")|(?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.])"
    r"|(?P<name>True|False|None)\b|(?P<mark>[\[\](){}:,]))\s*"
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))", re.DOTALL)
_NAMES = {"True": "true", "False": "false", "None": "null"}
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"'}


def literal(text: str) -> Any | None:
    """The tree a Python literal says.

    Args:
        text: all of it.

    Returns:
        What `parse` gives of the same in JSON: a tuple is a list, a key that is a number its digits. None where it is no list or dict of texts,
        numbers, True, False and None throughout, or says what JSON cannot.
    """
    if len(text) > _LARGEST or text[:64].lstrip()[:1] not in ("{", "[") or "'" not in text:
        return None
    try:
        return parse("".join(_as_json(text)))
    except ValueError:
        return None


def _as_json(text: str) -> Iterator[str]:
    """The tokens of a literal as JSON has them, one behind: what stands before a colon is a key, and a tuple may end with a comma."""
    at, held = 0, ""
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError("no literal")
        at = found.end()
        word = _token(found)
        if word == ":" and held[:1] != '"':
            held = f'"{held}"'
        if not (held == "," and word == "]" and found["mark"] == ")"):
            yield held
        held = word
    yield held


def _token(found: re.Match[str]) -> str:
    if found["text"] is not None:
        return quoted(_ESCAPE.sub(_character, found["text"][1:-1]))
    if found["name"] is not None:
        return _NAMES[found["name"]]
    if found["number"] is not None:
        return found["number"]
    return {"(": "[", ")": "]"}.get(found["mark"], found["mark"])


def _character(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    if code is not None:
        return chr(int(code, 16))
    if escape[4] not in _PLAIN:
        raise ValueError(f"\\{escape[4]} is no escape that `repr` writes")
    return _PLAIN[escape[4]]
