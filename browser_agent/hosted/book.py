"""How a session's handle is lent to a page or a run: one piece of sync work at a time. It holds no session itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from ctxfold import Session

__all__ = ["Book"]

T = TypeVar("T")


class Book(Protocol):
    """Does sync work on one session's handle, off the event loop and alone on it."""

    async def __call__(self, work: Callable[[Session], T]) -> T:
        """Do the work and give what it gives.

        Raises:
            CtxfoldError: whatever the work raises.
        """
        ...
