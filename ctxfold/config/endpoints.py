"""`Endpoint`: where a provider's API is served, and the credential that opens it."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ctxfold.config.environment import read
from ctxfold.errors import InputError

__all__ = ["ANTHROPIC_URL", "LOOPBACK", "Endpoint", "endpoint"]

ANTHROPIC_URL = "https://api.anthropic.com"
"""Where the Messages API is served when no base URL is set."""

_URLS = {
    "anthropic": ANTHROPIC_URL,
    "openai": "https://api.openai.com/v1",
    "google": "https://generativelanguage.googleapis.com",
    "ollama": "http://127.0.0.1:11434/v1",
}
_CREDENTIALS = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
"""The variables that hold a provider's credential, where they are not its name's alone; the first that is set counts."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""The names by which this machine is asked: nobody is paid there."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a provider's API is, and how one is let in.

    `url` is the base URL without a trailing slash; `local` whether it was set rather than the provider's own. `credential` names what the
    secret came from (None: there is none); the secret itself stays out of `repr`.
    """

    url: str
    local: bool
    credential: str | None
    secret: str | None = field(repr=False)

    @property
    def on_this_machine(self) -> bool:
        """Whether the server runs on this machine, where nobody is paid."""
        return (urlsplit(self.url).hostname or "") in LOOPBACK


def endpoint(provider: str = "anthropic", url: str | None = None, key: tuple[str, str] | None = None) -> Endpoint:
    """Where a provider's API is and which credential is set. Of Anthropic's, a key goes before a token, as in its own SDK.

    Args:
        provider: its name, by which its variables are found.
        url: another server that is to be asked; None for the one the provider's variables name. A provider's own key is never sent there.
        key: where a key of its own came from, and that key; it goes before the provider's.

    Raises:
        InputError: `url` is no web address, or holds a password.
    """
    prefix = provider.upper().replace("-", "_")
    names = _CREDENTIALS.get(provider, (f"{prefix}_API_KEY",))
    found = key or next(((name, value) for name in names if (value := read(name))), None)
    if url is not None:
        return Endpoint(_checked(url), True, *(key or (None, None)))
    base = read(f"{prefix}_BASE_URL")
    return Endpoint((base or _URLS.get(provider, "")).rstrip("/"), base is not None, *(found or (None, None)))


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"the endpoint {url!r} is no web address: give it as http://HOST:PORT/v1")
    if parts.username or parts.password:
        raise InputError(
            "an endpoint's address holds no key: name the key's variable with key_env, or set CTXFOLD_AGENT_KEY"
        )
    return url.rstrip("/")
