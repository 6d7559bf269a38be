"""Secrets: the placeholders a model writes, the values typed for them on their own site, and their masking in everything that is read or written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from ctxfold.errors import InputError
from ctxfold.text.secrets import Copies, Copy, Readings

__all__ = ["Secret", "Secrets", "TypedSecret"]

_PLACEHOLDER = re.compile(r"<secret:([A-Za-z][A-Za-z0-9_-]{0,63})>")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_LEAST = 4
_REST = "•"
"""What stands for the other parts of a value that was spread over several elements."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A value with the name it goes by and the site it belongs to: a domain with its subdomains, and a port where one is named.

    Raises:
        InputError: a name that is none, no domain, or a value so short that scrubbing it would blot out ordinary text.
    """

    name: str
    value: str = field(repr=False)
    domain: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InputError(f"{self.name!r} is no name for a secret; use letters, digits, - and _")
        if len(self.value) < _LEAST:
            raise InputError(
                f"the secret {self.name!r} is shorter than {_LEAST} characters; it cannot be kept out of sight"
            )
        if "/" in self.domain or _host_and_port(f"//{self.domain}") is None:
            raise InputError(f"the secret {self.name!r} needs the domain it belongs to, such as example.org")

    @property
    def placeholder(self) -> str:
        """What stands for it."""
        return f"<secret:{self.name}>"

    def belongs_to(self, url: str) -> bool:
        """Whether it may be typed into a page at `url`: over https, or on this machine; at the port of its domain, 443 where that names none.

        On this machine ports are handed out anew each time, so a domain without one means any.
        """
        here, mine = _host_and_port(url), _host_and_port(f"//{self.domain}")
        if here is None or mine is None or (here[0] != mine[0] and not here[0].endswith(f".{mine[0]}")):
            return False
        scheme, local = urlsplit(url).scheme, _is_loopback(here[0])
        if scheme != "https" and not (scheme == "http" and local):
            return False
        port = here[1] or {"https": 443, "http": 80}[scheme]
        return port == mine[1] if mine[1] is not None else local or port == 443


@dataclass(frozen=True, slots=True)
class TypedSecret(Secret):
    """What was typed into a password field. It may be typed again where it was typed first: `domain` is the origin of that page."""

    def __post_init__(self) -> None:
        """Any value may be typed."""

    def belongs_to(self, url: str) -> bool:
        """Whether `url` is of the same origin."""
        return _origin_in_full(url) == self.domain


class Secrets:
    """The secrets of a run or of a host's session: those that a person gave, and those that were typed into password fields."""

    def __init__(self, given: Iterable[Secret] = ()) -> None:
        self._known: dict[str, Secret] = {}
        self._copies: list[tuple[Secret, Copies]] = []
        for secret in given:
            self._add(secret)

    def __repr__(self) -> str:
        return f"Secrets({', '.join(self._known)})"

    @property
    def all(self) -> tuple[Secret, ...]:
        """Every one of them, the oldest first."""
        return tuple(self._known.values())

    @property
    def typed(self) -> tuple[str, ...]:
        """The values of those that were typed into password fields, the oldest first: whoever keeps a log looks for them in what it held before."""
        return tuple(secret.value for secret in self.all if isinstance(secret, TypedSecret))

    def learn(self, text: str, url: str) -> Secret:
        """The secret that `text` is when it is typed into a password field of a page at `url`: one that is known there, or a new one.

        Placeholders in it that are known count as their values.
        """
        value = _PLACEHOLDER.sub(
            lambda found: self._known[found[1]].value if found[1] in self._known else found[0], text
        )
        for secret in self.all:
            if secret.value == value and secret.belongs_to(url):
                return secret
        number = next(number for number in range(1, len(self._known) + 2) if f"typed-{number}" not in self._known)
        made = TypedSecret(f"typed-{number}", value, _origin_in_full(url))
        self._add(made)
        return made

    def mentioned_in(self, text: str) -> bool:
        """Whether a placeholder stands in `text`, known or not."""
        return _PLACEHOLDER.search(text) is not None

    def stands_for_one(self, text: str) -> bool:
        """Whether `text` is a placeholder and nothing else."""
        return _PLACEHOLDER.fullmatch(text) is not None

    def named_in(self, text: str) -> tuple[Secret, ...]:
        """The secrets whose placeholders stand in `text`. Raises KeyError: a placeholder of no secret that is known; its argument is the name."""
        return tuple(self._known[name] for name in dict.fromkeys(_PLACEHOLDER.findall(text)))

    def fill(self, text: str) -> str:
        """`text` with each placeholder replaced by its value. Only what types may call this."""
        return _PLACEHOLDER.sub(lambda found: self._known[found[1]].value, text)

    def scrub(self, text: str, between: re.Pattern[str] | None = None) -> str:
        """`text` with every copy of every value, of a part of it, and in every common encoding, replaced by its placeholder. `between`: what may stand between two parts of a value that is spread out."""
        if not self._copies or not text:
            return text
        readings = Readings(text, between)
        hidden = [found.span() for found in _PLACEHOLDER.finditer(text) if found[1] in self._known]
        marks: list[_Mark] = []
        for secret, copies in self._copies:
            for copy in copies.find(readings):
                if not any(low <= copy.stretches[0][0] and copy.stretches[-1][1] <= high for low, high in hidden):
                    marks += _marks(copy, secret.placeholder)
        return _replaced(text, marks)

    def _add(self, secret: Secret) -> None:
        self._known[secret.name] = secret
        if len(secret.value) >= _LEAST:
            self._copies.append((secret, Copies(secret.value, parts=True)))


@dataclass(frozen=True, slots=True)
class _Mark:
    """A stretch of a text that is replaced, by what, and how sure that is the right word for it: where two overlap, the surer gives its."""

    start: int
    end: int
    word: str
    sure: tuple[bool, int]


def _marks(copy: Copy, placeholder: str) -> list[_Mark]:
    words = (placeholder, *[_REST] * (len(copy.stretches) - 1))
    return [
        _Mark(start, end, word, (copy.whole and word == placeholder, end - start))
        for (start, end), word in zip(copy.stretches, words, strict=True)
    ]


def _replaced(text: str, marks: list[_Mark]) -> str:
    """`text` with each marked stretch replaced, those that overlap as one."""
    pieces: list[str] = []
    last, best = 0, None
    end = 0
    for mark in sorted(marks, key=lambda mark: (mark.start, mark.end)):
        if best is not None and mark.start < end:
            end = max(end, mark.end)
            best = max(best, mark, key=lambda each: each.sure)
            continue
        if best is not None:
            pieces.append(best.word)
            last = end
        pieces.append(text[last : mark.start])
        best, end = mark, mark.end
    if best is None:
        return text
    return "".join((*pieces, best.word, text[end:]))


def _origin_in_full(url: str) -> str:
    """The scheme, host and port of an address; of one without a host, such as `about:blank`, all of it."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return url
    if not parts.hostname:
        return url
    return f"{parts.scheme}://{_plain(parts)}:{port or {'https': 443, 'http': 80}.get(parts.scheme, 0)}"


def _host_and_port(url: str) -> tuple[str, int | None] | None:
    try:
        parts = urlsplit(url)
        return (_plain(parts), parts.port) if parts.hostname else None
    except ValueError:
        return None


def _plain(parts: SplitResult) -> str:
    return (parts.hostname or "").rstrip(".").lower()


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
