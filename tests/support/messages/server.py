"""A server on loopback that speaks Anthropic's Messages API: strict about what it is asked, told what to answer.

It owns the wire: headers, status codes, the API's error shape, the journal. The rules of a request are in `rules`, the account
of the prompt cache in `cache`. It binds 127.0.0.1 alone and never looks at a key beyond comparing it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ctxfold.tokens import count
from tests.support.loopback import Loopback, Sent
from tests.support.messages.cache import PrefixCache, digests
from tests.support.messages.rules import VERSIONS, Breach, MessagesRequest, ThinkingBlock, checked

__all__ = ["Answer", "Decide", "Exchange", "MessagesServer", "Raw", "Trouble", "Words", "in_turn"]

LARGEST = 32 * 1024 * 1024
"""The largest body served, in bytes."""


@dataclass(frozen=True, slots=True)
class Decide:
    """Answer by calling a tool; with `thinking`, after a thinking block bound to what stood before it."""

    input: Any
    name: str = "decide"
    thinking: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class Words:
    """Answer in words alone."""

    text: str
    stop_reason: str = "end_turn"


@dataclass(frozen=True, slots=True)
class Trouble:
    """Answer with an error of the API."""

    status: int
    kind: str
    message: str
    retry_after: str | None = None


@dataclass(frozen=True, slots=True)
class Raw:
    """Answer as some other server would: these bytes, of this type."""

    content: bytes
    content_type: str = "text/html"
    status: int = 200


Answer = Decide | Words | Trouble | Raw


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what it came to: `path`, `body` as received, `status` sent, and the usage reported."""

    path: str
    body: Any
    status: int
    usage: Mapping[str, int] = field(default_factory=dict)


class _Refused(Exception):
    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.message)
        self.trouble = trouble


class MessagesServer(Loopback):
    """The server, running while the `with` block does; `url` is its address, `journal` what it was asked.

    Args:
        answer: what to answer a request, given its body; `in_turn` makes one of a list.
        key: the one key that is let in; None lets any in, though not none.
    """

    def __init__(self, answer: Callable[[dict[str, Any]], Answer], key: str | None = None) -> None:
        super().__init__()
        self.journal: list[Exchange] = []
        self._answer, self._key = answer, key
        self._cache, self._lock = PrefixCache(), threading.Lock()

    @property
    def url(self) -> str:
        """The base URL, as ``ANTHROPIC_BASE_URL`` takes it."""
        return self.origin

    def serve(self, path: str, headers: Mapping[str, str], raw: bytes) -> Sent:
        """What to send for a POST: status, headers and body. Every request is entered in the journal."""
        body: Any = None
        try:
            self._admit(headers)
            body = _parsed(path, headers, raw)
            with self._lock:
                return self._served(path, body)
        except _Refused as refusal:
            self.journal.append(Exchange(path, body, refusal.trouble.status))
            return _failure(refusal.trouble)

    def _admit(self, headers: Mapping[str, str]) -> None:
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        given = headers.get("x-api-key") or bearer
        if not given or (self._key is not None and given != self._key):
            raise _Refused(Trouble(401, "authentication_error", "invalid x-api-key"))
        if headers.get("anthropic-version") not in VERSIONS:
            _invalid(f"anthropic-version: header is required, one of {', '.join(VERSIONS)}")

    def _served(self, path: str, body: Any) -> Sent:
        counting = path == "/v1/messages/count_tokens"
        try:
            request = checked(body, counting=counting)
        except Breach as breach:
            _invalid(str(breach))
        _hold_thinking(request)
        if counting:
            tokens = PrefixCache().charge(request)
            self.journal.append(Exchange(path, body, 200))
            return _success({"input_tokens": tokens.input + tokens.cache_write})
        return self._answered(path, body, request)

    def _answered(self, path: str, body: Any, request: MessagesRequest) -> Sent:
        answer = self._answer(body)
        if isinstance(answer, Trouble):
            raise _Refused(answer)
        if isinstance(answer, Raw):
            self.journal.append(Exchange(path, body, answer.status))
            return answer.status, {"content-type": answer.content_type}, answer.content
        content, stop_reason = _content(answer, request, len(self.journal))
        charge = self._cache.charge(request)
        usage = {
            "input_tokens": charge.input,
            "output_tokens": count(json.dumps(content)),
            "cache_read_input_tokens": charge.cache_read,
            "cache_creation_input_tokens": charge.cache_write,
        }
        self.journal.append(Exchange(path, body, 200, usage))
        return _success(
            {
                "id": f"msg_{len(self.journal):04}",
                "type": "message",
                "role": "assistant",
                "model": request.model,
                "content": content,
                "stop_reason": stop_reason,
                "stop_sequence": None,
                "usage": usage,
            }
        )


