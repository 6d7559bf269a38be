"""Secrets: placeholders that a model may write, values that the browser layer types, and their scrubbing from all that is read.

A value is bound to a domain and typed nowhere else. It is in no action, observation, message or log: `scrub` takes it out of
whatever came from a page, in every form a page is likely to give it back in.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from urllib.parse import urlsplit

from browser_agent.guard.egress import is_public
from ctxfold.errors import InputError

_PLACEHOLDER = re.compile(r"<secret:([A-Za-z][A-Za-z0-9_-]{0,63})>")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_LEAST = 4
_LEAST_ENCODED = 6


@dataclass(frozen=True, slots=True)
class Secret:
    """A value with the name it goes by and the domain it belongs to (its subdomains included).

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
        if not self.domain or "/" in self.domain:
            raise InputError(f"the secret {self.name!r} needs the domain it belongs to, such as example.org")

    @property
    def placeholder(self) -> str:
        """What stands for it."""
        return f"<secret:{self.name}>"

    def belongs_to(self, url: str) -> bool:
        """Whether it may be typed into a page at `url`: of its domain, and not over an open line, loopback excepted."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return False
        host = (parts.hostname or "").rstrip(".").lower()
        domain = self.domain.rstrip(".").lower()
        if host != domain and not host.endswith(f".{domain}"):
            return False
        return parts.scheme == "https" or (parts.scheme == "http" and _is_here(host))


@dataclass(frozen=True)
class Secrets:
    """The secrets of a run."""

    all: tuple[Secret, ...] = ()
    _forms: tuple[tuple[re.Pattern[str], str], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        forms = [(form, secret.placeholder) for secret in self.all for form in _forms(secret.value)]
        forms.sort(key=lambda pair: -len(pair[0].pattern))  # the longest first: one may begin with another
        object.__setattr__(self, "_forms", tuple(forms))

    def named_in(self, text: str) -> tuple[Secret, ...]:
        """The secrets whose placeholders stand in `text`.

        Raises:
            KeyError: a placeholder of no secret that is known; its argument is the name.
        """
        known = {secret.name: secret for secret in self.all}
        return tuple(known[name] for name in dict.fromkeys(_PLACEHOLDER.findall(text)))

    def fill(self, text: str) -> str:
        """`text` with each placeholder replaced by its value. Only what types may call this."""
        known = {secret.name: secret.value for secret in self.all}
        return _PLACEHOLDER.sub(lambda match: known[match[1]], text)

    def scrub(self, text: str) -> str:
        """`text` with every form of every value replaced by its placeholder."""
        for pattern, placeholder in self._forms:
            text = pattern.sub(lambda _, placeholder=placeholder: placeholder, text)  # type: ignore[misc]
        return text


def _forms(value: str) -> Iterator[re.Pattern[str]]:
    """The forms a page may give a value back in: sign by sign as text or escaped, in either case; as hexadecimal and base64."""
    yield re.compile("".join(_sign(sign) for sign in value), re.IGNORECASE)
    raw = value.encode()
    yield re.compile(re.escape(raw.hex()), re.IGNORECASE)
    encoded = {form for offset in range(3) for form in _base64(raw, offset)}
    yield from (re.compile(re.escape(form)) for form in encoded if len(form) >= _LEAST_ENCODED)


def _sign(sign: str) -> str:
    """One sign of a value in whichever form it stands: itself, for an address, in markup, in a script; each also escaped again.

    Addresses escape some signs and leave others, so that no one form of a whole value is enough.
    """
    code, units = ord(sign), sign.encode("utf-16-be").hex()
    forms = {
        re.escape(sign),
        "".join(f"%(?:25)*{byte:02x}" for byte in sign.encode()),
        f"&(?:amp;)*#0*{code};",
        f"&(?:amp;)*#x0*{code:x};",
        "".join(rf"\\+u{units[at : at + 4]}" for at in range(0, len(units), 4)),
        "".join(rf"%(?:25)*u{units[at : at + 4]}" for at in range(0, len(units), 4)),
    }
    if code < 256:
        forms |= {f"%(?:25)*{code:02x}", rf"\\+x{code:02x}"}
    if escape(sign) != sign:
        forms.add(f"&(?:amp;)*{escape(sign)[1:]}")
    if not sign.isalnum():
        forms.add(rf"\\+{re.escape(sign)}")
    if sign.isspace():
        forms |= {r"\s+", r"\+", "&(?:amp;)*nbsp;"}
    if sign == "'":
        forms.add("&(?:amp;)*(?:apos|#0*39);")
    return f"(?:{'|'.join(sorted(forms))})"


def _base64(raw: bytes, offset: int) -> Iterator[str]:
    """What base64 makes of `raw` where it begins `offset` bytes into a group: the characters that depend on nothing else."""
    text = b64encode(b"\0" * offset + raw).decode().rstrip("=")
    start = (offset * 8 + 5) // 6
    end = (offset + len(raw)) * 8 // 6
    middle = text[start:end]
    yield middle
    yield middle.replace("+", "-").replace("/", "_")


def _is_here(host: str) -> bool:
    return (
        host == "localhost" or host.endswith(".localhost") or (host.replace(".", "").isdigit() and not is_public(host))
    )
