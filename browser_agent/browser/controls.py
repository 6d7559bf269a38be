"""The elements of a window that can be addressed: those that live now, those that a call was made by, and those of a few looks before."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from browser_agent.observation.values import Control

__all__ = ["Controls"]

_REMEMBERED = 5


class Controls:
    """Elements by their refs. `now`: those that live now; `given`: those that the call was made by."""

    def __init__(self) -> None:
        self.now: Mapping[str, Control] = {}
        self.given: Mapping[str, Control] = {}
        self._at = self._given_at = ""
        self._before: deque[Mapping[str, Control]] = deque(maxlen=_REMEMBERED)

    def begin_call(self) -> None:
        """Take those that live now for the ones that a call is made by."""
        self.given, self._given_at = self.now, self._at

    def know(self, refs: Mapping[str, Control], url: str) -> None:
        """Take `refs`, of a page at `url`, as the ones that live now."""
        self._before.append(self.now)
        self.now, self._at = refs, url.partition("#")[0]

    def nearest(self, ref: str) -> Control | None:
        """What stands now where a ref of an earlier observation stood: the control most like it, None for an unknown ref."""
        old = next((refs[ref] for refs in (self.now, *reversed(self._before)) if ref in refs), None)
        if old is None:
            return None
        alike = [control for control in self.now.values() if control.role == old.role and control.name]
        exact = [control for control in alike if control.name == old.name]
        words = set(old.name.lower().split())
        near = [control for control in alike if words & set(control.name.lower().split())]
        near.sort(key=lambda control: -len(words & set(control.name.lower().split())))
        return next(iter([*exact, *near]), None)

    def successor(self, ref: str) -> Control | None:
        """What the page drew anew in the place of an element that a call was made by: the only one of its role and name, then as now."""
        old = self.given.get(ref)
        if old is None or not old.name or self._given_at != self._at:
            return None
        before, now = ([one for one in refs.values() if _same(one, old)] for refs in (self.given, self.now))
        return now[0] if len(before) == len(now) == 1 else None


def _same(one: Control, other: Control) -> bool:
    return (one.role, one.name) == (other.role, other.name)
