"""An HTTP server on loopback for the doubles of models' APIs: it owns the wire, and whoever inherits it says what to answer."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

__all__ = ["Loopback", "Sent"]

Sent = tuple[int, Mapping[str, str], bytes]
"""Status, headers and body."""


class Loopback(ABC):
    """A server on 127.0.0.1, running while the `with` block does."""

    def __init__(self) -> None:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def origin(self) -> str:
        """Where it is, without a slash at the end."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @abstractmethod
    def serve(self, path: str, headers: Mapping[str, str], raw: bytes) -> Sent:
        """What to send for a POST. The headers' names are in small letters."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def _handler(server: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", "0")))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, sent, body = server.serve(self.path.partition("?")[0], headers, raw)
            self.send_response(status)
            for name, value in {**sent, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            """What was asked is kept by whoever serves it."""

    return Handler
