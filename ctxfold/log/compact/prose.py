"""Prose said by the assistant, shortened without losing a value: its head, what it asks, and every value that is new among its words.

Restating what a tool returned is most of an assistant's prose; that yields to the rows that hold the same values.
"""

from __future__ import annotations

import re

from ctxfold.log.facts import Ledger
from ctxfold.text import sentences
from ctxfold.tokens import count, head

__all__ = ["CUT", "is_cut", "parts", "shorten", "values", "whole"]


CUT = "…"
"""What stands where something was left out; the whole of it is at the step's address."""

_BEHIND = f" {CUT}"


def whole(row: str) -> tuple[str, str]:
    """A row without the mark of what was left out behind it, and that mark; empty where there is none."""
    return (row[: -len(_BEHIND)], _BEHIND) if row.endswith(_BEHIND) else (row, "")


def is_cut(row: str) -> bool:
    """Whether a row says already that something behind it was left out."""
    return row.endswith(CUT)


def _telling(blank: str, digit: str, letter: str) -> re.Pattern[str]:
    """Finds the words that carry a value: with a digit, an address sign, or a capital behind a letter. Each sign is looked at once or twice."""
    apart = rf"{blank}\"'`()\[\]{{}}<>*,;|="
    tells = rf"(?:[{digit}@/_\\#]|(?<=[{letter}])[A-Z])"
    return re.compile(rf"(?<![^{apart}])[^{apart}{digit}@/_\\#A-Z]*+(?:{tells}|[A-Z][^{apart}]*?{tells})[^{apart}]*+")


_TELLING = _telling(r"\s，。、；：！？", r"\d", r"\w")
_PLAIN_TELLING = _telling(r" \t-\r\x1c-\x1f", "0-9", "A-Za-z0-9_")
"""The same of ASCII texts, in less time."""
_AROUND = ".:!?-—–…$€£¥%~"
"""Signs around a word that are no part of its value, and never what makes it one."""
_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af]|[^\s\u2e80-\u9fff\uac00-\ud7af]+")
_CUTS = re.compile(r"(?:\s*…)+\s*")
_PART = re.compile(r"\d+(?:\.\d+)+|[^\W_]+")

WHOLE = 16
"""Tokens up to which prose stays as it is."""
HEAD = 6
"""Tokens of the head that always stays."""
AROUND = 3
"""Words on each side of a value that stay with it, so that it can be told what it is a value of."""
NEAR = 12
"""Characters up to which leaving something out saves nothing."""


def values(text: str) -> set[str]:
    """The words of a text that carry a value: with a digit or an address sign, or written in capitals. Lower case, without a currency sign."""
    telling = (_PLAIN_TELLING if text.isascii() else _TELLING).findall(text)
    return {bare.lower() for word in telling if len(bare := word.strip(_AROUND)) > 1}


def parts(value: str) -> list[str]:
    """What a value is made of: `2024-05-27` has three parts. Numbers lose their leading zeros."""
    return [part.lstrip("0") or "0" for part in _PART.findall(value)]


def shorten(text: str, past: Ledger) -> str:
    """The compact form of something the assistant said.

    Args:
        text: the whole of it.
        past: what stands in the view already.

    Returns:
        The text itself when it is short or nothing could go; else its head, the head of what it asks, and every value that stands
        nowhere yet with the words around it.
    """
    if len(text) <= WHOLE or count(text) <= WHOLE:
        return text
    pieces = [text[span.start : span.end].strip() for span in sentences(text)]
    asked = max((at for at, piece in enumerate(pieces) if piece.endswith(("?", "？"))), default=-1)
    kept: list[str] = []
    told: set[str] = set()
    for at, piece in enumerate(pieces):
        fresh = {value for value in values(piece) if value not in told and not _stands(value, past)}
        told |= fresh
        opens = at == asked or (at == 0 and (asked < 0 or bool(values(piece))))
        kept.append(_excerpt(piece, fresh, opens=opens))
    short = _CUTS.sub(f"{CUT} ", " ".join(kept)).strip().removeprefix(f"{CUT} ")
    if CUT not in short or count(short) + 2 >= count(text):
        return text
    inside = next((each for each in kept if each != CUT), "").startswith(CUT)
    return f"{CUT} {short}" if inside else short


def _excerpt(piece: str, fresh: set[str], *, opens: bool) -> str:
    """Of a sentence its opening, when that is asked for, and the words around each fresh value; a mark stands for what is cut."""
    spans = [(0, len(head(piece, HEAD)))] if opens else []
    words = [found.span() for found in _WORD.finditer(piece)]
    for at, (start, end) in enumerate(words):
        if not fresh.isdisjoint(values(piece[start:end])):
            spans.append((words[max(0, at - AROUND)][0], words[min(len(words) - 1, at + AROUND)][1]))
    made, done = "", 0
    for start, end in sorted(spans):
        if end > done:
            near = start - done < NEAR
            made += piece[done:end] if near else f"{CUT} {piece[start:end]}"
            done = end
    return made + (piece[done:] if len(piece) - done < NEAR else CUT)


def _stands(value: str, past: Ledger) -> bool:
    return past.says(value) or all(past.says(part) for part in parts(value))
