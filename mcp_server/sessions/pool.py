"""The open sessions of each user: one handle and one lock for each name, used in worker threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import anyio
from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context

import ctxfold
from ctxfold import Session, SessionInfo
from ctxfold.config.environment import default_store, home
from ctxfold.errors import InputError, UnknownSession
from ctxfold.models import Model, Roles
from ctxfold.models.deciders import Deciders, SessionLease
from ctxfold.tokens import Budget
from mcp_server.sessions.browsing import Browsing, BrowsingSettings
from mcp_server.sessions.subscriptions import current_principal

__all__ = ["PATIENCE", "Pools", "SessionPool", "pool_for"]

PATIENCE = 35.0
"""Seconds that one call waits for the replies of the folder's model, all together."""
_HELD = 64
"""Most handles kept open; the one longest unused is closed for the next."""

T = TypeVar("T")


class SessionPool:
    """The open sessions of one store, for one event loop. One that another process opened is taken up at its first use here.

    `local`: whether its host shares this machine, so that it may name files on it; `folder`: the model that decides what hosts leave to it.
    """

    def __init__(
        self,
        store: str | None = None,
        local: bool = True,
        browsing: Browsing | None = None,
        folder: Model | Roles | None = None,
    ) -> None:
        self.local = local
        self.deciders = Deciders(folder, PATIENCE)
        self.browsing = browsing or Browsing(BrowsingSettings(), store, partial(_find_downloads, None))
        self._store = store
        self._handles: OrderedDict[str, Session] = OrderedDict()
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()

    async def open(self, name: str, goal: str | None, budget: int | None) -> Session:
        """Create or resume a session; a goal or budget of None leaves what it has.

        Raises:
            SessionNameError: the name is outside the pattern.
            BudgetError: the budget is below the published least; nothing is made or changed.
            StoreError: the store cannot be opened.
        """
        async with self._lock(name):
            old = self._handles.get(name)
            opened = await run_sync(partial(_open_session, name, goal, self._store, budget))
            if old:
                await run_sync(old.close)
            return await self._keep(name, opened)

    async def use(self, name: str, work: Callable[[Session], T]) -> T:
        """Do one piece of work on a session, alone on it in this process, off the event loop.

        Raises:
            UnknownSession: there is no session of that name, or it was deleted while its handle was kept; the next use looks for it anew.
            CtxfoldError: whatever the work raises.
        """
        async with self._lock(name):
            opened = self._handles.get(name)
            if opened is None:
                opened = await self._keep(name, await run_sync(_resume_session, name, self._store))
            self._handles.move_to_end(name)
            try:
                return await run_sync(work, opened)
            except UnknownSession:
                del self._handles[name]
                await run_sync(opened.close)
                raise

    def lease(self, name: str) -> SessionLease:
        """A session for what goes on longer than one piece of work; it is free in between."""

        async def use(work: Callable[[Session], T]) -> T:
            return await self.use(name, work)

        return use

    async def list(self) -> list[SessionInfo]:
        """All sessions of the store, the last used first."""
        found = await run_sync(ctxfold.sessions, self._store)
        return sorted(found, key=lambda info: info.updated, reverse=True)

    async def close(self) -> None:
        """End every browser, then close every handle, each after the work under way on it."""
        await self.browsing.close()
        for name in tuple(self._handles):
            async with self._lock(name):
                opened = self._handles.pop(name, None)
                if opened:
                    await run_sync(opened.close)

    async def _keep(self, name: str, opened: Session) -> Session:
        self._handles[name] = opened
        idle = next((other for other in self._handles if other not in self._locks), None)
        if len(self._handles) > _HELD and idle is not None:
            await run_sync(self._handles.pop(idle).close)
        return opened

    def _lock(self, name: str) -> anyio.Lock:
        lock = self._locks.get(name)
        if lock is None:
            lock = self._locks[name] = anyio.Lock()
        return lock


class Pools:
    """One session pool for each principal, each over a store of its own beside `store`: what one has recorded, another cannot even name.

    `local`: whether its hosts share this machine, so that they may name files on it and, while nothing of the open internet was shown, addresses in it;
    `folder`: the model that decides what hosts leave to it.
    """

    def __init__(
        self,
        store: str | None = None,
        local: bool = True,
        browsing: BrowsingSettings | None = None,
        folder: Model | Roles | None = None,
    ) -> None:
        self._store = store
        self._local = local
        self._browsing = browsing or BrowsingSettings()
        self._folder = folder
        self._pools: dict[str | None, SessionPool] = {}

    def get(self, principal: str | None) -> SessionPool:
        """The pool of one principal; of the machine's own user for None. Raises InputError: the store is a server, which keeps no two apart by file."""
        pool = self._pools.get(principal)
        if pool is None:
            store = _find_store(self._store, principal)
            browsing = Browsing(self._browsing, store, partial(_find_downloads, principal), self._folder, self._local)
            pool = self._pools[principal] = SessionPool(store, self._local, browsing, self._folder)
        return pool

    async def close(self) -> None:
        """End every browser and close every handle, in every pool."""
        async with anyio.create_task_group() as tasks:
            for pool in tuple(self._pools.values()):
                tasks.start_soon(pool.close)


def pool_for(ctx: Context[Pools, Any]) -> SessionPool:
    """The pool of whoever sent this request: the principal its token names, else the machine's own user."""
    return ctx.request_context.lifespan_context.get(current_principal())


def _find_store(store: str | None, principal: str | None) -> str | None:
    if principal is None:
        return store
    base = store or default_store()
    if "://" in base:
        raise InputError(
            "a store on a server can't be divided among the names of a token file: give a file with --store, or a token without a name"
        )
    return str(Path(base).with_name(f"{Path(base).stem}.{principal}{Path(base).suffix}"))


def _find_downloads(principal: str | None) -> Path:
    """Where downloads go, each session's in a folder of its own. No session's name begins with `@`."""
    folder = home() / "downloads"
    return folder if principal is None else folder / f"@{principal}"


def _open_session(name: str, goal: str | None, store: str | None, budget: int | None) -> Session:
    if budget is None:
        return Session.open(name, goal=goal, store=store)
    Budget.of(budget)
    session = Session.open(name, goal=goal, store=store)
    session.set_budget(budget)
    return session


def _resume_session(name: str, store: str | None) -> Session:
    try:
        return Session.open(name, store=store, create=False)
    except UnknownSession as error:
        raise UnknownSession(f"no session {name!r}") from error
