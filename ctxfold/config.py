"""The environment variables of ctxfold, read anew at each call, and where its data lies.

==========================  =================================================================================
variable                    meaning
==========================  =================================================================================
``CTXFOLD_HOME``            the folder for everything kept; else the platform's user data directory
``CTXFOLD_DATABASE_URL``    the store, as a path or URL; else ``ctxfold.db`` in that folder
``CTXFOLD_MODEL``           the model to decide with when none is named
``CTXFOLD_FOLDER_MODEL``    the model that folds, plans and extracts; else the embedded deciders do
``ANTHROPIC_API_KEY``       a key for the Messages API
``ANTHROPIC_AUTH_TOKEN``    a bearer token for it, where a gateway wants one
``ANTHROPIC_BASE_URL``      a server that speaks the Messages API; else Anthropic's own
``PLAYWRIGHT_NODEJS_PATH``  the program that Playwright starts its driver by; else its own
==========================  =================================================================================
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from ctxfold.errors import ReadOnlyStore

__all__ = [
    "ANTHROPIC_URL",
    "EXPLORER",
    "NODE",
    "Endpoint",
    "child_environment",
    "default_store",
    "driver_program",
    "endpoint",
    "folder_model",
    "home",
    "kept_from_children",
    "model_default",
    "node_at",
]

EXPLORER = "explorer"
"""The name of the embedded decider: no model, no network, no key."""

ANTHROPIC_URL = "https://api.anthropic.com"
"""Where the Messages API is served when no base URL is set."""

KEYED_MODEL = "claude-sonnet-5-5"
"""The model used when a key is there and no model is named."""


_FOR_CHILDREN = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TEMP|TMP|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_[A-Z_]+|FONTCONFIG_[A-Z]+"
    r"|DBUS_SESSION_BUS_ADDRESS|LD_LIBRARY_PATH|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS|CHROME_DEVEL_SANDBOX|PLAYWRIGHT_BROWSERS_PATH"
    r"|PLAYWRIGHT_NODEJS_PATH|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES(?:\(X86\))?|USERPROFILE"
    r"|USERNAME|HOMEDRIVE|HOMEPATH|NUMBER_OF_PROCESSORS|PROCESSOR_ARCHITECTURE"
)
"""What a program that we start may need of our environment. Whatever else stands there may be a key."""
_FOR_DOWNLOADS = re.compile(r"(?:HTTPS?|NO|ALL)_PROXY|PLAYWRIGHT_(?:[A-Z]+_)?DOWNLOAD_[A-Z_]+|DEBIAN_FRONTEND")
NODE = "PLAYWRIGHT_NODEJS_PATH"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the Messages API is, and how one is let in.

    `url` is the base URL without a trailing slash; `local` whether it was set rather than Anthropic's own. `credential` names the variable the
    secret came from (None: there is none); the secret itself stays out of `repr`.
    """

    url: str
    local: bool
    credential: str | None
    secret: str | None = field(repr=False)


def home() -> Path:
    """The folder that holds everything ctxfold keeps; created private to its owner (0700) if it is not there.

    Raises:
        ReadOnlyStore: it cannot be created.
    """
    named = _read("CTXFOLD_HOME")
    folder = Path(named).expanduser() if named else platformdirs.user_data_path("ctxfold", appauthor=False)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ReadOnlyStore(
            f"cannot create {folder} ({error.strerror}): set CTXFOLD_HOME to a folder you may write to"
        ) from error
    return folder


def default_store() -> str:
    """The store used when none is named: what ``CTXFOLD_DATABASE_URL`` says, else the path of ``ctxfold.db`` in `home()`.

    Raises:
        ReadOnlyStore: the folder for it cannot be created.
    """
    return _read("CTXFOLD_DATABASE_URL") or str(home() / "ctxfold.db")


def model_default() -> str:
    """The name of the model used when none is named: ``CTXFOLD_MODEL``, else a Claude model where a key is set, else the embedded explorer."""
    return _read("CTXFOLD_MODEL") or (KEYED_MODEL if endpoint().credential else EXPLORER)


def folder_model() -> str | None:
    """The name of the model that folds, plans and extracts; None where the embedded deciders do."""
    return _read("CTXFOLD_FOLDER_MODEL")


def endpoint() -> Endpoint:
    """Where the Messages API is and which credential is set. A key goes before a token, as in Anthropic's own SDK."""
    base = _read("ANTHROPIC_BASE_URL")
    credential = next((name for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN") if _read(name)), None)
    return Endpoint(
        url=(base or ANTHROPIC_URL).rstrip("/"),
        local=base is not None,
        credential=credential,
        secret=_read(credential) if credential else None,
    )


def child_environment(*, downloads: bool = False) -> dict[str, str]:
    """The variables that a program we start is given; one that `downloads` is told of proxies and mirrors too."""
    return {
        name: value
        for name, value in os.environ.items()
        if _FOR_CHILDREN.fullmatch(name.upper()) or (downloads and _FOR_DOWNLOADS.fullmatch(name.upper()))
    }


def kept_from_children() -> tuple[str, ...]:
    """The names of the variables that they are not given."""
    return tuple(sorted(os.environ.keys() - child_environment().keys()))


@contextmanager
def node_at(path: Path) -> Iterator[None]:
    """Have Playwright start its driver by the program at `path`, for the length of the block."""
    before = os.environ.get(NODE)
    os.environ[NODE] = str(path)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(NODE, None)
        else:
            os.environ[NODE] = before


def driver_program() -> Path | None:
    """The program named to start Playwright's driver by; None where none is."""
    named = _read(NODE)
    return Path(named) if named else None


def _read(name: str) -> str | None:
    """One variable, trimmed; None when it is unset or blank."""
    return os.environ.get(name, "").strip() or None
