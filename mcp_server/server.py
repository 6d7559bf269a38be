"""Puts tools, resources and briefings together into one MCP server."""

from __future__ import annotations

import hashlib
import re
import stat
import sys
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
from mcp.server import CacheHint, MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolResult,
    ContentBlock,
    GetPromptResult,
    InputRequiredResult,
    SubscribeRequestParams,
    TextContent,
    UnsubscribeRequestParams,
)
from pydantic import AnyHttpUrl, AnyUrl

import ctxfold
from ctxfold.errors import InputError, Refused
from mcp_server.attachments import list_changed, make_briefings, serve_completion, serve_resources
from mcp_server.errors import explain_error
from mcp_server.prompts import fill_prompt
from mcp_server.sessions.pool import Pools, PrincipalBus, Subscribers
from mcp_server.tools import form_of, make_tools
from mcp_server.tools.spec import CAPS, Caps

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_SHORTEST = 24


@dataclass(frozen=True, slots=True)
class Tokens:
    """Names by the digest of their token, so that looking one up takes the same time whatever it has in common with a true one."""

    names: Mapping[bytes, str | None]

    async def verify_token(self, token: str) -> AccessToken | None:
        """Whom a token lets in; None for nobody."""
        digest = _hash_token(token)
        if digest not in self.names:
            return None
        name = self.names[digest]
        return AccessToken(token=token, client_id=name or "owner", subject=name, scopes=[])


