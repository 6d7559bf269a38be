"""Claude Code's whole agent loop against a scripted model on loopback.

The model asks for one tool after another. What the host sends back is checked, and at the end so is the store.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ctxfold import Session
from tests.sites.server import Site

TABLE = "".join(f"<tr><td>TGV {n}<td>{n % 97} EUR</tr>" for n in range(9000, 9300))
PAGE = (
    f"<title>Trains – é</title><main><h1>Trains to Paris</h1><table><tr><th>Train<th>Price</tr>{TABLE}</table></main>"
)
SESSION = "host-loop"
REF = "s2.4"


def script(url: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    """What the model asks for, in order; the page of trains is at `url`."""
    return (
        ("open_session", {"goal": "Get to Paris."}),
        ("record", {"reply": "By train."}),
        ("page_open", {"url": url, "need": "cheap trains"}),
        ("page_read", {"find": "TGV 9299"}),
        ("record", {"reply": "TGV 9299, 84 EUR."}),
        ("fold", {"first_step": 1, "summary": "TGV 9299, 84 EUR, of the page of trains."}),
        ("switch_branch", {"action": "create", "to": "by-bus", "step": "s1"}),
        ("record", {"reply": "Or by bus."}),
        ("switch_branch", {"action": "switch", "to": "main"}),
        ("context", {}),
        ("recall", {"ref": REF, "raw": True}),
        ("undo", {}),
    )


def results(body: dict[str, Any]) -> list[str]:
    """The text of every tool result in a request, in order."""
    contents = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    found = [
        block.get("content") or "" for blocks in contents for block in blocks if block.get("type") == "tool_result"
    ]
    return [each if isinstance(each, str) else "\n".join(part.get("text", "") for part in each) for each in found]


def events(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The model's next turn as the Messages API streams it: the script's next call, or words when it is over."""
    done = len(results(body))
    over = done >= len(Model.script) or not body.get("tools")
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {"id": f"msg_{done}", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    message |= {"stop_reason": None, "usage": usage}
    yield {"type": "message_start", "message": message}
    if over:
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "All done."}}
    else:
        tool, arguments = Model.script[done]
        block = {"type": "tool_use", "id": f"toolu_{done}", "name": f"mcp__ctxfold__{tool}", "input": {}}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        given = json.dumps({"session": SESSION} | arguments)
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": given}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn" if over else "tool_use"}, "usage": usage}
    yield {"type": "message_stop"}


class Model(BaseHTTPRequestHandler):
    """The scripted model: what it asks for, and the longest list of tool results any request brought."""

    script: tuple[tuple[str, dict[str, Any]], ...] = ()
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
            stream = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in turn)
            self.answer("text/event-stream", stream)
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
    config, store = home / "mcp.json", home / "loop.db"
    server = {"command": ctxfold, "args": ["serve", "--caps", "core,browser", "--store", str(store)]}
    config.write_text(json.dumps({"mcpServers": {"ctxfold": server}}))
    environment = {
        "HOME": str(home), "PATH": "/usr/bin:/bin", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
    }  # fmt: skip
    options = ["--mcp-config", str(config), "--strict-mcp-config", "--allowedTools", "mcp__ctxfold"]
    command = [claude, "-p", "Get me to Paris.", *options]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    check(store)
    return done.stdout


def check(store: Path) -> None:
    """What the host sent the model, and what the store holds."""
    assert len(Model.seen) == len(Model.script), Model.seen
    asked = [f"{place} {tool}" for place, (tool, _) in enumerate(Model.script)]
    answers = dict(zip(asked, Model.seen, strict=True))
    assert "Trains to Paris" in answers["2 page_open"], answers
    assert "TGV 9299 | 84 EUR" in answers["3 page_read"], answers
    assert len(answers["2 page_open"]) < 4000
    assert "by-bus" in answers["6 switch_branch"], answers
    assert "TGV 9299" in answers["9 context"], answers
    assert "branch main" in answers["9 context"], answers
    with Session.open(SESSION, store=str(store), create=False) as session:
        assert session.goal == "Get to Paris."
        page = session.recall(REF).text
        assert 'cell "TGV 9299"' in page
        assert page[:9000] in answers["10 recall"], "the page's bytes were not given back exactly"
        assert next(event.kind for event in session.history()) == "voided"


def run_loop(claude: str, ctxfold: str, home: Path) -> str:
    """Run the host against the scripted model; what it printed."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server, Site(pages={"/": PAGE}) as site:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        Model.script = script(site.url)
        said = loop(claude, ctxfold, home, server.server_port)
        server.shutdown()
    return said
