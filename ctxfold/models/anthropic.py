"""A `Model` over Anthropic's Messages API, or a server that speaks it: cache marks, retries, errors with the next move.

It sends no thinking back, and forces no tool, as newer models refuse that. The SDK is imported on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from ctxfold.config import Endpoint
from ctxfold.errors import ModelError, ModelKeyMissing
from ctxfold.messages.apis import CACHE_MARK, cache_marks
from ctxfold.models.protocol import (
    REPLY_SECONDS,
    PromptMessage,
    Reply,
    Request,
    Usage,
    find_kind,
    list_blocks,
    make_fault,
)
from ctxfold.text.secrets import encodable

if TYPE_CHECKING:
    import anthropic

_ATTEMPTS = 3
"""How often a request is sent before its failure counts."""
_VERDICT = 160
"""Characters of a server's own explanation that an error repeats."""
_API, _API_HINT = "the Messages API", "check ANTHROPIC_BASE_URL"


class AnthropicModel:
    """A model of the Messages API. `patience`: the longest pause that a server may ask for, in seconds.

    Raises ModelKeyMissing: no key is set. It is raised now, before a run begins.
    """

    def __init__(self, name: str, endpoint: Endpoint, patience: float = 20.0) -> None:
        if endpoint.secret is None:
            hint = " (any value, if that server asks for none)"
            hint = hint if endpoint.local else ", or use --model explorer, which needs none"
            raise ModelKeyMissing(f"no key for {endpoint.url if endpoint.local else name}: set ANTHROPIC_API_KEY{hint}")
        self.name = name
        self._endpoint = endpoint
        self._patience = patience

    async def decide(self, request: Request) -> Reply:
        """Send one request, and send it again if the server is busy for a moment.

        Raises:
            ModelKeyMissing: the key was refused.
            ModelUnavailable: unreachable, overloaded, rate-limited, or not a server of this API.
            ModelError: the server refused the request itself.
        """
        import anthropic

        try:
            async with _make_client(self._endpoint) as client:
                message = await self._send(client, request)
        except anthropic.AnthropicError as error:
            raise _explain(error, self.name, self._endpoint) from error
        if getattr(message, "type", None) != "message":
            raise make_fault("api", self._endpoint, self.name, api=_API, hint=_API_HINT)
        return _read_reply(message, request.tool.name)

    async def _send(self, client: anthropic.AsyncAnthropic, request: Request) -> anthropic.types.Message:
        import stamina

        def pause(error: Exception) -> bool | float:
            return _choose_pause(error, self._patience)

        async for attempt in stamina.retry_context(on=pause, attempts=_ATTEMPTS, wait_initial=0.4, wait_jitter=0.2):
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
        "messages": _mark_messages(request.messages, request.stable),
        "tools": [tool],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    }
    if request.system:
        return {**parts, "system": [{"type": "text", "text": encodable(request.system), **CACHE_MARK}]}
    return {**parts, "tools": [{**tool, **CACHE_MARK}]}


def _mark_messages(messages: Sequence[PromptMessage], stable: int) -> list[dict[str, Any]]:
    """The messages with cache marks on their blocks; neighbours of one role joined, as the API would."""
    marked = cache_marks(stable)
    every = [(message["role"], block) for message in messages for block in list_blocks(message)]
    sent = [
        (role, {**block, "text": encodable(block["text"]), **(CACHE_MARK if place in marked else {})})
        for place, (role, block) in enumerate(every)
    ]
    return [{"role": role, "content": [block for _, block in run]} for role, run in groupby(sent, itemgetter(0))]


def _make_client(endpoint: Endpoint) -> anthropic.AsyncAnthropic:
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


def _read_reply(message: anthropic.types.Message, tool: str) -> Reply:
    """The server's message as a `Reply`, without thinking: that may not go back once the text before it changed."""
    used = message.usage
    cached, written = used.cache_read_input_tokens or 0, used.cache_creation_input_tokens or 0
    usage = Usage(used.input_tokens, used.output_tokens, cached, written)
    inputs = [block.input for block in message.content if block.type == "tool_use" and block.name == tool]
    words = "".join(block.text for block in message.content if block.type == "text")
    ended = "length" if message.stop_reason == "max_tokens" else message.stop_reason
    return Reply.read(ended, inputs, words, usage, message.model, tool)


def _choose_pause(error: Exception, patience: float) -> bool | float:
    """Whether to send a request again after an error, and after how many seconds if the server says so."""
    import anthropic

    match error:
        case anthropic.APITimeoutError():
            return False
        case anthropic.APIConnectionError():
            return True
        case anthropic.APIStatusError(status_code=status) if status in (408, 409, 429) or status >= 500:
            seconds = _read_wait(error)
            return True if seconds is None else seconds <= patience and seconds
        case _:
            return False


_KINDS = {"APITimeoutError": "timeout", "APIConnectionError": "unreachable", "APIResponseValidationError": "api"}
"""The SDK's errors, each with its kind in `FAULTS`; other errors have theirs by their status."""


def _explain(error: anthropic.AnthropicError, model: str, endpoint: Endpoint) -> ModelError:
    import anthropic

    kind, seconds, hint = find_kind(error, _KINDS), None, type(error).__name__
    if isinstance(error, anthropic.APIStatusError):
        seconds = _read_wait(error)
        kind = "model" if kind == "api" and error.type == "not_found_error" else kind
        hint = " ".join((error.api_message or error.type or "no reason given").split())[:_VERDICT]
    if kind == "unreachable":
        hint = "check ANTHROPIC_BASE_URL and that the server runs" if endpoint.local else "check the network"
    status, hint = getattr(error, "status_code", 0), _API_HINT if kind == "api" else hint
    return make_fault(kind, endpoint, model, seconds, status=status, hint=hint, api=_API)


def _read_wait(error: anthropic.APIStatusError) -> float | None:
    """Seconds the server asks to wait; None if it names none, or a date."""
    try:
        return max(float(error.response.headers["retry-after"]), 0.0)
    except (KeyError, ValueError):
        return None
