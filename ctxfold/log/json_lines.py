"""Writes a JSON document as indented lines, with numbers and escapes spelled as in the source; line ranges count these lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ctxfold.log.json_tree import Spelled, parse

__all__ = ["indented", "line_form", "plain", "spelled_tree", "written"]


_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|\[[ \t\n\r]*+\]|\{[ \t\n\r]*+\}|[\[\]{}:,]|[^ \t\n\r\[\]{}:,"]++')
"""A string, an empty list or object, a mark, or a number or name."""

_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)


class _Text(str):
    """A string that remembers how it was written, quotes and escapes included."""

    __slots__ = ("spelling",)
    spelling: str

    def __new__(cls, spelling: str) -> _Text:
        text = str.__new__(cls, json.loads(spelling))
        text.spelling = _lettered(spelling)
        return text


def indented(text: str) -> list[str]:
    """The lines of a JSON object or list: one value a line, one blank deeper in each, every token as the text spells it."""
    lines: list[str] = []
    deep, line = 0, ""
    for token in _TOKEN.findall(text):
        if token == ":":
            line += ": "
        elif token == ",":
            lines.append(f"{line},")
            line = " " * deep
        elif token in ("{", "["):
            lines.append(line + token)
            deep += 1
            line = " " * deep
        elif token in ("}", "]"):
            lines.append(line)
            deep -= 1
            line = " " * deep + token
        else:
            line += _lettered(token) if token[0] == '"' else _close(token)
    lines.append(line)
    return lines


def spelled_tree(text: str) -> Any:
    """The tree of a JSON object or list; `written` gives its parts back as the text spells them."""
    tokens: Iterator[str] = iter(_TOKEN.findall(text))
    return _value(next(tokens), tokens)


def written(value: Any) -> str:
    """A value on one line, made of values of a `spelled_tree`, each as its source spells it."""
    match value:
        case Spelled() | _Text():
            return value.spelling
        case dict():
            return "{" + ", ".join(f"{written(name)}: {written(child)}" for name, child in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(written, value)) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def plain(value: Any) -> Any:
    """A value of a `spelled_tree` as `json.loads` gives it, without the spelling."""
    match value:
        case Spelled():
            return float(value)
        case _Text():
            return str(value)
        case dict():
            return {str(name): plain(child) for name, child in value.items()}
        case list():
            return [plain(child) for child in value]
        case _:
            return value


def _lettered(token: str) -> str:
    """A string with its letters, signs and pictures in place of their numbers: what cannot be seen keeps them."""
    return _ESCAPE.sub(_letter, token) if "\\u" in token else token


def _letter(escape: re.Match[str]) -> str:
    if escape[0][1] != "u":
        return escape[0]
    letter: str = json.loads(f'"{escape[0]}"')
    return letter if not letter.isascii() and letter.isprintable() else escape[0]


def _close(token: str) -> str:
    """A token without the white space that an empty list or object may hold."""
    return token[0] + token[-1] if token[0] in "{[" else token


def _value(token: str, rest: Iterator[str]) -> Any:
    """The value that begins with a token; what belongs to it is taken from the rest."""
    if token == "{":
        members: dict[str, Any] = {}
        while (name := next(rest)) != "}":
            if name == ",":
                name = next(rest)
            next(rest)  # the colon
            members[_leaf(name)] = _value(next(rest), rest)
        return members
    if token == "[":
        items: list[Any] = []
        while (item := next(rest)) != "]":
            items.append(_value(next(rest) if item == "," else item, rest))
        return items
    return _leaf(token)


def _leaf(token: str) -> Any:
    if token[0] == '"':
        return _Text(token) if "\\" in token else token[1:-1]
    if token == "-0" or (token[-1].isdigit() and not token.lstrip("-").isdigit()):
        return Spelled(token)
    return json.loads(token)


def line_form(text: str) -> list[str]:
    """The lines a range counts: a text's own lines, the last with or without its end; of JSON, its indented form: every token in its order, numbers and escapes as the text spells them, letters as themselves."""
    return indented(text) if parse(text) is not None else text.removesuffix("\n").split("\n")
