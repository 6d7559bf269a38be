"""Bytes spelled as text, such as a picture in base64: their beginning, length and fingerprint in their place. It shortens nothing that can be read."""

from __future__ import annotations

import re
from hashlib import sha256

from ctxfold.log.compact.prose import CUT
from ctxfold.text import Span

__all__ = ["blobs", "without_blobs"]

_LEAST = 2_000
"""Characters from which a run is one that nobody copies by hand: tokens and cursors, which have to be handed on, are shorter."""
_RUN = re.compile(rf"(?<![\w+/-])[\w+/-]{{{_LEAST},}}+={{0,2}}", re.ASCII)
_BYTES = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])")
"""Digits alone are a number, letters alone may be words or a sequence of them."""
_HEAD = 16
_PRINT = 8


def without_blobs(text: str) -> str:
    """A text with each long run of base64 or hexadecimal digits cut to its beginning, its length and a fingerprint, by which two are told apart.

    Args:
        text: what a tool answered or was given. JSON and literals in it stay what they are; no line is added or taken away.
    """
    return _RUN.sub(_short, text) if len(text) >= _LEAST else text


def blobs(text: str) -> list[tuple[Span, str]]:
    """Each run that `without_blobs` cuts, and what it puts in its place, in order.

    Args:
        text: as of `without_blobs`.
    """
    found = ((Span(*run.span()), _short(run)) for run in _RUN.finditer(text))
    return [(span, short) for span, short in found if short != span.of(text)]


def _short(run: re.Match[str]) -> str:
    if _BYTES.match(run[0]) is None:
        return run[0]
    return f"{run[0][:_HEAD]}{CUT} ({len(run[0])} characters, sha256 {sha256(run[0].encode()).hexdigest()[:_PRINT]})"
