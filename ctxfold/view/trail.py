"""Finds the files and records that calls changed, and results that repeat an earlier one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ctxfold.log.lines import Line
from ctxfold.select.pieces import cells_of, shape_of
from ctxfold.select.score import is_id
from ctxfold.text.words import changed_lines
from ctxfold.workspace import Block, Change, RawStep

_PATCHED = re.compile(r"^(?:\*\*\* \w+ File: |\+\+\+ (?:b/)?)(\S.*)$", re.M)
"""The files that a patch changes, in the forms of apply_patch and of a unified diff."""
_STEPS = 3
"""Steps named for one artifact: the first, and this many of the newest."""
_NAMES = 200
"""Artifacts that a tile knows, the newest changed."""
_LONG = 60
"""o200k tokens from which a result is compared with earlier ones."""
_MOST = 0.5
"""The most that the changed lines of a result may cost, for 1 of its own cost."""
_HEAD, _READ = 3, 2_000
"""Lines by which a similar text is recognised, and the characters in which they are looked for."""


def changes_of(blocks: Sequence[Block]) -> tuple[Change, ...]:
    """The files and records that a stretch changed, in the order of the newest change.

    A call changes the thing that it names if its tool mostly brings text of several lines, or if its text is a patch.
    The rule uses structure only: no tool is known by name.
    """
    writing = _find_writing_tools([each for block in blocks if isinstance(block, RawStep) for each in block.lines])
    changes: dict[str, dict[int, None]] = {}
    for block in blocks:
        for each in _find_changes(block, writing) if isinstance(block, RawStep) else block.changed:
            changes[each.name] = {**changes.pop(each.name, {}), **dict.fromkeys(each.steps)}
    newest = [(name, tuple(steps)) for name, steps in changes.items()][-_NAMES:]
    return tuple(
        Change(name, steps if len(steps) <= _STEPS else (steps[0], *steps[-_STEPS:])) for name, steps in newest
    )


def _find_changes(step: RawStep, writing: frozenset[str]) -> list[Change]:
    """The changes by the calls of a step; none if no call was answered."""
    calls = {each.ref for each in step.lines if each.kind == "call"}
    if step.settled and not any(each.kind in ("data", "text") and each.ref not in calls for each in step.lines):
        return []
    names: dict[str, None] = {}
    for at, each in enumerate(step.lines):
        if each.kind != "call":
            continue
        if each.depth:
            names.update((name.strip(), None) for name in _PATCHED.findall(each.text))
        elif _tool_of(each) in writing or _brings_text(step.lines, at):
            values = (cell.partition("=")[2].strip('"') for cell in cells_of(each))
            names.update((name, None) for name in [value for value in values if is_id(value)][:1])
    return [Change(name, (step.n,)) for name in names]


def _find_writing_tools(lines: Sequence[Line]) -> frozenset[str]:
    """The tools of which more than half of the calls bring text of several lines."""
    calls: Counter[str] = Counter()
    bring: Counter[str] = Counter()
    for at, each in enumerate(lines):
        if each.kind == "call" and not each.depth:
            calls[_tool_of(each)] += 1
            bring[_tool_of(each)] += _brings_text(lines, at)
    return frozenset(tool for tool in calls if 2 * bring[tool] > calls[tool])


def _brings_text(lines: Sequence[Line], at: int) -> bool:
    return at + 1 < len(lines) and lines[at + 1].kind == "call" and lines[at + 1].depth > 0


def _tool_of(call: Line) -> str:
    return call.text[: call.cuts[0]] if call.cuts else call.text


def drop_repeats(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Blocks in which a result that repeats an earlier one names it, or shows only the lines that changed.

    Only steps in full are compared: a tile may show a part of a result.
    """
    same: dict[str, Line] = {}
    alike: dict[str, Line] = {}
    kept: list[Block] = []
    for block in blocks:
        lines = _shorten_repeats(block.lines, same, alike) if isinstance(block, RawStep) else block.lines
        if lines != block.lines:
            saved = sum(each.tokens for each in block.lines) - sum(each.tokens for each in lines)
            kept.append(replace(block, lines=lines, tokens=block.tokens - saved))
        else:
            kept.append(block)
    return tuple(kept)


def _shorten_repeats(lines: tuple[Line, ...], same: dict[str, Line], alike: dict[str, Line]) -> tuple[Line, ...]:
    """The lines of a step, repeats of texts in `same` and `alike` shortened; new texts are added to both."""
    kept: list[Line] = []
    for each in lines:
        if each.kind == "text" and each.tokens >= _LONG:
            body = _body_of(each)
            rows = [row for row in body[:_READ].splitlines() if row.strip()]
            head = "\n".join(map(shape_of, rows[:_HEAD]))
            shorter = _shorten_repeat(each, body, same.get(body), alike.get(head))
            if shorter is None:
                same[body] = alike[head] = each
            kept.append(shorter or each)
        else:
            kept.append(each)
    return tuple(kept)


def _shorten_repeat(each: Line, body: str, twin: Line | None, before: Line | None) -> Line | None:
    if twin is not None:
        return each.reword(f"< as {twin.ref}, word for word")
    changed = changed_lines(_body_of(before), body) if before is not None else None
    if before is None or not changed:
        return None
    rows = "\n".join(changed)
    shorter = each.reword(f"<<{each.ref} as {before.ref}, but:\n{rows}\n{each.ref}>>")
    return shorter if shorter.tokens <= _MOST * each.tokens else None


def _body_of(each: Line) -> str:
    """The text of a result without the fence around it."""
    return each.text.partition("\n")[2].rpartition("\n")[0] if each.text.startswith("<<") else each.text
