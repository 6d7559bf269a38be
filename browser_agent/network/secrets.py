"""Keeps secrets: the placeholders a model writes, the values typed for them on their site, and their scrubbing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from browser_agent.network.egress import is_subdomain, origin_of, read_domain
from ctxfold.errors import InputError
from ctxfold.text.secrets import Copies, Copy, Readings

_PLACEHOLDER = re.compile(r"<secret:([A-Za-z][A-Za-z0-9_-]{0,63})>")
_LEAST = 4
_REST = "•"
"""Replaces the other parts of a value that was spread over several elements."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A value, its name, and the site it belongs to: a domain with its subdomains, and one port if the domain names it.

    Raises:
        InputError: a wrong name or domain, or a value so short that scrubbing it would hide ordinary text.
    """

    name: str
    value: str = field(repr=False)
    domain: str

    def __post_init__(self) -> None:
        if not _PLACEHOLDER.fullmatch(self.placeholder):
            raise InputError(f"{self.name!r} cannot name a secret; use letters, digits, - and _")
        if len(self.value) < _LEAST:
            raise InputError(
                f"the secret {self.name!r} is shorter than {_LEAST} characters; it cannot be kept out of sight"
            )
        try:
            read_domain(self.domain)
        except InputError as error:
            raise InputError(f"the secret {self.name!r} needs its domain, such as example.org") from error

    @property
    def placeholder(self) -> str:
        """The text that a model writes and reads for it."""
        return f"<secret:{self.name}>"

    def belongs_to(self, url: str) -> bool:
        """Return whether it may be typed into a page at `url`: over https or on this machine, at the port of its
        domain, or 443.

        On this machine servers get new ports each time, so a domain without one means any.
        """
        origin, (domain, port) = origin_of(url), read_domain(self.domain)
        if origin is None or not is_subdomain(origin[0], domain):
            return False
        local = _is_loopback(origin[0])
        if not local and urlsplit(url).scheme != "https":
            return False
        return origin[1] == port if port is not None else local or origin[1] == 443


@dataclass(frozen=True, slots=True)
class TypedSecret(Secret):
    """A text typed into a password field. It may be typed again where it was typed first: `domain` is that page's
    origin.
    """

    def __post_init__(self) -> None:
        """Any value may be typed."""

    def belongs_to(self, url: str) -> bool:
        """Return whether `url` is of the same origin."""
        return _name_origin(url) == self.domain


class Secrets:
    """The secrets of a run or of a host's session: given by a person, or typed into password fields."""

    def __init__(self, given: Iterable[Secret] = ()) -> None:
        self._known: dict[str, Secret] = {}
        self._copies: list[tuple[Secret, Copies]] = []
        for secret in given:
            self._add(secret)

    def __repr__(self) -> str:
        return f"Secrets({', '.join(self._known)})"

    @property
    def all(self) -> tuple[Secret, ...]:
        """All of them, the oldest first."""
        return tuple(self._known.values())

    @property
    def typed(self) -> tuple[str, ...]:
        """The values that were typed into password fields, the oldest first. A log may hold them from before."""
        return tuple(secret.value for secret in self.all if isinstance(secret, TypedSecret))

    def learn(self, text: str, url: str) -> Secret:
        """Return the secret of a text typed into a password field of a page at `url`: one that is known there, or a new
        one.

        Known placeholders in it count as their values.
        """
        value = _PLACEHOLDER.sub(
            lambda match: self._known[match[1]].value if match[1] in self._known else match[0], text
        )
        for secret in self.all:
            if secret.value == value and secret.belongs_to(url):
                return secret
        number = next(number for number in range(1, len(self._known) + 2) if f"typed-{number}" not in self._known)
        secret_ = TypedSecret(f"typed-{number}", value, _name_origin(url))
        self._add(secret_)
        return secret_

    def has_placeholder(self, text: str) -> bool:
        """Return whether `text` has a placeholder, known or not."""
        return _PLACEHOLDER.search(text) is not None

    def is_placeholder(self, text: str) -> bool:
        """Return whether `text` is a placeholder and nothing else."""
        return _PLACEHOLDER.fullmatch(text) is not None

    def list_named(self, text: str) -> tuple[Secret, ...]:
        """Return the secrets of the placeholders in `text`. Raises KeyError: no secret of a name, which is its
        argument.
        """
        return tuple(self._known[name] for name in dict.fromkeys(_PLACEHOLDER.findall(text)))

    def fill(self, text: str) -> str:
        """Return `text` with each placeholder replaced by its value. Only for typing."""
        return _PLACEHOLDER.sub(lambda match: self._known[match[1]].value, text)

    def scrub(self, text: str, between: re.Pattern[str] | None = None) -> str:
        """Replace every copy of every value, in part and in common encodings, by its placeholder.

        `between` matches what may separate two parts of a value that is spread out.
        """
        if not self._copies or not text:
            return text
        readings = Readings(text, between)
        hidden = [match.span() for match in _PLACEHOLDER.finditer(text) if match[1] in self._known]
        marks: list[_Mark] = []
        for secret, copies in self._copies:
            for copy in copies.find(readings):
                if not any(low <= copy.stretches[0][0] and copy.stretches[-1][1] <= high for low, high in hidden):
                    marks += _mark_copy(copy, secret.placeholder)
        return _replace(text, marks)

    def _add(self, secret: Secret) -> None:
        self._known[secret.name] = secret
        if len(secret.value) >= _LEAST:
            self._copies.append((secret, Copies(secret.value, parts=True)))


class _Mark(NamedTuple):
    """A stretch of a text, how sure it is a copy of a secret, and the word that replaces it."""

    start: int
    end: int
    sure: tuple[bool, int]
    word: str


def _mark_copy(copy: Copy, placeholder: str) -> list[_Mark]:
    """Return the stretches of one copy: the first gets the placeholder, the others a dot."""
    words = (placeholder, *[_REST] * (len(copy.stretches) - 1))
    return [
        _Mark(start, end, (copy.whole and word == placeholder, end - start), word)
        for (start, end), word in zip(copy.stretches, words, strict=True)
    ]


def _replace(text: str, marks: list[_Mark]) -> str:
    """Return `text` with each marked stretch replaced, those that overlap as one, by the word of the surest."""
    joined: list[_Mark] = []
    for mark in sorted(marks):
        last = joined[-1] if joined else None
        if last is not None and mark.start < last.end:
            surest = max(last, mark, key=lambda overlapping: overlapping.sure)
            joined[-1] = surest._replace(start=last.start, end=max(last.end, mark.end))
        else:
            joined.append(mark)
    pieces: list[str] = []
    end = 0
    for mark in joined:
        pieces += [text[end : mark.start], mark.word]
        end = mark.end
    return "".join([*pieces, text[end:]])


def _name_origin(url: str) -> str:
    """Return the scheme, host and port of an address; of one that is not on the web, such as
    `about:blank`, all of it.
    """
    origin = origin_of(url)
    return url if origin is None else f"{urlsplit(url).scheme}://{origin[0]}:{origin[1]}"


def _is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    with suppress(ValueError):
        return is_subdomain(host, "localhost") or ip_address(host).is_loopback
    return False
