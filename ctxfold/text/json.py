"""Strict JSON, lean schemas, objects and ids of other libraries as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NoReturn

from pydantic import BaseModel, ValidationError

from ctxfold.errors import InputError


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model, without titles, defaults and docstrings: its fields say as much, in fewer tokens."""
    schema: dict[str, Any] = strip_schema(model.model_json_schema())
    return schema


def strip_schema(node: Any, names: bool = False) -> Any:
    """A schema without what its fields say. `names`: the keys name properties or definitions, which all stay."""
    if isinstance(node, list):
        return [strip_schema(each) for each in node]
    if not isinstance(node, dict):
        return node
    noise = ("title", "default", "description") if "properties" in node else ("title", "default")
    kept = {key: each for key, each in node.items() if names or key not in noise}
    return {key: strip_schema(each, not names and key in ("properties", "$defs")) for key, each in kept.items()}


def list_faults(error: ValidationError, whole: str) -> list[str]:
    """Return a line for each fault of a value: its place, else `whole`, and what is wrong.

    An outer fault that only follows from an inner one is left out.
    """
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    outer = {each["loc"][:depth] for each in errors for depth in range(1, len(each["loc"]))}
    inner = (each for each in errors if each["loc"] not in outer)
    return [f"{'.'.join(map(str, each['loc'])) or whole}: {each['msg']}" for each in inner]


def parse_strictly(text: str, fraction: Callable[[str], Any] | None = None) -> Any | None:
    """The tree of a text; None where it is not strict JSON, or nested too deep.

    `fraction` makes the value of a number with a fraction or an exponent; None makes a float.
    """
    try:
        return _decoder(fraction).decode(text)
    except (ValueError, RecursionError):
        return None


def parse_object(text: str | bytes) -> dict[str, Any]:
    """The JSON object of a text; an empty one for any other text."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return tree if isinstance(tree, dict) else {}


def read_values(text: str) -> list[Any]:
    """The values of a JSON array, or of a text with one value a line; a value of several lines must be the only one.

    Raises json.JSONDecodeError, with the line of the text.
    """
    try:
        tree = json.loads(text)
        return tree if isinstance(tree, list) else [tree]
    except json.JSONDecodeError:
        if text.lstrip().startswith("["):
            raise
    values = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            values += [json.loads(line)] if line.strip() else []
        except json.JSONDecodeError as error:
            error.lineno = number
            raise
    return values


@lru_cache(maxsize=8)
def _decoder(fraction: Callable[[str], Any] | None) -> json.JSONDecoder:
    """A strict decoder, which is kept."""
    return json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse, parse_float=fraction)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object from its pairs. Raises ValueError: a key comes twice."""
    tree = dict(pairs)
    if len(tree) < len(pairs):
        raise ValueError("a key stands twice")
    return tree


def _refuse(constant: str) -> NoReturn:
    """Raises ValueError: NaN and Infinity are not JSON."""
    raise ValueError(f"{constant} is not JSON")


def plain(given: object) -> Any:
    """An SDK's object as JSON; any other value unchanged."""
    dump = getattr(given, "model_dump", None)
    return dump(mode="json") if callable(dump) else given


def map_texts(value: Any, change: Callable[[str], Any]) -> Any:
    """A JSON value with `change` done to every text in it; keys stay."""
    match value:
        case str():
            return change(value)
        case dict():
            return {key: map_texts(item, change) for key, item in value.items()}
        case list() | tuple():
            return [map_texts(item, change) for item in value]
        case _:
            return value


_LONGEST_ID, _LARGEST_ID = 200, 2**31


def spell_id(given: object) -> str:
    """The id of a call as text that UTF-8 can spell, at most 200 characters; empty for None.

    Raises InputError: neither text nor a number.
    """
    if given is None:
        return ""
    is_number = isinstance(given, int) and not isinstance(given, bool) and abs(given) <= _LARGEST_ID
    if not (is_number or isinstance(given, str)):
        raise InputError("the id of a call is a text or a number; give it as the call has it")
    return str(given)[:_LONGEST_ID].encode("utf-8", "backslashreplace").decode("utf-8")
