"""Secrets: the placeholders a model writes, the values typed for them on their own domain, and their masking in everything that is read."""

# A value is known only where all of it stands in one text: a part of it, one spread over several elements, and one that a page enciphers
# (reversed, rot13, other bases, a cipher) stay as they are.

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.entities import html5
from unicodedata import normalize
from urllib.parse import urlsplit

from browser_agent.network.egress import is_public
from ctxfold.errors import InputError

_PLACEHOLDER = re.compile(r"<secret:([A-Za-z][A-Za-z0-9_-]{0,63})>")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_LEAST = 4
_LEAST_ENCODED = 6
_FEW = 16
"""How often an escape may be escaped again: a backslash doubles each time."""
_PERCENT, _AND, _SLASH = f"%(?:25){{0,{_FEW}}}", f"&(?:amp;){{0,{_FEW}}}", rf"\\{{1,{_FEW}}}"


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
        return parts.scheme == "https" or (parts.scheme == "http" and _is_loopback_or_private(host))


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
    """The forms a page may give a value back in: sign by sign as text or escaped, in either case; as hexadecimal and base64.

    Each also with its accents apart or joined (Unicode NFD, NFC); base64 of UTF-8, UTF-16 and, where it can be, Latin-1.
    """
    encoded: set[str] = set()
    for spelling in {value, normalize("NFC", value), normalize("NFD", value)}:
        yield re.compile("".join(_signs(spelling)), re.IGNORECASE)
        yield re.compile(re.escape(spelling.encode().hex()), re.IGNORECASE)
        for encoding in ("utf-8", "utf-16-le", "utf-16-be", "latin-1"):
            raw = spelling.encode(encoding, "ignore")
            if raw.decode(encoding) == spelling:
                encoded |= {form for offset in range(3) for form in _base64(raw, offset)}
    yield from (re.compile(re.escape(form)) for form in encoded if len(form) >= _LEAST_ENCODED)


def _signs(value: str) -> Iterator[str]:
    """The forms of each sign in turn; of two that have a name together in markup, also that.

    A run of blanks is one blank or several, as a page may fold it, and a run of backslashes as many or more: each is tried in one way only.
    """
    for run in _runs().finditer(value):
        text = run[0]
        if text in _names() and len(text) == 2:
            yield f"(?:{_sign(text[0])}{_sign(text[1])}|{_entity_pattern(_names()[text])})"
        elif text.isspace():
            yield f"(?:{'|'.join(sorted(set().union(*map(_spelled, text))))}){{1,{_FEW * len(text)}}}"
        elif text[0] == "\\":
            yield f"{_sign(text[0])}{{{len(text)},{_FEW * len(text)}}}"
        else:
            yield _sign(text)


def _sign(sign: str) -> str:
    """One sign of a value in whichever form it stands."""
    return f"(?:{'|'.join(sorted(_spelled(sign)))})"


def _spelled(sign: str) -> set[str]:
    """The forms of one sign of a value: itself, for an address, in markup, in a script; each also escaped again.

    Addresses escape some signs and leave others, so that no one form of a whole value is enough. How often is bounded: a page that repeats an escape
    without end would else be read as often as it is long.
    """
    code, units = ord(sign), sign.encode("utf-16-be").hex()
    forms = {
        r"\s" if sign.isspace() else re.escape(sign),
        "".join(f"{_PERCENT}{byte:02x}" for byte in sign.encode()),
        f"{_AND}#0{{0,{_FEW}}}{code};",
        f"{_AND}#x0{{0,{_FEW}}}{code:x};",
        "".join(rf"{_SLASH}u{units[at : at + 4]}" for at in range(0, len(units), 4)),
        rf"{_SLASH}u\{{0{{0,{_FEW}}}{code:x}\}}",
        "".join(rf"{_SLASH}x{byte:02x}" for byte in sign.encode()),
        "".join(rf"{_PERCENT}u{units[at : at + 4]}" for at in range(0, len(units), 4)),
    }
    if code < 256:
        forms |= {f"{_PERCENT}{code:02x}", rf"{_SLASH}x{code:02x}"}
    if sign in _names() and not sign.isspace():
        forms.add(_entity_pattern(_names()[sign]))
    if not sign.isalnum() and sign != "\\":
        forms.add(rf"{_SLASH}{re.escape(sign)}")
    if sign.isspace():
        forms |= {r"\+", _entity_pattern(_blanks())}
    return forms


@cache
def _names() -> dict[str, tuple[str, ...]]:
    """What markup calls a sign, or two together; a name that may go without its semicolon stands here without it too."""
    found: dict[str, tuple[str, ...]] = {}
    for name, said in html5.items():
        found[said] = (*found.get(said, ()), name)
    return found


@cache
def _runs() -> re.Pattern[str]:
    """What of a value is looked for as one: two signs with a name, blanks, backslashes, else a sign."""
    pairs = [re.escape(said) for said in _names() if len(said) == 2]
    return re.compile("|".join((*pairs, r"\s+", r"\\+", ".")), re.DOTALL)


@cache
def _blanks() -> tuple[str, ...]:
    """What markup calls blanks: a page may put any of them for a space."""
    return tuple(name for sign, names in _names().items() if sign.isspace() for name in names)


def _entity_pattern(names: tuple[str, ...]) -> str:
    return f"{_AND}(?:{'|'.join(sorted(map(re.escape, names), key=lambda name: (-len(name), name)))})"


def _base64(raw: bytes, offset: int) -> Iterator[str]:
    """What base64 makes of `raw` where it begins `offset` bytes into a group: the characters that depend on nothing else."""
    text = b64encode(b"\0" * offset + raw).decode().rstrip("=")
    start = (offset * 8 + 5) // 6
    end = (offset + len(raw)) * 8 // 6
    middle = text[start:end]
    yield middle
    yield middle.replace("+", "-").replace("/", "_")


def _is_loopback_or_private(host: str) -> bool:
    return (
        host == "localhost" or host.endswith(".localhost") or (host.replace(".", "").isdigit() and not is_public(host))
    )
