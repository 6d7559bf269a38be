"""JSON schemas of pydantic models, without the titles that only say names again."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

__all__ = ["schema_of"]

_NAMED = {"properties", "$defs"}
"""Where a schema's keys are names of the model's own, not words of JSON Schema."""

_LITERAL = {"const", "default", "enum", "examples"}
"""Where a schema holds values of the model's own."""


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model. A property or definition of the name `title` stays."""
    found: dict[str, Any] = _untitled(model.model_json_schema())
    return found


def _untitled(schema: Any) -> Any:
    match schema:
        case dict():
            kept = {key: value for key, value in schema.items() if not (key == "title" and isinstance(value, str))}
            named = {key: {name: _untitled(one) for name, one in kept[key].items()} for key in _NAMED & kept.keys()}
            return {
                key: value if key in _LITERAL else named.get(key) or _untitled(value) for key, value in kept.items()
            }
        case list():
            return [_untitled(one) for one in schema]
        case _:
            return schema
