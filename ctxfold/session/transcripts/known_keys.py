"""Taking keys and tokens of known forms out of a text."""

from __future__ import annotations

import re

__all__ = ["hide_keys"]

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
_ANY = re.compile("|".join(f"(?P<f{at}>(?<![A-Za-z0-9]){form})" for at, form in enumerate(_FORMS.values())), re.DOTALL)


def hide_keys(text: str) -> str:
    """The text with each key of a known form replaced by `[removed: KIND]`. Works on JSON too: what it puts in needs no escape."""
    names = tuple(_FORMS)
    return _ANY.sub(lambda found: f"[removed: {names[int((found.lastgroup or 'f0')[1:])]}]", text)
