"""What of a tool's result is text that may be bounded, and the result with bounded texts in place; nothing else of it is touched."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import validator_for
from referencing.exceptions import Unresolvable

from ctxfold.tokens import count

__all__ = ["Shorten", "fits", "print_structured", "repeats", "shares", "shorten_within", "texts_of", "with_texts"]

Shorten = Callable[[str], str]

_LEFT_OUT = "ctxfold"
"""The name under which a shortened structure says what was left out of it."""
_KEPT = 3
"""Items of a list below which it is not shortened."""


def texts_of(result: Mapping[str, Any]) -> dict[int, str]:
    """The text blocks of a result by their places among all blocks. An embedded resource is the host's to read, and no text block."""
    blocks = result.get("content")
    if not isinstance(blocks, list):
        return {}
    return {
        at: block["text"]
        for at, block in enumerate(blocks)
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    }


def with_texts(result: Mapping[str, Any], texts: Mapping[int, str]) -> dict[str, Any]:
    """The result with other texts at some places; what else a block says stays."""
    blocks = [
        {**block, "text": texts[at]} if at in texts else block for at, block in enumerate(result.get("content", []))
    ]
    return {**result, "content": blocks}


def shares(costs: Sequence[int], budget: int, least: int) -> list[int] | None:
    """What each of some texts may cost so that all of them cost no more than the budget: a short one what it costs, the long ones what is left, each
    alike. None where a long one would get less than the least.
    """
    order = sorted(range(len(costs)), key=lambda at: costs[at])
    given = [0] * len(costs)
    left = budget
    for place, at in enumerate(order):
        share = left // (len(costs) - place)
        given[at] = min(costs[at], share)
        if given[at] < costs[at] and share < least:
            return None
        left -= given[at]
    return given


def print_structured(value: Any) -> str:
    """Structured content as text, as a model would read it."""
    return json.dumps(value, ensure_ascii=False)


def repeats(structured: Any, texts: Sequence[str]) -> bool:
    """Whether structured content says no more than the text: it is the text's JSON."""
    for text in texts:
        try:
            if json.loads(text) == structured:
                return True
        except (ValueError, RecursionError):
            continue
    return False


def fits(value: Any, schema: Any) -> bool:
    """Whether a value keeps a schema; not where the schema cannot be used."""
    if not isinstance(schema, (dict, bool)):
        return True
    try:
        checker = validator_for(schema)
        checker.check_schema(schema)
        checker(schema).validate(value)
    except (ValidationError, SchemaError, Unresolvable, RecursionError):
        return False
    return True


def shorten_within(structured: Any, budget: int, shorten: Shorten, note: str) -> Any | None:
    """The structure with its long texts bounded and its long lists cut to their first items and the last, until it costs no more than the budget; None
    where that cannot be done. A list that was cut is told of at the top, under a name of ours.
    """
    made = _bound_texts(structured, max(budget // 2, 1), shorten)
    if count(print_structured(made)) <= budget:
        return made
    if not isinstance(made, dict) or _LEFT_OUT in made:
        return None
    longest = max(map(len, _lists(made)), default=0)
    while longest > _KEPT:
        longest = max(longest // 2, _KEPT)
        told: list[str] = []
        cut = {_LEFT_OUT: "", **_cut_lists(made, longest, told)}
        cut[_LEFT_OUT] = f"{'; '.join(told[:4])}. {note}"
        if count(print_structured(cut)) <= budget:
            return cut
    return None


def _bound_texts(value: Any, most: int, shorten: Shorten) -> Any:
    match value:
        case str():
            return shorten(value) if count(value) > most else value
        case dict():
            return {name: _bound_texts(each, most, shorten) for name, each in value.items()}
        case list():
            return [_bound_texts(each, most, shorten) for each in value]
        case _:
            return value


def _lists(value: Any) -> list[list[Any]]:
    match value:
        case dict():
            return [each for inner in value.values() for each in _lists(inner)]
        case list():
            return [value, *(each for inner in value for each in _lists(inner))]
        case _:
            return []


def _cut_lists(value: Any, most: int, told: list[str], name: str = "") -> Any:
    match value:
        case dict():
            return {key: _cut_lists(each, most, told, key) for key, each in value.items()}
        case list() if len(value) > most:
            told.append(f"{name}: {most} of {len(value)}, the last among them")
            kept = [*value[: most - 1], value[-1]]
            return [_cut_lists(each, most, told, name) for each in kept]
        case list():
            return [_cut_lists(each, most, told, name) for each in value]
        case _:
            return value
