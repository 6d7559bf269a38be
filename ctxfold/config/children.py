"""What of our environment the programs that we start are given, and which program starts Playwright's driver."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ctxfold.config.environment import read

__all__ = ["NODE", "child_environment", "driver_program", "kept_from_children", "node_at", "store_environment"]

_FOR_CHILDREN = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TEMP|TMP|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_[A-Z_]+|FONTCONFIG_[A-Z]+"
    r"|DBUS_SESSION_BUS_ADDRESS|LD_LIBRARY_PATH|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS|CHROME_DEVEL_SANDBOX|PLAYWRIGHT_BROWSERS_PATH"
    r"|PLAYWRIGHT_NODEJS_PATH|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES(?:\(X86\))?|USERPROFILE"
    r"|USERNAME|HOMEDRIVE|HOMEPATH|NUMBER_OF_PROCESSORS|PROCESSOR_ARCHITECTURE"
)
"""What a program that we start may need of our environment. Whatever else stands there may be a key."""
_FOR_DOWNLOADS = re.compile(r"(?:HTTPS?|NO|ALL)_PROXY|PLAYWRIGHT_(?:[A-Z]+_)?DOWNLOAD_[A-Z_]+|DEBIAN_FRONTEND")
NODE = "PLAYWRIGHT_NODEJS_PATH"


def child_environment(*, downloads: bool = False) -> dict[str, str]:
    """The variables that a program we start is given; one that `downloads` is told of proxies and mirrors too."""
    return {
        name: value
        for name, value in os.environ.items()
        if _FOR_CHILDREN.fullmatch(name.upper()) or (downloads and _FOR_DOWNLOADS.fullmatch(name.upper()))
    }


def store_environment() -> dict[str, str]:
    """What a process of ours is given that serves this store and asks no model: that, and where the store lies."""
    kept = {name: value for name in ("CTXFOLD_HOME", "CTXFOLD_DATABASE_URL") if (value := read(name))}
    return child_environment() | kept


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
    named = read(NODE)
    return Path(named) if named else None
