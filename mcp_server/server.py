"""One MCP server of tools, resources and briefings; failures name the next call, and changes are reported."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import anyio
from mcp.server import CacheHint, MCPServer
from mcp.server.auth.provider import TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolResult,
    GetPromptResult,
    InputRequiredResult,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)
from pydantic import AnyHttpUrl, AnyUrl, BaseModel

import ctxfold
from ctxfold.errors import InputError
from ctxfold.prompts import prompt
from ctxfold.text.json import map_texts
from mcp_server.attachments import ROOT, serve_briefings, serve_completion, serve_resources
from mcp_server.errors import explain_error
from mcp_server.prompts import PROMPTS
from mcp_server.sessions.pool import Pools, PrincipalBus, Subscribers
from mcp_server.tools import CAPS, Caps, make_tools

_HOUR_MS = 3_600_000

M = TypeVar("M", bound=BaseModel)

_STATIC = AuthSettings(issuer_url=AnyHttpUrl("http://localhost"), resource_server_url=None)
"""Tokens come from a file. The SDK wants the address of an authorization server, but it is never read or advertised."""


class CtxfoldServer(MCPServer[Pools]):
    """The SDK's server, with failures as text that names the next call, and changes reported to listeners.

    `pools`: closed when the server ends; `tokens`: checks who may connect over HTTP, None for everyone.
    """

    def __init__(self, pools: Pools, tokens: TokenVerifier | None, caps: Collection[Caps]) -> None:
        super().__init__(
            "ctxfold",
            title="ctxfold",
            version=ctxfold.__version__,
            instructions=_write_instructions(caps),
            tools=make_tools(caps),
            lifespan=partial(_close_after, pools),
            log_level="WARNING",
            token_verifier=tokens,
            auth=_STATIC if tokens else None,
            cache_hints={"tools/list": CacheHint(ttl_ms=_HOUR_MS, scope="public")},
            subscriptions=PrincipalBus(),
        )
        self._subscribers = Subscribers()
        add = self._lowlevel_server.add_request_handler
        add("resources/subscribe", SubscribeRequestParams, self._subscribers.subscribe)
        add("resources/unsubscribe", UnsubscribeRequestParams, self._subscribers.unsubscribe)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Pools, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. An argument that is null counts as left out; an unknown one is refused.

        Raises ToolError: it failed; the text is for the model.
        """
        try:
            writes = self._check_call(name, arguments)
            given = {key: value for key, value in arguments.items() if value is not None}
            result = await super().call_tool(name, given, context)
            if writes and context is not None and "session" in given:
                await self._notify(str(given["session"]), context)
            return _clean_model(result)
        except MCPError:
            raise
        except Exception as error:
            tool = self._tool_manager.get_tool(name)
            raise ToolError(_clean(explain_error(error, name, tool.parameters if tool else None))) from error

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[Pools, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """Read a resource. Raises ResourceNotFoundError: it can't be read; the text is for the model."""
        try:
            read = await super().read_resource(uri, context)
            if isinstance(read, InputRequiredResult):
                return read
            return [replace(contents, content=_clean(contents.content)) for contents in read]
        except (MCPError, ResourceNotFoundError):
            raise
        except Exception as error:
            raise ResourceNotFoundError(explain_error(error, "resource")) from error

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Pools, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """Write one briefing. Raises MCPError: it can't be written; the text is for the person who asked."""
        try:
            self._check_prompt(name, arguments or {})
            return _clean_model(await super().get_prompt(name, arguments, context))
        except MCPError:
            raise
        except Exception as error:
            raise MCPError(INVALID_PARAMS, explain_error(error, name)) from error

    async def run_between(self, incoming: Any, outgoing: Any) -> None:
        """Serve one host over two message streams, until the first ends."""
        await self._lowlevel_server.run(incoming, outgoing, self._lowlevel_server.create_initialization_options())

    async def _notify(self, session: str, context: Context[Pools, Any]) -> None:
        """Report the resources that a change of a session may change."""
        uris = frozenset((ROOT, *(f"{ROOT}/{session}/{part}" for part in ("context", "blocks", "tree", "todo"))))
        for uri in sorted(uris):
            await context.notify_resource_updated(uri)
        await self._subscribers.publish(uris)

    def _check_call(self, name: str, arguments: dict[str, Any]) -> bool:
        """Whether a tool commits anything. Raises InputError: the tool or one of its arguments is unknown."""
        tool = self._tool_manager.get_tool(name)
        if tool is None:
            offered = ", ".join(one.name for one in self._tool_manager.list_tools())
            raise InputError(f"no tool of that name; there are {offered}.")
        takes = tool.parameters["properties"]
        unknown = len(arguments.keys() - takes.keys())
        if unknown:
            raise InputError(f"{name} has no such argument ({unknown} unknown); it takes {', '.join(takes)}.")
        return tool.annotations is None or not tool.annotations.read_only_hint

    def _check_prompt(self, name: str, arguments: dict[str, Any]) -> None:
        """Raises InputError: the briefing is unknown or lacks an argument, which the SDK would report as a crash."""
        prompt = self._prompt_manager.get_prompt(name)
        if prompt is None:
            offered = ", ".join(one.name for one in self._prompt_manager.list_prompts())
            raise InputError(f"no prompt of that name; there are {offered}.")
        takes = {one.name: one.required for one in prompt.arguments or ()}
        if arguments.keys() - takes.keys() or any(takes[one] for one in takes.keys() - arguments.keys()):
            raise InputError(f"{name} takes {', '.join(takes) or 'nothing'}.")


def build_server(pools: Pools, tokens: TokenVerifier | None = None, caps: Collection[Caps] = CAPS) -> CtxfoldServer:
    """A server over these pools; when it ends, it closes them."""
    server = CtxfoldServer(pools, tokens, caps)
    serve_briefings(server)
    serve_resources(server, pools)
    serve_completion(server, pools)
    return server


def _write_instructions(caps: Collection[Caps]) -> str:
    names = ["instructions", *(["instructions_browser"] if "browser" in caps else [])]
    return "\n".join(prompt(name, PROMPTS) for name in names)


def _clean(tree: Any) -> Any:
    """Replace each half of a character (a lone surrogate), which JSON cannot carry, by U+FFFD. Keys are ours."""
    return map_texts(tree, lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _clean_model(model: M) -> M:
    """A result that JSON can carry. A question to the user is the SDK's own."""
    if isinstance(model, InputRequiredResult):
        return model
    return type(model).model_validate(_clean(model.model_dump()), by_name=True)


@asynccontextmanager
async def _close_after(pools: Pools, _server: MCPServer[Pools]) -> AsyncIterator[Pools]:
    """Close the pools when their server ends."""
    try:
        yield pools
    finally:
        with anyio.CancelScope(shield=True):
            await pools.close()
