"""A task that compares, as the alternatives it names and what it wants to know of each. It reads a task; it opens nothing and decides nothing.

The rules know English tasks, as `explorer.question` does; addresses say alternatives in any language. A task that compares nothing has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

__all__ = ["Alternative", "Comparison", "comparison"]

MOST = 5
"""Alternatives that are compared at most."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of the things compared.

    Attributes:
        name: what it is called, fit for a branch.
        title: as the task spells it, or its address.
        task: what is wanted of it, as a task of its own.
        thing: what a list would call the thing it is wanted of.
        url: the page to begin on; empty where it begins where the others do.
    """

    name: str
    title: str
    task: str
    thing: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Alternatives, and how the better of two values is called.

    Attributes:
        alternatives: at least two, in the order of the task.
        measure: what is compared, such as `price`.
        best: what is asked for, such as `cheaper`; empty where both are to be told.
        least: whether the smaller value is the better one.
    """

    alternatives: tuple[Alternative, ...]
    measure: str = ""
    best: str = ""
    least: bool = True


_MEASURES = {
    "cheap": ("price", True), "expensive": ("price", False), "costly": ("price", False), "dear": ("price", False), "light": ("weight", True),
    "heavy": ("weight", False), "heavi": ("weight", False), "fast": ("time", True), "quick": ("time", True), "slow": ("time", False),
    "long": ("length", False), "short": ("length", True), "large": ("size", False), "big": ("size", False), "bigg": ("size", False),
    "small": ("size", True), "old": ("age", False), "young": ("age", True), "high": ("height", False), "tall": ("height", False), "low": ("height", True),
}  # fmt: skip
"""What a comparative measures, by its stem, and whether the least of it is meant."""

_AND = r"(?:,? (?:and|or|with|to|against|versus|vs\.?) |, )"
_NAMED = (
    re.compile(r"\bcompare (?P<names>.{2,120}?) (?:on|by|in terms of|regarding|with respect to|as to) (?P<what>[^.?!]{2,120})", re.I),
    re.compile(rf"\bcompare (?P<what>.{{2,80}}?) (?:of|for) (?P<names>[^.?!]{{2,120}}?{_AND}[^.?!]{{2,120}})", re.I),
    re.compile(r"\b(?:which|what|who) (?:\w+ )?(?:is|has|costs|takes|weighs) (?:the )?(?P<what>(?:more |less |most |least )?\w+)\s*[:,-]\s*(?P<names>[^.?!]{2,120}? or [^.?!]{2,120})", re.I),
    re.compile(r"^\W*(?P<names>[^.?!:]{2,60} (?:versus|vs\.?) [^.?!:]{2,60}):\s*(?P<what>[^.?!]{2,120})", re.I),
)  # fmt: skip
_SPLIT = re.compile(r"\s*(?:,\s*(?:and|or)\s+|,\s*|\s+(?:and|or|with|to|against|versus|vs\.?)\s+)\s*", re.I)
_ARTICLE = re.compile(r"^(?:the|a|an|both|between)\s+", re.I)
_COMPARATIVE = re.compile(r"\b(?:(?P<more>more|less|most|least) (?P<word>[a-z]+)|(?P<stem>[a-z]+?)(?:er|est))\b", re.I)
_ASKING = re.compile(
    r"\b(?:compare|which|what|who|where|of (?:the|these|those) (?:two|three|\w+)|(?:shops?|stores?|sites?|pages?|sellers?|listings?|ones?) (?:sells?|offers?|has|have|lists?)|"
    r"sells?|offers?|has|is|are|at|both|the two|costs?|better|between)\b",
    re.I,
)
_SPACE = re.compile(r"\s+")


def comparison(task: str, starts: Sequence[str] = ()) -> Comparison | None:
    """What a task compares; None where it compares nothing.

    Args:
        task: what the user asked.
        starts: the pages it begins on; several are alternatives, whatever the words.
    """
    best, measure, least = _measure(task)
    if len(starts) > 1:
        thing = _thing(task, best)
        wanted = f"What is the {measure} of {thing}?" if best else f"What is the {thing}?"
        measure, _, thing = (measure, "", thing) if best else thing.rpartition(" of ")
        names = _addressed(starts[:MOST])
        found = tuple(
            Alternative(name, url, wanted, _ARTICLE.sub("", thing), url)
            for name, url in zip(names, starts[:MOST], strict=True)
        )
        return Comparison(found, measure, best, least)
    for pattern in _NAMED:
        said = pattern.search(task)
        if said is None:
            continue
        titles = [_ARTICLE.sub("", part.strip(" ?.!,")) for part in _SPLIT.split(said["names"])]
        names = [_slug(title) for title in titles]
        if 2 <= len(titles) <= MOST and all(names) and len(set(names)) == len(names):
            what = measure or _ARTICLE.sub("", said["what"].strip())
            return Comparison(
                tuple(
                    Alternative(name, title, f"What is the {what} of {title}?", title)
                    for name, title in zip(names, titles, strict=True)
                ),
                what,
                best,
                least,
            )
    return None


def _measure(task: str) -> tuple[str, str, bool]:
    """The comparative of a task, what it measures, and whether the least of it is meant."""
    for said in _COMPARATIVE.finditer(task):
        stem = (said["word"] or said["stem"]).lower()
        known = _MEASURES.get(stem) or _MEASURES.get(f"{stem}e") or _MEASURES.get(stem.removesuffix("i") + "y")
        if known is not None:
            fewer = (said["more"] or "").lower() in ("less", "least")
            return said[0].lower(), known[0], known[1] != fewer
    return "", "", True


def _thing(task: str, best: str) -> str:
    """What a task asks of each of several places: without addresses and the words of comparing."""
    rest = re.sub(r"https?://\S+", " ", task)
    if best:
        rest = _ASKING.sub(" ", re.sub(rf"\b{re.escape(best)}\b", " ", rest, flags=re.I))
    else:
        rest = re.sub(
            r"\b(?:please|compare)\b|\b(?:at|in|on|of|from|between) (?:the|these|both)? ?(?:two|both|\w+ (?:shops|stores|sites|pages|listings))\b",
            " ",
            rest,
            flags=re.I,
        )
    return _ARTICLE.sub("", _SPACE.sub(" ", rest).strip(" ?.!,:"))


def _addressed(starts: Sequence[str]) -> list[str]:
    """A name for each address: what tells it from the others."""
    parts = [urlsplit(url) for url in starts]
    for told in (
        [_slug((part.hostname or "").removeprefix("www.")) for part in parts],
        [_slug(part.path.strip("/").rpartition("/")[2].partition(".")[0]) for part in parts],
        [_slug(part.path) for part in parts],
    ):
        if all(told) and len(set(told)) == len(told):
            return told
    return [f"page-{number}" for number in range(1, len(starts) + 1)]


def _slug(text: str) -> str:
    """Words as a branch's name; empty where none is in Latin letters."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].strip("-")
