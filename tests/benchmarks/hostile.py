"""What strangers try on the server over HTTP, each with what came of it, as a table: `python -m tests.benchmarks.hostile`.

A secret lies in one principal's session; no answer to anyone else may hold it. It ends with 1 when anything was let through.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from mcp_server.transport.http import LARGEST

ALICE, BOB = "a" * 32, "b" * 32
SECRET = "alice-keeps-1848"
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "stranger", "version": "1"}}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the status, and the text."""

    status: int
    text: str

    @property
    def failed(self) -> bool:
        """Whether it is refused, by HTTP or as the error of a call."""
        return self.status >= 400 or '"isError":true' in self.text or '"error":' in self.text


@contextmanager
def served(home: Path) -> Iterator[str]:
    """A server with two principals; its address."""
    tokens = home / "tokens"
    tokens.write_text(f"alice {ALICE}\nbob {BOB}\n")
    tokens.chmod(0o600)
    command = [
        sys.executable,
        "-m",
        "ctxfold",
        "serve",
        "--transport",
        "http",
        "--port",
        "0",
        "--token-file",
        str(tokens),
    ]
    environment = os.environ | {"CTXFOLD_HOME": str(home / "ctxfold")}
    with subprocess.Popen(
        [*command, "--caps", "core,browser"], stderr=subprocess.PIPE, text=True, env=environment
    ) as one:
        assert one.stderr is not None
        try:
            yield next(line.split()[-1] for line in one.stderr if line.startswith("ctxfold serves at"))
        finally:
            one.terminate()


def post(url: str, body: bytes | dict[str, Any], token: str | None = BOB, **headers: str) -> Answer:
    """Send one request."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    authority = {"authorization": f"Bearer {token}"} if token else {}
    answer = httpx2.post(url, content=content, headers=HEADERS | authority | headers, timeout=30)
    return Answer(answer.status_code, answer.text)


def call(server: str, tool: str, token: str = BOB, /, **arguments: Any) -> Answer:
    """Call one tool."""
    params = {"name": tool, "arguments": arguments}
    return post(server, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, token)


def attempts(url: str) -> Iterator[tuple[str, Answer]]:
    """Each thing tried, and what came back."""
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"):
        yield f"Host: {host}", post(url, hello, host=host)
    for origin in ("http://evil.example", "null", "http://127.0.0.1.evil.example"):
        yield f"Origin: {origin}", post(url, hello, origin=origin)
    for token in (None, "wrong" * 8, ALICE[:-1], f"{ALICE}x"):
        yield f"token: {'none' if token is None else f'{token[:6]}… ({len(token)})'}", post(url, hello, token)
    yield f"a body of {LARGEST + 1:,} bytes", post(url, b"x" * (LARGEST + 1))
    yield "a body that is no JSON", post(url, b"{{{")
    for name in (
        "../alice",
        "..\\alice",
        "/etc/passwd",
        "a\0b",
        "con",
        "CON",
        "nul.txt",
        "aux:",
        "a/b",
        "",
        "." * 3,
        "é",
        "x" * 65,
    ):
        if name != "con":  # a name like any other: sessions are rows, not files
            yield f"open session {name[:20]!r}", call(url, "open_session", session=name)
    yield "file of the server's machine", call(url, "record", session="bobs", file="/etc/passwd")
    for tool, arguments in (
        ("context", {}), ("recall", {"ref": "s1"}), ("recall", {"query": SECRET}), ("fold", {}), ("undo", {}), ("record", {"user": "hi"}),
        ("extract", {"need": SECRET}), ("plan", {}), ("page_read", {}), ("page_open", {"url": "http://127.0.0.1:9/"}),
    ):  # fmt: skip
        yield f"{tool} in another's session", call(url, tool, session="plans", **arguments)
    yield "browse in another's session", call(url, "browse", session="plans", task="x", start_url="http://127.0.0.1:9/")
    yield "browse_status of a run that is not his", call(url, "browse_status", run="plans-0123456789abcdef")
    for address in (
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://169.254.169.254/latest/meta-data/",
        "http://[fe80::1]/",
    ):
        yield f"page_open {address}", call(url, "page_open", session="bobs", url=address)
    uri = "ctxfold://sessions/plans/context"
    for read in (uri, "ctxfold://sessions/..%2f..%2fetc/context", "ctxfold://sessions/plans/steps/1"):
        body = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": read}}
        yield f"read {read[:44]}", post(url, body)


def main() -> int:
    """Print the table; 0 when nothing was let through and nothing leaked."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as url:
        assert not call(url, "open_session", ALICE, session="plans", goal=SECRET).failed
        assert not call(url, "record", ALICE, session="plans", user=SECRET).failed
        assert not call(url, "open_session", BOB, session="bobs").failed
        rows = list(attempts(url))
        assert SECRET in call(url, "context", ALICE, session="plans").text
    bad = 0
    for what, answer in rows:
        leaked = SECRET in answer.text and SECRET not in what
        good = (
            answer.failed
            and not leaked
            and "Traceback" not in answer.text
            and "Error executing tool" not in answer.text
        )
        bad += not good
        print(f"{'refused' if good else 'LET IN'}  {answer.status}  {what}")
    print(f"{len(rows)} attempts, {bad} let in or leaked")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
