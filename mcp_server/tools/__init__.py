"""The tools, in the order hosts see them. To add one: a file here, its words in `prompts/tools/`, its line in `TOOLS`.

A tool is an async function of its arguments and the SDK's context. It makes one call on a session and says what came of it; it catches nothing.
"""

from __future__ import annotations

from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations

from mcp_server.prompts import described
from mcp_server.schemas import lean, with_words
from mcp_server.tools.context import context
from mcp_server.tools.extract import extract
from mcp_server.tools.fold import fold
from mcp_server.tools.open_session import open_session
from mcp_server.tools.plan import plan
from mcp_server.tools.recall import recall
from mcp_server.tools.record import record
from mcp_server.tools.spec import Spec
from mcp_server.tools.undo import undo

__all__ = ["TOOLS", "tools"]

TOOLS: tuple[Spec, ...] = (
    Spec(open_session, idempotent=True),
    Spec(record),
    Spec(fold),
    Spec(plan),
    Spec(extract),
    Spec(context, reads_only=True),
    Spec(recall, reads_only=True),
    Spec(undo),
)


def tools() -> list[Tool]:
    """Every tool as the SDK wants it: lean schemas, words from files, all four annotations.

    Raises:
        ValueError: a tool's words and arguments don't match.
    """
    return [_tool(spec) for spec in TOOLS]


def _tool(spec: Spec) -> Tool:
    words = described(f"tools/{spec.name}")
    hints = ToolAnnotations(
        read_only_hint=spec.reads_only,
        destructive_hint=False,
        idempotent_hint=spec.reads_only or spec.idempotent,
        open_world_hint=False,
    )
    tool = Tool.from_function(spec.function, title=words.title, description=words.description, annotations=hints)
    tool.parameters = with_words(lean(tool.parameters), words.arguments, spec.name)
    if tool.fn_metadata.output_schema is not None:
        tool.fn_metadata.output_schema = lean(tool.fn_metadata.output_schema)
    return tool
