"""What the wrapped server's tools are called and promise, and the `recall` that the wrapper adds to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mcp_server.prompts import read_description

__all__ = ["Listing"]

_NAMES = ("recall", "recall_result", "ctxfold_recall")


@dataclass(frozen=True, slots=True)
class Listing:
    """What is known of the server's tools.

    Attributes:
        name: what our own tool is called: a name that no tool of the server has. It is decided at the first listing, and again only where the server
            takes it later.
        known: whether all tools have been listed once.
        schemas: each tool's output schema, None where it declares none.
    """

    name: str = _NAMES[0]
    known: bool = False
    schemas: Mapping[str, Any] = field(default_factory=dict)

    def with_page(self, result: Mapping[str, Any]) -> Listing:
        """The same with one page of the server's tools, the last one where it names no next."""
        tools = result.get("tools")
        found = {
            tool["name"]: tool.get("outputSchema")
            for tool in (tools if isinstance(tools, list) else [])
            if isinstance(tool, dict) and isinstance(tool.get("name"), str)
        }
        schemas = {**self.schemas, **found}
        name = self.name
        if name in schemas:
            spare = (*_NAMES, *(f"{_NAMES[-1]}_{number}" for number in range(2, len(schemas) + 3)))
            name = next(each for each in spare if each not in schemas)
        return replace(self, name=name, schemas=schemas, known=self.known or not result.get("nextCursor"))

    def announce(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """A page of the server's tools with ours behind the last of them."""
        if result.get("nextCursor") or not isinstance(result.get("tools"), list):
            return dict(result)
        return {**result, "tools": [*result["tools"], self._definition()]}

    def _definition(self) -> dict[str, Any]:
        said = read_description("wrap/recall")
        arguments = {name: {"type": "string", "description": words} for name, words in said.arguments.items()}
        arguments["offset"]["type"] = "integer"
        return {
            "name": self.name,
            "title": said.title,
            "description": said.description,
            "inputSchema": {"type": "object", "properties": arguments},
            "annotations": {
                "readOnlyHint": True,
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": False,
            },
        }
