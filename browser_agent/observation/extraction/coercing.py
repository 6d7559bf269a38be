"""A text of a page as the type a schema wants. It reads what stands there and guesses nothing: where that is not plain, there is no value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["NOTHING", "coerced"]

NOTHING = object()
"""Stands for no value, where None is one."""

_NUMBER = re.compile(r"[-+−]?\d[\d.,'’\u00a0\u202f ]*")
_YES = frozenset({"yes", "true", "on", "checked", "✓", "✔", "available", "included", "y"})
_NO = frozenset({"no", "false", "off", "unchecked", "✗", "✘", "unavailable", "none", "n", "—", "-"})


def coerced(text: str, schema: Mapping[str, Any]) -> object:
    """A text as a schema's type.

    Args:
        text: what stands on the page.
        schema: the schema of one scalar.

    Returns:
        The value; `NOTHING` where the text is none of that type.
    """
    if "enum" in schema:
        same = [choice for choice in schema["enum"] if str(choice).casefold() == text.casefold()]
        return same[0] if same else NOTHING
    kinds = schema.get("type", "string")
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        match kind:
            case "number" | "integer":
                value = _number(text)
                if isinstance(value, float) and kind == "integer":
                    value = int(value) if value.is_integer() else NOTHING
            case "boolean":
                value = _boolean(text)
            case "string":
                value = text
            case _:
                value = NOTHING
        if value is not NOTHING:
            return value
    return NOTHING


def _boolean(text: str) -> object:
    word = text.strip().casefold()
    return True if word in _YES else False if word in _NO else NOTHING


def _number(text: str) -> object:
    """The one number of a text; nothing where there are several, or none."""
    found = _NUMBER.findall(text)
    if len(found) != 1:
        return NOTHING
    digits = re.sub(r"[\s'’\u00a0\u202f]", "", found[0]).replace("−", "-").rstrip(".,")
    plain = _plain(digits)
    try:
        value = float(plain)
    except ValueError:
        return NOTHING
    return int(value) if value.is_integer() and "." not in plain else value


def _plain(digits: str) -> str:
    """Digits with a point for the decimals and nothing between thousands: the last mark parts decimals unless it comes again, or three digits follow it alone."""
    point, comma = digits.rfind("."), digits.rfind(",")
    if point < 0 and comma < 0:
        return digits
    if point >= 0 and comma >= 0:
        last, other = (".", ",") if point > comma else (",", ".")
        return digits.replace(other, "").replace(last, ".")
    mark = "." if point >= 0 else ","
    whole, _, rest = digits.rpartition(mark)
    thousands = digits.count(mark) > 1 or (mark == "," and len(rest) == 3 and whole.lstrip("+-") not in ("", "0"))
    return digits.replace(mark, "") if thousands else f"{whole}.{rest}"
