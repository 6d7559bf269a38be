"""What a message says of its own place in a conversation, read from cue phrases (`ctxfold/phrases`). A cue says what a message may do;
whether it does is decided against the forest, elsewhere.

Source: explicit cues ("back to", "instead", "the first option", names) outrank similarity in Context-Agent's reading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ctxfold.text.phrases import listed, numbers, pattern

__all__ = ["Cues", "asks_for_all", "cues_of"]


@dataclass(frozen=True, slots=True)
class Cues:
    """What a message says of its place.

    Attributes:
        returns: it goes back to something.
        begins: it begins something else.
        turns: it opens an alternative to something said.
        soft: it may do so, or merely refine.
        corrects: it changes a detail of what stands.
        leans: it begins by leaning on what was said just before.
        points: it holds a pronoun that needs something before it.
        opens: it has the form of a request that stands by itself.
        brings: it begins with something of the speaker's own.
        also: it asks for one thing more.
        every: it asks for all that was said.
        instead: it puts something in the place of something else.
        chooses: it settles on one of several.
        original: it speaks of what came first of several.
        deictic: it points at what stands ("in that setup").
        mishap: its "if" is of something that befalls one, not of something one would do.
        ordinal: the number of an option it names, from 1; -1 for the last; None for none.
        kind: what the ordinal counts.
        topic: what it names behind a cue ("back to the hotel": the hotel), else the whole message.
        fronted: what it names before all else ("for the lunch, …": the lunch); empty for nothing.
    """

    returns: bool
    begins: bool
    turns: bool
    soft: bool
    corrects: bool
    leans: bool
    points: bool
    opens: bool
    brings: bool
    also: bool
    every: bool
    instead: bool
    chooses: bool
    original: bool
    deictic: bool
    mishap: bool
    ordinal: int | None
    kind: Literal["branch", "topic"]
    topic: str
    fronted: str = ""


def cues_of(message: str) -> Cues:
    """The cues of a message.

    Args:
        message: the user's words; of a long one the first and the last few hundred characters are read.
    """
    text = message if len(message) <= _READ else f"{message[: _READ // 2]}\n{message[-_READ // 2 :]}"
    text = text.replace("’", "'").strip()
    ordinal, kind = _ordinal(text)
    found = pattern("message.returns").search(text)
    front = pattern("message.fronts").search(text)
    return Cues(
        returns=found is not None,
        begins=_says("begins", text),
        turns=_says("turns", text),
        soft=_says("softens", text),
        corrects=_says("corrects", text),
        leans=_says("leans", text),
        points=_says("points", text),
        opens=_says("opens", text),
        brings=_says("brings", text),
        also=_says("also", text),
        every=asks_for_all(text),
        instead=_says("insteads", text),
        chooses=_says("chooses", text),
        original=_says("originals", text),
        deictic=_says("sets", text),
        mishap=_says("mishaps", text),
        ordinal=ordinal,
        kind=kind,
        topic=_behind(text, found.end()) if found else text,
        fronted=next((part for part in front.groups() if part), "") if front else "",
    )


def asks_for_all(message: str) -> bool:
    """Whether a message asks for everything that was said, or for a final form of it."""
    return _says("all", message[:_READ].replace("’", "'"))


def _says(cue: str, text: str) -> bool:
    return pattern(f"message.{cue}").search(text) is not None


_READ = 1_200
_CLAUSE = re.compile(r"[.!?;:,—–。！？；：，]")


def _behind(text: str, at: int) -> str:
    """The clause behind a place in a text; the whole text where nothing stands there."""
    end = _CLAUSE.search(text, at)
    clause = text[at : end.start() if end else len(text)].strip()
    return clause or text


def _ordinal(text: str) -> tuple[int | None, Literal["branch", "topic"]]:
    found = pattern("message.counts").search(text)
    if found is None:
        return None, "branch"
    parts = [part.lower() for part in found.groups() if part]
    number = next((numbers()[part] for part in parts if part in numbers()), None)
    return number, "topic" if listed("topical") & set(parts) else "branch"
