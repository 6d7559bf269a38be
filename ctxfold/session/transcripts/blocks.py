"""The text of a message's content, which hosts write as a string or as blocks."""

from __future__ import annotations

import json
from collections.abc import Mapping

__all__ = ["join_text"]


def join_text(content: object) -> str:
    """The text of a content: of its blocks with a text, and of another block (an image, a document) its type alone."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    blocks = [each for each in content if isinstance(each, Mapping)]
    return "\n".join(str(each["text"]) if "text" in each else json.dumps({"type": each.get("type")}) for each in blocks)
