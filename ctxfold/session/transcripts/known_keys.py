"""Taking keys and tokens of known forms out of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

__all__ = ["hide_keys", "without_keys"]

_FORMS = {
    "anthropic key": r"sk-ant-[\w-]{20,}",
    "openai key": r"sk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{32,}",
    "github token": r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{60,}",
    "gitlab token": r"glpat-[\w-]{20,}",
    "aws key": r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    "google key": r"AIza[\w-]{35}",
    "slack token": r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    "stripe key": r"[sr]k_live_[A-Za-z0-9]{20,}",
    "npm token": r"npm_[A-Za-z0-9]{36}",
    "jwt": r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}",
    "private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----",
}
_STARTS = (
    "sk-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "AKIA",
    "ASIA",
    "AIza",
    "xox",
    "sk_live_",
    "rk_live_",
    "npm_",
    "eyJ",
    "-----BEGIN",
)
"""How every key begins: the text is searched for these, and tried against the forms there alone, as most texts hold none."""
_NAMES = tuple(_FORMS)
_ANY = re.compile("|".join(f"(?P<f{at}>(?<![A-Za-z0-9]){form})" for at, form in enumerate(_FORMS.values())), re.DOTALL)


def hide_keys(text: str) -> str:
    """The text with each key of a known form replaced by `[removed: KIND]`."""
    made, end = [], 0
    for at in sorted(at for start in _STARTS for at in _places(text, start)):
        found = _ANY.match(text, at) if at >= end else None
        if found is not None:
            made += [text[end:at], f"[removed: {_NAMES[int((found.lastgroup or 'f0')[1:])]}]"]
            end = found.end()
    return "".join([*made, text[end:]]) if made else text


def _places(text: str, start: str) -> Iterator[int]:
    at = text.find(start)
    while at >= 0:
        yield at
        at = text.find(start, at + 1)


def without_keys(value: Any) -> Any:
    """A value of JSON with the same done to every string in it. Raises RecursionError for one nested too deeply."""
    if isinstance(value, str):
        return hide_keys(value)
    if isinstance(value, dict):
        return {name: without_keys(each) for name, each in value.items()}
    return [without_keys(each) for each in value] if isinstance(value, list) else value
