"""A server on loopback that speaks OpenAI's chat completions: strict about roles, pairing and fields, told what to answer.

It refuses, as the API does: a role there is not, a call without its results right behind it, a result of no call, arguments that are no text, a
repeated id, a field it does not know. With `plain`, it is a server that only chats, and refuses tools and response formats.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ctxfold.tokens import count
from tests.support.loopback import Loopback, Sent

__all__ = ["ChatRequest", "ChatServer", "Said", "Unwilling", "check_chat"]

NAME = r"^[a-zA-Z0-9_-]{1,64}$"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class TextPart(_Part):
    type: Literal["text"]
    text: str


class Called(_Part):
    name: Annotated[str, Field(pattern=NAME)]
    arguments: str


class ToolCall(_Part):
    id: Annotated[str, Field(min_length=1, max_length=40)]
    type: Literal["function"]
    function: Called


class SystemMessage(_Part):
    role: Literal["system", "developer"]
    content: str | list[TextPart]


class UserMessage(_Part):
    role: Literal["user"]
    content: Annotated[str, Field(min_length=1)] | Annotated[list[TextPart], Field(min_length=1)]


class AssistantMessage(_Part):
    role: Literal["assistant"]
    content: str | None = None
    tool_calls: Annotated[list[ToolCall], Field(min_length=1)] | None = None


class ToolMessage(_Part):
    role: Literal["tool"]
    tool_call_id: str
    content: str | list[TextPart]


Spoken = Annotated[SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]


class Function(_Part):
    name: Annotated[str, Field(pattern=NAME)]
    description: str = ""
    parameters: dict[str, Any]
    strict: bool | None = None


class ChatTool(_Part):
    type: Literal["function"]
    function: Function


class ChatRequest(_Part):
    model: Annotated[str, Field(min_length=1)]
    messages: Annotated[list[Spoken], Field(min_length=1)]
    tools: Annotated[list[ChatTool], Field(min_length=1, max_length=128)] | None = None
    tool_choice: Literal["auto", "none", "required"] | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    response_format: dict[str, Any] | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stream: Literal[False] = False
    n: Literal[1] | None = None


class Breach(Exception):
    """A request that the API answers with 400."""


def check_chat(body: object) -> ChatRequest:
    """A request held against the API's rules. Raises Breach."""
    try:
        request = ChatRequest.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Breach(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    open_ids: list[str] = []
    seen: set[str] = set()
    for at, message in enumerate(request.messages):
        if open_ids and not isinstance(message, ToolMessage):
            raise Breach(f"messages.{at}: tool_calls {open_ids} must be followed by tool messages")
        match message:
            case AssistantMessage(content=content, tool_calls=calls):
                if not content and not calls:
                    raise Breach(f"messages.{at}: an assistant message holds content or tool_calls")
                open_ids = [call.id for call in calls or ()]
                if seen & set(open_ids) or len(set(open_ids)) < len(open_ids):
                    raise Breach(f"messages.{at}: a tool_call id is repeated")
                seen |= set(open_ids)
            case ToolMessage(tool_call_id=answered):
                if answered not in open_ids:
                    raise Breach(f"messages.{at}: a tool message must answer a preceding tool_call, not {answered!r}")
                open_ids.remove(answered)
            case _:
                pass
    if open_ids:
        raise Breach(f"the last tool_calls {open_ids} have no results")
    if isinstance(request.messages[-1], AssistantMessage):
        raise Breach("the last message must not be the assistant's")
    return request


@dataclass(frozen=True, slots=True)
class Said:
    """An answer: calls of tools by name and arguments, or words, or arguments under a response format."""

    words: str | None = None
    calls: tuple[tuple[str, Any], ...] = ()
    finish: str = ""


@dataclass(frozen=True, slots=True)
class Unwilling:
    """An error of the API."""

    status: int
    message: str
    code: str | None = None


class ChatServer(Loopback):
    """The server, running while the `with` block does. `bodies` are the requests it took, `refused` those it answered with 400.

    Args:
        answer: what to answer a request, given its body.
        key: the one key that is let in; None lets any in.
        plain: whether it knows neither tools nor response formats.
    """

    def __init__(
        self, answer: Callable[[dict[str, Any]], Said | Unwilling], key: str | None = None, *, plain: bool = False
    ) -> None:
        super().__init__()
        self.bodies: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self.keys: list[str] = []
        self._answer, self._key, self._plain = answer, key, plain

    @property
    def url(self) -> str:
        """The base URL, as an endpoint takes it."""
        return f"{self.origin}/v1"

    def serve(self, path: str, headers: Mapping[str, str], raw: bytes) -> Sent:
        """What to send for a POST."""
        status, answer = self._answered(path, headers.get("authorization", "").removeprefix("Bearer "), raw)
        return status, {"content-type": "application/json"}, json.dumps(answer).encode()

    def _answered(self, path: str, bearer: str, raw: bytes) -> tuple[int, dict[str, Any]]:
        self.keys.append(bearer)
        if path != "/v1/chat/completions":
            return 404, {"error": {"message": "Not found"}}
        if self._key is not None and bearer != self._key:
            return 401, _failure("Incorrect API key provided", "invalid_api_key")
        body = json.loads(raw)
        try:
            request = check_chat(body)
            if self._plain and (request.tools or request.response_format):
                raise Breach("this server takes no tools and no response_format")
        except Breach as breach:
            self.refused.append(str(breach))
            return 400, _failure(str(breach))
        self.bodies.append(body)
        said = self._answer(body)
        if isinstance(said, Unwilling):
            return said.status, _failure(said.message, said.code)
        return 200, _completion(said, body, len(self.bodies))


def _failure(message: str, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}


def _completion(said: Said, body: dict[str, Any], number: int) -> dict[str, Any]:
    calls = [
        {
            "id": f"call_{number:04}_{n}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for n, (name, given) in enumerate(said.calls)
    ]
    message = {"role": "assistant", "content": said.words, **({"tool_calls": calls} if calls else {})}
    spent, written = count(json.dumps(body)), count(json.dumps(message))
    return {
        "id": f"chatcmpl-{number:04}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": body["model"],
        "choices": [
            {"index": 0, "message": message, "finish_reason": said.finish or ("tool_calls" if calls else "stop")}
        ],
        "usage": {"prompt_tokens": spent, "completion_tokens": written, "total_tokens": spent + written},
    }
