"""The open sessions of each user: one handle and one lock for each name, used in worker threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import url2pathname
from weakref import WeakValueDictionary

import anyio
from anyio.to_thread import run_sync
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import ServerRequestContext
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, Elicit, ListRoots, Resolve
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ServerEvent
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_REQUEST,
    EmptyResult,
    ListRootsRequest,
    ListRootsResult,
    Root,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import BaseModel, Field, FileUrl

import ctxfold
from browser_agent.observation.inline import clean, cut
from ctxfold import Session, SessionInfo
from ctxfold.config import default_store, home
from ctxfold.errors import InputError, Refused, UnknownSession
from ctxfold.models import Model, Roles
from ctxfold.models.deciders import Deciders, SessionLease
from ctxfold.tokens import Budget
from mcp_server.prompts import fill_prompt
from mcp_server.sessions.browsing import Browsing, BrowsingSettings

if TYPE_CHECKING:
    from browser_agent.network.effects import Asked


_MOST = 256
"""Most resources one connection may subscribe to."""


def current_principal() -> str | None:
    """Whose request is being served: the name its token stands for; None for the machine's own user."""
    token = get_access_token()
    return token.subject if token else None


class PrincipalBus(InMemorySubscriptionBus):
    """The SDK's bus, one audience a principal: nobody is told of another's sessions, not even that there is one."""

    def __init__(self) -> None:
        super().__init__()
        self._buses: dict[str | None, InMemorySubscriptionBus] = {}

    async def publish(self, event: ServerEvent) -> None:
        """Tell those who listen as the principal being served."""
        await self._own().publish(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Listen as the principal being served."""
        return self._own().subscribe(listener)

    def _own(self) -> InMemorySubscriptionBus:
        return self._buses.setdefault(current_principal(), InMemorySubscriptionBus())


class Subscribers:
    """Connections of the older era and what each subscribed to. Only a connection that stands can be told, so only those come in."""

    def __init__(self) -> None:
        self._sessions: dict[int, tuple[ServerSession, set[str]]] = {}

    async def subscribe(self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams) -> EmptyResult:
        """Tell this connection when a resource changes."""
        uris = self._uris(ctx.session)
        if len(uris) >= _MOST:
            raise MCPError(INVALID_REQUEST, f"at most {_MOST} subscriptions a connection: unsubscribe from one first")
        uris.add(str(params.uri))
        return EmptyResult()

    async def unsubscribe(self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams) -> EmptyResult:
        """No longer tell this connection."""
        self._uris(ctx.session).discard(str(params.uri))
        return EmptyResult()

    async def publish(self, uris: frozenset[str]) -> None:
        """Tell every connection of the resources it subscribed to."""
        for session, wanted in tuple(self._sessions.values()):
            for uri in sorted(uris & wanted):
                await session.send_resource_updated(uri)

    def _uris(self, session: ServerSession) -> set[str]:
        client = session.client_params
        if client is None:
            raise MCPError(INVALID_REQUEST, "no connection stands to tell you over: read the resource again instead")
        return self._sessions.setdefault(id(client), (session, set()))[1]


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


_CONFIRM_MOST, _LONGEST = 200, 400


class Yes(BaseModel):
    """A person's answer."""

    go_on: bool = Field(title="Go on", description="Whether it may be done.")


async def confirm_open(url: str, ctx: Context[Pools]) -> Elicit[Yes] | Yes:
    """Whether a page may be opened: asked where the guards want a yes."""
    return _ask(pool_for(ctx).browsing.pages.asks_to_open(url), ctx)


async def confirm_browse(start_url: str, ctx: Context[Pools]) -> Elicit[Yes] | Yes:
    """Whether a run may begin where it is to begin: asked where the guards want a yes."""
    return _ask(pool_for(ctx).browsing.pages.asks_to_open(start_url) if start_url else None, ctx)


async def confirm_act(
    session: str, actions: tuple[dict[str, Any], ...], why: str, need: str, found: str, ctx: Context[Pools]
) -> Elicit[Yes] | Yes:
    """Act on a page until what it would send needs the user's yes, and ask for that; a host that cannot ask acts later, with what needs a yes refused."""
    from browser_agent.host.page import Words

    if not can_ask(ctx):
        return Yes(go_on=False)
    pool = pool_for(ctx)
    words = Words(why, need, found)
    return _ask(await pool.browsing.pages.begin(session, pool.lease(session), actions, words), ctx, "questions/send")


def can_ask(ctx: Context[Pools]) -> bool:
    """Whether the host can ask its user."""
    client = ctx.client_capabilities
    elicitation = client.elicitation if client is not None else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def is_yes(outcome: ElicitationResult[Yes]) -> bool:
    """Whether a person said yes."""
    return isinstance(outcome, AcceptedElicitation) and outcome.data.go_on


def keep_agreed(outcome: ElicitationResult[Yes], asked: Asked | None) -> Asked | None:
    """The question a person said yes to; None for any other answer, and for no question."""
    return asked if is_yes(outcome) else None


def _ask(asked: Asked | None, ctx: Context[Pools], question: str = "questions/go_on") -> Elicit[Yes] | Yes:
    if asked is None:
        return Yes(go_on=True)
    if not can_ask(ctx):
        return Yes(go_on=False)
    where = cut(clean(asked.url), _CONFIRM_MOST)
    return Elicit(fill_prompt(question, did=cut(clean(asked.did), _LONGEST), where=where), Yes)


FOLDERS_PATIENCE = 10.0
"""Seconds that a host is given to name its roots."""


async def ask_roots(file: str, ctx: Context[Pools]) -> ListRoots | ListRootsResult:
    """The folders that `file` may lie in, as roots: those of a host that has some to tell, else the working directory. Raises Refused: the host was asked and did not tell them."""
    if not file or not pool_for(ctx).local:
        return ListRootsResult(roots=[])
    host = ctx.client_capabilities
    if host is None or host.roots is None:
        return ListRootsResult(roots=[Root(uri=FileUrl(Path.cwd().as_uri()))])
    if ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        return ListRoots()
    try:
        with anyio.fail_after(FOLDERS_PATIENCE):
            told: ListRootsResult = await ctx.session.send_request(ListRootsRequest(), ListRootsResult)
    except (MCPError, TimeoutError) as error:
        raise Refused(
            "the host did not say which folders are its own, so no file is taken in: give the text itself"
        ) from error
    return told


@dataclass(frozen=True, slots=True)
class HostFolders:
    """A host's sessions, and where its files may be taken in from. `folders`: its roots; None for a host that does not share this machine."""

    pool: SessionPool
    folders: tuple[Path, ...] | None


async def find_folders(ctx: Context[Pools], roots: Annotated[ListRootsResult, Resolve(ask_roots)]) -> HostFolders:
    """The sessions of whoever sent this request, and the folders of the roots it told."""
    pool = pool_for(ctx)
    folders = tuple(Path(url2pathname(urlsplit(str(root.uri)).path)) for root in roots.roots)
    return HostFolders(pool, folders if pool.local else None)
