"""Decides which requests of a page have effects outside it, and which sites may send them unasked."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qsl, urlsplit

from browser_agent.network.egress import Listed, Origin, is_listed, origin_of
from ctxfold.text.json import parse_object
from ctxfold.text.words import counted

Confirm = Literal["auto", "always", "never"]
"""When a person is asked before a page sends something: if a model acts on a page no person named, always, never."""

_HARMLESS = frozenset({"GET", "HEAD", "OPTIONS"})
_MOVES = frozenset({"Document", "XHR", "Fetch"})
"""The kinds of a GET that may act; pictures, scripts and styles are not judged by their names."""

# A GET that acts looks like any other. Names are the second, weaker question there, and only this short list asks it.
_ACTS = re.compile(
    r"(?<![a-z])(pay|buy|purchase|checkout|delete|remove|erase|destroy|transfer|unsubscribe)(?![a-z])", re.IGNORECASE
)
_FIELD = re.compile(r"^Content-Disposition: form-data;", re.IGNORECASE | re.MULTILINE)
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Cause:
    """The element that was acted on: its role, and its name. Both come from the page."""

    role: str = "page"
    name: str = ""

    def __str__(self) -> str:
        return f"the {self.role} '{_cut(self.name)}'" if self.name else f"the {self.role}"


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request as the browser is about to send it.

    Attributes:
        kind: its resource type in DevTools, such as `Document` or `Ping`.
        origin: the origin of the frame that sends it, in the browser's words: `null` for none, empty if unknown.
        referrer: the address of the page that sends it, if known.
    """

    method: str
    url: str
    kind: str = "Fetch"
    origin: str = ""
    referrer: str = ""
    form: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that a page is about to send.

    Attributes:
        frame: the origin of the frame that sends it; None if it has none of its own, or it is unknown.
        carries: how much it carries, in our words.
    """

    method: str
    url: str
    frame: Origin | None
    carries: str = ""
    cause: Cause = Cause()

    @property
    def target(self) -> Origin | None:
        """The host and port it is for."""
        return origin_of(re.sub("^ws", "http", self.url))

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        words = [f"{self.method} {_cut(_site(self.target) + parts.path)}", self.carries, f"from {self.cause}"]
        return ", ".join(part for part in words if part)

    @property
    def in_short(self) -> str:
        """This without any words of the page, for a message of ours."""
        return ", ".join(part for part in (f"{self.method} to {_site(self.target)}", self.carries) if part)

    @property
    def site(self) -> str:
        """The site that `--trust` takes to allow it; empty if none does."""
        return "" if self.frame is None else _site(self.frame)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to a person.

    Attributes:
        did: the thing about to be done or sent; it may hold names from the page, so escape it.
        url: the page it is to be done on.
    """

    did: str
    url: str


Ask = Callable[[Asked], Awaitable[bool]]
"""Asks a person, and gives their yes or no."""


@dataclass(frozen=True, slots=True)
class Trust:
    """Which origins may have effects unasked, because a person allowed it in advance.

    Attributes:
        always: ask about every origin, those that a person named too.
        start: the origin that a person named to begin at; None if nobody did.
        domains: further ones that a person named.
    """

    always: bool = False
    start: Origin | None = None
    domains: tuple[Listed, ...] = ()

    def trusts(self, frame: Origin | None) -> bool:
        """Return whether a frame of this origin may send anything unasked. One without an origin of its own may not."""
        return frame is not None and not self.always and (frame == self.start or is_listed(self.domains, *frame))


def judge(request: PageRequest, cause: Cause) -> Effect | None:
    """Return the effect of a request that an action caused; None for GET, HEAD and OPTIONS, unless their names act."""
    frame = origin_of(request.origin or request.referrer)
    if request.method.upper() not in _HARMLESS:
        return Effect(request.method.upper(), request.url, frame, _weigh(request), cause)
    if request.kind in _MOVES and (_ACTS.search(cause.name) or _acts_by_address(request.url)):
        return Effect(request.method.upper(), request.url, frame, "", cause)
    return None


def _acts_by_address(url: str) -> bool:
    """Return whether a whole part of an address is a word that acts: `/items/3/delete`, `?do=delete`."""
    parts = urlsplit(url)
    asked = [word for pair in parse_qsl(parts.query, keep_blank_values=True) for word in pair]
    return any(map(_ACTS.fullmatch, [*parts.path.split("/"), *asked]))


def _weigh(request: PageRequest) -> str:
    """Return how much a request carries: the number of its fields, or of its characters."""
    body = request.body
    if not body:
        return ""
    fields = 0
    if request.form.startswith("application/x-www-form-urlencoded"):
        fields = len(parse_qsl(body, keep_blank_values=True))
    elif request.form.startswith("multipart/form-data"):
        fields = len(_FIELD.findall(body))
    elif request.form.startswith("application/json"):
        fields = len(parse_object(body))
    return counted(fields, "field") if fields else counted(len(body), "character")


def _site(origin: Origin | None) -> str:
    """Return an origin as `--trust` takes it."""
    if origin is None:
        return "nowhere"
    host, port = origin
    name = f"[{host}]" if ":" in host else host
    return name if port in {80, 443} else f"{name}:{port}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
