"""Lends a session's handle to async code: one piece of sync work at a time, in a worker thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import anyio.to_thread

from ctxfold.session.session import Session

__all__ = ["SessionLease", "leased"]

T = TypeVar("T")


class SessionLease(Protocol):
    """Does sync work on one session's handle, off the event loop and alone on it; the handle is free in between."""

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


def leased(session: Session | SessionLease) -> SessionLease:
    """The lease of a session: its own where a handle is given, which is used in worker threads."""
    return _Own(session) if isinstance(session, Session) else session
