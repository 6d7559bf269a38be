"""The values of the branch decision: a move, what it led to, and how like a message each branch is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ctxfold.workspace.by import Decider
from ctxfold.workspace.forest import Action

__all__ = ["BranchMove", "Move", "RankedBranch", "Wish"]

Wish = Literal["auto", "continue", "create", "switch", "new_topic", "rename"]
"""What may be asked of `Session.branch`."""


@dataclass(frozen=True, slots=True)
class BranchMove:
    """Where to go: stay, make a branch at a step, switch to one, begin a topic, or give the branch another name.

    `at`: for `create`, the last step the new branch keeps, None for the current tip; `to`: the branch's name, None lets one be given.
    """

    action: Action
    at: int | None = None
    to: str | None = None
    reason: str = ""
    decider: Decider = "host"


@dataclass(frozen=True, slots=True)
class RankedBranch:
    """How alike a branch is to a message. `score`: 0 for no word in common, towards 1 the more alike."""

    name: str
    topic: str
    score: float
    said: str = ""


@dataclass(frozen=True, slots=True)
class Move:
    """What a move led to.

    Attributes:
        branch: the branch.
        topic: its topic.
        tip: the last step of its path, 0 for none yet.
        action: what was done.
        reason: why, where somebody said.
        ranked: for `auto`, every branch that holds anything, the most alike to the message first; of equals the one stood on, then the one left last.
    """

    branch: str
    topic: str
    tip: int
    action: Action = "continue"
    reason: str = ""
    ranked: tuple[RankedBranch, ...] = ()
