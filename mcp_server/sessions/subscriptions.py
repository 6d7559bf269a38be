"""Notifies the clients of each user when a resource has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ServerEvent
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST, EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

__all__ = ["PrincipalBus", "Subscribers", "current_principal"]

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
