"""A view as a native tool loop reads it: the turns that `messages` puts into a provider's form.

Steps that stand raw are calls with their results; everything else is text on the user's side. A step whose calls would break the budget in this form, which
spells arguments out and names each call twice, stands as text too, oldest first and several at a time: what stands before then seldom changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxfold.log.lines import AI, USER, Line
from ctxfold.tokens import count, head
from ctxfold.view.fit import Parts, Shown
from ctxfold.view.messages import Turn

__all__ = ["CallLog", "Called", "Native", "nothing_called", "turns"]

_AT_ONCE = 8
"""Steps become text in groups of so many, so that the border seldom moves."""
_LEAST = 24


@dataclass(frozen=True, slots=True)
class Called:
    """A call as it was recorded, with the addresses of what came back."""

    ref: str
    name: str
    args: Any
    results: tuple[str, ...] = ()


CallLog = Callable[[Sequence[int]], Mapping[int, Sequence[Called]]]
"""Reads the calls of steps from the log."""


def nothing_called(_steps: Sequence[int]) -> Mapping[int, Sequence[Called]]:
    """The log of a view that has none: all of it stands as text."""
    return {}


@dataclass(frozen=True, slots=True)
class Native:
    """What a view's native form is made of: its parts, the o200k tokens it may cost, and where calls are read."""

    parts: Parts
    room: int
    log: CallLog = nothing_called


def turns(native: Native) -> list[Turn]:
    """The turns of a view, in order, at a cost within its room."""
    parts = native.parts
    logged = native.log([block.steps[0] for block in parts.blocks if _is_raw(block)])
    front, *texts = parts.texts()
    made = [
        _as_steps(block, text, logged) for block, text in zip(parts.blocks, texts[: len(parts.blocks)], strict=True)
    ]
    plain = [[Turn("user", text)] for text in texts[: len(parts.blocks)]]
    end = [Turn("user", parts.end, stable=False)] if parts.end else []
    cost = [sum(turn.tokens for turn in block) for block in made]
    left = native.room - sum(turn.tokens for turn in [Turn("user", front), *end]) - sum(cost)
    at = 0
    while left < 0 and at < len(made):
        for each in range(at, min(at + _AT_ONCE, len(made))):
            left += cost[each] - plain[each][0].tokens
            made[each] = plain[each]
        at += _AT_ONCE
    return [Turn("user", front), *(turn for block in made for turn in block), *end]


def _is_raw(block: Shown) -> bool:
    """Whether a block is one step in full, or shortened by a view alone, or folded alone without a summary."""
    return len(block.steps) == 1 and not block.summary


def _as_steps(block: Shown, text: str, logged: Mapping[int, Sequence[Called]]) -> list[Turn]:
    """A block as turns: a raw step as what was said, called and returned; any other as one text."""
    if not _is_raw(block):
        return [Turn("user", text)]
    called = logged.get(block.steps[0], ())
    answers = {ref: call.ref for call in called for ref in call.results}
    said: dict[str, list[Line]] = {"user": [], "say": [], "rest": []}
    shown: dict[str, list[Line]] = {call.ref: [] for call in called}
    for line in block.lines:
        if line.ref in answers and line.kind in ("data", "text"):
            shown[answers[line.ref]].append(line)
        elif line.ref not in shown:
            said[line.kind if line.kind in said else "rest"].append(line)
    speech = "\n".join(_unmarked(line.text, AI) for line in said["say"]).strip()
    spoken = [Turn("user", "\n".join(_unmarked(line.text, USER) for line in said["user"]))] if said["user"] else []
    if speech or called:
        calls = tuple((call.ref, call.name, _arguments(call, block)) for call in called)
        spoken.append(Turn("assistant", speech, calls))
    if called:
        spoken.append(Turn("user", results=tuple((call.ref, _result(call, shown[call.ref])) for call in called)))
    if said["rest"]:
        spoken.append(Turn("user", "\n".join(_addressed(said["rest"]))))
    return spoken or [Turn("user", text)]


def _arguments(call: Called, block: Shown) -> dict[str, Any]:
    """A call's arguments: as they were where its step stands whole, else with long texts cut to the room that the view gave the call."""
    args = call.args if isinstance(call.args, dict) else {"value": call.args}
    if block.whole:
        return args
    room = max(sum(line.tokens for line in block.lines if line.ref == call.ref), _LEAST)
    cut: dict[str, Any] = {}
    for key, value in args.items():
        words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if count(words) <= room:
            cut[key] = value
        else:
            cut[key] = f"{head(words, room)} … ({call.ref})"
    return cut


def _result(call: Called, lines: Sequence[Line]) -> str:
    """What a call returned, as much of it as the view shows, behind its address."""
    if lines:
        return "\n".join(_addressed(lines))
    return f"[left out; recall {call.results[0]}]" if call.results else "[no result]"


def _addressed(lines: Iterable[Line]) -> list[str]:
    """The texts of lines without their marks, the first of each record behind its address."""
    made: list[str] = []
    at = ""
    for line in lines:
        text = "\n".join(part.removeprefix("< ") for part in line.text.split("\n"))
        made.append(text if line.ref == at else f"{line.ref} {text}")
        at = line.ref
    return made


def _unmarked(text: str, marker: str) -> str:
    return text.removeprefix(marker).removeprefix(" ")
