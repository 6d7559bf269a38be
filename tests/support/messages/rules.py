"""What the Messages API demands of a request, as types and as the rules between them. It answers nothing and counts nothing.

Version 2026-10-21 of the API, as its documentation and the SDK's types state it. A field this file does not know is refused, as
the API refuses it; so is every block type this project has no use for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

__all__ = ["Breach", "MessagesRequest", "checked"]

VERSIONS = ("2023-06-01", "2026-10-21")
"""The values of `anthropic-version` that are served."""

BREAKPOINTS = 4

UNFORCEABLE = re.compile(r"claude-(?:opus|sonnet)-5-5|claude-(?:fable|mythos)-5-[12]")
"""Models that refuse a forced tool."""


class Breach(Exception):
    """A request the API would answer with 400 `invalid_request_error`; the text is the error's message."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class CacheControl(_Part):
    """A cache breakpoint."""

    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] = "5m"


class TextBlock(_Part):
    """Words of either side."""

    type: Literal["text"]
    text: Annotated[str, Field(min_length=1)]
    cache_control: CacheControl | None = None


class ToolUseBlock(_Part):
    """A call, sent back in the assistant's turn."""

    type: Literal["tool_use"]
    id: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$")]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    input: dict[str, Any]
    cache_control: CacheControl | None = None


class ToolResultBlock(_Part):
    """A call's result, in the user's turn."""

    type: Literal["tool_result"]
    tool_use_id: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$")]
    content: str | list[TextBlock] | None = None
    is_error: bool = False
    cache_control: CacheControl | None = None


class ThinkingBlock(_Part):
    """Thinking sent back; it takes no cache mark."""

    type: Literal["thinking"]
    thinking: str
    signature: str


Block = Annotated[TextBlock | ToolUseBlock | ToolResultBlock | ThinkingBlock, Field(discriminator="type")]


class Turn(_Part):
    """One message."""

    role: Literal["user", "assistant"]
    content: Annotated[str, Field(min_length=1)] | Annotated[list[Block], Field(min_length=1)]

    @property
    def blocks(self) -> list[TextBlock | ToolUseBlock | ToolResultBlock | ThinkingBlock]:
        """Its content as blocks."""
        return [TextBlock(type="text", text=self.content)] if isinstance(self.content, str) else self.content


class ClientTool(_Part):
    """A tool the caller runs."""

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,128}$")]
    description: str = ""
    input_schema: dict[str, Any]
    type: Literal["custom"] | None = None
    strict: bool = False
    cache_control: CacheControl | None = None


class ToolChoice(_Part):
    """How a tool is chosen."""

    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None
    disable_parallel_tool_use: bool = False


class MessagesRequest(_Part):
    """The body of a request; `max_tokens` may be absent only where tokens are merely counted."""

    model: Annotated[str, Field(min_length=1)]
    messages: Annotated[list[Turn], Field(min_length=1, max_length=100_000)]
    max_tokens: Annotated[int, Field(ge=0)] | None = None
    system: str | list[TextBlock] = ""
    tools: list[ClientTool] = []
    tool_choice: ToolChoice | None = None
    thinking: dict[str, Any] | None = None
    output_config: dict[str, Any] | None = None
    metadata: dict[str, str] | None = None
    stop_sequences: list[str] = []
    stream: Literal[False] = False
    cache_control: CacheControl | None = None

    @property
    def system_blocks(self) -> list[TextBlock]:
        """The system text as blocks."""
        if isinstance(self.system, str):
            return [TextBlock(type="text", text=self.system)] if self.system else []
        return self.system


def checked(body: object, *, counting: bool = False) -> MessagesRequest:
    """The request of a body, held against every rule.

    Args:
        body: the JSON value received.
        counting: whether tokens are to be counted only, where `max_tokens` has no place.

    Raises:
        Breach: the API would refuse it.
    """
    try:
        request = MessagesRequest.model_validate(body)
    except ValidationError as error:
        fault = max(error.errors(include_url=False), key=lambda one: len(one["loc"]))
        raise Breach(f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}") from None
    if counting and request.max_tokens is not None:
        raise Breach("max_tokens: Extra inputs are not permitted")
    if not counting and request.max_tokens is None:
        raise Breach("max_tokens: Field required")
    for rule in (_turns, _pairs, _tools, _choice, _breakpoints, _words):
        for breach in rule(request):
            raise Breach(breach)
    return request


