"""Parses JSON strictly: a repeated key, or a constant such as NaN, is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NoReturn

__all__ = ["begun", "read_values", "strictly"]


def strictly(text: str, fraction: Callable[[str], Any] | None = None) -> Any | None:
    """The tree a text holds; None where it is not strict JSON, or nested beyond what can be read. `fraction` makes the value of a number with a fraction or an exponent; None for a float."""
    try:
        return _decoder(fraction).decode(text)
    except (ValueError, RecursionError):
        return None


def begun(text: str, at: int, fraction: Callable[[str], Any] | None = None) -> tuple[Any, int] | None:
    """The tree that begins at a place of a text, and where it ends; None where none does."""
    try:
        return _decoder(fraction).raw_decode(text, at)
    except (ValueError, RecursionError):
        return None


def read_values(text: str) -> list[Any]:
    """The values of a JSON array, or of a text with one a line; one that is spread over lines stands alone. Raises json.JSONDecodeError: its line is the text's."""
    try:
        whole = json.loads(text)
    except json.JSONDecodeError:
        if text.lstrip().startswith("["):
            raise
        return [_on_line(line, number) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return whole if isinstance(whole, list) else [whole]


def _on_line(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        error.lineno = number
        raise


@lru_cache(maxsize=8)
def _decoder(fraction: Callable[[str], Any] | None) -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse, parse_float=fraction)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands twice")
    return made


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
