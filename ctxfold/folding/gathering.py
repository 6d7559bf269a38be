"""Calls on one thing, told as one: what was called again and again on the same subject stands once, with what each call asked. It drops no argument.

An agent reads one file twenty times, a stretch at a time. The file's name is long and the stretches are short, so the name stands once and they
stand behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxfold.compact.cut import whole
from ctxfold.lines import Line

__all__ = ["begins", "gathered"]


def gathered(lines: Sequence[Line]) -> list[Line]:
    """Lines in which older calls on the same subject stand behind the newest.

    Args:
        lines: a stretch in path order. A call begins with a line that has a key, of its name and subject; lines of its record follow.

    Returns:
        The lines, calls gathered. A line that stands there word for word is not repeated.
    """
    calls: dict[int, list[list[Line]]] = {}
    made: list[list[Line]] = []
    for each in lines:
        if begins(each) and each.keys:
            made.append([each])
            calls.setdefault(each.keys[0], []).append(made[-1])
        elif each.kind == "call" and not begins(each) and made and made[-1][0].kind == "call":
            made[-1].append(each)
        else:
            made.append([each])
    for group in calls.values():
        if len(group) > 1:
            group[-1][:] = _merged(group)
            for older in group[:-1]:
                older.clear()
    return [each for part in made for each in part]


def begins(line: Line) -> bool:
    """Whether a line is where a call begins; the lines of a call that follow stand deeper, whichever of the calls on one subject they are of."""
    return line.kind == "call" and not line.joined and line.indent == 2


def _merged(group: Sequence[Sequence[Line]]) -> list[Line]:
    """The newest beginning, what each call asked in short, oldest first, then what took lines of its own."""
    rest = [each for call in group for each in call[1:]]
    newest = {each.text: at for at, each in enumerate(rest)}
    kept = [each for at, each in enumerate(rest) if newest[each.text] == at or _heads(each)]
    return [group[-1][0], *(each for each in kept if each.joined), *(each for each in kept if not each.joined)]


def _heads(line: Line) -> bool:
    """Whether a line says which argument the lines below it are of."""
    return line.indent == 3 and whole(line.text)[0].endswith(":")
