"""Reads lines of JSON-RPC, and writes what the wrapper says itself: messages, and words for a person on standard error."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["CLOSED", "INVALID", "LATE", "UNREADABLE", "Message", "answer", "dump", "error", "explain", "read", "tell"]

UNREADABLE = -32700
INVALID = -32600
CLOSED = -32000
LATE = -32001


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `raw`: the line it came as, without the line's end."""

    data: dict[str, Any]
    raw: bytes

    @property
    def kind(self) -> Literal["request", "notice", "answer"]:
        """A request wants an answer; a notice wants none."""
        if "method" not in self.data:
            return "answer"
        return "request" if "id" in self.data else "notice"

    @property
    def key(self) -> str:
        """Its id as JSON: `1` and `"1"` are two."""
        return json.dumps(self.data.get("id"))

    @property
    def method(self) -> str:
        """What it asks for or tells; empty for an answer."""
        return str(self.data.get("method", ""))

    @property
    def params(self) -> dict[str, Any]:
        """Its parameters; empty where there are none."""
        params = self.data.get("params")
        return params if isinstance(params, dict) else {}


def read(line: bytes) -> list[Message] | None:
    """The messages of a line: none of a blank one, each of a batch; None where it is no JSON-RPC."""
    raw = line.strip()
    if not raw:
        return []
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if isinstance(data, list):
        return [Message(each, dump(each)) for each in data] if data and all(map(_is_message, data)) else None
    return [Message(data, raw)] if _is_message(data) else None


def _is_message(data: object) -> bool:
    match data:
        case {"method": str()}:
            return True
        case {"id": _, "result": _} | {"id": _, "error": _}:
            return True
        case _:
            return False


def dump(data: object) -> bytes:
    """A message as one line; half a character stays the escape it was."""
    try:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":")).encode()


def answer(number: object, result: dict[str, Any]) -> bytes:
    """The answer to a request."""
    return dump({"jsonrpc": "2.0", "id": number, "result": result})


def error(number: object, code: int, words: str) -> bytes:
    """The refusal of a request; of one that could not be read the id is null."""
    return dump({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": words}})


def explain(failed: BaseException) -> str:
    """What went wrong, out of the groups it came in, on one line."""
    while isinstance(failed, BaseExceptionGroup):
        failed = failed.exceptions[0]
    return " ".join(str(failed).split()) or type(failed).__name__


def tell(words: str) -> None:
    """Say something to whoever reads our standard error, each line marked as ours."""
    for line in words.split("\n"):
        sys.stderr.write(f"ctxfold wrap: {line}\n")
    sys.stderr.flush()
