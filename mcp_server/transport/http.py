"""Serves over Streamable HTTP: tokens, allowed hosts, limits on time and connections, cancellation, signals.

On loopback anyone on the machine may connect; at any other address a token is needed. Host and Origin are checked in
both cases, so that no page in a browser reaches the server through a name of its own.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import json
import re
import secrets
import signal
import socket
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import anyio
import h11
import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, REQUEST_CANCELLED
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from ctxfold.errors import InputError, Refused
from mcp_server.server import CtxfoldServer
from mcp_server.transport.stdio import end_soon, leave

LARGEST = 4 * 1024 * 1024
"""Bytes of one request."""
MAX_CONNECTIONS = 256
"""Open connections. Each takes a file descriptor; many systems give a process 1,024, and stores need some."""
REQUEST_SECONDS = 30.0
"""How long a client may take to send one request: its headers, then its body. A local request takes milliseconds."""
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_SESSION_BYTES = 16
"""Random bytes of a session id: 128 bits cannot be guessed."""


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where the server listens.

    Attributes:
        port: 0 for any that is free.
        names: further host names that clients may use.
        open: whether clients need no token.
    """

    host: str
    port: int
    names: tuple[str, ...] = ()
    open: bool = True

    def __post_init__(self) -> None:
        if self.open and not _is_loopback(self.host):
            raise Refused(
                f"{self.host} can be reached from other machines, so a token is needed: "
                "give --token-file, or listen at 127.0.0.1"
            )
        if self.host in ("0.0.0.0", "::") and not self.names:
            raise InputError(f"{self.host} listens at every address: name those that clients use with --allow-host")

    @property
    def security(self) -> TransportSecuritySettings:
        """The Host and Origin headers that are accepted."""
        bracketed = f"[{self.host}]" if ":" in self.host else self.host
        hosts = [form for name in (*_LOOPBACK, bracketed, *self.names) for form in (name, f"{name}:*")]
        origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
        return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


_PRINCIPAL = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_MIN_TOKEN = 24
"""Characters of a token. 24 random ones cannot be guessed."""


@dataclass(frozen=True, slots=True)
class FileTokens:
    """Names by the digest of their token, so that a look-up takes the same time however much of a token is right."""

    names: Mapping[bytes, str | None]

    async def verify_token(self, token: str) -> AccessToken | None:
        """Who has this token; None for nobody."""
        digest = _hash_token(token)
        if digest not in self.names:
            return None
        name = self.names[digest]
        return AccessToken(token=token, client_id=name or "owner", subject=name, scopes=[])


def read_tokens(path: Path) -> FileTokens:
    """The tokens of a file.

    Raises:
        InputError: it cannot be read, is empty, or has a token that is too short or a name outside the pattern.
        Refused: others on this machine can read it.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        mode = path.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"{path} cannot be read ({why}): make a file with one token on a line") from error
    if sys.platform != "win32" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Refused(f"others can read {path}: run `chmod 600` on it first")
    names: dict[bytes, str | None] = {}
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            *given, token = line.split()
            if len(given) > 1 or len(token) < _MIN_TOKEN:
                raise InputError(
                    f"{path}, line {number}: write a token of at least {_MIN_TOKEN} characters, alone or after a name"
                )
            if given and not _PRINCIPAL.fullmatch(given[0]):
                raise InputError(f"{path}, line {number}: a name has lower-case letters, digits and hyphens")
            names[_hash_token(token)] = given[0] if given else None
    if not names:
        raise InputError(f"{path} has no token: put one on a line, at least {_MIN_TOKEN} random characters")
    return FileTokens(names)


def _hash_token(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def make_app(server: CtxfoldServer, address: ListenAddress) -> Starlette:
    """The server as an ASGI application: `/mcp`, and `/health`, which only answers that it is up."""
    server.custom_route("/health", methods=["GET"])(_answer_health)
    app = server.streamable_http_app(
        stateless_http=True, max_request_body_size=LARGEST, transport_security=address.security, host=address.host
    )
    # Last, so that it runs after the SDK has looked at the token.
    app.user_middleware.append(Middleware(CancellationMiddleware, max_body=LARGEST, needs_token=not address.open))
    return app


async def _answer_health(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


def run_http(server: CtxfoldServer, address: ListenAddress) -> NoReturn:
    """Serve until a signal asks to leave, then end the process. Raises InputError: the address cannot be used."""
    app = make_app(server, address)
    with _listen(address) as listener:
        config = uvicorn.Config(
            app,
            http=GuardedProtocol,
            ws="none",
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=1,
            server_header=False,
        )
        host, port = listener.getsockname()[:2]
        sys.stderr.write(f"ctxfold serves at http://{f'[{host}]' if ':' in host else host}:{port}/mcp\n")
        anyio.run(_HttpServer(config).serve, [listener])
    leave(0)


class GuardedProtocol(H11Protocol):
    """One connection. It is dropped if its client takes too long over a request, or is the slowest of too many."""

    max_connections = MAX_CONNECTIONS
    request_seconds = REQUEST_SECONDS
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Give the client its time for the first request. One connection too many drops the slowest."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self.request_seconds, transport.abort)
        if len(self.connections) > self.max_connections:
            slow = [one for one in self.connections if isinstance(one, GuardedProtocol) and one._deadline is not None]
            slowest = min(slow, key=lambda one: one._deadline.when() if one._deadline else 0.0)
            slowest._clear_deadline()
            slowest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Note whether the client still owes a part of its request."""
        super().data_received(data)
        is_sending = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if not is_sending:
            self._clear_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.request_seconds, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        self._clear_deadline()
        super().connection_lost(exc)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class _HttpServer(uvicorn.Server):
    """uvicorn's server, which leaves in time and doesn't raise the signal again."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._leave) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _leave(self, number: int, _frame: FrameType | None) -> None:
        end_soon(128 + number)
        self.should_exit = True


def _listen(address: ListenAddress) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address.host, address.port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise InputError(
            f"cannot listen at {address.host}, port {address.port} ({error.strerror}): "
            "choose another with --host or --port"
        ) from error
    return listener


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_CallKey = tuple[str, str, str]
"""The session, the credential it came with, and the call's id as JSON."""


