"""How well a term of a question matches the words of a page, 0 to 1, term by term. It weighs nothing and ranks nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from browser_agent.deciders.explorer.question import Question, Term
from browser_agent.deciders.explorer.thesaurus import alike, root
from ctxfold.text import STOP_WORDS, words

__all__ = ["WELL", "Matcher", "Strengths", "strongest"]

Strengths = tuple[float, ...]
"""How well each term of the question is matched, in the question's order."""

_TOKEN = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*|[^\W\d]\w*(?:\.[^\W\d]\w*)*|\d+(?:\.\d+)*|[^\w\s.,;()\[\]\"'`]{1,3}")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SUFFIXES = frozenset("py html htm txt md c h cfg ini toml json xml yaml yml exe sh bat js css csv conf log".split())
"""The last part of a file's name, which says nothing about a name that ends so."""

WELL = 0.6
"""From here on a term is matched well: by a word for the same thing, or a better one."""

_CACHED = 200_000
_OWNER, _NEARER = 0.8, 0.05


class Matcher:
    """Matches texts against one question. It remembers the words it has seen, so that a word is compared once in a run.

    Args:
        question: whose terms are matched.
    """

    def __init__(self, question: Question) -> None:
        self._terms = question.terms
        self._known: dict[str, tuple[tuple[int, float], ...]] = {}
        self.none: Strengths = (0.0,) * len(question.terms)

    def strengths(self, text: str) -> Strengths:
        """How well each term is matched by the best word of a text."""
        found = [0.0] * len(self._terms)
        for token in _TOKEN.findall(text):
            for index, strength in self._hits(token):
                if strength > found[index]:
                    found[index] = strength
        return tuple(found)

    def beside(self, text: str) -> Strengths:
        """How well each term and the next one of the question stand side by side in a text, words that tell nothing aside."""
        found = [0.0] * len(self._terms)
        before: dict[int, float] = {}
        for token in _TOKEN.findall(text.replace("-", " ")):
            if token.lower() in STOP_WORDS:
                continue
            here = dict(self._hits(token))
            for index, strength in here.items():
                found[index - 1] = max(found[index - 1], min(strength, before.get(index - 1, 0.0)))
            before = here
        return tuple(found)

    def focus(self, text: str) -> float:
        """The share of a text's words that match any term well, words that tell nothing aside."""
        tokens = [token for token in _TOKEN.findall(text) if token.lower() not in STOP_WORDS]
        return sum(any(strength >= WELL for _, strength in self._hits(token)) for token in tokens) / (len(tokens) or 1)

    def _hits(self, token: str) -> tuple[tuple[int, float], ...]:
        hits = self._known.get(token)
        if hits is None:
            hits = self._compare(token)
            if len(self._known) < _CACHED:
                self._known[token] = hits
        return hits

    def _compare(self, token: str) -> tuple[tuple[int, float], ...]:
        found = ((index, _strength(term, token)) for index, term in enumerate(self._terms))
        return tuple((index, strength) for index, strength in found if strength > 0)

    def owners(self, text: str) -> Strengths:
        """How well a text is the module or class that a dotted name of the question belongs to, the nearest best."""
        words = text.strip().lower()
        return tuple(
            _OWNER + _NEARER * words.count(".") if term.name and words and term.key.startswith(f"{words}.") else 0.0
            for term in self._terms
        )


def strongest(found: Iterable[Strengths], none: Strengths) -> Strengths:
    """The best strength of each term over several texts."""
    best = list(none)
    for strengths in found:
        for index, strength in enumerate(strengths):
            if strength > best[index]:
                best[index] = strength
    return tuple(best)


def _strength(term: Term, token: str) -> float:
    return _name_strength(term, token) if term.name else _word_strength(term, token)


def _name_strength(term: Term, token: str) -> float:
    """A name against a word: the whole, the same last part, or one of its parts."""
    name, found = term.key, token.lower().removesuffix("()")
    if found == name:
        return 1.0 if term.text == token or len(name) > 2 else 0.5
    if name.startswith("-") or found.startswith("-"):
        return 0.8 if found.lstrip("-") == name.lstrip("-") and len(name.lstrip("-")) > 2 else 0.0
    ours, theirs = name.split("."), found.split(".")
    if ours[-1] in _SUFFIXES:
        return 0.0
    if ours[-1] == theirs[-1] and len(ours[-1]) > 1:
        if len(ours) == 1 or len(theirs) == 1:
            return 0.85 if len(ours) == 1 else 0.75
        return 0.95 if ours[-2] == theirs[-2] else 0.3
    if len(ours) > 1 and found in ours:
        return 0.25
    if len(ours) > 1 and len(theirs) > 1 and ours[0] == theirs[0]:
        return 0.2
    return 0.0


def _word_strength(term: Term, token: str) -> float:
    """A word against a word: the same stem, a part of a name, a word for the same thing, or a common root."""
    forms = _forms(token)
    if not forms:
        return 0.0
    key = term.key
    if key == forms[0]:
        return 1.0
    if key in forms:
        return 0.85
    whole = forms[0]
    if key in alike().get(whole, ()):
        return 0.6
    if len(key) >= 4 and len(whole) > len(key) and (whole.startswith(key) or whole.endswith(key)) and len(forms) == 1:
        return 0.6 if len(key) >= 5 or not whole.startswith(key) else 0.45
    if len(key) >= 5 and len(whole) >= 4:
        common = _common(key, whole)
        if common >= 5 and common >= max(len(key), len(whole)) - 5 and common >= 0.6 * max(len(key), len(whole)):
            return 0.6
    return 0.0


def _common(one: str, other: str) -> int:
    """Letters two words begin with alike."""
    length = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        length += 1
    return length


@lru_cache(maxsize=1 << 15)
def _forms(token: str) -> tuple[str, ...]:
    """The stems a word of a page stands for: the whole first, then its parts."""
    if not token.isascii():
        return tuple(words(token))
    if token.isalpha() and (token.islower() or token.istitle()):
        return (root(token.lower()),)
    pieces = [root(piece.lower()) for piece in _PIECE.findall(token)]
    return tuple(dict.fromkeys([root(token.lower()) if token.isalpha() else token.lower(), *pieces]))