def in_turn(*answers: Answer) -> Callable[[dict[str, Any]], Answer]:
    """Give these answers, each once; then answer that there is none left, as a failing server would."""
    left = iter(answers)
    spent = Trouble(500, "api_error", f"this double had {len(answers)} answers and was asked once more")
    return lambda _body: next(left, spent)


def _content(answer: Decide | Words, request: MessagesRequest, number: int) -> tuple[list[dict[str, Any]], str]:
    """The blocks of an answer, and the reason it stopped."""
    if isinstance(answer, Words):
        return [{"type": "text", "text": answer.text}], answer.stop_reason
    calls = [
        {"type": "tool_use", "id": f"toolu_{number:04}_{n}", "name": answer.name, "input": answer.input}
        for n in range(answer.times)
    ]
    thinking = {
        "type": "thinking",
        "thinking": answer.thinking,
        "signature": _signature(request, len(request.messages)),
    }
    return ([thinking] if answer.thinking else []) + calls, "tool_use"


def _signature(request: MessagesRequest, turns: int) -> str:
    """What binds thinking to the prompt before it: tools, system and the turns so far."""
    parts = [part.model_dump_json(exclude={"cache_control"}) for part in [*request.tools, *request.system_blocks]]
    for turn in request.messages[:turns]:
        parts += [turn.role + block.model_dump_json(exclude={"cache_control"}) for block in turn.blocks]
    return digests(parts)[-1]


def _hold_thinking(request: MessagesRequest) -> None:
    """Thinking that comes back must stand behind the same prompt as when it was given."""
    for at, turn in enumerate(request.messages):
        for block in turn.blocks:
            if isinstance(block, ThinkingBlock) and block.signature != _signature(request, at):
                _invalid(f"messages.{at}: `thinking` blocks must follow the prefix they were given for")


def _parsed(path: str, headers: Mapping[str, str], raw: bytes) -> Any:
    if path not in ("/v1/messages", "/v1/messages/count_tokens"):
        raise _Refused(Trouble(404, "not_found_error", "Not found"))
    if len(raw) > LARGEST:
        raise _Refused(Trouble(413, "request_too_large", "Request exceeds the maximum size"))
    if not headers.get("content-type", "").startswith("application/json"):
        _invalid("content-type: must be application/json")
    try:
        return json.loads(raw)
    except ValueError:
        _invalid("The request body is not valid JSON")


def _invalid(message: str) -> NoReturn:
    raise _Refused(Trouble(400, "invalid_request_error", message))


def _success(body: dict[str, Any]) -> Sent:
    return 200, {"content-type": "application/json", "request-id": "req_double"}, json.dumps(body).encode()


def _failure(trouble: Trouble) -> Sent:
    error = {"type": trouble.kind, "message": trouble.message}
    body = {"type": "error", "error": error, "request_id": "req_double"}
    wait = {} if trouble.retry_after is None else {"retry-after": trouble.retry_after}
    return trouble.status, {"content-type": "application/json", **wait}, json.dumps(body).encode()
