"""Open sessions: one handle and one lock a name. It knows no MCP and never looks inside a session.

A handle is sync and stays so: every use of one runs in a worker thread, under that session's lock. A session that was opened before this
process started is taken up again at its first use, so that a restart between two calls changes nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import anyio
from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context

import ctxfold
import ctxfold.config
from ctxfold import Session, SessionInfo
from ctxfold.errors import InputError, UnknownSession
from ctxfold.models import Model
from ctxfold.models.deciders import Deciders
from ctxfold.tokens import Budget
from mcp_server.sessions.browsing import Browsing, Web
from mcp_server.sessions.subscriptions import principal

__all__ = ["Desk", "Desks", "Lent", "Seat", "at"]


PATIENCE = 35.0
"""Seconds that one call waits for the replies of the folder's model, all together."""
_HELD = 64
"""Most handles kept open; the one longest unused is closed for the next."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Seat:
    """One open session."""

    session: Session

    @property
    def budget(self) -> int:
        """Tokens its view may take where none are said: kept with the session, so that a restart changes nothing."""
        return self.session.budget


class Desk:
    """The sessions of one store, for one event loop.

    Args:
        store: where the sessions are kept; None for the configured default.
        files: whether its host may name files on this machine.
        browsing: its browsers; None for the usual ones.
        folder: the model that decides what hosts leave to it; None for the embedded deciders.
    """

    def __init__(
        self,
        store: str | None = None,
        files: bool = True,
        browsing: Browsing | None = None,
        folder: Model | None = None,
    ) -> None:
        self.files = files
        self.deciders = Deciders(folder, PATIENCE)
        self.browsing = browsing or Browsing(Web(), store, partial(_downloads, None))
        self._store = store
        self._seats: OrderedDict[str, Seat] = OrderedDict()
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()

    async def open(self, name: str, goal: str | None, budget: int | None) -> Seat:
        """Create or resume a session.

        Args:
            name: the session.
            goal: what it is for; None leaves what it has.
            budget: tokens its view may take from now on; None leaves what it had, 8,000 at first.

        Raises:
            SessionNameError: the name is outside the pattern.
            BudgetError: the budget is below the published least; nothing is made or changed.
            StoreError: the store cannot be opened.
        """
        async with self._lock(name):
            seat = self._seats.get(name)
            session = await run_sync(partial(_opened, name, goal, self._store, budget))
            if seat:
                await run_sync(seat.session.close)
            return await self._take(name, Seat(session))

    async def use(self, name: str, work: Callable[[Seat], T]) -> T:
        """Do one piece of work on a session, alone on it in this process, off the event loop.

        Args:
            name: the session.
            work: what to do; sync.

        Raises:
            UnknownSession: there is no session of that name, or it was deleted while its handle was kept; the next use looks for it anew.
            CtxfoldError: whatever the work raises.
        """
        async with self._lock(name):
            seat = self._seats.get(name)
            if seat is None:
                seat = await self._take(name, Seat(await run_sync(_resumed, name, self._store)))
            self._seats.move_to_end(name)
            try:
                return await run_sync(work, seat)
            except UnknownSession:
                del self._seats[name]
                await run_sync(seat.session.close)
                raise

    def book(self, name: str) -> Lent:
        """A session's handle, to be lent to what goes on longer than one piece of work: it is free in between.

        Args:
            name: the session.
        """
        return Lent(self, name)

    async def list(self) -> list[SessionInfo]:
        """All sessions of the store, the last used first."""
        found = await run_sync(ctxfold.sessions, self._store)
        return sorted(found, key=lambda info: info.updated, reverse=True)

    async def close(self) -> None:
        """End every browser, then close every handle, each after the work under way on it."""
        await self.browsing.close()
        for name in tuple(self._seats):
            async with self._lock(name):
                seat = self._seats.pop(name, None)
                if seat:
                    await run_sync(seat.session.close)

    async def _take(self, name: str, seat: Seat) -> Seat:
        self._seats[name] = seat
        idle = next((other for other in self._seats if other not in self._locks), None)
        if len(self._seats) > _HELD and idle is not None:
            await run_sync(self._seats.pop(idle).session.close)
        return seat

    def _lock(self, name: str) -> anyio.Lock:
        lock = self._locks.get(name)
        if lock is None:
            lock = self._locks[name] = anyio.Lock()
        return lock


@dataclass(frozen=True, slots=True)
class Lent:
    """A session's handle as it is lent: each call is one piece of work, alone on it, off the event loop."""

    desk: Desk
    name: str

    async def __call__(self, work: Callable[[Session], T]) -> T:
        """Do the work.

        Raises:
            UnknownSession: there is no session of that name.
            CtxfoldError: whatever the work raises.
        """
        return await self.desk.use(self.name, lambda seat: work(seat.session))


class Desks:
    """One desk for each principal, each over a store of its own: what one has recorded, another cannot even name.

    Args:
        store: the store of whoever needs no name; None for the configured default. A principal's own lies beside it.
        files: whether hosts may name files on this machine.
        web: how it browses.
        folder: the model that decides what hosts leave to it; None for the embedded deciders.
    """

    def __init__(
        self, store: str | None = None, files: bool = True, web: Web | None = None, folder: Model | None = None
    ) -> None:
        self._store = store
        self._files = files
        self._web = web or Web()
        self._folder = folder
        self._desks: dict[str | None, Desk] = {}

    def of(self, principal: str | None) -> Desk:
        """The desk of one principal; of the machine's own user for None.

        Args:
            principal: a name from the token file.

        Raises:
            InputError: the store is a server, which keeps no two apart by file.
        """
        desk = self._desks.get(principal)
        if desk is None:
            store = _store_of(self._store, principal)
            browsing = Browsing(self._web, store, partial(_downloads, principal), self._folder)
            desk = self._desks[principal] = Desk(store, self._files, browsing, self._folder)
        return desk

    async def close(self) -> None:
        """End every browser, close every handle, on every desk."""
        async with anyio.create_task_group() as tasks:
            for desk in tuple(self._desks.values()):
                tasks.start_soon(desk.close)


def _store_of(store: str | None, principal: str | None) -> str | None:
    if principal is None:
        return store
    base = store or ctxfold.config.default_store()
    if "://" in base:
        raise InputError(
            "a store on a server can't be divided among the names of a token file: give a file with --store, or a token without a name"
        )
    return str(Path(base).with_name(f"{Path(base).stem}.{principal}{Path(base).suffix}"))


def _downloads(principal: str | None) -> Path:
    """Where downloads go, each session's in a folder of its own. No session's name begins with `@`."""
    folder = ctxfold.config.home() / "downloads"
    return folder if principal is None else folder / f"@{principal}"


def _opened(name: str, goal: str | None, store: str | None, budget: int | None) -> Session:
    if budget is None:
        return Session.open(name, goal=goal, store=store)
    Budget.of(budget)
    session = Session.open(name, goal=goal, store=store)
    session.set_budget(budget)
    return session


def _resumed(name: str, store: str | None) -> Session:
    try:
        return Session.open(name, store=store, create=False)
    except UnknownSession as error:
        raise UnknownSession(f"no session {name!r}") from error


def at(ctx: Context[Desks, Any]) -> Desk:
    """The desk of whoever sent this request: the one its token names, else that of the machine's own user."""
    return ctx.request_context.lifespan_context.of(principal())
