"""Splits a text into words that can be compared: lower case, without accents, English ones stemmed.

An identifier gives itself and its parts. Scripts without spaces between words are read as pairs of neighbouring
characters.
The stemmer removes only the plural, -ing, -ed and the final e that they hide. A fuller stemmer joins words of different
meanings, and costs more than it finds in technical text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from difflib import unified_diff
from functools import lru_cache
from itertools import chain
from math import hypot, log

from ctxfold.tokens import rarity

_COMMON, _RARE = 0.15, 0.5
"""Up to the first rarity a word is common in all texts; from the second on it counts in full."""
_WEAK, _SHARE = 0.3, 0.6
"""A word of a query up to this rarity is left out, unless it comes to this share of the rarest word's."""
_CONTRACTED = re.compile(r"['’](?:s|t|re|ve|m|ll|d)$")
"""The endings that the tokenizer parts from a word."""

_RUN, _JOINS = 64, 15
_ASCII_WORD = re.compile(rf"\w{{1,{_RUN}}}(?:[.']\w{{1,{_RUN}}}){{0,{_JOINS}}}", re.ASCII)
_LETTER = (
    r"[\w\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e"
    r"\u0eb1-\u0ece\u0f71-\u0f84\u102b-\u109f\u17b4-\u17d3]"
)
"""A sign of a word. Python's \\w leaves out the vowel signs of Hebrew, Arabic, Indic and south-east Asian scripts."""
_ANY_WORD = re.compile(rf"{_LETTER}{{1,{_RUN}}}(?:[.'’]{_LETTER}{{1,{_RUN}}}){{0,{_JOINS}}}")
_UNSPACED = re.compile(
    r"([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+)"
)
_ACCENT = re.compile(r"[\u0300-\u036f]+")
_PIECE = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W_A-Za-z\d]+")
_JOINTS = re.compile(r"[._]")
_PLAIN_DOUBLES = "bcdfghjklmnpqrstvwxz"


def words(text: str) -> list[str]:
    """The words of a text, in order, repeats kept.

    `get_user.homePath` gives the whole in lower case and then its parts. Numbers with decimals and versions stay whole.
    A run of letters
    longer than 64 is read in pieces of 64, so one word never costs more than its length.

    Returns:
        Words ready to be counted or compared; empty when the text has no letter and no digit.
    """
    return list(chain.from_iterable(map(_expand, _tokens(text))))


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun, as in "1 step" and "2,400 steps". `many`: the plural, if it is not `one` and an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def query_words(query: str) -> list[str]:
    """The words a query asks about: each once, in order, without those that are common in any text."""
    rare = [(token, _rarity(token)) for token in _tokens(query)]
    least = min(_WEAK, _SHARE * max((weight for _, weight in rare), default=0.0))
    return list(dict.fromkeys(chain.from_iterable(_expand(token) for token, weight in rare if weight > least)))


def query_weights(query: str) -> dict[str, float]:
    """The weight of each word of a query: about 0 for a word that is common in all texts, 1 for a rare one."""
    weights: dict[str, float] = {}
    for token in _tokens(query):
        weight = min(1.0, _rarity(token) / _RARE) ** 2
        for word in _expand(token):
            weights[word] = max(weight, weights.get(word, 0.0))
    return weights


def is_common(word: str) -> bool:
    """Whether a word is common in texts of any kind, by its place in the tokenizer's table."""
    return _rarity(word) <= _COMMON


def _tokens(text: str) -> list[str]:
    """The runs of letters and digits of a text, joined by dots and apostrophes."""
    tokens: list[str] = (_ASCII_WORD if text.isascii() else _ANY_WORD).findall(text)
    return tokens


def _rarity(token: str) -> float:
    """How rare a token is, without an ending such as 's."""
    return rarity(_CONTRACTED.sub("", token.lower()))


def stem(word: str) -> str:
    """The common form of an English word's plural, -ing and -ed forms."""
    if len(word) < 3:
        return word
    word = _without_plural(word)
    if word.endswith("ing") and len(word) > 4 and _has_vowel(word[:-3]):
        word = word[:-3]
    elif word.endswith("ied") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("ed") and not word.endswith("eed") and len(word) > 3 and _has_vowel(word[:-2]):
        word = word[:-2]
    if word.endswith("e") and len(word) > 2 and not word.endswith("ee"):
        word = word[:-1]
    if len(word) > 2 and word[-1] == word[-2] and word[-1] in _PLAIN_DOUBLES:
        word = word[:-1]
    return word


