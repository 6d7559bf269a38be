"""How a session's handle is lent to async work: one piece of sync work at a time, off the event loop. It decides nothing and keeps no session open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import anyio.to_thread

from ctxfold.session.session import Session

__all__ = ["Book", "lent"]

T = TypeVar("T")


class Book(Protocol):
    """Does sync work on one session's handle, off the event loop and alone on it."""

    async def __call__(self, work: Callable[[Session], T]) -> T:
        """Do the work and give what it gives.

        Raises:
            CtxfoldError: whatever the work raises.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Own:
    """The handle of whoever holds it alone."""

    session: Session

    async def __call__(self, work: Callable[[Session], T]) -> T:
        return await anyio.to_thread.run_sync(work, self.session)


def lent(session: Session | Book) -> Book:
    """A session's handle as work is done on it: each piece in a worker thread, the handle free in between.

    Args:
        session: the handle, or what lends it.
    """
    return _Own(session) if isinstance(session, Session) else session
