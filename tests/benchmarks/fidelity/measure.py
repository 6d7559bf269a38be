"""What a call needs of the past, and whether a view still is_found it: recall, far recall and bound recall.

Just before each recorded call the view is made of everything earlier. The values that the call uses are looked for in
it: short strings and numbers of its arguments, ids and names inside commands and long strings, the lines that anchor an
edit. Values of the system prompt, and values that occur nowhere earlier, are not asked for.

*recall*: the value is in the view. *far*: the same, for values last seen four or more steps earlier. *bound*: it is in
the view beside its company in one of the last three events that held it: its key, the other values of its record, or
the words around it. Presence is not use, and the calls were made from another context: these figures compare views, not
agents.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.benchmarks.shared.recordings import RecordedCall, RecordedEvent

FAR = 4
"""Steps after which a value is far."""
WITNESSES = 3
"""Number of the last events with a value whose company counts."""
REACH = 60
"""Characters on each side of a value that count as beside it."""
MATES = 12
"""Number of the other values of a record that count as company."""

Path = tuple[str | int, ...]
Company = frozenset[str]
"""The words and values beside a value in one place, in lower case."""

_EXTENSIONS = "ts tsx js py md json go rs c h cpp toml yaml yml txt sh html css".split()
_NAMES = re.compile(
    "|".join(
        (
            r"[\w.+-]+@[\w-]+\.[\w.]+",  # mail
            r"https?://[^\s\"'<>)\]]+",
            r"#W\d+",  # order
            r"(?:~|\.{0,2})?/?(?:[\w.@-]+/)+[\w.@-]+",  # path
            rf"[\w-]+\.(?:{'|'.join(_EXTENSIONS)})\b",  # file
            r"\b\d{4}-\d\d-\d\d\b",  # day
            r"\b[A-Za-z]+(?:_[A-Za-z0-9]+)*_\d[\w]*",  # joined name with a number
            r"\b[A-Z0-9]{6}\b",  # booking code
            r"\b[0-9a-f]{7,40}\b",  # digest
            r"\b\d[\d,]*\.\d+\b",  # amount
            r"\b\d{3,}\b",
        )
    )
)
_PROSE = frozenset("thought summary content newText new_str file_text _raw message expression".split())
_COMMAND = frozenset(("command", "cmd"))
_ANCHOR = frozenset(("oldText", "old_str", "old_string"))
_TALK = frozenset(("think", "calculate"))
_COMMON = frozenset(
    "the and for you your with that this have has are was will can not but from its our their would like please".split()
)
_WORD = re.compile(r"[\w#@.$:/-]+")
_NUMBER = re.compile(r"[\d.,]+")


@dataclass(frozen=True)
class Asked:
    """One value a call needs of the past.

    Attributes:
        value: the value.
        far: whether it was last seen four or more steps earlier.
        companies: its company, one set for each place.
    """

    value: str
    far: bool
    companies: tuple[Company, ...]


def find_asked(call: RecordedCall, system: str, past: Sequence[tuple[int, RecordedEvent]], step: int) -> list[Asked]:
    """Return the values that a call needs of the past.

    Args:
        call: the call.
        system: the system prompt, whose values nobody has to remember.
        past: earlier events, each with the number of the step it belongs to.
        step: the number of the call's own step.
    """
    found = []
    for value in sorted(_find_values(call)):
        if _find_spots(value, system, system.lower()):
            continue
        held = [(at, event) for at, event in past if _find_spots(value, event.body, event.lowered)]
        if held:
            companies = [company for _, event in held[-WITNESSES:] for company in _find_companies(value, event)]
            found.append(Asked(value, step - held[-1][0] >= FAR, tuple(companies)))
    return found


def is_found(view: str, lowered: str, value: str) -> bool:
    """Return whether a view holds a value. `lowered` is the view in lower case."""
    return bool(_find_spots(value, view, lowered))


def is_bound(view: str, lowered: str, asked: Asked) -> bool:
    """Return whether a view holds a value beside at least two (or all, if fewer) of its company in one place."""
    if not asked.companies:
        return is_found(view, lowered, asked.value)
    for at in _find_spots(asked.value, view, lowered)[:60]:
        near = lowered[max(0, at - REACH) : at + len(asked.value) + REACH]
        if any(sum(mate in near for mate in mates) >= min(2, len(mates)) for mates in asked.companies):
            return True
    return False


def _walk(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the scalars of a JSON value with their paths."""
    match tree:
        case dict():
            for key, child in tree.items():
                yield from _walk(child, (*path, str(key)))
        case list():
            for at, child in enumerate(tree):
                yield from _walk(child, (*path, at))
        case _:
            yield path, tree


