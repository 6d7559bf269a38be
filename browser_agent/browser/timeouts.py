"""The time limits of everything done in the browser, in seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Time-outs in seconds, each for one part of a call.

    `action`: one action on an element. `navigation`: until a server answers; the page may go on loading after.
    `settle`: until the page has come to rest after an action. `observe`: one look at the page, at most. `probe`: the
    least a page that seems hung is given to answer. `repair`: closing it, and as much again for opening another.
    `whole`: one action and the look after it, together; waits that were asked for (`wait_for`) excepted.
    """

    action: float = 2.0
    navigation: float = 4.0
    settle: float = 2.2
    observe: float = 4.0
    probe: float = 0.7
    repair: float = 1.0
    whole: float = 6.0


LIMITS = Limits()
"""The limits everything runs under."""
