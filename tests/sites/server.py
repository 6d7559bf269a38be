"""Serves a folder of pages on loopback, and answers a few paths no folder can: slow ones, errors, redirects, forms, files.

==================  ==============================================================================
``/slow?s=2``       answers after so many seconds
``/status?code=n``  an error page with that status
``/to?url=…``       a redirect
``/again?url=…``    a redirect that keeps the method
``/echo``           a page that says what a form sent, field by field, in ``name=value`` lines
``/file?name=…``    a download of 12 bytes under that name
``/headers?s=2``    says at once that a page comes, and sends it after so many seconds
``/silent``         accepts, and never answers
``/held``           answers once `released` is set
==================  ==============================================================================
"""

from __future__ import annotations

import threading
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import guess_type
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import parse_qsl, urlsplit

LAB = Path(__file__).parent / "lab"
"""Pages with every kind of control, and every trap."""


class Site:
    """A folder of pages, and pages given as text, on a loopback port until closed.

    `seen` lists the path and query of every request, in order of arrival; `sent` the method and path of those that are no GET.
    """

    def __init__(self, folder: Path | None = None, pages: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.pages = dict(pages or {})
        self.seen: list[str] = []
        self.sent: list[tuple[str, str]] = []
        self.closing = threading.Event()
        self.released = threading.Event()
        site = self

        class Handler(_Handler):
            owner = site

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Its origin, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        """Stop listening, and let go whoever waits for an answer."""
        self.closing.set()
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Handler(BaseHTTPRequestHandler):
    owner: Site
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer("")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode())

    def do_PUT(self) -> None:
        self.do_POST()

    def do_DELETE(self) -> None:
        self.do_POST()

    def do_PATCH(self) -> None:
        self.do_POST()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: a test that fails shows `seen`."""

    def _answer(self, body: str) -> None:
        self.owner.seen.append(self.path)
        if self.command != "GET":
            self.owner.sent.append((self.command, self.path))
        parts = urlsplit(self.path)
        asked = dict(parse_qsl(parts.query, keep_blank_values=True))
        match parts.path:
            case "/slow":
                self.owner.closing.wait(float(asked.get("s", "1")))
                self._page("<title>Slow</title><p>It came.</p>")
            case "/headers":
                text = b"<title>Late</title><p>It came."
                self._send(200, b"", "text/html", {}, len(text))
                self.wfile.flush()
                self.owner.closing.wait(float(asked.get("s", "1")))
                self.wfile.write(text)
            case "/held":
                self.owner.released.wait()
                self._page("<title>Held</title><p>It came.</p>")
            case "/silent":
                self.owner.closing.wait(60)
            case "/status":
                self._page("<title>Error</title><p>No such thing.</p>", int(asked["code"]))
            case "/to":
                self._send(302, b"", "text/plain", {"Location": asked["url"]})
            case "/again":
                self._send(307, b"", "text/plain", {"Location": asked["url"]})
            case "/echo":
                sent = [*parse_qsl(parts.query, keep_blank_values=True), *parse_qsl(body, keep_blank_values=True)]
                lines = "".join(f"<p>{escape(f'{name}={value}')}</p>" for name, value in sent)
                self._page(f"<title>Echo</title><h1>Received</h1>{lines}")
            case "/file":
                headers = {"Content-Disposition": f'attachment; filename="{asked["name"]}"'}
                self._send(200, b"twelve bytes", "application/octet-stream", headers)
            case path:
                self._stored(path)

    def _stored(self, path: str) -> None:
        if path in self.owner.pages:
            self._page(self.owner.pages[path])
            return
        folder = self.owner.folder
        file = folder / path.lstrip("/") if folder is not None and ".." not in path else None
        if file is not None and file.is_dir():
            file = file / "index.html"
        if file is None or not file.is_file():
            self._page("<title>Not found</title><p>No such page.</p>", 404)
            return
        self._send(200, file.read_bytes(), guess_type(file.name)[0] or "application/octet-stream", {})

    def _page(self, text: str, status: int = 200) -> None:
        if urlsplit(self.path).path.endswith(".js"):
            self._send(status, text.encode(), "text/javascript; charset=utf-8", {})
            return
        page = text if "<html" in text else f"<!doctype html><html lang=en><meta charset=utf-8>{text}"
        self._send(status, page.encode(), "text/html; charset=utf-8", {})

    def _send(self, status: int, body: bytes, kind: str, headers: dict[str, str], length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
