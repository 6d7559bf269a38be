"""Serves over Streamable HTTP, stateless: where it listens, whom it lets in, when it ends.

On loopback anyone on the machine may come in; at any other address a token is needed. Host and Origin are checked in both cases, so that no page in a
browser can reach it through a name of its own.
"""

from __future__ import annotations

import ipaddress
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import NoReturn

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ctxfold.errors import InputError, Refused
from mcp_server.server import CtxfoldServer
from mcp_server.transport.stdio import CancellationMiddleware, end_soon, leave

__all__ = ["Address", "make_app", "run_http"]

LARGEST = 4 * 1024 * 1024
"""Most bytes of one request."""

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server is found: its port (0 for any that is free), further names its clients may call it by, and whether it is `open` without a token."""

    host: str
    port: int
    names: tuple[str, ...] = ()
    open: bool = True

    def __post_init__(self) -> None:
        if self.open and not _is_loopback(self.host):
            raise Refused(
                f"{self.host} can be reached from other machines, so a token is needed: give --token-file, or listen at 127.0.0.1"
            )
        if self.host in ("0.0.0.0", "::") and not self.names:
            raise InputError(f"{self.host} listens at every address: name those that clients use with --allow-host")

    @property
    def security(self) -> TransportSecuritySettings:
        """The Host and Origin headers it answers to."""
        bracketed = f"[{self.host}]" if ":" in self.host else self.host
        names = (*_LOOPBACK, bracketed, *self.names)
        hosts = [form for name in names for form in (name, f"{name}:*")]
        return TransportSecuritySettings(
            allowed_hosts=hosts,
            allowed_origins=[f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts],
        )


def make_app(server: CtxfoldServer, address: Address) -> Starlette:
    """The server as an ASGI application: `/mcp`, and `/health` which says only that it is up."""
    server.custom_route("/health", methods=["GET"])(_health)
    app = server.streamable_http_app(
        stateless_http=True, max_request_body_size=LARGEST, transport_security=address.security, host=address.host
    )
    app.add_middleware(CancellationMiddleware, largest=LARGEST)
    return app


async def _health(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


def run_http(server: CtxfoldServer, address: Address) -> NoReturn:
    """Serve until a signal asks it to leave, then end the process. Raises InputError: the address cannot be listened at."""
    app = make_app(server, address)
    with _listen(address) as listener:
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, timeout_graceful_shutdown=1, server_header=False
        )
        here = listener.getsockname()
        sys.stderr.write(f"ctxfold serves at http://{f'[{here[0]}]' if ':' in here[0] else here[0]}:{here[1]}/mcp\n")
        anyio.run(_Listener(config).serve, [listener])
    leave(0)


class _Listener(uvicorn.Server):
    """uvicorn's server, with our way of leaving: in time, and without raising the signal again."""

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


def _listen(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address.host, address.port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise InputError(
            f"cannot listen at {address.host}, port {address.port} ({error.strerror}): choose another with --host or --port"
        ) from error
    return listener


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
