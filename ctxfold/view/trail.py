"""The artifact trail of a stretch: which files and records its calls changed, each once, with the first step that did and the newest."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ctxfold.log.lines import Line, line
from ctxfold.select.pieces import cells_of, shape_of
from ctxfold.select.score import is_id
from ctxfold.text.words import changed_lines
from ctxfold.tokens import count
from ctxfold.workspace import Block, Change, RawStep, spans

_PATCHED = re.compile(r"^(?:\*\*\* \w+ File: |\+\+\+ (?:b/)?)(\S.*)$", re.M)
"""What a patch changes, in the forms of apply_patch and of a unified diff."""
_STEPS = 3
"""Steps named of one artifact, the newest, behind the first."""
_NAMES = 200
"""Artifacts that a tile knows, the newest changed."""


def changes_of(blocks: Sequence[Block]) -> tuple[Change, ...]:
    """What a stretch changed, in the order of the newest change.

    A call changes what it names where its tool mostly brings text over several lines, or where its text is a patch. Structure only: no tool is known by name.
    """
    writing = _tools_that_write(line for block in blocks if isinstance(block, RawStep) for line in block.lines)
    found: dict[str, dict[int, None]] = {}
    for block in blocks:
        for change in (_changed(block, writing),) if isinstance(block, RawStep) else (block.changed,):
            for each in change:
                steps = {**found.pop(each.name, {}), **dict.fromkeys(each.steps)}
                found[each.name] = steps
    return tuple(Change(name, _ends(tuple(steps))) for name, steps in found.items())[-_NAMES:]


def trail(changes: Sequence[Change], steps: Sequence[int], room: int, said: str = "") -> Line | None:
    """The line that says what was changed, what was longest ago left out beyond `room`; None where nothing was, or there is no room.

    An artifact that `said`, which stands beside it, names need not be named again.
    """
    left = [each for each in changes if each.name not in said and posixpath.basename(each.name) not in said]
    while left:
        folder = _folder([each.name for each in left])
        names = "; ".join(f"{each.name.removeprefix(folder)} {_named(each.steps)}" for each in left)
        more = "… " if len(left) < len(changes) and not said else ""
        text = f"[{spans(steps)} changed{f' in {folder}' if folder else ''}: {more}{names}]"
        if count(text) + 1 <= room:
            return line("stub", spans(steps), text)
        left = left[1:]
    return None


def _ends(steps: tuple[int, ...]) -> tuple[int, ...]:
    """The first of some steps and the newest."""
    return steps if len(steps) <= _STEPS else (steps[0], *steps[-_STEPS:])


def _named(steps: Sequence[int]) -> str:
    return spans(steps) if len(steps) <= _STEPS else f"s{steps[0]} … {spans(steps[-_STEPS:])}"


def _changed(step: RawStep, writing: frozenset[str]) -> list[Change]:
    """What the calls of a step changed; nothing where none of them was answered."""
    calls = {each.ref for each in step.lines if each.kind == "call"}
    if step.settled and not any(each.kind in ("data", "text") and each.ref not in calls for each in step.lines):
        return []
    found: dict[str, None] = {}
    for at, each in enumerate(step.lines):
        if each.kind != "call":
            continue
        if each.depth:
            found.update((name.strip(), None) for name in _PATCHED.findall(each.text))
        elif _tool(each) in writing or _brings_text(step.lines, at):
            named = (cell.partition("=")[2].strip('"') for cell in cells_of(each))
            name = next((name for name in named if is_id(name)), None)
            if name is not None:
                found[name] = None
    return [Change(name, (step.n,)) for name in found]


def _tools_that_write(lines: Iterable[Line]) -> frozenset[str]:
    """The tools of which more than half of the calls bring text over several lines."""
    calls: Counter[str] = Counter()
    bring: Counter[str] = Counter()
    every = list(lines)
    for at, each in enumerate(every):
        if each.kind == "call" and not each.depth:
            calls[_tool(each)] += 1
            bring[_tool(each)] += _brings_text(every, at)
    return frozenset(tool for tool in calls if 2 * bring[tool] > calls[tool])


def _brings_text(lines: Sequence[Line], at: int) -> bool:
    return at + 1 < len(lines) and lines[at + 1].kind == "call" and lines[at + 1].depth > 0


def _tool(call: Line) -> str:
    return call.text[: call.cuts[0]] if call.cuts else call.text


def _folder(names: Sequence[str]) -> str:
    """The folder that all of several absolute paths lie in, its slash included; empty where there is none."""
    if len(names) < 2 or not all(name.startswith("/") for name in names):
        return ""
    common = posixpath.commonpath([posixpath.dirname(name) for name in names])
    return f"{common}/" if common.strip("/") else ""


_LONG = 60
"""o200k tokens of a result from which it is worth a look whether it stands already."""
_MOST = 0.5
"""Of what a result costs, the most that what changed of it may."""
_HEAD, _READ = 3, 2_000
"""Lines by which a text is known again, and characters in which they are looked for."""


def without_repeats(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Blocks in which a result that stands in a step before it, in full and word for word, is one line that names it, and one that differs in a few lines
    from the last that began alike is those lines. Only steps in full are looked at: what a tile shows may be a part.
    """
    same: dict[str, Line] = {}
    alike: dict[str, Line] = {}
    made: list[Block] = []
    for block in blocks:
        lines = _step(block.lines, same, alike) if isinstance(block, RawStep) else block.lines
        if lines == block.lines or not isinstance(block, RawStep):
            made.append(block)
        else:
            saved = sum(line.tokens for line in block.lines) - sum(line.tokens for line in lines)
            made.append(replace(block, lines=lines, tokens=block.tokens - saved))
    return tuple(made)


def _step(lines: tuple[Line, ...], same: dict[str, Line], alike: dict[str, Line]) -> tuple[Line, ...]:
    """The lines of a step, what stands in `same` or nearly in `alike` before it said as that; what stands whole in it is added to them."""
    made: list[Line] = []
    for each in lines:
        if each.kind != "text" or each.tokens < _LONG:
            made.append(each)
            continue
        body = _body(each)
        head = _head(body)
        shorter = _again(each, body, same.get(body), alike.get(head))
        made.append(shorter or each)
        if shorter is None:
            same[body] = alike[head] = each
    return tuple(made)


def _again(line: Line, body: str, twin: Line | None, before: Line | None) -> Line | None:
    if twin is not None:
        return line.reworded(f"< as {twin.ref}, word for word")
    changed = changed_lines(_body(before), body) if before is not None else None
    if before is None or not changed:
        return None
    rows = "\n".join(changed)
    shorter = line.reworded(f"<<{line.ref} as {before.ref}, but:\n{rows}\n{line.ref}>>")
    return shorter if shorter.tokens <= _MOST * line.tokens else None


def _head(body: str) -> str:
    """By what a text is known again: its first lines, without what varies in them."""
    rows = [row for row in body[:_READ].splitlines() if row.strip()]
    return "\n".join(map(shape_of, rows[:_HEAD]))


def _body(line: Line) -> str:
    """The text of a result without the fence round it."""
    return line.text.partition("\n")[2].rpartition("\n")[0] if line.text.startswith("<<") else line.text
