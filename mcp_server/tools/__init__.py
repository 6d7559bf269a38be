"""The MCP tools in the order hosts see them; each is an async function that makes one call on a session and formats its result.

To add one: a file here, its words in `prompts/tools/`, its line in `TOOLS`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import ValidationError

from mcp_server.errors import Form
from mcp_server.prompts import read_description
from mcp_server.tools.browse import browse
from mcp_server.tools.browse_status import browse_status
from mcp_server.tools.context import context
from mcp_server.tools.extract import extract
from mcp_server.tools.fold import fold
from mcp_server.tools.open_session import open_session
from mcp_server.tools.page_act import describe_actions, page_act
from mcp_server.tools.page_open import page_open
from mcp_server.tools.page_read import page_read
from mcp_server.tools.plan import plan
from mcp_server.tools.recall import recall
from mcp_server.tools.record import record
from mcp_server.tools.refactor import refactor
from mcp_server.tools.spec import CAPS, Caps, Spec, describe_arguments, make_lean, make_plain
from mcp_server.tools.switch_branch import switch_branch
from mcp_server.tools.undo import undo

__all__ = ["TOOLS", "form_of", "make_tools"]

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
    """The tools of some capabilities as the SDK wants them: lean schemas, words from files, all four annotations.

    Raises:
        ValueError: a tool's words and arguments don't match.
    """
    return [_make_tool(spec) for spec in TOOLS if spec.caps in caps]


def form_of(tool: Tool) -> Form:
    """What a tool takes, in full: its definition leaves out what a caller seldom needs."""
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
