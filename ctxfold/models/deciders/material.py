"""Collects what models are shown of a session: records of its log, its goal, register and the user's last words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count as numbers

from ctxfold.errors import RefError
from ctxfold.log.lines import AI, NOTE, USER, fence, unposed
from ctxfold.session.recall import Recalled
from ctxfold.session.session import Session
from ctxfold.tokens import count, head
from ctxfold.workspace.workspace import Tile, Workspace, spans

__all__ = ["in_parts", "known", "last_said", "log_of", "newest_records", "records", "standing", "steps_of"]

_LEAST = 200
_CHARACTERS = 4
"""Characters of an o200k token, about."""
_REQUEST = 200
"""o200k tokens of the first request that stand for a goal."""
_RECENT = 200
"""Steps at the end of a path that are read for a model."""


def records(session: Session, steps: Sequence[int]) -> list[Recalled]:
    """Every record of some steps, in order."""
    return [each for step in steps for each in _of_step(session, step)]


def _of_step(session: Session, step: int) -> Iterator[Recalled]:
    for k in numbers(1):
        try:
            yield session.recall(f"s{step}.{k}", reading=True)
        except RefError:
            return


def newest_records(session: Session, steps: Sequence[int], most: int) -> list[Recalled]:
    """The records of the newest of some steps, in order, until they hold some o200k tokens by their length."""
    found: list[Recalled] = []
    for step in reversed(steps):
        found[:0] = _of_step(session, step)
        if sum(len(each.text) for each in found) > _CHARACTERS * most:
            break
    return found


def log_of(found: Sequence[Recalled], room: int) -> str:
    """Records as a model reads them, each under its address, what tools and pages said as data. Where not all fit the room, the newest are shown, long ones cut at their end."""
    most, left, shown = max(_LEAST, room // max(1, min(len(found), 8))), room, list[str]()
    for each in reversed(found):
        text = _posed(each, _cut(each.text, most))
        left -= count(text) + 1
        if left < 0:
            break
        shown.append(text)
    return "\n".join(reversed(shown))


def in_parts(found: Sequence[Recalled], room: int, longest: int) -> list[list[Recalled]]:
    """Records in parts of about `room` o200k tokens by their length, oldest first; one of more than `longest` is shown in so many."""
    parts: list[list[Recalled]] = []
    left = 0
    for each in found:
        size = min(len(each.text), _CHARACTERS * longest)
        if not parts or size > left:
            parts.append([])
            left = _CHARACTERS * room
        parts[-1].append(each)
        left -= size
    return parts


def _cut(text: str, most: int) -> str:
    kept = text[: most * 12]
    if len(kept) == len(text) and count(text) <= most:
        return text
    return f"{head(kept, most)} …"


def _posed(each: Recalled, text: str) -> str:
    if each.origin in ("tool", "page"):
        return f"{each.ref} {fence(each.ref, text)}"
    speaker = {"user": USER, "assistant": AI, "note": NOTE}.get(each.kind, ">")
    return f"{each.ref} {speaker} {unposed(text)}"


def standing(workspace: Workspace, found: Sequence[Recalled]) -> str:
    """The summaries and notes that a host or a model wrote and a refactoring may correct, as they stand; `found` are the records of the path."""
    tiles = [block for block in workspace.blocks if isinstance(block, Tile) and block.origin != "embedded"]
    told = [f"b{tile.number}, of {spans(tile.steps)}: {tile.summary}" for tile in tiles if tile.summary]
    told += [f"{each.ref}: {each.text}" for each in found if each.kind == "note" and each.origin == "model"]
    guidance = workspace.guidance
    return "\n".join([*told, *(pin.text for pin in (guidance.thought, guidance.key_info) if pin)]) or "none"


def _goal(workspace: Workspace) -> str:
    """What a session is for: the goal with its revisions, or the first request where nobody set one."""
    lines = (*workspace.words, *(line for block in workspace.blocks for line in block.lines))
    first = next((line.text for line in lines if line.kind == "user"), "")
    said = (
        f"nobody set a goal; the first request was: {head(first.removeprefix(USER).strip(), _REQUEST)}"
        if first
        else "not said"
    )
    return " / ".join(note.text for note in workspace.notes) or said


def known(workspace: Workspace) -> dict[str, str]:
    """The goal and the register, as blanks of a prompt."""
    intent = workspace.intent
    return {
        "goal": _goal(workspace),
        "todo": "\n".join(f"{item.id} {item.state}: {item.text}" for item in intent.items) or "empty",
        "constraints": "\n".join(f"{each.id} {each.text} ({each.ref})" for each in intent.binding) or "none",
        "decisions": "\n".join(f"{each.id} {each.text} ({each.ref})" for each in intent.decisions if each.holds)
        or "none",
    }


def last_said(session: Session, workspace: Workspace) -> tuple[str, str]:
    """The user's last message on the path: its record's address and its exact words; empty where none is loaded."""
    refs = (line.ref for block in reversed(workspace.blocks) for line in reversed(block.lines) if line.kind == "user")
    ref = next(refs, "")
    return ref, session.recall(ref).text if ref else ""


def steps_of(workspace: Workspace) -> tuple[int, ...]:
    """The newest steps of the path, in path order."""
    return tuple(step for block in workspace.blocks for step in block.steps)[-_RECENT:]
