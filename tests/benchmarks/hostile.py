"""What strangers try on the server over HTTP: `python -m tests.benchmarks.hostile`.

One principal's session holds a secret; no answer to anybody else may hold it, and every attempt must be refused.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import httpx2

from mcp_server.transport.http import LARGEST
from tests.benchmarks.shared.harness import Bars, make_parser, temporary_home
from tests.mcp_server.transport.test_http import Served

ALICE, BOB = "a" * 32, "b" * 32
SECRET = "alice-keeps-1848"
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "stranger", "version": "1"}}
HOSTS = ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80")
ORIGINS = ("http://evil.example", "null", "http://127.0.0.1.evil.example")
NAMES = ("../alice", "..\\alice", "/etc/passwd", "a\0b", "CON", "nul.txt", "aux:", "a/b", "", "." * 3, "é", "x" * 65)
PAGE = "http://127.0.0.1:9/"
CALLS: list[tuple[str, dict[str, str]]] = [(tool, {}) for tool in ("context", "fold", "undo", "plan", "page_read")]
CALLS += [("recall", {"ref": "s1"}), ("recall", {"query": SECRET}), ("record", {"user": "hi"})]
CALLS += [("extract", {"need": SECRET}), ("page_open", {"url": PAGE}), ("browse", {"task": "x", "start_url": PAGE})]
ADDRESSES = ("file:///etc/passwd", "javascript:alert(1)", "http://169.254.169.254/latest/", "http://[fe80::1]/")
RESOURCES = ("plans/context", "..%2f..%2fetc/context", "plans/steps/1")


def post(url: str, body: bytes, token: str | None = BOB, **headers: str) -> httpx2.Response:
    """Send one request."""
    authority = {"authorization": f"Bearer {token}"} if token else {}
    return httpx2.post(url, content=body, headers=HEADERS | authority | headers, timeout=30)


def ask(url: str, method: str, params: dict[str, Any], token: str | None = BOB, **headers: str) -> httpx2.Response:
    """Send one JSON-RPC request."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    return post(url, body.encode(), token, **headers)


def call(url: str, tool: str, token: str = BOB, /, **arguments: Any) -> httpx2.Response:
    """Call one tool."""
    return ask(url, "tools/call", {"name": tool, "arguments": arguments}, token)


def make_attempts(url: str) -> Iterator[tuple[str, httpx2.Response]]:
    """Yield each attempt and its answer."""
    for host in HOSTS:
        yield f"Host: {host}", ask(url, "initialize", CLIENT, host=host)
    for origin in ORIGINS:
        yield f"Origin: {origin}", ask(url, "initialize", CLIENT, origin=origin)
    for token in (None, "wrong" * 8, ALICE[:-1], f"{ALICE}x"):
        yield f"token: {token and f'{token[:6]}… ({len(token)})'}", ask(url, "initialize", CLIENT, token)
    yield f"a body of {LARGEST + 1:,} bytes", post(url, b"x" * (LARGEST + 1))
    yield "a body that is no JSON", post(url, b"{{{")
    for name in NAMES:
        yield f"open session {name[:20]!r}", call(url, "open_session", session=name)
    yield "file of the server's machine", call(url, "record", session="bobs", file="/etc/passwd")
    for tool, arguments in CALLS:
        yield f"{tool} in another's session", call(url, tool, session="plans", **arguments)
    yield "browse_status of another's run", call(url, "browse_status", run="plans-0123456789abcdef")
    for address in ADDRESSES:
        yield f"page_open {address}", call(url, "page_open", session="bobs", url=address)
    for resource in RESOURCES:
        yield f"read {resource}", ask(url, "resources/read", {"uri": f"ctxfold://sessions/{resource}"})


def main() -> int:
    """Print the table."""
    make_parser("hostile", __doc__).parse_args()
    bars = Bars()
    attempts: list[tuple[str, httpx2.Response]] = []
    with temporary_home() as home:
        tokens = home / "tokens"
        tokens.write_text(f"alice {ALICE}\nbob {BOB}\n")
        tokens.chmod(0o600)
        server = Served("--token-file", str(tokens), "--caps", "core,browser")
        try:
            call(server.url, "open_session", ALICE, session="plans", goal=SECRET)
            call(server.url, "open_session", BOB, session="bobs")
            attempts += make_attempts(server.url)
            context = call(server.url, "context", ALICE, session="plans").text
            bars.require(SECRET in context, "the owner's context lost the secret")
        finally:
            server.end()
    for what, answer in attempts:
        refused = answer.status_code >= 400 or '"isError":true' in answer.text or '"error":' in answer.text
        words = ("Traceback", "Error executing tool", *([] if SECRET in what else [SECRET]))
        good = bars.require(refused and not any(word in answer.text for word in words), f"{what} was let in or leaked")
        print(f"{'refused' if good else 'LET IN'}  {answer.status_code}  {what}")
    print(f"{len(attempts)} attempts, {len(bars.missed)} let in or leaked")
    return bars.finish()


if __name__ == "__main__":
    sys.exit(main())
