"""The rule for which hosts the browser may connect to: first the name is judged, then each address that it resolves to."""

from __future__ import annotations

import re
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
