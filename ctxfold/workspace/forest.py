"""The forest as a decider and a view see it: turns, the limbs they stand on, where one stands. Frozen values; they are read elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["NOWHERE", "Action", "Choice", "Elsewhere", "Grove", "Limb", "Turn"]

Action = Literal["continue", "create", "switch", "new_topic", "rename"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the user and what came of it.

    Attributes:
        steps: its steps, in path order.
        said: the user's words, whole; empty where the assistant began.
        ref: the first record of those words, or the first step.
        reply: what the assistant said, its first few thousand characters: to compare by, never shown.
        gist: a short form of what came of it as a view shows it, marked where it is not to be trusted.
    """

    steps: tuple[int, ...]
    said: str
    ref: str
    reply: str = ""
    gist: str = ""


@dataclass(frozen=True, slots=True)
class Limb:
    """What a branch holds that stands on no other: its own turns.

    Attributes:
        branch: its name.
        topic: its topic's name.
        forked_at: the step it leaves another branch after, 0 for none.
        turns: its own turns in path order, the newest when there are many.
        earlier: steps before those turns that are not shown one by one, as addresses; empty for none.
        visited: the event it last moved at: what was left last is what one returns to.
    """

    branch: str
    topic: str
    forked_at: int
    turns: tuple[Turn, ...]
    earlier: str = ""
    visited: int = 0


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What stands beside the active path.

    Attributes:
        branch: the branch one stands on.
        topic: its topic.
        limbs: the other branches of the topic, then those of other topics; each turn stands on one of them alone.
    """

    branch: str = ""
    topic: str = ""
    limbs: tuple[Limb, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing was said anywhere else."""
        return not any(limb.turns for limb in self.limbs)


NOWHERE = Elsewhere()
"""Nothing beside the path: a session of one branch."""


@dataclass(frozen=True, slots=True)
class Grove:
    """All that a decider is shown: the active path with what lies on other branches, and each branch's order in its topic.

    Attributes:
        path: the turns of the active path, shared ones included, oldest first.
        shared: how many of them, from the first, stand on another branch too.
        around: what stands beside it.
        branches: the names of the active topic's branches, oldest first.
        topics: the names of the topics, oldest first, with the branch of each that moved last.
    """

    path: tuple[Turn, ...]
    shared: int
    around: Elsewhere
    branches: tuple[str, ...]
    topics: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Where a message belongs.

    Attributes:
        action: what to do.
        at: for `create`, the last step the new branch keeps.
        to: for `switch`, the branch; for what is new, a name.
        confidence: 0 to 1. What is doubtful continues.
        reason: why, in a few words for the history.
    """

    action: Action
    at: int | None = None
    to: str | None = None
    confidence: float = 1.0
    reason: str = ""
