"""What an earlier run of a comparison left in the session: where it began, which alternatives it has told, and how. It reads notes; it writes and decides nothing.

Source: Context-Agent's forest: what came of a branch stands on it, so that one who comes back goes on with the branches that are left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ctxfold import Session
from ctxfold.errors import RefError

__all__ = ["Earlier", "Told", "earlier", "note_of"]

_NOTE = re.compile(r"(?P<name>[a-z0-9-]+): (?P<text>.+?) \((?P<url>\S+)\)\.(?: “(?P<quote>.+)”)?", re.S)
_MISSING = re.compile(r"(?P<name>[a-z0-9-]+): not found\.")
_HEAD = re.compile(r"^## (s\d+\.\d+) note$", re.M)
_QUOTED = 300
"""Characters of a passage that a note holds; a longer one it does not."""


@dataclass(frozen=True, slots=True)
class Told:
    """What came of an alternative: its answer with the passage and its address; empty where nothing was found."""

    name: str
    text: str = ""
    url: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Earlier:
    """Where a comparison stands that was begun before.

    Attributes:
        home: the branch it comes back to.
        trunk: the last step the alternatives' branches share with it.
        begin: the page it began on.
        told: what came of the alternatives that are settled, in their order.
    """

    home: str
    trunk: int
    begin: str
    told: tuple[Told, ...]


def note_of(told: Told) -> str:
    """What is kept on an alternative's branch when it is left.

    Args:
        told: what came of it.
    """
    if not told.url:
        return f"{told.name}: not found."
    said = f"{told.name}: {told.text.rstrip('.')} ({told.url})."
    return said if told.quote == told.text or len(told.quote) > _QUOTED else f"{said} “{told.quote}”"


def earlier(session: Session, names: Sequence[str], begin: str) -> Earlier | None:
    """Where a comparison stands; None where it was not begun, or all of it is told.

    Args:
        session: the run's session.
        names: the alternatives' branches, in order.
        begin: the page it began on.
    """
    topic = next((each for each in session.tree() if set(names) & {branch.name for branch in each.branches}), None)
    if topic is None:
        return None
    home = next((branch.name for branch in topic.branches if branch.name not in names), "main")
    trunk = next(branch.forked_at for branch in topic.branches if branch.name in names)
    notes = _notes(session)
    told: list[Told] = []
    for name in names:
        if name not in notes:
            break
        told.append(notes[name])
    return None if len(told) == len(names) else Earlier(home, trunk, begin, tuple(told))


def _notes(session: Session) -> dict[str, Told]:
    """What the notes of a session tell of alternatives, the newest of each."""
    found: dict[str, Told] = {}
    last = max((branch.tip for topic in session.tree() for branch in topic.branches), default=0)
    for step in range(1, last + 1):
        try:
            refs = _HEAD.findall(session.recall(f"s{step}").text)
        except RefError:
            continue
        for ref in refs:
            said = session.recall(ref).text
            told, missing = _NOTE.fullmatch(said), _MISSING.fullmatch(said)
            if told is not None:
                quote = told["quote"] or told["text"]
                found[told["name"]] = Told(told["name"], told["text"], told["url"], quote)
            elif missing is not None:
                found[missing["name"]] = Told(missing["name"])
    return found
