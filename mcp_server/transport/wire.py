"""Answers what a host sends that is no message: the SDK drops it, and its sender would wait for ever."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

__all__ = ["refuse_line"]

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|$)|[\[\]{}]', re.DOTALL)
_SCALAR = re.compile(r'\s*:\s*("(?:[^"\\]|\\.)*"|-?\d{1,18}(?![\d.eE]))?')
_LONGEST = 200
"""Characters of an id that is sent back."""


class _Envelope(NamedTuple):
    """The outermost level of a line: its keys, and its id where that is one."""

    keys: frozenset[str]
    id: RequestId | None


def refuse_line(line: str) -> JSONRPCError | None:
    """The answer to a line that is no message; None for one that is, and for what nobody waits for an answer to."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        broken = (
            error.errors(include_url=False, include_context=False, include_input=False)[0]["type"] == "json_invalid"
        )
        envelope = _read_envelope(line)
        if not line.strip() or "result" in envelope.keys or "error" in envelope.keys:
            return None
        if broken:
            return _answer(
                envelope.id,
                PARSE_ERROR,
                "this is no JSON that can be read: nested too deep, cut short, or with half a character in a text; send it put right",
            )
        return _answer(
            envelope.id,
            INVALID_REQUEST,
            "this is no request: it needs jsonrpc 2.0, a method and, where there are any, params as an object",
        )
    if isinstance(message, JSONRPCNotification) and '"id"' in line and "id" in _read_envelope(line).keys:
        return _answer(None, INVALID_REQUEST, "the id of a request is a text or a whole number")
    return None


def _answer(number: RequestId | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=message))


def _read_envelope(line: str) -> _Envelope:
    """The outermost level, found without reading what is nested in it: that may be what cannot be read."""
    depth, keys = 0, set[str]()
    number: RequestId | None = None
    for token in _TOKEN.finditer(line):
        mark = token[0]
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        elif depth == 1 and (value := _SCALAR.match(line, token.end())):
            keys.add(mark[1:-1])
            if mark == '"id"' and value[1] and len(value[1]) <= _LONGEST:
                number = _read_id(value[1])
    return _Envelope(frozenset(keys), number)


def _read_id(text: str) -> RequestId | None:
    try:
        found = json.loads(text)
        str(found).encode()
    except ValueError:
        return None
    return int(found) if isinstance(found, int) else str(found)
