"""Reads `--secret`: where a value comes from, and where it may be typed."""

from __future__ import annotations

import os
from pathlib import Path

from browser_agent.agent.confirm import Confirm, Safety
from browser_agent.network.egress import origin_of
from browser_agent.network.secrets import Secret
from ctxfold.errors import InputError

__all__ = ["read_safety", "read_secret"]

_HOW = "give it as NAME=env:VARIABLE or NAME=file:PATH, with NAME@DOMAIN where it belongs elsewhere than to the start address"


def read_safety(
    allow: tuple[str, ...], secrets: tuple[str, ...], start_url: str | None, confirm: Confirm, trust: tuple[str, ...]
) -> Safety:
    """What a run may do, as the options of a command say it; a start address given there is trusted. Raises InputError: a domain or a secret in another form."""
    return Safety(allow, tuple(read_secret(said, start_url) for said in secrets), confirm, trust=trust)


def read_secret(said: str, start_url: str | None) -> Secret:
    """A secret as `NAME[@DOMAIN]=SOURCE` says it. Where no domain is said, it belongs to the start address's host and port.

    Raises:
        InputError: it is not of that form, its source holds nothing, or it belongs nowhere.
    """
    left, equals, source = said.partition("=")
    if not equals:
        raise InputError(f"--secret {left!r} names no source: {_HOW}")
    name, _, domain = left.partition("@")
    domain = domain or (_site(start_url) if start_url is not None else "")
    if not domain:
        raise InputError(f"the secret {name!r} belongs nowhere without a start address: {_HOW}")
    return Secret(name, _value(name, source), domain)


def _site(url: str) -> str:
    """The host of an address with its port; empty where it is no web address."""
    origin = origin_of(url)
    if origin is None:
        return ""
    host, port = origin
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


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
