"""Decides which hosts the browser may connect to, by name and address, and lets it out through a filter proxy."""

from __future__ import annotations

import asyncio
import re
import socket
from collections import deque
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from socket import inet_aton, inet_ntoa
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from ctxfold.errors import InputError

Verdict = Literal["allowed", "domain", "private"]
"""Allowed, or why not: the domain is not on the list, or the address is not public."""

Origin = tuple[str, int]
"""A host and its port."""

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
"""Where clouds give a machine its secrets: its own link, and addresses of Amazon, Google, Alibaba, Oracle and Azure."""


@dataclass(frozen=True, slots=True)
class Egress:
    """Which hosts may be reached.

    Attributes:
        domains: only those and their subdomains (`example.org`, or `example.org:8443` for one port); if empty, every
            public host.
        origins: hosts and ports that were named outright, such as that of a start address. They may be private.
    """

    domains: tuple[Listed, ...] = ()
    origins: tuple[Origin, ...] = ()

    @classmethod
    def of(cls, allow: tuple[str, ...] = ()) -> Egress:
        """Return the rule for domains as a person gives them. Raises InputError: one is invalid."""
        return cls(domains=tuple(read_domain(text) for text in allow))

    def with_origin(self, url: str) -> Egress:
        """Return this rule, with the origin of `url` allowed, private or not. Raises InputError: not a web address."""
        origin = origin_of(url)
        if origin is None:
            raise InputError(f"{url!r} is not a web address; give http://host/ or https://host/")
        return self if origin in self.origins else replace(self, origins=(*self.origins, origin))

    def judge_name(self, host: str, port: int) -> Verdict:
        """Return whether a host may be asked for at all."""
        name = _plain(host)
        if (name, port) in self.origins or not self.domains:
            return "allowed"
        return "allowed" if is_listed(self.domains, name, port) else "domain"

    def judge_address(self, host: str, port: int, address: str) -> Verdict:
        """Return whether a host that may be asked for may be reached at an address it resolves to."""
        name = _plain(host)
        if is_link_local(address) and name != _plain(address):
            return "private"  # a name may lead anywhere, so the address itself must have been named
        if (name, port) in self.origins or is_public(address):
            return "allowed"
        is_listed_itself = any(name == domain and only in {None, port} for domain, only in self.domains)
        return "allowed" if is_listed_itself else "private"


def origin_of(url: str) -> Origin | None:
    """Return the host and port of a web address; None for anything else."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return None
    return _plain(parts.hostname), port


def check_start(url: str) -> None:
    """Check that a run can begin at an address. Raises InputError: not a web address; for a file, how to serve its
    folder.
    """
    if origin_of(url) is not None:
        return
    if url.lower().startswith("file:"):
        raise InputError(
            f"{url!r} is a file, and pages are opened over http only: run `python3 -m http.server --bind 127.0.0.1 "
            "8000` in its folder, and start from http://127.0.0.1:8000/"
        )
    raise InputError(f"{url!r} is not a web address; give one such as https://host/path")


def is_public(address: str) -> bool:
    """Return whether an IP address belongs to the open internet: not loopback, private, link-local, metadata or
    multicast.
    """
    ip = _read_address(address)
    return ip is not None and ip.is_global and not ip.is_multicast and not ip.is_reserved and not is_link_local(address)


def is_link_local(address: str) -> bool:
    """Return whether an IP address is link-local, or another where clouds keep a machine's secrets."""
    ip = _read_address(address)
    return ip is not None and any(ip in net for net in _OF_CLOUDS)


