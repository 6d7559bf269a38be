"""Makes any text fit for UTF-8."""

from __future__ import annotations

__all__ = ["encodable"]


def encodable(text: str) -> str:
    """The text with each half of a surrogate pair that stands alone replaced: no server takes those, and pages hold them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
