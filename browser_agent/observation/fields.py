"""A view of the values a page has for a JSON schema: whole for who asked, and as lines within a budget for who reads. It fills no schema itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from browser_agent.observation.filling import fill
from browser_agent.observation.labelled import NOTHING
from browser_agent.observation.snapshot import Node
from browser_agent.observation.values import Extracted
from ctxfold.tokens import count

__all__ = ["extract", "extracted_lines"]


def extract(root: Node, schema: Mapping[str, Any], base: str) -> Extracted:
    """What a page gives for a schema.

    Args:
        root: the page, without what does not show.
        schema: a JSON schema.
        base: the address its links are relative to.
    """
    filled = fill(root, schema, base)
    return Extracted(value=None if filled.value is NOTHING else filled.value, missing=filled.missing)


def extracted_lines(extracted: Extracted, room: int) -> tuple[str, ...]:
    """It as lines: what is missing, then the value, an item a line, as many as fit.

    Args:
        extracted: what was found.
        room: o200k tokens they may take.
    """
    lines = [f"not found on this page: {', '.join(extracted.missing)}"] if extracted.missing else []
    if extracted.value is None:
        return tuple(lines or ["nothing of it is on this page"])
    items = extracted.value if isinstance(extracted.value, list) else [extracted.value]
    spent = sum(count(line) + 1 for line in lines) + 24
    for place, item in enumerate(items):
        line = json.dumps(item, ensure_ascii=False)
        spent += count(line) + 1
        if spent > room:
            lines.append(f"… {len(items) - place} more, in full in the record of this call")
            break
        lines.append(line)
    return tuple(lines)