def _last_key(path: Path) -> str:
    return next((part for part in reversed(path) if isinstance(part, str)), "")


def _find_values(call: RecordedCall) -> set[str]:
    """Return the values of a call's arguments that come from somewhere else."""
    found: set[str] = set()
    for path, leaf in _walk(call.args):
        match leaf:
            case None | bool():
                continue
            case int() | float():
                text = str(int(leaf)) if float(leaf).is_integer() else repr(leaf)
                found.update([text] if sum(letter.isdigit() for letter in text) >= 2 else [])
            case _:
                found.update(_find_in_text(call.name, _last_key(path), str(leaf).strip()))
    return found


def _find_in_text(tool: str, key: str, text: str) -> list[str]:
    """Return the values in one string argument."""
    if key in _ANCHOR:
        return [line for line in map(str.strip, text.split("\n")) if len(line) >= 16][:12]
    if key in _PROSE or tool in _TALK:
        return []
    if key in _COMMAND or len(text) > 60 or "\n" in text:
        return [match.rstrip(".,;:") for match in _NAMES.findall(text) if len(match) >= 4]
    return [text] if len(text) >= 3 else []


@cache
def _compile(value: str) -> re.Pattern[str]:
    """Compile a pattern for a value as a whole word; for a number, as no part of another number."""
    if _NUMBER.fullmatch(value):
        before, after = r"(?<![\w.])", r"(?!\w|\.\d)"
    else:
        before = "(?<![A-Za-z0-9])" if value[0].isalnum() else ""
        after = "(?![A-Za-z0-9])" if value[-1].isalnum() else ""
    return re.compile(before + re.escape(value) + after, re.IGNORECASE)


def _find_spots(value: str, text: str, lowered: str) -> list[int]:
    if value.lower() not in lowered:
        return []
    return [match.start() for match in _compile(value).finditer(text)]


def _find_companies(value: str, event: RecordedEvent) -> list[Company]:
    """Return the company of a value in one event: its JSON record where there is one, else the words around it."""
    trees = [call.args for call in event.calls]
    try:
        said = json.loads(event.text)
        trees += [said] if isinstance(said, (dict, list)) else []
    except ValueError:
        said = None
    low = value.lower()
    found = [mates for tree in trees for mates in _find_mates(low, list(_walk(tree)))]
    if not found:
        for at in _find_spots(value, event.text, event.text.lower())[:3]:
            end = at + len(value)
            around = (
                _split_words(event.text[max(0, at - REACH) : at])[-5:] + _split_words(event.text[end : end + REACH])[:5]
            )
            found.append(frozenset(around) - {low})
    return [mates for mates in found if mates]


def _find_mates(low: str, leaves: list[tuple[Path, Any]]) -> Iterator[Company]:
    for path, leaf in leaves:
        if low not in str(leaf).lower():
            continue
        others = [str(other) for at, other in leaves if at != path and at[:-1] == path[:-1] and other is not None]
        above = [part for part in path[:-1] if isinstance(part, str)][-2:]
        mates = [_last_key(path), *above, *[other for other in others if 2 <= len(other) <= 40][:MATES]]
        yield frozenset(mate.lower() for mate in mates if mate) - {low}


def _split_words(text: str) -> list[str]:
    found = _WORD.findall(text.lower())
    return [word for word in found if len(word.strip(".:-/")) >= 3 and word not in _COMMON]
