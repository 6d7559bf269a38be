"""A host's whole agent loop against a scripted model on loopback: `python -m tests.mcp_server.verifiers.host_loop CLAUDE CTXFOLD`.

CLAUDE is Claude Code's binary, CTXFOLD our command. The model asks for one tool after another; what the host sends back is checked, and at the end so is the store.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ctxfold import Session

PAGE = '{"train": "TGV 9713",\r\n "price": "49 EUR – é"}'
SESSION = "host-loop"

SCRIPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("open_session", {"goal": "Get to Paris."}),
    ("record", {"user": "By train.", "step": {"calls": [{"name": "trains"}], "results": [{"text": PAGE}]}}),
    ("record", {"reply": "TGV 9713, 49 EUR."}),
    ("fold", {"first_step": 1, "summary": "TGV 9713, 49 EUR."}),
    ("context", {}),
    ("recall", {"ref": "s1.3"}),
    ("undo", {}),
)


def results(body: dict[str, Any]) -> list[str]:
    """The text of every tool result in a request, in order."""
    blocks = [
        block for message in body["messages"] if isinstance(message["content"], list) for block in message["content"]
    ]
    found = []
    for block in blocks:
        if block.get("type") == "tool_result":
            content = block.get("content") or ""
            found.append(content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content))
    return found


def events(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The model's next turn as the Messages API streams it: the script's next call, or words when it is over."""
    done = len(results(body))
    over = done >= len(SCRIPT) or not body.get("tools")
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {
        "id": f"msg_{done}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [],
        "stop_reason": None,
        "usage": usage,
    }
    yield {"type": "message_start", "message": message}
    if over:
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "All done."}}
    else:
        tool, arguments = SCRIPT[done]
        block = {"type": "tool_use", "id": f"toolu_{done}", "name": f"mcp__ctxfold__{tool}", "input": {}}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        given = json.dumps({"session": SESSION} | arguments)
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": given}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn" if over else "tool_use"}, "usage": usage}
    yield {"type": "message_stop"}


class Model(BaseHTTPRequestHandler):
    """The scripted model. `seen` is the longest list of tool results any request brought."""

    seen: tuple[str, ...] = ()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "messages" not in body or "count_tokens" in self.path:
            self.answer("application/json", json.dumps({"input_tokens": 10}))
            return
        found = tuple(results(body))
        Model.seen = max(Model.seen, found, key=len)
        turn = list(events(body))
        if body.get("stream"):
            self.answer(
                "text/event-stream", "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in turn)
            )
        else:
            whole = turn[0]["message"] | {"content": [{"type": "text", "text": "All done."}], "stop_reason": "end_turn"}
            self.answer("application/json", json.dumps(whole))

    def answer(self, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        return


def loop(claude: str, ctxfold: str, home: Path, port: int) -> str:
    """Run the host once; what it printed."""
    config = home / "mcp.json"
    store = home / "loop.db"
    config.write_text(
        json.dumps({"mcpServers": {"ctxfold": {"command": ctxfold, "args": ["serve", "--store", str(store)]}}})
    )
    environment = {
        "HOME": str(home), "PATH": "/usr/bin:/bin", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
    }  # fmt: skip
    command = [
        claude,
        "-p",
        "Get me to Paris.",
        "--mcp-config",
        str(config),
        "--strict-mcp-config",
        "--allowedTools",
        "mcp__ctxfold",
    ]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    check(store)
    return done.stdout


def check(store: Path) -> None:
    """What the host sent the model, and what the store holds."""
    assert len(Model.seen) == len(SCRIPT), Model.seen
    assert PAGE in Model.seen[5], Model.seen[5]
    with Session.open(SESSION, store=str(store), create=False) as session:
        assert session.goal == "Get to Paris."
        assert session.recall("s1.3").text == PAGE
        assert [event.kind for event in session.history()][:2] == ["voided", "folded"]


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as home:
        said = loop(sys.argv[1], sys.argv[2], Path(home), server.server_port)
    server.shutdown()
    for (tool, _), result in zip(SCRIPT, Model.seen, strict=True):
        print(f"{tool}: {' '.join(result.split())[:110]}")
    print(f"the host ended with: {said.strip()}")


if __name__ == "__main__":
    main()
