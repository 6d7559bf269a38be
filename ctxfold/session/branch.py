"""From a wish to a committed move: where `auto` leads is decided over the whole forest, resolved, applied and kept.

It works inside a write transaction that the session opens. What is committed is resolved: replaying it decides nothing again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

from ctxfold import config
from ctxfold.decisions.branch.choose import choose
from ctxfold.errors import InputError
from ctxfold.session.handle import Handle
from ctxfold.session.history.branches import BranchMove, Move, check_name, move
from ctxfold.session.validate import as_text
from ctxfold.store.protocol import Reading, Writing
from ctxfold.text.encoder import encoder_of
from ctxfold.workspace.by import By
from ctxfold.workspace.forest import Choice, Grove

__all__ = ["Wish", "branched", "decided"]

Wish = Literal["auto", "continue", "create", "switch", "new_topic", "rename"]
"""What may be asked of `Session.branch`."""

_WISHES = get_args(Wish)


def branched(
    tx: Writing, now: Handle, action: Wish, query: str | None, where: tuple[int | None, str | None], by: By
) -> Move:
    """Go where a message belongs, or where a host or a model says.

    Args:
        tx: an open write transaction.
        now: the handle's branch.
        action: what is wanted.
        query: for `auto`, the message.
        where: for what is told, the step a new branch keeps last and the branch's name.
        by: who decided, and why.

    Raises:
        InputError: no such move, nothing to decide by, or a message, step or name that the move has no use for.
        BranchError: an unknown or taken name, or a step that is on no branch.
    """
    if as_text(action) not in _WISHES:
        raise InputError(f"{action!r} is not a move; use {', '.join(_WISHES[:-1])} or {_WISHES[-1]}")
    if action != "auto" and query is not None:
        raise InputError(f"a query decides nothing for {action}; leave it out, or use auto")
    at, to = where
    if at is not None and action != "create":
        raise InputError(f"a step decides nothing for {action}; leave it out, or use create, which forks behind it")
    if to is not None and action in {"auto", "continue"}:
        raise InputError(
            f"a name decides nothing for {action}; use switch for a branch that is there, create for a new one"
        )
    place = now.place(tx)
    wish = BranchMove(action, at, to, 1.0, by.reason, by.decider) if action != "auto" else decided(tx, now, query)
    head, state = move(tx, place.session, place.head, wish)
    if head.id != now.branch or wish.action == "rename":
        now.stand(head.id)
    topic = next(topic.name for topic in tx.forest.topics(place.session) if topic.id == head.topic)
    return Move(head.name, topic, state.tip, wish.action, wish.confidence, wish.reason)


def decided(tx: Reading, now: Handle, query: str | None) -> BranchMove:
    """Where a message belongs, by the embedded decider.

    Args:
        tx: an open transaction.
        now: the handle's branch.
        query: the message; None for the user's last words on this branch.

    Raises:
        InputError: there is no message to decide by.
    """
    grove = now.grove(tx)
    message = query
    if message is None and grove.path and grove.path[-1].said:
        message, grove = (
            grove.path[-1].said,
            replace(grove, path=grove.path[:-1], shared=min(grove.shared, len(grove.path) - 1)),
        )
    if message is None or not message.strip():
        raise InputError("nothing to decide by; give the user's message as the query")
    choice = choose(grove, message, encoder_of(config.encoder()))
    return BranchMove(choice.action, choice.at, _name(choice, grove), choice.confidence, choice.reason, "embedded")


def _name(choice: Choice, grove: Grove) -> str | None:
    """The name a choice proposes, or where that is taken the next like it."""
    if choice.to is None or choice.action == "switch":
        return choice.to
    taken = {*grove.branches, *(limb.branch for limb in grove.around.limbs)}
    wanted = (choice.to, *(f"{choice.to[:60]}-{number}" for number in range(2, len(taken) + 3)))
    return check_name(next(name for name in wanted if name not in taken), "branch")
