"""A proxy on loopback through which all of the browser's connections go, and which connects to allowed addresses only."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from browser_agent.network.egress import Egress, Verdict

REFUSED_HEADER = "X-Ctxfold-Refused"
"""Marks an answer that came from here and not from a server; its value is the reason."""

_HEAD_BYTES = 65_536
_CONNECT_SECONDS = 8.0
_CHUNK = 65_536
_REMEMBERED = 500
_HOP_BY_HOP = frozenset({"connection", "proxy-connection", "keep-alive", "proxy-authorization"})


@dataclass(frozen=True, slots=True)
class Refusal:
    """A connection that was refused. The host is what the page asked for, so it is data."""

    host: str
    port: int
    reason: Verdict


class _Refused(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


class _Unreachable(Exception):
    """No address of the host answers."""


@dataclass(frozen=True, slots=True)
class _Head:
    """The head of one request: its first line in parts, and its header lines."""

    method: str
    target: str
    version: str
    headers: tuple[bytes, ...]


class FilterProxy:
    """Lets the browser out where `rule` allows. `refusals` holds the latest that were not let out, `refused` their number."""

    def __init__(self, rule: Egress) -> None:
        self.rule = rule
        self.refused = 0
        self.refusals: deque[Refusal] = deque(maxlen=_REMEMBERED)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        """Where the browser finds it."""
        if self._server is None:
            raise RuntimeError("the proxy has not been started")
        port = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    async def start(self) -> None:
        """Listen on a free port of loopback."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_HEAD_BYTES)

    def permit(self, url: str) -> None:
        """Allow the origin of `url`, such as that of a start address. Raises InputError: it is no web address."""
        self.rule = self.rule.with_origin(url)

    async def close(self) -> None:
        """Stop listening and drop every connection."""
        if self._server is not None:
            self._server.close()
        for task in tuple(self._open):
            task.cancel()
        if self._open:
            await asyncio.wait(tuple(self._open), timeout=1.0)
        if self._server is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._server.wait_closed(), 1.0)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection in a task of our own: the streams would report one that `close` cancels as a failure."""
        task = asyncio.get_running_loop().create_task(self._serve_safely(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _serve_safely(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass  # the browser went away, or sent what is no request: nobody is there to be told
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = _parse(await reader.readuntil(b"\r\n\r\n"))
        host, port = _destination(head)
        try:
            upstream = await self._connect(host, port)
        except _Refused as refused:
            self.refused += 1
            self.refusals.append(refused.refusal)
            writer.write(_respond(403, refused.refusal.reason))
            await writer.drain()
            return
        except _Unreachable:
            writer.write(_respond(502, "unreachable"))
            await writer.drain()
            return
        try:
            if head.method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                await writer.drain()
            else:
                upstream[1].write(_forward(head))
            await _relay((reader, writer), upstream)
        finally:
            upstream[1].close()

    async def _connect(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the host, at an address that was judged. Raises _Refused: the rule does not let it; _Unreachable: nothing answers."""
        verdict = self.rule.judge_name(host, port)
        if verdict != "allowed":
            raise _Refused(Refusal(host, port, verdict))
        addresses = await _resolve(host, port)
        judged = {address: self.rule.judge_address(host, port, address) for address in addresses}
        allowed = [address for address, verdict in judged.items() if verdict == "allowed"]
        if addresses and not allowed:
            raise _Refused(Refusal(host, port, "private"))
        for address in allowed:
            with contextlib.suppress(OSError, TimeoutError):
                return await asyncio.wait_for(asyncio.open_connection(address, port), _CONNECT_SECONDS)
        raise _Unreachable


async def _resolve(host: str, port: int) -> tuple[str, ...]:
    loop = asyncio.get_running_loop()
    try:
        found = await asyncio.wait_for(loop.getaddrinfo(host, port, type=socket.SOCK_STREAM), _CONNECT_SECONDS)
    except (OSError, TimeoutError, UnicodeError):
        return ()
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def _parse(raw: bytes) -> _Head:
    """The head of a request. Raises ValueError: it is none."""
    first, *headers = raw[:-4].split(b"\r\n")
    method, target, version = first.decode("latin-1").split(" ")
    return _Head(method, target, version, tuple(headers))


def _destination(head: _Head) -> tuple[str, int]:
    """Where a request wants to go. Raises ValueError: it names no place."""
    parts = urlsplit(f"//{head.target}" if head.method == "CONNECT" else head.target)
    if not parts.hostname or (head.method != "CONNECT" and parts.scheme != "http"):
        raise ValueError("no destination")
    return parts.hostname, parts.port or (443 if head.method == "CONNECT" else 80)


def _forward(head: _Head) -> bytes:
    """The request as the server gets it: for its own path, one on this connection."""
    parts = urlsplit(head.target)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept = [
        line for line in head.headers if line.partition(b":")[0].strip().lower().decode("latin-1") not in _HOP_BY_HOP
    ]
    lines: Iterable[bytes] = (f"{head.method} {path} HTTP/1.1".encode("latin-1"), *kept, b"Connection: close", b"", b"")
    return b"\r\n".join(lines)


def _respond(status: int, reason: str) -> bytes:
    body = b"<!doctype html>"  # nothing to be read, and still no reason for the browser to show a page of its own
    return (
        f"HTTP/1.1 {status} Not connected\r\n{REFUSED_HEADER}: {reason}\r\nContent-Type: text/html\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    ).encode() + body


_End = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _relay(near: _End, far: _End) -> None:
    """Pass bytes in both directions until the far end, or both ends, are done."""
    up = asyncio.ensure_future(_pass_on(near[0], far[1]))
    down = asyncio.ensure_future(_pass_on(far[0], near[1]))
    try:
        await down
    finally:
        up.cancel()
        await asyncio.wait({up})


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):  # one end hung up: the other is told by the end of its stream
        while data := await source.read(_CHUNK):
            target.write(data)
            await target.drain()
        if target.can_write_eof():
            target.write_eof()
