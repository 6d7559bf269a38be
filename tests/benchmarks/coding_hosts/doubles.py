"""Doubles of the three streaming APIs that coding hosts speak: they reply by a script, and keep every request."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Double", "Turn", "serving"]

SUMMARY = "The user asked for some rows; part of the work was done."
_LARGEST = 1 << 26


@dataclass(frozen=True)
class Turn:
    """What the model says, and the shell command that it calls; without one the turn ends. `used`: the tokens that its request is said to have cost."""

    text: str
    command: str = ""
    used: int = 0


@dataclass
class Double:
    """One scripted model.

    Attributes:
        turns: its replies, in order; the last again when they are used up.
        requests: the bodies of the requests that it was sent, in order, without those for a summary.
    """

    turns: Sequence[Turn]
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""
    _next: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def turn(self, body: dict[str, Any]) -> tuple[int, Turn]:
        """The next reply, and its number."""
        with self._lock:
            self.requests.append(body)
            at, self._next = self._next, self._next + 1
            return at, self.turns[min(at, len(self.turns) - 1)]


@contextmanager
def serving(double: Double) -> Iterator[Double]:
    """Serve a double on loopback for the length of the block."""
    handler = type("Handler", (_Handler,), {"double": double})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    double.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield double
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    double: Double
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._send("text/plain", b"")

    def do_GET(self) -> None:
        self._send("application/json", b'{"data": [], "models": []}')

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(min(int(self.headers.get("content-length", 0)), _LARGEST)))
        size = len(json.dumps(body)) // 4
        if self.path.split("?")[0].endswith("/messages"):
            events = list(_messages(self.double, body, size))
        elif self.path.endswith("/responses"):
            events = list(_responses(self.double, body, size))
        elif "enerateContent" in self.path:
            streamed = "stream" in self.path
            (reply,) = _contents(self.double, body, size)
            line = json.dumps(reply)
            self._send(
                "text/event-stream" if streamed else "application/json",
                (f"data: {line}\n\n" if streamed else line).encode(),
            )
            return
        else:
            self._send("application/json", json.dumps({"input_tokens": size, "totalTokens": size}).encode())
            return
        spelled = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
        self._send("text/event-stream", spelled.encode())

    def _send(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _messages(double: Double, body: dict[str, Any], size: int) -> Iterator[dict[str, Any]]:
    """A reply as the Messages API streams it."""
    last = json.dumps(body.get("messages", [])[-1:])
    if "detailed summary" in last or (not body.get("tools") and "summar" in last):
        at, turn = 0, Turn(f"<summary>{SUMMARY}</summary>")
    elif not body.get("tools"):
        at, turn = 0, Turn("ok")
    else:
        at, turn = double.turn(body)
    usage = {"input_tokens": turn.used or size, "output_tokens": 1}
    message = {
        "id": f"msg_{at}",
        "type": "message",
        "role": "assistant",
        "model": "double",
        "content": [],
        "usage": usage,
    }
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": turn.text}}
    yield {"type": "content_block_stop", "index": 0}
    if turn.command:
        call = {"type": "tool_use", "id": f"toolu_{at:05}", "name": _shell_of(body), "input": {}}
        given = json.dumps({"command": turn.command, "description": "rows"})
        yield {"type": "content_block_start", "index": 1, "content_block": call}
        yield {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": given}}
        yield {"type": "content_block_stop", "index": 1}
    stop = "tool_use" if turn.command else "end_turn"
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": None},
        "usage": {"output_tokens": 20},
    }
    yield {"type": "message_stop"}


def _shell_of(body: dict[str, Any]) -> str:
    """What a client calls its shell."""
    return next((tool["name"] for tool in body["tools"] if tool["name"].lower() == "bash"), "Bash")


def _responses(double: Double, body: dict[str, Any], size: int) -> Iterator[dict[str, Any]]:
    """A reply as the Responses API streams it."""
    last = json.dumps(body.get("input", [])[-1:])
    at, turn = (0, Turn(SUMMARY)) if "CONTEXT CHECKPOINT COMPACTION" in last.upper() else double.turn(body)
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": turn.text}]}
    items: list[dict[str, Any]] = [said]
    if turn.command:
        given = json.dumps({"cmd": turn.command})
        items.append({"type": "function_call", "call_id": f"call_{at:05}", "name": "exec_command", "arguments": given})
    yield {"type": "response.created", "response": {"id": f"r{at}"}}
    for number, item in enumerate(items):
        done = {**item, "id": f"it_{at}_{number}"}
        yield {"type": "response.output_item.done", "output_index": number, "item": done}
    usage = {
        "input_tokens": size, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": size + 10,
    }  # fmt: skip
    yield {"type": "response.completed", "response": {"id": f"r{at}", "usage": usage}}


def _contents(double: Double, body: dict[str, Any], size: int) -> Iterator[dict[str, Any]]:
    """A reply as Gemini's API gives it."""
    last = json.dumps(body.get("contents", [])[-1:])
    if "state_snapshot" in last:
        at, turn = 0, Turn(f"<state_snapshot>{SUMMARY}</state_snapshot>")
    elif not body.get("tools"):
        at, turn = 0, Turn("{}")
    else:
        at, turn = double.turn(body)
    parts: list[dict[str, Any]] = [{"text": turn.text}]
    if turn.command:
        parts.append(
            {"functionCall": {"id": f"fc_{at:05}", "name": "run_shell_command", "args": {"command": turn.command}}}
        )
    full = turn.used or size
    yield {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": full, "candidatesTokenCount": 10, "totalTokenCount": full + 10},
    }