def _turns(request: MessagesRequest) -> Iterator[str]:
    """Neighbours of one role are joined by the API, so they may stand; the ends are ruled."""
    if request.messages[0].role != "user":
        yield "messages: first message must use the `user` role"
    if request.messages[-1].role != "user":
        yield "This model does not support assistant message prefill. The conversation must end with a user message."
    for at, turn in enumerate(request.messages):
        foreign = ToolResultBlock if turn.role == "assistant" else (ToolUseBlock, ThinkingBlock)
        for block in turn.blocks:
            if isinstance(block, foreign):
                yield f"messages.{at}: `{block.type}` blocks have no place in {turn.role} messages"


def _pairs(request: MessagesRequest) -> Iterator[str]:
    """Every call is answered in the next turn, and nothing else is."""
    called: set[str] = set()
    for at, turn in enumerate(request.messages):
        answered = {block.tool_use_id for block in turn.blocks if isinstance(block, ToolResultBlock)}
        if answered - called:
            yield f"messages.{at}: `tool_result` without a `tool_use` of that id in the previous message"
        if called - answered:
            yield f"messages.{at - 1}: `tool_use` ids were found without `tool_result` blocks immediately after"
        called = {block.id for block in turn.blocks if isinstance(block, ToolUseBlock)}


def _tools(request: MessagesRequest) -> Iterator[str]:
    names = [tool.name for tool in request.tools]
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
    for at, tool in enumerate(request.tools):
        schema = tool.input_schema
        if schema.get("type") != "object":
            yield f"tools.{at}.custom.input_schema.type: Input should be 'object'"
        if {"oneOf", "anyOf", "allOf"} & schema.keys():
            yield f"tools.{at}.custom.input_schema: does not support oneOf, allOf, or anyOf at the top level"
        unknown = sorted(set(_references(schema)) - {f"#/$defs/{name}" for name in schema.get("$defs", {})})
        if unknown:
            yield f"tools.{at}.custom.input_schema: JSON schema is invalid: unresolved {unknown[0]}"


def _references(schema: object) -> Iterator[str]:
    match schema:
        case dict():
            if isinstance(schema.get("$ref"), str):
                yield schema["$ref"]
            for value in schema.values():
                yield from _references(value)
        case list():
            for value in schema:
                yield from _references(value)
        case _:
            return


def _choice(request: MessagesRequest) -> Iterator[str]:
    choice = request.tool_choice
    if choice is None:
        return
    if not request.tools:
        yield "tool_choice: may only be specified while providing tools"
    if choice.type in ("any", "tool") and UNFORCEABLE.fullmatch(request.model):
        yield f"tool_choice.type: forced tool use is not supported for {request.model}"
    if choice.type == "tool" and choice.name not in {tool.name for tool in request.tools}:
        yield f"Tool '{choice.name}' not found in provided tools"


def _breakpoints(request: MessagesRequest) -> Iterator[str]:
    parts: list[Any] = [*request.tools, *request.system_blocks]
    parts += [block for turn in request.messages for block in turn.blocks]
    found = sum(1 for part in [request, *parts] if getattr(part, "cache_control", None) is not None)
    if found > BREAKPOINTS:
        yield f"A maximum of {BREAKPOINTS} blocks with cache_control may be provided. Found {found}."


def _words(request: MessagesRequest) -> Iterator[str]:
    texts = [block for turn in request.messages for block in turn.blocks if isinstance(block, TextBlock)]
    if any(not block.text.strip() for block in [*request.system_blocks, *texts]):
        yield "messages: text content blocks must contain non-whitespace text"
