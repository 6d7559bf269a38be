"""Reads `--secret`: where a value comes from, and where it may be typed."""

from __future__ import annotations

import os
from pathlib import Path

from browser_agent.network.egress import origin_of
from browser_agent.network.secrets import Secret
from ctxfold.errors import InputError

__all__ = ["read_secret"]

_HOW = "give it as NAME=env:VARIABLE or NAME=file:PATH, with NAME@DOMAIN where it belongs elsewhere than to the start address"


def read_secret(said: str, start_url: str | None) -> Secret:
    """A secret as `NAME[@DOMAIN]=SOURCE` says it.

    Args:
        said: the option's value.
        start_url: the start address, whose host it belongs to where no domain is said.

    Raises:
        InputError: it is not of that form, its source holds nothing, or it belongs nowhere.
    """
    left, equals, source = said.partition("=")
    if not equals:
        raise InputError(f"--secret {left!r} names no source: {_HOW}")
    name, _, domain = left.partition("@")
    origin = origin_of(start_url) if start_url is not None else None
    if not domain and origin is None:
        raise InputError(f"the secret {name!r} belongs nowhere without a start address: {_HOW}")
    return Secret(name, _value(name, source), domain or (origin[0] if origin is not None else ""))


def _value(name: str, source: str) -> str:
    kind, _, where = source.partition(":")
    match kind:
        case "env":
            value = os.environ.get(where, "")
        case "file":
            try:
                value = Path(where).read_text(encoding="utf-8").rstrip("\r\n")
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
                raise InputError(
                    f"the secret {name!r} cannot be read from {where!r} ({reason}): name another file"
                ) from error
        case _:
            raise InputError(f"the secret {name!r} must not stand on the command line: {_HOW}")
    if not value:
        raise InputError(f"the secret {name!r} is empty at its source {kind}:{where}: {_HOW}")
    return value
