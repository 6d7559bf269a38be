"""The wrapper before a server over HTTP."""

import json
import re
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from ctxfold.tokens import count
from tests.mcp_server.wrap import server
from tests.support.peer import Peer, text_of

ROOT = Path(__file__).parents[3]


class _Served(BaseHTTPRequestHandler):
    """Answers as the server on pipes does; `nonsense` with what is no JSON."""

    protocol_version = "HTTP/1.1"
    seen: ClassVar[list[dict[str, str | None]]] = []

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.seen.append({name: self.headers[name] for name in ("authorization", "mcp-protocol-version", "mcp-name")})
        body = b""
        if "id" in asked and asked["method"] == "nonsense":
            body = b"<html>not today"
        elif "id" in asked:
            body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": server.answer(asked, False)}).encode()
        self.send_response(200 if body else 202)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    served = ThreadingHTTPServer(("127.0.0.1", 0), _Served)
    thread = threading.Thread(target=served.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{served.server_address[1]}/mcp"
    served.shutdown()
    served.server_close()
    thread.join()


def wrapped(home: Path, url: str) -> Peer:
    command = [sys.executable, "-m", "ctxfold", "wrap", "--session", "far", "--url", url]
    command += ["--header", "Authorization=env:FAR_TOKEN"]
    return Peer(command, env={"CTXFOLD_HOME": str(home), "PYTHONPATH": str(ROOT), "FAR_TOKEN": "Bearer open"})


@pytest.fixture(scope="module")
def host(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    with wrapped(tmp_path_factory.mktemp("home"), url) as peer:
        peer.open()
        yield peer
        assert peer.close() == 0


def test_a_long_result_is_bounded_and_recalled(host: Peer) -> None:
    text = text_of(host.call("say", many=3000))
    found = re.match(r"\[(s\d+\.\d+)", text)
    assert found
    assert count(text) <= 2000
    part = host.call("recall", ref=found[1])["content"][1]["text"]
    assert bool(server.words(3000).startswith(part))


def test_headers_are_those_of_the_era_and_of_the_caller(host: Peer) -> None:
    host.call("say")
    assert _Served.seen[-1] == {"authorization": "Bearer open", "mcp-protocol-version": "2025-06-18", "mcp-name": None}
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    host.ask("tools/call", {"name": "say", "arguments": {}, "_meta": meta})
    assert _Served.seen[-1] == {"authorization": "Bearer open", "mcp-protocol-version": "2026-07-28", "mcp-name": "say"}


def test_no_line_makes_the_wrapper_deaf(host: Peer) -> None:
    for line in (b"", b"{", b"[]", b"7", b'"text"', b'{"id": 1}', b"\xff\xfe", b"[" * 100_000):
        host.write(line)
        if line:
            assert host.read()["error"]["code"] == -32700
    host.send({"jsonrpc": "2.0", "id": 1.5, "method": "ping"})
    assert host.read()["error"]["code"] == -32700
    host.send([{"jsonrpc": "2.0", "id": 901, "method": "ping"}])
    assert host.read()["error"]["code"] == -32700
    assert "error" in host.ask("nonsense")
    assert text_of(host.call("say", text="still here")) == "still here"


def test_an_address_where_nobody_is_is_an_error_that_says_so(tmp_path: Path) -> None:
    with wrapped(tmp_path, "http://127.0.0.1:9/mcp") as host:
        host.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert "cannot be reached" in host.read()["error"]["message"]
        assert host.process.wait(10) == 3
