"""Makes the one tool that a model decides steps through, its schema in the fewest words that say the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from browser_agent.actions.union import Ref
from browser_agent.deciders.decision import Decision
from ctxfold.models import Tool
from ctxfold.prompts import prompt

__all__ = ["decide_tool"]

_REF = TypeAdapter(Ref).json_schema()["description"]

_HELD = ("min", "max", "exclusive", "pattern", "examples", "additionalProperties", "discriminator")
"""How the words begin for what validation checks anyway; its message says where a reply is at fault."""


def decide_tool() -> Tool:
    """The tool `decide`: a decision by its JSON schema."""
    tool = Tool.deciding(Decision, prompt("decide", "browser_agent.prompts"))
    named = tool.schema["$defs"]
    schema = _shorten({key: value for key, value in tool.schema.items() if key not in ("$defs", "description")}, named)
    return Tool(tool.name, tool.description, {"type": "object", **schema})


def _shorten(schema: Any, named: Mapping[str, Any]) -> Any:
    """A schema with each definition at its place, without bounds that validation holds, and without null as another way to leave a value out."""
    match schema:
        case list():
            return [_shorten(part, named) for part in schema]
        case {"$ref": str() as where, **beside}:
            return _shorten({**named[where.rpartition("/")[2]], **beside}, named)
        case {"anyOf": [Mapping() as only, {"type": "null"}], **beside}:
            return _shorten({**only, **beside}, named)
        case {"type": "array", "items": {"$ref": str() as where}, **beside}:
            items = {key: value for key, value in named[where.rpartition("/")[2]].items() if key != "description"}
            return _shorten({**beside, "items": items}, named)
        case {"required": ["kind", *others], **beside}:  # an action without its kind is none: that goes without saying
            return _shorten({**beside, **({"required": others} if others else {})}, named)
        case Mapping():
            return {
                key: {name: _shorten(part, named) for name, part in value.items()}
                if key == "properties"
                else _shorten(value, named)
                for key, value in schema.items()
                if not _says_nothing(key, schema)
            }
        case _:
            return schema


def _says_nothing(key: str, schema: Mapping[str, Any]) -> bool:
    """Whether a key may go: validation holds it, or what stands beside it says so."""
    match key:
        case "description":
            return bool(schema[key] == _REF)  # said once, where the actions are described
        case "default":
            return not schema[key]
        case "type":
            return bool(schema.keys() & {"const", "enum", "properties", "items"})
        case _:
            return key.startswith(_HELD)
