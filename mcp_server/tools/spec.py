"""How a tool is registered: its hints and capability, and its JSON schema made short."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["CAPS", "Caps", "Spec", "describe_arguments", "make_lean"]


_NOISE = {"title", "description", "default", "additionalProperties"}


def make_lean(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without what its reader can do without: titles, class docstrings, defaults (an argument left out is simply not said), word of
    further properties, and indirection: each `$ref` is replaced by what it names.
    """
    made: dict[str, Any] = _lean(schema, schema.get("$defs", {}))
    return made


def describe_arguments(schema: dict[str, Any], words: dict[str, str], owner: str) -> dict[str, Any]:
    """The schema with a description on each argument.

    Raises:
        ValueError: an argument has no words, or words have no argument.
    """
    properties: dict[str, Any] = schema.get("properties", {})
    if words.keys() != properties.keys():
        raise ValueError(f"{owner}: words and arguments differ in {sorted(words.keys() ^ properties.keys())}")
    return schema | {"properties": {name: value | {"description": words[name]} for name, value in properties.items()}}


def _lean(node: Any, definitions: dict[str, Any]) -> Any:
    match node:
        case {"$ref": str(ref), **rest}:
            return _lean(definitions[ref.removeprefix("#/$defs/")] | rest, definitions)
        case dict():
            return {
                key: _inside(key, value, definitions)
                for key, value in node.items()
                if key not in _NOISE and key != "$defs"
            }
        case list():
            return [_lean(item, definitions) for item in node]
        case _:
            return node


def _inside(key: str, value: Any, definitions: dict[str, Any]) -> Any:
    """One keyword's value. Below `properties` the keys are argument names, which no noise list may touch."""
    if key == "properties":
        return {name: _lean(schema, definitions) for name, schema in value.items()}
    return _lean(value, definitions)


Caps = Literal["core", "browser"]
"""What a server offers: the sessions, and live pages."""

CAPS: tuple[Caps, ...] = ("core", "browser")
"""What a server offers if not said otherwise."""


@dataclass(frozen=True, slots=True)
class Spec:
    """One tool.

    Attributes:
        function: what is called; its name is the tool's.
        reads_only: it commits nothing.
        idempotent: calling it again with the same arguments changes nothing more.
        destructive: it may change something outside for good.
        open_world: it reaches out of this machine.
        caps: with which capability it is served.
    """

    function: Callable[..., Awaitable[Any]]
    reads_only: bool = False
    idempotent: bool = False
    destructive: bool = False
    open_world: bool = False
    caps: Caps = "core"

    @property
    def name(self) -> str:
        """The tool's name."""
        return getattr(self.function, "__name__", "")