def _read_address(address: str) -> IPv4Address | IPv6Address | None:
    """Return an IP address, or the IPv4 address that an IPv6 address embeds; None for anything else."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if isinstance(ip, IPv6Address) and any(ip in net for net in _EMBEDDING) and int(ip) > 1:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return IPv4Address((int(ip) >> 80) & 0xFFFFFFFF) if ip in _SIX_TO_FOUR else ip


def read_domain(text: str) -> Listed:
    """Return a domain as a person gives it: a name, with or without a port, or an address. Raises InputError: not a
    domain.
    """
    bare = text.strip()
    wrong = InputError(f"{text!r} is not a domain to allow; give a name such as example.org")
    if "//" in bare:
        origin = origin_of(bare)
        if origin is None:
            raise wrong
        return origin
    try:
        parts = urlsplit(f"//{bare.removeprefix('*.')}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise wrong from error
    if not host or parts.path or set(host) & set(" *,;"):
        raise wrong
    return _plain(host), port


def is_listed(domains: tuple[Listed, ...], name: str, port: int) -> bool:
    """Return whether a host is one of `domains` or a subdomain of one."""
    return any(is_subdomain(name, domain) and only in {None, port} for domain, only in domains)


def is_subdomain(name: str, domain: str) -> bool:
    """Return whether a host is `domain` or below it."""
    return name == domain or name.endswith(f".{domain}")


def _plain(host: str) -> str:
    """Return a host name as it is compared: lower case ASCII without a final dot or brackets; an IP address in plain
    form.
    """
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
"""Marks an answer of this proxy; its value is the reason."""

_HEAD_BYTES = 65_536
_CONNECT_SECONDS = 8.0
"""Seconds in which a name must resolve, and an address must connect."""
_CHUNK = 65_536
_REMEMBERED = 500
_HOP_BY_HOP = frozenset({b"connection", b"proxy-connection", b"keep-alive", b"proxy-authorization"})


@dataclass(frozen=True)
class EgressRefusal:
    """A connection that was refused, or that no address of the host answers. The host comes from the page: it is
    data.
    """

    host: str
    port: int
    reason: Literal["domain", "private", "unreachable"]


class _Head(NamedTuple):
    """The head of one request, without its HTTP version."""

    method: str
    target: str
    headers: list[bytes]


class FilterProxy:
    """Lets the browser out where `rule` allows. `refusals` holds the latest connections that were not let out."""

    _server: asyncio.Server

    def __init__(self, rule: Egress) -> None:
        self.rule = rule
        self.refusals: deque[EgressRefusal] = deque(maxlen=_REMEMBERED)
        self._open: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        """Where the browser finds it."""
        port = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    async def start(self) -> None:
        """Listen on a free port of loopback."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_HEAD_BYTES)

    def permit(self, url: str) -> None:
        """Allow the origin of `url`, such as that of a start address. Raises InputError: not a web address."""
        self.rule = self.rule.with_origin(url)

    async def close(self) -> None:
        """Stop listening and drop every connection."""
        self._server.close()
        for task in tuple(self._open):
            task.cancel()
        if self._open:
            await asyncio.wait(tuple(self._open), timeout=1.0)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._server.wait_closed(), 1.0)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection in a task of ours: asyncio would report one that `close` cancels as a failure."""
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one request of the browser: connect to its host and pass bytes on, or refuse it."""
        faults = (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError)
        with closing(writer), suppress(*faults):  # the browser went away, or sent something else: nobody waits
            head = _parse(await reader.readuntil(b"\r\n\r\n"))
            far = await self._connect(*_find_destination(head))
            if isinstance(far, EgressRefusal):
                self.refusals.append(far)
                writer.write(_respond(far))
                await writer.drain()
                return
            with closing(far[1]):
                if head.method == "CONNECT":
                    writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                    await writer.drain()
                else:
                    far[1].write(_forward(head))
                await _relay((reader, writer), far)

    async def _connect(self, host: str, port: int) -> _End | EgressRefusal:
        """Connect to the host at an address that was judged, or say why not."""
        if self.rule.judge_name(host, port) != "allowed":
            return EgressRefusal(host, port, "domain")
        addresses = await _resolve(host, port)
        allowed = [address for address in addresses if self.rule.judge_address(host, port, address) == "allowed"]
        for address in allowed:
            with suppress(OSError, TimeoutError):
                return await asyncio.wait_for(asyncio.open_connection(address, port), _CONNECT_SECONDS)
        return EgressRefusal(host, port, "private" if addresses and not allowed else "unreachable")


async def _resolve(host: str, port: int) -> tuple[str, ...]:
    """Return the addresses of a host name; none if it has none or does not resolve in time."""
    loop = asyncio.get_running_loop()
    with suppress(OSError, TimeoutError, UnicodeError):
        entries = await asyncio.wait_for(loop.getaddrinfo(host, port, type=socket.SOCK_STREAM), _CONNECT_SECONDS)
        return tuple(dict.fromkeys(str(entry[4][0]) for entry in entries))
    return ()


def _parse(raw: bytes) -> _Head:
    """Return the head of a request. Raises ValueError: not a request."""
    first, *headers = raw[:-4].split(b"\r\n")
    method, target, _version = first.decode("latin-1").split(" ")
    return _Head(method, target, headers)


def _find_destination(head: _Head) -> tuple[str, int]:
    """Return the host and port a request is for. Raises ValueError: it names none."""
    parts = urlsplit(f"//{head.target}" if head.method == "CONNECT" else head.target)
    if not parts.hostname or (head.method != "CONNECT" and parts.scheme != "http"):
        raise ValueError("no destination")
    return parts.hostname, parts.port or (443 if head.method == "CONNECT" else 80)


def _forward(head: _Head) -> bytes:
    """Return the request as the server gets it, alone on its connection."""
    parts = urlsplit(head.target)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    fields = [line for line in head.headers if line.partition(b":")[0].strip().lower() not in _HOP_BY_HOP]
    request = f"{head.method} {path} HTTP/1.1".encode("latin-1")
    return b"\r\n".join([request, *fields, b"Connection: close", b"", b""])


def _respond(refusal: EgressRefusal) -> bytes:
    """Return the answer to a request that is not passed on."""
    body = "<!doctype html>"  # nothing to be read, and still no reason for the browser to show a page of its own
    return (
        f"HTTP/1.1 {502 if refusal.reason == 'unreachable' else 403} Not connected\r\n"
        f"{REFUSED_HEADER}: {refusal.reason}\r\nContent-Type: text/html\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
    ).encode()


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
    """Copy bytes from one end to the other until the stream ends."""
    with suppress(OSError):  # one end hung up: the end of its stream tells the other
        while data := await source.read(_CHUNK):
            target.write(data)
            await target.drain()
        if target.can_write_eof():
            target.write_eof()
