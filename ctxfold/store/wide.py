"""Words as the index takes them: scripts without blanks become runs of two signs. It holds no rows."""

from __future__ import annotations

import re

__all__ = ["SEARCHED", "searchable"]

_SCRIPT = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
_WIDE = re.compile(f"(?=({_SCRIPT}{{1,2}})){_SCRIPT}")
SEARCHED = 400_000
"""Characters of a record that the index holds."""


def searchable(text: str) -> str:
    """The words of a text as the index takes them: scripts without blanks become runs of two signs."""
    text = text[:SEARCHED]
    if text.isascii():
        return text
    text = text.encode("utf-8", "replace").decode("utf-8")
    return _WIDE.sub(lambda found: f" {found[1]} ", text)
