"""Holds each user's open sessions, one handle and one lock for a name, and reports changes to subscribers."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import anyio
from anyio.to_thread import run_sync
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ServerEvent
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST, EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

import ctxfold
from ctxfold import Session, SessionInfo
from ctxfold.config import default_store, home
from ctxfold.errors import InputError, UnknownSession
from ctxfold.models import Model, Roles
from ctxfold.models.deciders import Deciders, SessionLease
from ctxfold.tokens import Budget
from mcp_server.sessions.browsing import Browsing, BrowsingSettings

_MAX_SUBSCRIPTIONS = 256
"""Resources that one connection may subscribe to."""
_MAX_SUBSCRIBERS = 256
"""Connections with subscriptions that are kept. The SDK doesn't report their end, so the oldest make room."""
_MODEL_SECONDS = 35.0
"""Time that one call waits for all replies of the folder's model. Hosts give up after about sixty."""
_MAX_OPEN = 64
"""Handles that are kept open. For the next one, the one longest unused is closed."""

T = TypeVar("T")


def current_principal() -> str | None:
    """The name that the token of the current request belongs to; None for the machine's own user."""
    token = get_access_token()
    return token.subject if token else None


class PrincipalBus:
    """The SDK's bus, one for each principal: nobody learns of another's sessions."""

    def __init__(self) -> None:
        self._buses = defaultdict[str | None, InMemorySubscriptionBus](InMemorySubscriptionBus)

    async def publish(self, event: ServerEvent) -> None:
        """Send an event to the listeners of the current principal."""
        await self._buses[current_principal()].publish(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Listen as the current principal."""
        return self._buses[current_principal()].subscribe(listener)


class Subscribers:
    """Connections of the older protocol, each with its principal and the resources that it subscribed to."""

    def __init__(self) -> None:
        self._connections: OrderedDict[int, tuple[ServerSession, str | None, set[str]]] = OrderedDict()

    async def subscribe(self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams) -> EmptyResult:
        """Report changes of a resource to this connection."""
        uris = self._list_uris(ctx.session)
        if len(uris) >= _MAX_SUBSCRIPTIONS:
            raise MCPError(
                INVALID_REQUEST, f"at most {_MAX_SUBSCRIPTIONS} subscriptions a connection: unsubscribe from one first"
            )
        uris.add(str(params.uri))
        return EmptyResult()

    async def unsubscribe(self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams) -> EmptyResult:
        """Stop reporting them."""
        self._list_uris(ctx.session).discard(str(params.uri))
        return EmptyResult()

    async def publish(self, uris: frozenset[str]) -> None:
        """Report changed resources to every connection of the current principal that subscribed to them."""
        for session, principal, wanted in tuple(self._connections.values()):
            for uri in sorted(uris & wanted) if principal == current_principal() else ():
                await session.send_resource_updated(uri)

    def _list_uris(self, session: ServerSession) -> set[str]:
        """What a connection subscribed to. The SDK gives each request a session of its own over one client's words."""
        key = id(session.client_params)
        if key not in self._connections:
            self._connections[key] = (session, current_principal(), set())
            if len(self._connections) > _MAX_SUBSCRIBERS:
                self._connections.popitem(last=False)
        return self._connections[key][2]


class SessionPool:
    """A principal's open sessions, for one event loop. One that another process made is opened at its first use.

    Attributes:
        store: the address of its store, None for the configured default.
        local: whether the host shares this machine, so that it may name files on it.
        deciders: the model that decides what hosts leave to it.
    """

    def __init__(self, settings: Pools, principal: str | None = None) -> None:
        self.store = _find_store(settings.store, principal)
        self.local = settings.local
        self.deciders = Deciders(settings.folder, _MODEL_SECONDS)
        downloads = partial(_find_downloads, principal)
        self.browsing = Browsing(settings.browsing, self.store, downloads, settings.folder, settings.local)
        self._handles: OrderedDict[str, Session] = OrderedDict()
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()

    async def open(self, name: str, goal: str | None, budget: int | None, after: str = "") -> Session:
        """Create or resume a session; a goal or budget of None changes nothing. A new session begins with the memory of
        `after`, if that is named.

        Raises:
            UnknownSession: there is no session `after`.
            SessionNameError: the name is outside the pattern.
            BudgetError: the budget is too small; nothing is made or changed.
            StoreError: the store cannot be opened.
        """
        async with self._lock(name):
            old = self._handles.get(name)
            opened = await run_sync(partial(_open_session, name, goal, self.store, budget, after))
            if old:
                await run_sync(old.close)
            return await self._hold(name, opened)

    async def use(self, name: str, work: Callable[[Session], T]) -> T:
        """Do one piece of work on a session off the event loop, with no other work on it in this process.

        Raises:
            UnknownSession: no session has that name, or another process deleted it.
            CtxfoldError: the work failed.
        """
        async with self._lock(name):
            opened = self._handles.get(name)
            if opened is None:
                opened = await self._hold(name, await run_sync(_resume_session, name, self.store))
            self._handles.move_to_end(name)
            try:
                return await run_sync(work, opened)
            except UnknownSession:
                del self._handles[name]
                await run_sync(opened.close)
                raise

    def lease(self, name: str) -> SessionLease:
        """A session for several pieces of work. Between two of them it is free for others."""
        return partial(self.use, name)

    async def list(self) -> list[SessionInfo]:
        """All sessions of the store, the last used first."""
        infos = await run_sync(ctxfold.sessions, self.store)
        return sorted(infos, key=lambda info: info.updated, reverse=True)

    async def close(self) -> None:
        """End every browser, then close every handle, each after the work under way on it."""
        await self.browsing.close()
        for name in tuple(self._handles):
            async with self._lock(name):
                opened = self._handles.pop(name, None)
                if opened:
                    await run_sync(opened.close)

    async def _hold(self, name: str, opened: Session) -> Session:
        self._handles[name] = opened
        idle = next((other for other in self._handles if other not in self._locks), None)
        if len(self._handles) > _MAX_OPEN and idle is not None:
            await run_sync(self._handles.pop(idle).close)
        return opened

    def _lock(self, name: str) -> anyio.Lock:
        return self._locks.setdefault(name, anyio.Lock())


@dataclass
class Pools:
    """One session pool for each principal, each over a store file of its own: nobody can even name another's sessions.

    Attributes:
        local: whether hosts share this machine, so that they may name files and addresses on it.
        folder: the model that decides what hosts leave to it.
    """

    store: str | None = None
    local: bool = True
    browsing: BrowsingSettings = field(default_factory=BrowsingSettings)
    folder: Model | Roles | None = None
    _pools: dict[str | None, SessionPool] = field(default_factory=dict)

    def get(self, principal: str | None) -> SessionPool:
        """The pool of a principal, None for the machine's own user. Raises InputError: the store cannot be divided."""
        if principal not in self._pools:
            self._pools[principal] = SessionPool(self, principal)
        return self._pools[principal]

    async def close(self) -> None:
        """End every browser and close every handle, in every pool."""
        async with anyio.create_task_group() as tasks:
            for pool in tuple(self._pools.values()):
                tasks.start_soon(pool.close)


def get_pool(ctx: Context[Pools, Any]) -> SessionPool:
    """The pool of the current request's principal."""
    return ctx.request_context.lifespan_context.get(current_principal())


def _find_store(store: str | None, principal: str | None) -> str | None:
    if principal is None:
        return store
    base = store or default_store()
    if "://" in base:
        raise InputError(
            "a store on a server can't be divided among the names of a token file: "
            "give a file with --store, or a token without a name"
        )
    return str(Path(base).with_name(f"{Path(base).stem}.{principal}{Path(base).suffix}"))


def _find_downloads(principal: str | None) -> Path:
    """The folder below which each session's downloads go. No session's name begins with `@`."""
    folder = home() / "downloads"
    return folder if principal is None else folder / f"@{principal}"


def _open_session(name: str, goal: str | None, store: str | None, budget: int | None, after: str) -> Session:
    if budget is not None:
        Budget.of(budget)
    with _resume_session(after, store) if after else nullcontext() as old:
        session = Session.open(name, goal=goal, store=store)
        try:
            if budget is not None:
                session.set_budget(budget)
            if old is not None:
                old.hand_off(name)
        except BaseException:
            session.close()
            raise
    return session


def _resume_session(name: str, store: str | None) -> Session:
    try:
        return Session.open(name, store=store, create=False)
    except UnknownSession as error:
        raise UnknownSession(f"no session {name!r}") from error
