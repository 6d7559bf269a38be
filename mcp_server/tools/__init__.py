"""The MCP tools in the order hosts see them, their hints, and their lean definitions.

To add one: a function in one of these files, its words in `prompts/tools/`, its line in `TOOLS`, examples of its
arguments in `prompts/examples.json`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal

from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations

from mcp_server.prompts import read_description
from mcp_server.tools.browser import browse, browse_status, page_act, page_open, page_read
from mcp_server.tools.decide import extract, fold, plan, refactor, switch_branch, undo
from mcp_server.tools.sessions import context, open_session, recall, record

Caps = Literal["core", "browser"]
"""What a server offers: the sessions, and live pages."""

CAPS: tuple[Caps, ...] = ("core", "browser")
"""What a server offers by default."""


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


TOOLS: tuple[Spec, ...] = (
    Spec(open_session, idempotent=True),
    Spec(record),
    Spec(fold),
    Spec(plan),
    Spec(extract),
    Spec(refactor),
    Spec(switch_branch),
    Spec(context, reads_only=True),
    Spec(recall, reads_only=True),
    Spec(undo),
    Spec(browse, destructive=True, open_world=True),
    Spec(browse_status, idempotent=True),
    Spec(page_open, open_world=True, caps="browser"),
    Spec(page_act, destructive=True, open_world=True, caps="browser"),
    Spec(page_read, open_world=True, caps="browser"),
)


def make_tools(caps: Collection[Caps] = CAPS) -> list[Tool]:
    """The tools of some capabilities for the SDK: lean schemas, texts from files, all four annotations.

    Raises:
        ValueError: a tool's text names other arguments.
    """
    return [_make_tool(spec) for spec in TOOLS if spec.caps in caps]


def _make_tool(spec: Spec) -> Tool:
    about = read_description(f"tools/{spec.name}")
    hints = ToolAnnotations(
        read_only_hint=spec.reads_only,
        destructive_hint=spec.destructive,
        idempotent_hint=spec.reads_only or spec.idempotent,
        open_world_hint=spec.open_world,
    )
    tool = Tool.from_function(spec.function, title=about.title, description=about.description, annotations=hints)
    tool.parameters = make_lean(tool.parameters, tool.parameters.get("$defs", {}))
    arguments: dict[str, Any] = tool.parameters["properties"]
    if about.arguments.keys() != arguments.keys():
        raise ValueError(f"{spec.name}: words and arguments differ in {about.arguments.keys() ^ arguments.keys()}")
    for name, schema in arguments.items():
        schema["description"] = about.arguments[name]
    return tool


_NOISE = frozenset({"title", "description", "default", "additionalProperties", "$defs"})


def make_lean(node: Any, definitions: dict[str, Any]) -> Any:
    """A JSON schema without titles, docstrings and defaults, and with each `$ref` replaced by its target.

    pydantic's titles alone cost 18% of the tokens of all definitions. Below `properties` the keys are names of
    arguments, which all stay.
    """
    match node:
        case {"$ref": str(ref), **rest}:
            return make_lean(definitions[ref.removeprefix("#/$defs/")] | rest, definitions)
        case {"properties": dict(properties), **rest}:
            lean = {name: make_lean(schema, definitions) for name, schema in properties.items()}
            return {**make_lean(rest, definitions), "properties": lean}
        case dict():
            return {key: make_lean(value, definitions) for key, value in node.items() if key not in _NOISE}
        case list():
            return [make_lean(item, definitions) for item in node]
        case _:
            return node
