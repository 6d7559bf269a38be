"""Lists what changed between two texts: lines added, removed or altered, and the altered words.

Built on difflib, whose time grows with the pairs of equal lines and beyond: equal starts and ends are set aside first, and past a bound the
lines are compared as sets, which tells what came and went but pairs nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

__all__ = ["Change", "changes", "summarise", "word_changes"]

_MOST_LINES, _MOST_PAIRS = 10_000, 20_000
_NEAR = 10
"""An altered line is looked for among so many lines from where it stood."""

_ALIKE = 0.5
"""Two lines at least this much alike are one line altered, else one went and another came."""

_WORD = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Change:
    """One line that differs.

    Attributes:
        kind: added, removed, or altered: the line before stands in the place of the line after.
        line: its number, from 1: in the text after, for a removed one in the text before.
        before: the line as it was; None for an added one.
        after: the line as it is; None for a removed one.
    """

    kind: Literal["added", "removed", "altered"]
    line: int
    before: str | None
    after: str | None


def changes(before: str, after: str) -> tuple[Change, ...]:
    """The lines that differ, in the order of the text after. White space at the end of a line does not count.

    Args:
        before: the text as it was.
        after: the text as it is.

    Returns:
        Nothing when the texts say the same.
    """
    old = [line.rstrip() for line in before.split("\n")]
    new = [line.rstrip() for line in after.split("\n")]
    start = _equal(old, new)
    end = _equal(old[start:][::-1], new[start:][::-1])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if _is_too_much(old, new):
        return _as_sets(old, new, start)
    found: list[Change] = []
    for tag, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            found += _replaced(old[old_from:old_to], new[new_from:new_to], start + old_from + 1, start + new_from + 1)
    return tuple(found)


def word_changes(before: str, after: str) -> str:
    """One line with what changed in it marked: `[-went-]` and `{+came+}`, at whole words.

    Args:
        before: the line as it was.
        after: the line as it is.
    """
    old, new = _WORD.findall(before), _WORD.findall(after)
    if _is_too_much(old, new):
        return f"[-{before}-]{{+{after}+}}" if before != after else after
    parts = []
    for tag, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        went, came = "".join(old[old_from:old_to]), "".join(new[new_from:new_to])
        if tag == "equal":
            parts.append(came)
        else:
            parts.append((f"[-{went}-]" if went else "") + (f"{{+{came}+}}" if came else ""))
    return "".join(parts)


def summarise(before: str, after: str, limit: int = 20) -> str:
    """What changed, as lines a reader can take in: a count, then `+`, `-` and `~` lines.

    Args:
        before: the text as it was.
        after: the text as it is.
        limit: changes to show, at most; how many were left out is said.

    Returns:
        `no change` when the texts say the same.
    """
    found = [change for change in changes(before, after) if change.before or change.after]
    if not found:
        return "no change"
    times = Counter(change.kind for change in found)
    parts = [", ".join(f"{times[kind]} {kind}" for kind in ("added", "removed", "altered") if times[kind])]
    parts += [_describe(change) for change in found[: max(limit, 0)]]
    if len(found) > limit:
        parts.append(f"({len(found) - max(limit, 0)} more)")
    return "\n".join(parts)


def _describe(change: Change) -> str:
    if change.before is None:
        return f"+ {change.after}"
    if change.after is None:
        return f"- {change.before}"
    return f"~ {word_changes(change.before, change.after)}"


def _equal(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines the two begin with in common."""
    alike = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        alike += 1
    return alike


def _is_too_much(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether difflib would take long: many pieces, or many pairs of equal ones."""
    if len(old) + len(new) > _MOST_LINES:
        return True
    times = Counter(new)
    return sum(times[piece] for piece in old) > _MOST_PAIRS


def _replaced(old: list[str], new: list[str], old_line: int, new_line: int) -> list[Change]:
    """A stretch that gave way to another: a line and the next one that is alike enough are one line altered."""
    found = []
    at = 0
    for place, went in enumerate(old):
        same = next((near for near in range(at, min(at + _NEAR, len(new))) if _alike(went, new[near])), None)
        if same is None:
            found.append(Change("removed", old_line + place, went, None))
            continue
        found += [Change("added", new_line + near, None, new[near]) for near in range(at, same)]
        found.append(Change("altered", new_line + same, went, new[same]))
        at = same + 1
    return found + [Change("added", new_line + near, None, new[near]) for near in range(at, len(new))]


def _alike(one: str, other: str) -> bool:
    """Whether one line is the other altered: by the words they share, cheap for long lines too."""
    left, right = Counter(_WORD.findall(one)), Counter(_WORD.findall(other))
    for blank in [word for word in left | right if word.isspace()]:
        del left[blank], right[blank]
    size = left.total() + right.total()
    return size > 0 and 2 * (left & right).total() >= _ALIKE * size


def _as_sets(old: list[str], new: list[str], start: int) -> tuple[Change, ...]:
    """What came and went by the lines alone, each as often as it occurs more."""
    gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
    found = []
    for at, line in enumerate(old):
        if gone[line] > 0:
            gone[line] -= 1
            found.append(Change("removed", start + at + 1, line, None))
    for at, line in enumerate(new):
        if come[line] > 0:
            come[line] -= 1
            found.append(Change("added", start + at + 1, None, line))
    return tuple(found)
