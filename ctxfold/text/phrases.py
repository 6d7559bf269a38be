"""Cue phrases by language, read from the data files beside it: it turns them into patterns and sets of words. It reads no message and decides nothing.

A file holds one language: `[words]`, lists that phrases name in braces; `[numbers]`, words that count; and the phrases of each cue by where they may
stand, in tables such as `[message.returns]`; `[slot.day]` and its kin hold how a value of a kind is written:

    anywhere  as words of their own, anywhere
    head      at the very beginning
    first     at the beginning, behind what leads in ("ok, but …")
    start     where a clause begins
    opening   where a clause begins, behind what leads in
    asked     likewise, and behind "let's", "could you" and their kin
    whole     as it is written

All languages are read at once: people mix them, and a cue of one is rarely a cue of another.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from ctxfold.errors import BrokenInstall

__all__ = ["ALIKE", "choices", "listed", "named", "numbers", "pattern"]

ALIKE = re.I
"""How every pattern is compiled: capitals say nothing."""

_OPEN = r"(?:^|[.!?;:—–。！？；：¿¡]\s*|,\s*|，\s*)"
_NAMED = re.compile(r"\{([a-z]\w*)\}")

Language = Mapping[str, Any]


@cache
def pattern(cue: str) -> re.Pattern[str]:
    """The phrases of a cue in every language, as one pattern.

    Args:
        cue: its table, such as `message.returns`.

    Raises:
        BrokenInstall: no file has such a table.
    """
    room, _, name = cue.partition(".")
    found = [part for language in _languages() for part in _placed(language, language.get(room, {}).get(name, {}))]
    if not found:
        raise BrokenInstall(f"no data file beside {__name__} has phrases for {cue}; install ctxfold again")
    return re.compile("|".join(found), ALIKE)


def choices(name: str) -> str:
    """A list of words in every language, as a group of a pattern.

    Args:
        name: the list's.
    """
    return f"(?:{'|'.join(word for language in _languages() for word in _list(language, name))})"


@cache
def listed(name: str) -> frozenset[str]:
    """A list of words in every language, as a set.

    Args:
        name: the list's.
    """
    return frozenset(word for language in _languages() for word in _list(language, name))


@cache
def named(beginning: str) -> tuple[str, ...]:
    """The lists whose names begin so, in the order of their names.

    Args:
        beginning: such as `kind_`.

    Raises:
        BrokenInstall: no file has such a list.
    """
    found = {name for language in _languages() for name in language.get("words", {}) if name.startswith(beginning)}
    if not found:
        raise BrokenInstall(f"no data file beside {__name__} has lists named {beginning}…; install ctxfold again")
    return tuple(sorted(found))


@cache
def numbers() -> Mapping[str, int]:
    """What each word that counts stands for: from 1, and -1 for the last."""
    return MappingProxyType({word: n for language in _languages() for word, n in language.get("numbers", {}).items()})


@cache
def _languages() -> tuple[Language, ...]:
    """The data files, by name, so that the patterns are the same everywhere."""
    found = sorted(
        (each for each in files(__package__).iterdir() if each.name.endswith(".toml")), key=lambda each: each.name
    )
    return tuple(tomllib.loads(each.read_text(encoding="utf-8")) for each in found)


def _list(language: Language, name: str) -> list[str]:
    held = language.get("words", {}).get(name, [])
    return held.split() if isinstance(held, str) else list(held)


def _placed(language: Language, cue: Mapping[str, list[str]]) -> list[str]:
    """A language's phrases of one cue, each group where it may stand."""
    found = []
    for place, phrases in cue.items():
        either = "|".join(_filled(language, phrase) for phrase in phrases)
        found.append(_at(place, either, language))
    return found


def _filled(language: Language, phrase: str) -> str:
    """A phrase with its lists in place."""
    return _NAMED.sub(lambda named: f"(?:{'|'.join(_list(language, named[1]))})", phrase)


def _at(place: str, either: str, language: Language) -> str:
    """Phrases with what must stand before and behind them."""
    leads, lets, softly = (_filled(language, f"{{{name}}}") for name in ("leads", "lets", "softly"))
    lead = rf"(?:{leads}\b[,.!:;—–\s]*)*" if _list(language, "leads") else ""
    let = rf"(?:{lets}\s+(?:{softly} )?)?" if _list(language, "lets") else ""
    before, behind = (r"(?<!\w)", r"(?!\w)") if language["spaced"] else ("", "")
    match place:
        case "anywhere":
            return f"{before}(?:{either}){behind}"
        case "head":
            return rf"^\W*(?:{either})"
        case "first":
            return rf"^\W*{lead}(?:{either})"
        case "start":
            return f"{_OPEN}(?:{either})"
        case "opening":
            return f"{_OPEN}{lead}(?:{either}){behind}"
        case "asked":
            return f"{_OPEN}{lead}{let}(?:{either}){behind}"
        case "whole":
            return either
        case _:
            raise BrokenInstall(f"a data file beside {__name__} has phrases at {place!r}, which is no place")
