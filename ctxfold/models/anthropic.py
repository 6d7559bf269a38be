"""A `Model` over Anthropic's Messages API, or over any server that speaks it.

It places the marks for the prompt cache, sends no thinking back, and forces no tool, as newer models refuse that. The SDK is imported on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ctxfold.config import Endpoint
from ctxfold.errors import ModelKeyMissing
from ctxfold.messages.apis import CACHE_MARK, cache_marks
from ctxfold.models.protocol import Message, Reply, Request, Usage, blocks, reply_of
from ctxfold.text.secrets import encodable

if TYPE_CHECKING:
    import anthropic

ATTEMPTS = 3
"""How often a request is sent before its failure counts."""

REPLY_SECONDS = 300.0
"""The longest wait for one reply."""


class AnthropicModel:
    """A model behind the Messages API. `patience`: the longest pause, in seconds, that is worth waiting out when the server asks for one.

    Raises:
        ModelKeyMissing: no key is set. It is told now, before anything is begun that a model is to decide.
    """

    def __init__(self, name: str, endpoint: Endpoint, patience: float = 20.0) -> None:
        if endpoint.secret is None:
            raise ModelKeyMissing(_keyless(name, endpoint))
        self.name = name
        self._endpoint = endpoint
        self._patience = patience

    async def decide(self, request: Request) -> Reply:
        """Send one request; try again where the server is busy for a moment.

        Raises:
            ModelKeyMissing: the key was refused.
            ModelUnavailable: unreachable, overloaded, rate-limited, or not a server of this API.
            ModelError: the server refused the request itself.
        """
        import anthropic

        from ctxfold.models import faults

        try:
            async with _client(self._endpoint) as client:
                message = await self._send(client, request)
        except anthropic.AnthropicError as error:
            raise faults.explained(error, self.name, self._endpoint) from error
        return _reply(message, request.tool.name, self._endpoint)

    async def _send(self, client: anthropic.AsyncAnthropic, request: Request) -> anthropic.types.Message:
        import stamina

        from ctxfold.models import faults

        def pause(error: Exception) -> bool | float:
            return faults.pause(error, self._patience)

        async for attempt in stamina.retry_context(on=pause, attempts=ATTEMPTS, wait_initial=0.4, wait_jitter=0.2):
            with attempt:
                message: anthropic.types.Message = await client.messages.create(**body(self.name, request))
                return message
        raise AssertionError("a retry ends in a reply or in its error")


def body(model: str, request: Request) -> dict[str, Any]:
    """The request as the Messages API takes it: tools and system first, then the messages, at most four cache marks."""
    tool = {
        "name": request.tool.name,
        "description": request.tool.description,
        "input_schema": dict(request.tool.schema),
    }
    parts: dict[str, Any] = {
        "model": model,
        "max_tokens": request.max_tokens,
        "messages": _messages(request.messages, request.stable),
        "tools": [tool],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    }
    if request.system:
        return {**parts, "system": [{"type": "text", "text": encodable(request.system), **CACHE_MARK}]}
    return {**parts, "tools": [{**tool, **CACHE_MARK}]}


def _messages(messages: Sequence[Message], stable: int) -> list[dict[str, Any]]:
    """The messages with their blocks marked; neighbours of one role joined, as the API would."""
    marked, position = cache_marks(stable), 0
    joined: list[dict[str, Any]] = []
    for message in messages:
        content = []
        for block in blocks(message):
            sent = {**block, "text": encodable(block["text"])}
            content.append({**sent, **CACHE_MARK} if position in marked else sent)
            position += 1
        if joined and joined[-1]["role"] == message["role"]:
            joined[-1]["content"].extend(content)
        else:
            joined.append({"role": message["role"], "content": content})
    return joined


def _client(endpoint: Endpoint) -> anthropic.AsyncAnthropic:
    """A client for one request. The retries are ours: the SDK would sleep for as long as a server asks."""
    import anthropic

    bearer = endpoint.credential == "ANTHROPIC_AUTH_TOKEN"
    return anthropic.AsyncAnthropic(
        api_key=None if bearer else endpoint.secret,
        auth_token=endpoint.secret if bearer else None,
        base_url=endpoint.url,
        max_retries=0,
        timeout=anthropic.Timeout(REPLY_SECONDS, connect=5.0),
    )


def _reply(message: anthropic.types.Message, tool: str, endpoint: Endpoint) -> Reply:
    """What the server sent as a `Reply`. Thinking is left behind: it may not go back once what stood before it changed."""
    from ctxfold.models import faults

    if getattr(message, "type", None) != "message":
        raise faults.another_server(endpoint)
    used = message.usage
    usage = Usage(
        input=used.input_tokens,
        output=used.output_tokens,
        cache_read=used.cache_read_input_tokens or 0,
        cache_write=used.cache_creation_input_tokens or 0,
    )
    inputs = [block.input for block in message.content if block.type == "tool_use" and block.name == tool]
    words = "".join(block.text for block in message.content if block.type == "text")
    ended = "length" if message.stop_reason == "max_tokens" else message.stop_reason
    return reply_of(ended, inputs, words, usage, message.model, tool)


def _keyless(model: str, endpoint: Endpoint) -> str:
    if endpoint.local:
        return f"no key for {endpoint.url}: set ANTHROPIC_API_KEY (any value, if that server asks for none)"
    return f"no key for {model}: set ANTHROPIC_API_KEY, or use --model explorer, which needs none"
