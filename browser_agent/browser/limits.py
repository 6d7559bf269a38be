"""The time limits of everything done in the browser, in seconds, and how they follow the pace of the machine."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

__all__ = ["LIMITS", "Limits"]

_EACH = 0.0001
"""Seconds that the snapshot of one element takes at most; about twice what was measured on a quiet machine."""

_LONGEST = 40.0
"""Hosts give a call up after a minute."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Time-outs in seconds, each for one part of a call, at `pace` times what a quiet machine takes.

    `action`: one action on an element. `navigation`: until a server answers; the page may go on loading after.
    `settle`: until the page has come to rest after an action. `observe`: one look at a small page. `probe`: the least a
    page that seems hung is given to answer. `repair`: closing it, and as much again for opening another. `whole`: one
    action and the look after it, together; waits that were asked for (`wait_for`) and what a large page takes to be read
    excepted. `silence`: until a page that does not answer is taken for hung, over several calls. `call`: all actions of one
    call, after which no further one is begun, whatever the pace: it is the host that waits.
    """

    action: float = 2.0
    navigation: float = 4.0
    settle: float = 2.2
    observe: float = 4.0
    probe: float = 0.7
    repair: float = 1.0
    whole: float = 6.0
    silence: float = 10.0
    call: float = 40.0
    pace: float = 1.0

    def at_pace(self, pace: float) -> Limits:
        """These on a machine that takes `pace` times as long."""
        each = {
            field.name: getattr(self, field.name) * pace / self.pace for field in fields(self) if field.name != "call"
        }
        return replace(self, **each, call=self.call)

    def to_observe(self, elements: int) -> float:
        """How long a look at a page of so many elements may take."""
        return min(self.observe + elements * _EACH * self.pace, _LONGEST)


LIMITS = Limits()
"""The limits on a quiet machine."""