def _without_plural(word: str) -> str:
    """The singular where the ending says so: -ss, -us, -sis and -xis are no plurals."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "sis", "xis")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes", "zes", "oes")):
        return word[:-2]
    return word[:-1]


def _has_vowel(letters: str) -> bool:
    """Whether letters have a vowel: y counts but at the beginning."""
    return any(letter in "aeiou" for letter in letters) or "y" in letters[1:]


@lru_cache(maxsize=1 << 14)
def _expand(token: str) -> tuple[str, ...]:
    """The words of one token of a text: itself first, then its parts."""
    if token.isascii():
        return _expand_ascii(token)
    folded = unicodedata.normalize("NFKC", _ACCENT.sub("", unicodedata.normalize("NFKD", token))).replace("’", "'")
    if folded.isascii():
        return tuple(words(folded))
    if not _UNSPACED.search(folded):
        plain = folded.replace("’", "'").removesuffix("'s").replace("'", "").casefold()
        return tuple(dict.fromkeys([plain, *_parts(folded)]))
    runs = enumerate(_UNSPACED.split(folded))  # every second one is of an unspaced script
    return tuple(chain.from_iterable(_pairs(run) if at % 2 else words(run) for at, run in runs))


def _expand_ascii(token: str) -> tuple[str, ...]:
    """The words of an ASCII token."""
    if token.isalpha() and (token.islower() or token.istitle() or len(token) < 2):
        return (stem(token.lower()),)
    if token.endswith(("'s", "'S")):
        return _expand_ascii(token[:-2])
    token = token.replace("'", "")
    if not token.strip("_."):
        return ()
    if token[0].isdigit() and not any(part[:1].isalpha() for part in token.split(".")):
        return (token.lower(),)
    if token.isalpha() and _PIECE.fullmatch(token):
        return (stem(token.lower()),)
    return tuple(dict.fromkeys([token.lower(), *_parts(token)]))


def _parts(token: str) -> list[str]:
    """The pieces of an identifier: split at dots, underscores and humps.

    Single letters and numbers below 100 tell nothing alone.
    """
    parts = []
    for piece in chain.from_iterable(_PIECE.findall(run) for run in _JOINTS.split(token)):
        small = piece.lower()
        if len(small) > (2 if small.isdecimal() else 1):
            parts.append(stem(small) if small.isascii() and small.isalpha() else small)
    return parts


def _pairs(run: str) -> list[str]:
    """Each two neighbouring characters of a run; a run of one character is itself."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def rank_alike(query: str, texts: Sequence[str]) -> list[float]:
    """How alike each text is to a query: the cosine of their words, each weighted by how few of the texts hold it, 0 to
    1.
    """
    counts = [Counter(word for word in words(text) if not is_common(word)) for text in (query, *texts)]
    holders = Counter(word for document in counts for word in document)
    vectors = [
        {word: (1 + log(times)) * log(1 + len(counts) / holders[word]) for word, times in document.items()}
        for document in counts
    ]
    lengths = [hypot(*vector.values()) or 1.0 for vector in vectors]
    asked = vectors[0]
    return [
        min(1.0, sum(weight * vector.get(word, 0.0) for word, weight in asked.items()) / (lengths[0] * length))
        for vector, length in zip(vectors[1:], lengths[1:], strict=True)
    ]


_TURNED = 2_000
"""Lines that may differ for their difference to be looked for."""


@lru_cache(maxsize=256)
def changed_lines(before: str, after: str) -> tuple[str, ...] | None:
    """The lines that went and came, as a unified diff without context; None if they are half of both or more, or too
    many.
    """
    old, new = before.split("\n"), after.split("\n")
    same = set(old) & set(new)
    turned = sum(line not in same for line in old) + sum(line not in same for line in new)
    if turned > min(_TURNED, (len(old) + len(new)) // 2) or max(len(old), len(new)) > 20 * _TURNED:
        return None
    return tuple(unified_diff(old, new, n=0, lineterm=""))[2:]
