"""Reads bearer tokens from a file and says which user each stands for.

A token stands on each line, alone or after a name and a blank: `alice 3q…`. One with a name serves sessions of its own; one without, those of the
machine's own user. Lines that begin with `#` are comments.
"""

from __future__ import annotations

import hashlib
import re
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mcp.server.auth.provider import AccessToken

from ctxfold.errors import InputError, Refused

__all__ = ["Tokens", "read_tokens"]

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_SHORTEST = 24


@dataclass(frozen=True, slots=True)
class Tokens:
    """Names by the digest of their token, so that looking one up takes the same time whatever it has in common with a true one."""

    names: Mapping[bytes, str | None]

    async def verify_token(self, token: str) -> AccessToken | None:
        """Whom a token lets in; None for nobody."""
        digest = _hash_token(token)
        if digest not in self.names:
            return None
        name = self.names[digest]
        return AccessToken(token=token, client_id=name or "owner", subject=name, scopes=[])


def read_tokens(path: Path) -> Tokens:
    """The tokens of a file.

    Raises:
        InputError: it cannot be read, is empty, or has a token that is too short or a name outside the pattern.
        Refused: others on this machine can read it.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        mode = path.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"{path} cannot be read ({why}): make a file with one token on a line") from error
    if sys.platform != "win32" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Refused(f"others can read {path}: run `chmod 600` on it first")
    names: dict[bytes, str | None] = {}
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            name, token = _read_entry(line.split(), f"{path}, line {number}")
            names[_hash_token(token)] = name
    if not names:
        raise InputError(f"{path} has no token: put one on a line, at least {_SHORTEST} characters of chance")
    return Tokens(names)


def _read_entry(words: list[str], where: str) -> tuple[str | None, str]:
    *names, token = words
    if len(names) > 1 or len(token) < _SHORTEST:
        raise InputError(f"{where}: write a token of at least {_SHORTEST} characters, alone or after a name")
    if names and not _NAME.fullmatch(names[0]):
        raise InputError(f"{where}: a name has lower-case letters, digits and hyphens")
    return (names[0] if names else None), token


def _hash_token(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
