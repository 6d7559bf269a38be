"""A host on the other end of a server's pipes: one process, JSON-RPC a line, nothing of any SDK."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LEGACY = "2025-06-18"


class Peer:
    """A started server. `lines` are all the lines it wrote so far; requests have the ids 1, 2, 3 …"""

    def __init__(self, command: Sequence[str], env: dict[str, str] | None = None, cwd: Path | None = None) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
            cwd=cwd,
        )
        self.lines: list[bytes] = []
        self.said = b""
        self.messages: list[dict[str, Any]] = []
        self._asked = 0
        self._hears = threading.Thread(target=self._hear, daemon=True)
        self._hears.start()

    def _hear(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said = (self.said + line)[-20_000:]

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, message: object) -> None:
        self.write(json.dumps(message).encode())

    def read(self) -> dict[str, Any]:
        """The next message; raises EOFError where the server is gone."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise EOFError(self.said.decode(errors="replace"))
        self.lines.append(line)
        message: dict[str, Any] = json.loads(line)
        self.messages.append(message)
        return message

    def ask(self, method: str, params: object = None) -> dict[str, Any]:
        """The answer to a request, as the whole message; what comes before it is kept in `messages`."""
        self._asked += 1
        self.send({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params or {}})
        while (answer := self.read()).get("id") != self._asked or "method" in answer:
            pass
        return answer

    def open(self) -> dict[str, Any]:
        """Shake hands as hosts of the 2025 protocol do."""
        info = {"name": "peer", "version": "1"}
        answer = self.ask("initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": info})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, name: str, **arguments: object) -> dict[str, Any]:
        """A tool's result."""
        answer = self.ask("tools/call", {"name": name, "arguments": arguments})
        if "error" in answer:
            raise AssertionError(str(answer["error"])[:300])
        result: dict[str, Any] = answer["result"]
        return result

    def close(self, seconds: float = 10) -> int:
        """Close the server's standard input and wait for its end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            return self.process.wait(seconds)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            assert self.process.stdout is not None
            assert self.process.stderr is not None
            self._hears.join(2)
            self.process.stdout.close()
            self.process.stderr.close()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_gone: object) -> None:
        if self.process.poll() is None or (self.process.stdout is not None and not self.process.stdout.closed):
            self.close()


def text_of(result: dict[str, Any]) -> str:
    """All text of a tool's result."""
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
