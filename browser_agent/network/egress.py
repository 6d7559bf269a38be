"""The rule for which hosts the browser may connect to: first the name is judged, then each address that it resolves to."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from socket import inet_aton, inet_ntoa
from typing import Literal
from urllib.parse import urlsplit

from ctxfold.errors import InputError

Verdict = Literal["allowed", "domain", "private"]
"""Allowed, or why not: the domain is not on the list, or the address is not a public one."""

Listed = tuple[str, int | None]
"""A domain that was listed, with one port or all of them."""

_NUMBERS = re.compile(r"(0x[0-9a-f]*|\d+)(\.(0x[0-9a-f]*|\d+)){0,3}")
"""The spellings that browsers take for an IPv4 address: one to four numbers, each decimal, octal or hexadecimal."""

_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_EMBEDDING = tuple(ip_network(net) for net in ("64:ff9b::/96", "::ffff:0:0/96", "::/96"))
_SIX_TO_FOUR = ip_network("2002::/16")
_OF_CLOUDS = tuple(
    ip_network(net)
    for net in (
        "169.254.0.0/16", "fe80::/10", "fd00:ec2::/32", "fd20:ce::/64",
        "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32",
    )
)  # fmt: skip
"""Where clouds tell a machine its secrets: its own link, and addresses of Amazon, Google, Alibaba, Oracle and Azure elsewhere."""


@dataclass(frozen=True, slots=True)
class Egress:
    """Which hosts may be reached.

    `domains`: with some given, only those and their subdomains (`example.org`, or `example.org:8443` for one port); with
    none, every public host. `origins`: hosts and ports that were named outright, such as that of a start address: they
    may be private.
    """

    domains: tuple[Listed, ...] = ()
    origins: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, allow: tuple[str, ...] = (), start_url: str | None = None) -> Egress:
        """The rule for domains as a person gives them, and the address a run starts from. Raises InputError: a domain that is none, or an address that is not http or https."""
        rule = cls(domains=tuple(read_domain(text) for text in allow))
        return rule if start_url is None else rule.with_origin(start_url)

    def with_origin(self, url: str) -> Egress:
        """This rule, with the origin of `url` allowed too, private or not. Raises InputError: `url` is not a web address."""
        origin = origin_of(url)
        if origin is None:
            raise InputError(f"{url!r} is no web address; give http://host/ or https://host/")
        return self if origin in self.origins else replace(self, origins=(*self.origins, origin))

    def judge_name(self, host: str, port: int) -> Verdict:
        """Whether a host may be asked for at all."""
        name = _plain(host)
        if (name, port) in self.origins or not self.domains:
            return "allowed"
        return "allowed" if is_listed(self.domains, name, port) else "domain"

    def judge_address(self, host: str, port: int, address: str) -> Verdict:
        """Whether a host that may be asked for may be reached at an address it resolves to."""
        name = _plain(host)
        if is_link_local(address) and name != _plain(address):
            return "private"  # a name may lead anywhere, so the address itself must have been named
        if (name, port) in self.origins or is_public(address):
            return "allowed"
        return "allowed" if self._is_listed(name, port) else "private"

    def _is_listed(self, name: str, port: int) -> bool:
        """Whether this very host was listed: then it is wanted, wherever it is."""
        return any(name == domain and only in {None, port} for domain, only in self.domains)


def origin_of(url: str) -> tuple[str, int] | None:
    """The host and port of a web address, None for anything else."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return None
    return _plain(parts.hostname), port


def check_start(url: str) -> None:
    """Make sure that a run can begin at an address, before anything is begun. Raises InputError: it is no web address; of a file, how its folder is served."""
    if origin_of(url) is not None:
        return
    if url.lower().startswith("file:"):
        raise InputError(
            f"{url!r} is a file, and pages are opened over http alone: run `python3 -m http.server --bind 127.0.0.1 8000` in its folder, "
            "and start from http://127.0.0.1:8000/"
        )
    raise InputError(f"{url!r} is no web address; give one such as https://host/path")


def is_public(address: str) -> bool:
    """Whether an IP address is one of the open internet: not loopback, private, link-local, metadata or multicast."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    inner = _inner(ip)
    return inner.is_global and not inner.is_multicast and not inner.is_reserved and not is_link_local(address)


def is_link_local(address: str) -> bool:
    """Whether an IP address is of this machine's own link, or another where clouds keep a machine's secrets."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return any(_inner(ip) in net for net in _OF_CLOUDS)


def _inner(ip: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address an IPv6 address stands for, if it does."""
    if isinstance(ip, IPv4Address):
        return ip
    if any(ip in net for net in _EMBEDDING) and int(ip) > 1:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    if ip in _SIX_TO_FOUR:
        return IPv4Address((int(ip) >> 80) & 0xFFFFFFFF)
    return ip


def read_domain(text: str) -> Listed:
    """A domain as a person gives it: a name, a name with a port, or a whole address. Raises InputError: it is none."""
    bare = text.strip()
    if "//" in bare:
        origin = origin_of(bare)
        if origin is None:
            raise InputError(f"{text!r} is no domain to allow; give a name such as example.org")
        return origin
    try:
        parts = urlsplit(f"//{bare.removeprefix('*.')}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InputError(f"{text!r} is no domain to allow; give a name such as example.org") from error
    if not host or parts.path or set(host) & set(" *,;"):
        raise InputError(f"{text!r} is no domain to allow; give a name such as example.org")
    return _plain(host), port


def is_listed(domains: tuple[Listed, ...], name: str, port: int) -> bool:
    """Whether a host is one of `domains` or a subdomain of one."""
    return any(_is_subdomain(name, domain) and only in {None, port} for domain, only in domains)


def _is_subdomain(name: str, domain: str) -> bool:
    return name == domain or name.endswith(f".{domain}")


def _plain(host: str) -> str:
    """A host name as it is compared: lower case, without a final dot or brackets, in its ASCII form; an IP address in its one plain form."""
    name = host.strip("[]").rstrip(".").lower()
    with suppress(UnicodeError):
        name = name.encode("idna").decode() if not name.isascii() else name
    if _NUMBERS.fullmatch(name):
        with suppress(OSError):  # a number too large for an address: no host has that name either
            return inet_ntoa(inet_aton(name))
    with suppress(ValueError):
        return str(ip_address(name.partition("%")[0]))
    return name


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
    """Lets the browser out where `rule` allows. `refusals` holds the latest connections that were not let out."""

    def __init__(self, rule: Egress) -> None:
        self.rule = rule
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