class CancellationMiddleware:
    """Ends a call that its client cancels by `notifications/cancelled`, as protocols before 2026 do.

    The SDK serves each request on its own and so cannot match the two. A body above `max_body` bytes is passed on
    unread, and so is that of a client without a valid token where `needs_token` asks for one: the SDK refuses both.
    """

    def __init__(self, app: ASGIApp, max_body: int, needs_token: bool) -> None:
        self._app = app
        self._max_body = max_body
        self._needs_token = needs_token
        self._calls: dict[_CallKey, _HttpCall] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on. A call that is cancelled meanwhile ends as if its client had hung up."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        is_modern = version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS
        is_stranger = self._needs_token and not isinstance(scope.get("user"), AuthenticatedUser)
        if scope.get("method") != "POST" or is_modern or is_stranger:
            await self._app(scope, receive, send)
            return
        body = await _read_body(receive, self._max_body)
        request = _parse_request(body)
        session, credential = headers.get(MCP_SESSION_ID_HEADER, ""), headers.get("authorization", "")
        number = request.get("id")
        call = _HttpCall(body, receive, send, gives_session=request.get("method") == "initialize")
        key = (session, credential, json.dumps(number))
        if session and number is not None:
            self._calls[key] = call
        try:
            await self._app(scope, call.receive, call.send)
        finally:
            if self._calls.get(key) is call:
                del self._calls[key]
        if call.cancelled.is_set():
            await call.end_cancelled(number)
        match request:
            case {"method": "notifications/cancelled", "params": {"requestId": cancelled}} if call.status == 202:
                target = self._calls.get((session, credential, json.dumps(cancelled)))
                if target is not None:
                    target.cancelled.set()


class _HttpCall:
    """One request on its way through the application, and its answer so far."""

    def __init__(self, body: list[Message], receive: Receive, send: Send, *, gives_session: bool) -> None:
        self.cancelled = anyio.Event()
        self.status = 0
        self._body = body
        self._receive = receive
        self._send = send
        self._gives_session = gives_session
        self._ended = False

    async def receive(self) -> Message:
        """The next message of the client; a disconnection once the call is cancelled."""
        if self._body:
            return self._body.pop(0)
        received: Message = {"type": "http.disconnect"}
        async with anyio.create_task_group() as tasks:

            async def wait_for_client() -> None:
                nonlocal received
                received = await self._receive()
                tasks.cancel_scope.cancel()

            tasks.start_soon(wait_for_client)
            await self.cancelled.wait()
            tasks.cancel_scope.cancel()
        return received

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on. The answer to `initialize` gets a session id."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if self._gives_session and self.status == 200:
                MutableHeaders(scope=message)[MCP_SESSION_ID_HEADER] = secrets.token_hex(_SESSION_BYTES)
        elif message["type"] == "http.response.body":
            self._ended = not message.get("more_body", False)
        await self._send(message)

    async def end_cancelled(self, number: Any) -> None:
        """End the answer of a cancelled call with an error: its client may still wait."""
        if self.status and not self._ended:
            error = {"code": REQUEST_CANCELLED, "message": "Request cancelled"}
            data = json.dumps({"jsonrpc": "2.0", "id": number, "error": error})
            event = f"event: message\r\ndata: {data}\r\n\r\n".encode()
            await self._send({"type": "http.response.body", "body": event, "more_body": False})


async def _read_body(receive: Receive, most: int) -> list[Message]:
    """The messages of a request's body, to its end or until they hold more than `most` bytes."""
    messages: list[Message] = []
    size = 0
    while size <= most:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body", False):
            break
    return messages


def _parse_request(body: Sequence[Message]) -> dict[str, Any]:
    """The request in a body; an empty one for anything else."""
    try:
        request = json.loads(b"".join(message.get("body", b"") for message in body))
    except (ValueError, RecursionError):
        return {}
    return request if isinstance(request, dict) else {}
