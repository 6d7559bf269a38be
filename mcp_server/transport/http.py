"""Serves over Streamable HTTP: tokens, allowed hosts, limits on time and connections, signals.

On loopback anyone on the machine may connect; at any other address a token is needed. Host and Origin are checked in
both cases, so that no page in a browser reaches the server through a name of its own.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import math
import re
import socket
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

import anyio
import h11
import uvicorn
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from ctxfold.errors import InputError, Refused
from mcp_server.server import CtxfoldServer
from mcp_server.transport.stdio import end_soon, leave

LARGEST = 4 * 1024 * 1024
"""Bytes of one request."""
_MAX_SESSIONS = 2_000
"""Connections of protocols before 2026 that are open, each of about 40 kB. The SDK ends one after half an idle hour."""
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


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
    return server.streamable_http_app(
        max_request_body_size=LARGEST,
        max_sessions=_MAX_SESSIONS,
        transport_security=address.security,
        host=address.host,
    )


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

    max_connections = 256
    """Open connections. Each takes a file descriptor; many systems give a process 1,024, and stores need some."""
    request_seconds = 30.0
    """How long a client may take to send one request: its headers, then its body. A local one takes milliseconds."""
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Give the client its time for the first request. One connection too many drops the slowest."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self.request_seconds, transport.abort)
        if len(self.connections) > self.max_connections:
            peers = [peer for peer in self.connections if isinstance(peer, GuardedProtocol)]
            slowest = min(peers, key=lambda peer: peer._deadline.when() if peer._deadline else math.inf)
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

    def handle_exit(self, sig: int, _frame: FrameType | None) -> None:
        """Leave on a signal."""
        end_soon(128 + sig)
        self.should_exit = True


def _listen(address: ListenAddress) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        raise InputError(
            f"cannot listen at {address.host}, port {address.port} ({error.strerror}): "
            "choose another with --host or --port"
        ) from error


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    return False
