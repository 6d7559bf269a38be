"""Calls on one thing, told as one: what was called again and again on the same subject stands once, with what each call asked. It drops no argument.

An agent reads one file twenty times, a stretch at a time. The file's name is long and the stretches are short, so the name stands once and they
stand behind it. A call behind which something it gave still stands is not moved: that would stand behind another.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxfold.log.compact.prose import whole
from ctxfold.log.lines import Line
from ctxfold.view.failing import added

__all__ = ["begins", "gathered"]


def gathered(lines: Sequence[Line]) -> list[Line]:
    """Lines in which older calls on the same subject, of which no result stands, stand with the newest.

    Args:
        lines: a stretch in path order. A call begins with a line that has a key, of its name and subject; lines of its record follow.

    Returns:
        The lines, calls gathered. A line that stands there word for word is not repeated.
    """
    calls: dict[int, list[int]] = {}
    answered: set[int] = set()
    made: list[list[Line]] = []
    for each in lines:
        part = made[-1] if made else []
        if each.kind == "call" and not begins(each) and part and part[0].kind == "call":
            part.append(each)
            continue
        if each.kind in ("data", "text") and part and _subject(part) is not None:
            answered.add(len(made) - 1)
        made.append([each])
        subject = _subject(made[-1])
        if subject is not None:
            calls.setdefault(subject, []).append(len(made) - 1)
    for places in calls.values():
        bare = [made[at] for at in places if at not in answered]
        newest = made[places[-1]]
        group = [*bare, newest] if places[-1] in answered and _asks_last(bare, newest) else bare
        if len(group) > 1:
            group[-1][:] = _merged(group)
            for older in group[:-1]:
                older.clear()
    return [each for part in made for each in part]


def begins(line: Line) -> bool:
    """Whether a line is where a call begins; the lines of a call that follow stand deeper, whichever of the calls on one subject they are of."""
    return line.kind == "call" and not line.joined and line.indent == 2


def _subject(part: Sequence[Line]) -> int | None:
    """The key of the name and subject of a call; None for anything else."""
    return part[0].keys[0] if begins(part[0]) and part[0].keys else None


def _asks_last(older: Sequence[Sequence[Line]], newest: Sequence[Line]) -> bool:
    """Whether calls told with a newer one leave what that asked as the last of all, so that its results stand right behind it."""
    return len(newest) > 1 and all(each.joined for call in (*older, newest) for each in call[1:])


def _merged(group: Sequence[Sequence[Line]]) -> list[Line]:
    """The newest beginning, what each call asked in short, oldest first, then what took lines of its own."""
    rest = [each for call in group for each in call[1:]]
    newest = {each.text: at for at, each in enumerate(rest)}
    kept = [each for at, each in enumerate(rest) if newest[each.text] == at or _heads(each)]
    return [
        added(group[-1][0], [call[0] for call in group[:-1]]),
        *(each for each in kept if each.joined),
        *(each for each in kept if not each.joined),
    ]


def _heads(line: Line) -> bool:
    """Whether a line says which argument the lines below it are of."""
    return line.indent == 3 and whole(line.text)[0].endswith(":")
