"""The lines that a line range counts. It reads no log: a text goes in, its lines come out."""

from __future__ import annotations

import json

from ctxfold.compact import parse

__all__ = ["LINE_FORM", "line_form"]

LINE_FORM = 1
"""Version of the derived line form that ranges count in."""


def line_form(text: str) -> list[str]:
    """The lines a range counts: a text's own lines; of JSON, its indented form with keys in their original order."""
    if parse(text) is not None:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=1).split("\n")
    return text.split("\n")
