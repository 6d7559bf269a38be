"""The lines that a line range counts. It reads no log: a text goes in, its lines come out."""

from __future__ import annotations

from ctxfold.compact import parse
from ctxfold.json_tokens import indented

__all__ = ["LINE_FORM", "line_form"]

LINE_FORM = 1
"""Version of the derived line form that ranges count in. It moves when a line gets another number; how a line spells what stands in it has no part in that."""


def line_form(text: str) -> list[str]:
    """The lines a range counts: a text's own lines; of JSON, its indented form: every token in its order, numbers and escapes as the text spells them, letters as themselves."""
    return indented(text) if parse(text) is not None else text.split("\n")
