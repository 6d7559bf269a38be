"""The branch decision: on which branch or topic a message belongs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from ctxfold.errors import InputError
from ctxfold.text.words import Vocabulary, cosine
from ctxfold.workspace import Action, Decider, ForestView, Turn

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


_WISHES = get_args(Wish)


def check_wish(action: str, query: str | None, at: int | None, to: str | None) -> None:
    """Check that a move has a use for all that was given with it. Raises InputError: no such move, or a message, step or name that the move has no use for."""
    if action not in _WISHES:
        raise InputError(f"{action!r} is not a move; use {', '.join(_WISHES[:-1])} or {_WISHES[-1]}")
    if action != "auto" and query is not None:
        raise InputError(f"a query decides nothing for {action}; leave it out, or use auto")
    if at is not None and action != "create":
        raise InputError(f"a step decides nothing for {action}; leave it out, or use create, which forks behind it")
    if to is not None and action in {"auto", "continue"}:
        raise InputError(
            f"a name decides nothing for {action}; use switch for a branch that is there, create for a new one"
        )


def ranked(forest: ForestView, message: str) -> tuple[RankedBranch, ...]:
    """Every branch that holds anything, the most alike to a message first."""
    here = forest.elsewhere
    others = sorted(here.branches, key=lambda branch: -branch.visited)
    held = [(here.branch, here.topic, forest.path), *((each.branch, each.topic, each.turns) for each in others)]
    texts = [_text(turns) for _, _, turns in held]
    vocabulary = Vocabulary(texts)
    asked = vocabulary.vector(message)
    found = [
        RankedBranch(name, topic, round(cosine(asked, vocabulary.vector(text)), 4), _last(turns))
        for (name, topic, turns), text in zip(held, texts, strict=True)
        if turns
    ]
    return tuple(sorted(found, key=lambda each: -each.score))


def _text(turns: Sequence[Turn]) -> str:
    return "\n".join(f"{turn.said}\n{turn.reply}" for turn in turns)


def _last(turns: Sequence[Turn]) -> str:
    return next((" ".join(turn.said.split()) for turn in reversed(turns) if turn.said), "")
