"""Page text made safe to set in a line: one line, no control or bidirectional marks, nothing that looks like a ref of ours."""

from __future__ import annotations

import re

_SPACE = re.compile(r"\s+")
UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Characters that do not show: control marks, joiners, marks of direction, tags."""

_REF_LIKE = re.compile(r"\[((?:f\d+)?e\d+)\]")
_WORD = re.compile(r"[^\W_]+(?:[._'-][^\W_]+)*", re.UNICODE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def clean(text: str) -> str:
    """`text` in one line, without characters that do not show, and with `[e12]` turned into `(e12)`."""
    if not text:
        return ""
    if not (text.isascii() and text.isprintable() and "  " not in text):  # most text is plain already
        text = _SPACE.sub(" ", UNSEEN.sub("", text))
    text = text.strip()
    return _REF_LIKE.sub(r"(\1)", text) if "[" in text else text


def cut(text: str, most: int) -> str:
    """`text`, at most `most` characters of it, ended by an ellipsis where it was longer."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def terms(text: str) -> frozenset[str]:
    """The words of `text` as they are compared: lower case, dotted names whole and in parts, plurals as singulars."""
    found: set[str] = set()
    for word in _WORD.findall(text):
        parts = [word, *re.split(r"[._'-]", word)]
        for part in parts:
            found.update(_stem(piece.lower()) for piece in (part, *_CAMEL.split(part)) if piece)
    return frozenset(found)


def _stem(word: str) -> str:
    for ending in ("ies", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


COMMON = terms(
    "a an the and or of in on at to for from by with is are was be been it its this that these those as what which who "
    "how when where why do does did can could should would will not no i you he she they we my your their me if then "
    "than there here have has had into about use used using get page show tell find"
)
"""Words too common to tell one part of a page from another."""
