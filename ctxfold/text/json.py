"""Strict JSON, lean schemas."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NoReturn

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema


class _UntitledSchema(GenerateJsonSchema):
    """Gives fields no titles: a title repeats the name."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model, without titles. A property or definition of the name `title` stays."""
    schema = model.model_json_schema(schema_generator=_UntitledSchema)
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("title", None)
    return schema


def strictly(text: str, fraction: Callable[[str], Any] | None = None) -> Any | None:
    """The tree of a text; None where it is not strict JSON, or nested too deep.

    `fraction` makes the value of a number with a fraction or an exponent; None makes a float.
    """
    try:
        return _decoder(fraction).decode(text)
    except (ValueError, RecursionError):
        return None


def read_values(text: str) -> list[Any]:
    """The values of a JSON array, or of a text with one value a line; a value of several lines must be the only one.

    Raises json.JSONDecodeError, with the line of the text.
    """
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
    tree = dict(pairs)
    if len(tree) < len(pairs):
        raise ValueError("a key stands twice")
    return tree


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
