"""The frozen values that refactorings leave at the end of a view: a thought, key facts, superseded values.

Source: ACR's cognitive boosting (`[Thought]`) and attention anchor (`[KEY INFO]`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ctxfold.errors import CorruptStore
from ctxfold.log.lines import KEY_INFO, SUPERSEDED, THINKING, unposed
from ctxfold.tokens import count, head

__all__ = [
    "Guidance",
    "Pin",
    "Slot",
    "Superseded",
    "dump_guidance",
    "load_guidance",
    "shown_guidance",
]

Slot = Literal["thought", "key_info"]
"""`thought`: what to do differently, in a sentence or two. `key_info`: what must not be overlooked."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A note that a refactoring added when the path had `depth` steps, and the records it was made of; none where a host or a model wrote it freely."""

    slot: Slot
    text: str
    depth: int
    refs: tuple[str, ...] = ()
    untrusted: bool = False


@dataclass(frozen=True, slots=True)
class Superseded:
    """A value that a newer event took the place of. `at`: the record that held it; `by`: the one that does. `of`, `field` and `at` are empty where nobody said."""

    of: str
    field: str
    was: str
    at: str
    now: str
    by: str


THOUGHT = 8
"""Steps for which a thought is shown: it is about what to do next."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """All that refactorings left on a branch. `depths`: the tiles that refactorings made, with how many refactorings stand inside each."""

    thought: Pin | None = None
    key_info: Pin | None = None
    superseded: tuple[Superseded, ...] = ()
    depths: tuple[tuple[int, int], ...] = ()
    made: int = 0

    @property
    def silent(self) -> bool:
        """Whether a view shows nothing of it."""
        return self.thought is None and self.key_info is None and not self.superseded

    def at(self, path_length: int) -> Guidance:
        """What of it is to be shown on a path of so many steps: all but a thought whose time is over."""
        over = self.thought is not None and path_length - self.thought.depth >= THOUGHT
        return replace(self, thought=None) if over else self


_SUPERSEDED = 12
"""Superseded values a view names at most, the newest."""
_ROOM = (400, 200, 64, 24, 0)
"""o200k tokens of a note, by the form of the view's end."""


def shown_guidance(guidance: Guidance, texts: Sequence[str], form: int) -> str:
    """What a view says of it at its very end: superseded values that still stand in the view, the thought, the key facts last."""
    stale = [each for each in guidance.superseded if any(each.was in text for text in texts)]
    named = [
        f"{_named(each)}{each.now} ({each.by}), not {each.was}{f' ({each.at})' if each.at else ''}"
        for each in stale[-_SUPERSEDED:]
    ]
    parts: list[str] = []
    if named and form < 3:
        parts.append("\n".join([SUPERSEDED, *(f"< {name}" for name in named)]))
    for pin, title in ((guidance.thought, THINKING), (guidance.key_info, KEY_INFO)):
        if pin is not None:
            parts.append(_pinned(pin, title, _ROOM[form]))
    return "\n".join(parts)


def _named(each: Superseded) -> str:
    named = " ".join(filter(None, (each.of, each.field)))
    return f"{named}: " if named else ""


def _pinned(pin: Pin, title: str, most: int) -> str:
    if not most:
        return f"{title}: {' '.join(pin.refs[:4]) or '…'}"
    text = pin.text if len(pin.text) <= most or count(pin.text) <= most else f"{head(pin.text, most)} …"
    if not pin.untrusted:
        return unposed(f"{title}: {text}")
    return "\n".join([f"{title}:", *(f"< {line}" for line in text.splitlines())])


def dump_guidance(guidance: Guidance) -> dict[str, Any]:
    """Guidance as JSON."""
    return {
        "pins": [
            {"slot": pin.slot, "text": pin.text, "depth": pin.depth, "refs": list(pin.refs), "untrusted": pin.untrusted}
            for pin in (guidance.thought, guidance.key_info)
            if pin is not None
        ],
        "superseded": [
            {"of": each.of, "field": each.field, "was": each.was, "at": each.at, "now": each.now, "by": each.by}
            for each in guidance.superseded
        ],
        "depths": [list(pair) for pair in guidance.depths],
        "made": guidance.made,
    }


def load_guidance(tree: Any) -> Guidance:
    """Guidance from JSON made by `dump_guidance`. Raises CorruptStore when it is not."""
    try:
        pins = [Pin(**{**each, "refs": tuple(each["refs"])}) for each in tree["pins"]]
        return Guidance(
            next((pin for pin in pins if pin.slot == "thought"), None),
            next((pin for pin in pins if pin.slot == "key_info"), None),
            tuple(Superseded(**each) for each in tree["superseded"]),
            tuple((int(tile), int(depth)) for tile, depth in tree["depths"]),
            int(tree["made"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptStore("a refactoring does not read back; restore a copy of the store") from error
