"""The MCP tools in the order hosts see them, their hints, and their lean definitions.

To add one: a function in one of these files, its words in `prompts/tools/`, its line in `TOOLS`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import ValidationError

from mcp_server.errors import Form
from mcp_server.prompts import read_description
from mcp_server.tools.browser import browse, browse_status, describe_actions, page_act, page_open, page_read
from mcp_server.tools.decide import extract, fold, plan, refactor, switch_branch, undo
from mcp_server.tools.sessions import context, open_session, recall, record
from mcp_server.tools.spec import CAPS, Caps, Spec, describe_arguments, make_lean, make_plain

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
    Spec(page_act, destructive=True, open_world=True, caps="browser", inner=describe_actions),
    Spec(page_read, open_world=True, caps="browser"),
)


def make_tools(caps: Collection[Caps] = CAPS) -> list[Tool]:
    """The tools of some capabilities for the SDK: lean schemas, texts from files, all four annotations.

    Raises:
        ValueError: a tool's text names other arguments.
    """
    return [_make_tool(spec) for spec in TOOLS if spec.caps in caps]


def make_form(tool: Tool) -> Form:
    """All that a tool takes. Its definition leaves out details that a caller seldom needs."""
    takes = tool.fn_metadata.arg_model
    inner = next((spec.inner for spec in TOOLS if spec.name == tool.name), None)

    def accepts(arguments: dict[str, Any]) -> bool:
        try:
            takes.model_validate(arguments)
        except ValidationError:
            return False
        return True

    schema = make_plain(takes.model_json_schema(by_alias=True))
    if inner is not None:
        schema["properties"] |= {name: make_plain(each) for name, each in inner().items()}
    return Form(tool.name, schema, accepts)


def _make_tool(spec: Spec) -> Tool:
    about = read_description(f"tools/{spec.name}")
    hints = ToolAnnotations(
        read_only_hint=spec.reads_only,
        destructive_hint=spec.destructive,
        idempotent_hint=spec.reads_only or spec.idempotent,
        open_world_hint=spec.open_world,
    )
    tool = Tool.from_function(spec.function, title=about.title, description=about.description, annotations=hints)
    tool.parameters = describe_arguments(make_lean(tool.parameters), about.arguments, spec.name)
    if tool.fn_metadata.output_schema is not None:
        tool.fn_metadata.output_schema = make_lean(tool.fn_metadata.output_schema)
    return tool