def read_tokens(path: Path) -> Tokens:
    """The tokens of a file.

    Raises:
        InputError: it cannot be read, is empty, or has a token that is too short or a name outside the pattern.
        Refused: others on this machine can read it.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        mode = path.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"{path} cannot be read ({why}): make a file with one token on a line") from error
    if sys.platform != "win32" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Refused(f"others can read {path}: run `chmod 600` on it first")
    names: dict[bytes, str | None] = {}
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            name, token = _read_entry(line.split(), f"{path}, line {number}")
            names[_hash_token(token)] = name
    if not names:
        raise InputError(f"{path} has no token: put one on a line, at least {_SHORTEST} characters of chance")
    return Tokens(names)


def _read_entry(words: list[str], where: str) -> tuple[str | None, str]:
    *names, token = words
    if len(names) > 1 or len(token) < _SHORTEST:
        raise InputError(f"{where}: write a token of at least {_SHORTEST} characters, alone or after a name")
    if names and not _NAME.fullmatch(names[0]):
        raise InputError(f"{where}: a name has lower-case letters, digits and hyphens")
    return (names[0] if names else None), token


def _hash_token(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


_HOUR_MS = 3_600_000

_STATIC = AuthSettings(issuer_url=AnyHttpUrl("http://localhost"), resource_server_url=None)
"""Tokens come from a file, not from an authorization server: nothing is advertised, and the issuer the SDK wants is never read."""


class CtxfoldServer(MCPServer[Pools]):
    """The SDK's server: whatever fails leaves as text that names the next call, and listeners are told of what changed.

    `pools`: closed when the server ends; `tokens`: who may come in over HTTP, None for everyone who reaches it.
    """

    def __init__(self, pools: Pools, tokens: Tokens | None, caps: Collection[Caps]) -> None:
        super().__init__(
            "ctxfold",
            title="ctxfold",
            version=ctxfold.__version__,
            instructions=_write_instructions(caps),
            tools=make_tools(caps),
            lifespan=_make_lifespan(pools),
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
        """Call a tool. An argument that is null is one left out; one that the tool doesn't have is refused, not ignored. Raises ToolError: it failed; the text is for the model."""
        try:
            writes = self._check_call(name, arguments)
            given = {key: value for key, value in arguments.items() if value is not None}
            result = await super().call_tool(name, given, context)
            if writes and context is not None and "session" in given:
                await self._notify(list_changed(str(given["session"])), context)
            return _carry_result(result)
        except MCPError:
            raise
        except Exception as error:
            tool = self._tool_manager.get_tool(name)
            form = None if tool is None else form_of(tool)
            raise ToolError(_carry(explain_error(error, name, form))) from error

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[Pools, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """Read a resource. Raises ResourceNotFoundError: there is none, or it can't be read; the text is for the model."""
        try:
            found = await super().read_resource(uri, context)
            return found if isinstance(found, InputRequiredResult) else [_carry_contents(each) for each in found]
        except (MCPError, ResourceNotFoundError):
            raise
        except Exception as error:
            raise ResourceNotFoundError(explain_error(error, "resource")) from error

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Pools, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """Give one briefing. Raises MCPError: it can't be given; the text is for the person who asked."""
        try:
            self._check_prompt(name, arguments or {})
            found = await super().get_prompt(name, arguments, context)
            if isinstance(found, InputRequiredResult):
                return found
            messages = [each.model_copy(update={"content": _carry_block(each.content)}) for each in found.messages]
            return found.model_copy(update={"messages": messages})
        except MCPError:
            raise
        except Exception as error:
            raise MCPError(INVALID_PARAMS, explain_error(error, name)) from error

    async def run_between(self, incoming: Any, outgoing: Any) -> None:
        """Serve one host over two message streams, until the first ends."""
        await self._lowlevel_server.run(incoming, outgoing, self._lowlevel_server.create_initialization_options())

    async def _notify(self, uris: frozenset[str], context: Context[Pools, Any]) -> None:
        for uri in sorted(uris):
            await context.notify_resource_updated(uri)
        await self._subscribers.publish(uris)

    def _check_call(self, name: str, arguments: dict[str, Any]) -> bool:
        """Whether a tool commits anything, once it is sure that there is such a tool with such arguments."""
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
        """Make sure that there is such a briefing and that it has what it needs: the SDK would call either a crash."""
        prompt = self._prompt_manager.get_prompt(name)
        if prompt is None:
            offered = ", ".join(one.name for one in self._prompt_manager.list_prompts())
            raise InputError(f"no prompt of that name; there are {offered}.")
        takes = {one.name: one.required for one in prompt.arguments or ()}
        if arguments.keys() - takes.keys() or any(takes[one] for one in takes.keys() - arguments.keys()):
            raise InputError(f"{name} takes {', '.join(takes) or 'nothing'}.")


def build_server(pools: Pools, tokens: Tokens | None = None, caps: Collection[Caps] = CAPS) -> CtxfoldServer:
    """A server over these pools; when it ends, it closes them."""
    server = CtxfoldServer(pools, tokens, caps)
    for briefing in make_briefings():
        server.add_prompt(briefing)
    serve_resources(server, pools)
    serve_completion(server, pools)
    return server


def _write_instructions(caps: Collection[Caps]) -> str:
    return "\n".join(
        [fill_prompt("instructions"), *([fill_prompt("instructions_browser")] if "browser" in caps else [])]
    )


def _carry(tree: Any) -> Any:
    """Text and data as JSON carries them: half of a character, which it cannot, becomes the sign for one that is missing."""
    match tree:
        case str():
            return tree.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_carry(key): _carry(value) for key, value in tree.items()}
        case list():
            return [_carry(each) for each in tree]
        case _:
            return tree


def _carry_result(result: CallToolResult | InputRequiredResult) -> CallToolResult | InputRequiredResult:
    """A result that can be sent. Where half a character stood in it, a block at its end says so."""
    if isinstance(result, InputRequiredResult):
        return result
    content = [_carry_block(block) for block in result.content]
    data = _carry(result.structured_content)
    if content == result.content and data == result.structured_content:
        return result
    note = TextContent(type="text", text="Half characters in this text, which cannot be sent, stand as \ufffd.")
    return result.model_copy(update={"content": [*content, note], "structured_content": data})


def _carry_block(block: ContentBlock) -> ContentBlock:
    return block.model_copy(update={"text": _carry(block.text)}) if isinstance(block, TextContent) else block


def _carry_contents(contents: ReadResourceContents) -> ReadResourceContents:
    return replace(contents, content=_carry(contents.content))


def _make_lifespan(pools: Pools) -> Any:
    @asynccontextmanager
    async def life(_server: MCPServer[Pools]) -> AsyncIterator[Pools]:
        try:
            yield pools
        finally:
            with anyio.CancelScope(shield=True):
                await pools.close()

    return life
