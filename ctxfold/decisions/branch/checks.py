"""Checks a requested branch move: which action takes a message, a step or a name."""

from __future__ import annotations

from typing import get_args

from ctxfold.decisions.branch.values import Wish
from ctxfold.errors import InputError

__all__ = ["check_wish"]

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
