"""How a tool is registered: its hints and capability, and its JSON schema made short."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

__all__ = [
    "CAPS",
    "Address",
    "Caps",
    "ElementRef",
    "LogRef",
    "SessionName",
    "Shorthand",
    "Spec",
    "Tokens",
    "describe_arguments",
    "make_lean",
    "make_plain",
]


_NOISE = frozenset({"title", "description", "default", "examples", "additionalProperties"})


def make_lean(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without titles, docstrings, defaults and examples, and with each `$ref` replaced by its target.

    pydantic's titles alone cost 18% of the tokens of all definitions.
    """
    made: dict[str, Any] = _lean(schema, schema.get("$defs", {}), _NOISE)
    return made


def make_plain(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without indirection, and nothing else left out."""
    made: dict[str, Any] = _lean(schema, schema.get("$defs", {}), frozenset())
    return made


def describe_arguments(schema: dict[str, Any], words: dict[str, str], owner: str) -> dict[str, Any]:
    """The schema with a description on each argument. Raises ValueError: words and arguments differ."""
    properties: dict[str, Any] = schema.get("properties", {})
    if words.keys() != properties.keys():
        raise ValueError(f"{owner}: words and arguments differ in {sorted(words.keys() ^ properties.keys())}")
    return schema | {"properties": {name: value | {"description": words[name]} for name, value in properties.items()}}


def _lean(node: Any, definitions: dict[str, Any], noise: frozenset[str]) -> Any:
    match node:
        case {"$ref": str(ref), **rest}:
            return _lean(definitions[ref.removeprefix("#/$defs/")] | rest, definitions, noise)
        case dict():
            return {
                key: _inside(key, value, definitions, noise)
                for key, value in node.items()
                if key not in noise and key != "$defs"
            }
        case list():
            return [_lean(item, definitions, noise) for item in node]
        case _:
            return node


def _inside(key: str, value: Any, definitions: dict[str, Any], noise: frozenset[str]) -> Any:
    """One keyword's value. Below `properties` the keys are argument names, which no noise list may touch."""
    if key == "properties":
        return {name: _lean(schema, definitions, noise) for name, schema in value.items()}
    return _lean(value, definitions, noise)


SessionName = Annotated[str, Field(examples=["paris-trip"])]
"""The argument that names a session."""

LogRef = Annotated[str, Field(examples=["s12.2"])]
"""An address in the log."""

ElementRef = Annotated[str, Field(examples=["e12"])]
"""The number of a control on a page."""

Tokens = Annotated[int, Field(examples=[900])]
"""A number of tokens that every budget allows."""

Address = Annotated[str, Field(examples=["https://example.org/"])]
"""An address on the web."""


class Shorthand(BaseModel, frozen=True, extra="forbid"):
    """An object that may be given as the text of its first field alone."""

    @model_validator(mode="before")
    @classmethod
    def _take_text(cls, given: object) -> object:
        return {next(iter(cls.model_fields)): given} if isinstance(given, str) else given

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Either form."""
        return {"anyOf": [{"type": "string"}, handler.resolve_ref_schema(handler(core))]}


Caps = Literal["core", "browser"]
"""What a server offers: the sessions, and live pages."""

CAPS: tuple[Caps, ...] = ("core", "browser")
"""What a server offers if not said otherwise."""


@dataclass(frozen=True, slots=True)
class Spec:
    """One tool.

    Attributes:
        function: the tool; its name is the tool's.
        reads_only: it commits nothing.
        idempotent: calling it again with the same arguments changes nothing more.
        destructive: it may change something outside for good.
        open_world: it reaches out of this machine.
        caps: with which capability it is served.
        inner: returns full schemas, by name, of arguments that the definition shortens.
    """

    function: Callable[..., Awaitable[Any]]
    reads_only: bool = False
    idempotent: bool = False
    destructive: bool = False
    open_world: bool = False
    caps: Caps = "core"
    inner: Callable[[], dict[str, Any]] | None = None

    @property
    def name(self) -> str:
        """The tool's name."""
        return getattr(self.function, "__name__", "")
