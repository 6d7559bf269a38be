"""Doubles of the three streaming APIs that coding hosts use: they reply by a script and keep every request."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SUMMARY = "The user asked for some rows; part of the work was done."
LARGEST = 1 << 26
"""Bytes of a request that are read, at most."""

Json = dict[str, Any]


@dataclass(frozen=True)
class ScriptedTurn:
    """A text and a shell command to call; without one the turn ends. `used` are the tokens that the request is said to
    cost.
    """

    text: str
    command: str = ""
    used: int = 0


@dataclass
class Double:
    """One scripted model.

    Attributes:
        turns: its replies, in order; the last one again when they are used up.
        requests: the bodies of the requests, in order, without those for a summary.
    """

    turns: Sequence[ScriptedTurn]
    requests: list[Json] = field(default_factory=list)
    url: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take_turn(self, body: Json) -> tuple[int, ScriptedTurn]:
        """Return the next reply and its number."""
        with self._lock:
            self.requests.append(body)
            at = len(self.requests) - 1
            return at, self.turns[min(at, len(self.turns) - 1)]

    def answer(self, path: str, body: Json) -> tuple[str, str]:
        """Return the content type and the body of an answer to a request."""
        size = len(json.dumps(body)) // 4
        if path.endswith("/messages"):
            return _stream(_answer_messages(self, body, size))
        if path.endswith("/responses"):
            return _stream(_answer_responses(self, body, size))
        if "enerateContent" in path:
            reply = json.dumps(_answer_contents(self, body, size))
            return ("text/event-stream", f"data: {reply}\n\n") if "stream" in path else ("application/json", reply)
        return "application/json", json.dumps({"input_tokens": size, "totalTokens": size})


@contextmanager
def serve(double: Double) -> Iterator[Double]:
    """Serve a double on loopback for the length of the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None: ...

        def do_HEAD(self) -> None:
            self._send("text/plain", "")

        def do_GET(self) -> None:
            self._send("application/json", '{"data": [], "models": []}')

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(min(int(self.headers.get("content-length", 0)), LARGEST)))
            self._send(*double.answer(self.path.split("?")[0], body))

        def _send(self, kind: str, text: str) -> None:
            content = text.encode()
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    double.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield double
    finally:
        server.shutdown()
        server.server_close()


def _stream(events: Iterator[Json]) -> tuple[str, str]:
    return "text/event-stream", "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def _answer_messages(double: Double, body: Json, size: int) -> Iterator[Json]:
    """Answer as the Messages API streams."""
    last, tools = json.dumps(body.get("messages", [])[-1:]), body.get("tools") or []
    if "detailed summary" in last or (not tools and "summar" in last):
        at, turn = 0, ScriptedTurn(f"<summary>{SUMMARY}</summary>")
    else:
        at, turn = double.take_turn(body) if tools else (0, ScriptedTurn("ok"))
    blocks: list[tuple[Json, Json]] = [({"type": "text", "text": ""}, {"type": "text_delta", "text": turn.text})]
    if turn.command:
        shell = next((tool["name"] for tool in tools if tool["name"].lower() == "bash"), "Bash")
        call: Json = {"type": "tool_use", "id": f"toolu_{at:05}", "name": shell, "input": {}}
        arguments = json.dumps({"command": turn.command, "description": "rows"})
        blocks.append((call, {"type": "input_json_delta", "partial_json": arguments}))
    message = {"id": f"msg_{at}", "type": "message", "role": "assistant", "model": "double", "content": []}
    usage = {"input_tokens": turn.used or size, "output_tokens": 1}
    ends: Json = {"stop_reason": None, "stop_sequence": None}
    yield {"type": "message_start", "message": {**message, "usage": usage, **ends}}
    for index, (block, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ends["stop_reason"] = "tool_use" if turn.command else "end_turn"
    yield {"type": "message_delta", "delta": ends, "usage": {"output_tokens": 20}}
    yield {"type": "message_stop"}


def _answer_responses(double: Double, body: Json, size: int) -> Iterator[Json]:
    """Answer as the Responses API streams."""
    summarises = "CONTEXT CHECKPOINT COMPACTION" in json.dumps(body.get("input", [])[-1:]).upper()
    at, turn = (0, ScriptedTurn(SUMMARY)) if summarises else double.take_turn(body)
    content = [{"type": "output_text", "text": turn.text}]
    items: list[Json] = [{"type": "message", "role": "assistant", "content": content}]
    if turn.command:
        arguments = json.dumps({"cmd": turn.command})
        call = {"type": "function_call", "call_id": f"call_{at:05}", "name": "exec_command", "arguments": arguments}
        items.append(call)
    yield {"type": "response.created", "response": {"id": f"r{at}"}}
    for number, item in enumerate(items):
        done = {**item, "id": f"it_{at}_{number}"}
        yield {"type": "response.output_item.done", "output_index": number, "item": done}
    usage: Json = {"input_tokens": size, "output_tokens": 10, "total_tokens": size + 10}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    yield {"type": "response.completed", "response": {"id": f"r{at}", "usage": usage}}


def _answer_contents(double: Double, body: Json, size: int) -> Json:
    """Answer as Gemini's API does."""
    if "state_snapshot" in json.dumps(body.get("contents", [])[-1:]):
        at, turn = 0, ScriptedTurn(f"<state_snapshot>{SUMMARY}</state_snapshot>")
    else:
        at, turn = double.take_turn(body) if body.get("tools") else (0, ScriptedTurn("{}"))
    parts: list[Json] = [{"text": turn.text}]
    if turn.command:
        call = {"id": f"fc_{at:05}", "name": "run_shell_command", "args": {"command": turn.command}}
        parts.append({"functionCall": call})
    used = turn.used or size
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    counts = {"promptTokenCount": used, "candidatesTokenCount": 10, "totalTokenCount": used + 10}
    return {"candidates": [candidate], "usageMetadata": counts}
