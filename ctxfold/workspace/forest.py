"""The frozen values of branches: the turns of the current path, and what every other branch holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["NOWHERE", "Action", "BranchSummary", "Elsewhere", "ForestView", "Turn"]

Action = Literal["continue", "create", "switch", "new_topic", "rename"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the user, whole and with its address, and what came of it.

    `reply`: what the assistant said first, to compare by, never shown; `gist`: a short form as a view shows it, marked where it is not to be trusted.
    """

    steps: tuple[int, ...]
    said: str
    ref: str
    reply: str = ""
    gist: str = ""


@dataclass(frozen=True, slots=True)
class BranchSummary:
    """What a branch holds that stands on no other: its own turns in path order, the newest when there are many.

    `forked_at`: the step it leaves another branch after; `earlier`: addresses of steps before those turns; `visited`: the event it last moved at.
    """

    branch: str
    topic: str
    forked_at: int
    turns: tuple[Turn, ...]
    earlier: str = ""
    visited: int = 0


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What stands beside the active path. `branches`: the other branches of the topic, then those of other topics; each turn stands on one of them alone."""

    branch: str = ""
    topic: str = ""
    branches: tuple[BranchSummary, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing was said anywhere else."""
        return not any(each.turns for each in self.branches)


NOWHERE = Elsewhere()
"""Nothing beside the path: a session of one branch."""


@dataclass(frozen=True, slots=True)
class ForestView:
    """All that a decider is shown: the turns of the active path, shared ones included, oldest first, and what stands beside it."""

    path: tuple[Turn, ...]
    elsewhere: Elsewhere
