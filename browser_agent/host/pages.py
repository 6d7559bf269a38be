"""The open pages of one host, one for each session: which addresses may be opened, and closing when unused."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Coroutine
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal

from browser_agent.actions import Navigate
from browser_agent.agent.agent import SharedBrowser
from browser_agent.agent.result import Safety
from browser_agent.agent.settings import BrowserChoice
from browser_agent.agent.steps import DrivenStep
from browser_agent.browser.limits import Folders
from browser_agent.host.page import BUDGET, Page, PageCall
from browser_agent.network.effects import Asked
from browser_agent.network.egress import Egress, Origin, is_link_local, is_public, is_subdomain, origin_of
from browser_agent.network.secrets import Secrets
from ctxfold.errors import BrowserGone, InputError, PageUnreachable, Refused, UnknownPage
from ctxfold.models import Model, Roles
from ctxfold.models.deciders.loop import SessionLease

# A page may have talked a model into an address. So a person's `--allow` list always holds. Without a list every public
# address may be opened, and a
# private one only until a page of the internet was shown: after that a person must agree. A link-local address, where
# clouds keep their secrets, must be
# listed. The filter proxy judges every connection in addition.


Word = Literal["open", "permit", "ask"]
"""`open` an address; `permit` its private origin and open it; `ask` a person first."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The addresses that a host may open, as a frozen value.

    Attributes:
        rule: the person's list of domains.
        agreed: private origins that a person agreed to.
        public_seen: whether a page of the internet was shown.
        local: whether the host shares this machine; if not, a private address must be listed.
    """

    rule: Egress
    agreed: frozenset[Origin] = frozenset()
    public_seen: bool = False
    local: bool = True

    def judge(self, url: str) -> Word:
        """Judge an address. Raises InputError: not a web address; Refused: a host may not open it."""
        origin = origin_of(url)
        if origin is None:
            raise InputError("that is not a full web address; give one such as https://host/path")
        host, port = origin
        if self.rule.judge_name(host, port) != "allowed":
            raise Refused("that domain is not among those the user allowed with --allow; they can add it and restart")
        if not _is_private(host) or self.rule.judge_address(host, port, host) == "allowed":
            return "open"
        if is_link_local(host):
            raise Refused("that address belongs to this machine's own link; only the user can allow it, with --allow")
        if not self.local:
            raise Refused(
                "this server is reached over HTTP, so it opens a private address only if the person who started it "
                "listed it with --allow HOST:PORT"
            )
        return "permit" if origin in self.agreed or not self.public_seen else "ask"

    def with_agreed(self, url: str) -> Reach:
        """Add the origin of `url` to those agreed to."""
        origin = origin_of(url)
        return self if origin is None else replace(self, agreed=self.agreed | {origin})

    def after_showing(self, url: str) -> Reach:
        """Note that a page at `url` was shown."""
        origin = origin_of(url)
        return self if origin is None or _is_private(origin[0]) else replace(self, public_seen=True)


def _is_private(host: str) -> bool:
    """Return whether a host name or address is private."""
    with suppress(ValueError):
        return is_subdomain(host, "localhost") or not is_public(str(ip_address(host)))
    return False


MOST = 16
"""The most live pages; beyond it the page unused for longest is ended."""

IDLE = 600.0
"""Seconds after which an unused page is ended."""

PATIENCE = 40.0
"""Seconds a call waits for a browser that is being downloaded."""


@dataclass(frozen=True, slots=True)
class Means:
    """The settings of a host's browsing.

    Attributes:
        downloads: the folder for downloads.
        safety: the sites, secrets and effects allowed; the user is asked by the host's protocol, never by `safety.ask`.
        choice: the browser.
        uploads: folders that files may be uploaded from.
        folder: the model that folds, plans and extracts.
    """

    downloads: Path
    safety: Safety = field(default_factory=Safety)
    choice: BrowserChoice = field(default_factory=BrowserChoice)
    uploads: tuple[Path, ...] = ()
    folder: Model | Roles | None = None


class Pages:
    """The live pages of one host."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._reach = Reach(Egress.of(means.safety.allow), local=means.safety.local)
        self._secrets: dict[str, Secrets] = {}
        self._browser = SharedBrowser(means.choice)
        self._live: OrderedDict[str, Page] = OrderedDict()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._starting: dict[str, asyncio.Task[Page]] = {}

    def asks_to_open(self, url: str) -> Asked | None:
        """Return the question to ask before an address is opened; None for none.

        Raises:
            InputError: not a web address.
            Refused: a host may not open it.
        """
        if self._reach.judge(url) != "ask":
            return None
        return Asked("open an address in this machine or its network", url)

    def admit(self, url: str, agreed: bool) -> bool:
        """Check that an address may be opened, and remember a yes to `asks_to_open`. Returns whether its private origin
        must be permitted.

        Raises:
            InputError: not a web address.
            Refused: a host may not open it, or nobody agreed.
        """
        word = self._reach.judge(url)
        if word == "ask" and not agreed:
            raise Refused(
                "a page of the open internet was shown, so a private address needs the user's yes, and there was none; "
                "they can allow it with --allow HOST:PORT and restart"
            )
        self._reach = self._reach if word == "open" else self._reach.with_agreed(url)
        return word != "open"

    def note_shown(self, url: str) -> None:
        """Note that a page at `url` was shown, here or in a run."""
        self._reach = self._reach.after_showing(url)

    async def open(
        self, session: str, lease: SessionLease, url: str, need: str, found: str, agreed: bool = False
    ) -> DrivenStep:
        """Open an address in the session's page, which is made if needed.

        Raises:
            InputError: not a web address.
            Refused: a host may not open it, or nobody agreed.
            PageUnreachable: no answer from there.
            BrowserError: no browser.
        """
        page = await self._page_at(session, lease, url, agreed)
        call = PageCall((Navigate(kind="navigate", url=url),), "", need, found, anew=True)
        await page.begin(lease, call)
        done = await self.finish(session, call)
        if done.outcome.kind in ("unreachable", "not_possible"):
            raise PageUnreachable(f"it cannot be opened: {done.outcome.message}; check the address, or try again")
        return done

    async def begin(self, session: str, lease: SessionLease, call: PageCall, can_ask: bool = False) -> Asked | None:
        """Begin a call on the session's page; `finish` returns its result.

        Returns:
            The question to answer before it goes on; None when it is finished, or when the host cannot ask its user.

        Raises:
            UnknownPage: no page is open.
        """
        first = call.actions[0] if call.actions else None
        if session not in self._live and isinstance(first, Navigate) and self.asks_to_open(first.url) is None:
            page = await self._page_at(session, lease, first.url, False)
        else:
            page = self._get_page(session)
        self._touch(session)
        return await page.begin(lease, call, can_ask)

    async def finish(self, session: str, call: PageCall, agreed: bool = False) -> DrivenStep:
        """Give the user's answer to a call that was begun, and show the page after it. Raises UnknownPage: the page is
        closed; BrowserGone: the browser died.
        """
        done = await self._get_page(session).finish(call, agreed)
        if done.outcome.observation is not None:
            self.note_shown(done.outcome.observation.url)
        if done.outcome.kind == "browser_gone":
            self._drop(session)
            raise BrowserGone(done.outcome.message)
        self._touch(session)
        return done

    async def close(self) -> None:
        """End every page at once, also those that are being opened."""
        self._live.clear()
        for starting in tuple(self._starting.values()):
            starting.cancel()
        for timer in self._timers.values():
            timer.cancel()
        if self._starting:
            await asyncio.wait(set(self._starting.values()))
        await self._browser.close(at_once=True)
        if self._ending:
            await asyncio.wait(set(self._ending))

    def _get_page(self, session: str) -> Page:
        page = self._live.get(session)
        if page is None:
            raise UnknownPage(
                f"no page is open in {session!r}: none was opened, or it was closed: after {IDLE / 60:g} unused "
                "minutes, for others, or with its browser"
            )
        return page

    async def _page_at(self, session: str, lease: SessionLease, url: str, agreed: bool) -> Page:
        """Return the session's page, or a new one, that may open an address. A long start goes on after the call has
        returned.

        Raises:
            BrowserGone: the browser is not ready yet.
            BrowserError: no browser.
        """
        private = self.admit(url, agreed)
        await lease(lambda handle: handle.tip)  # a session that is not there opens no browser
        if session not in self._live:
            starting = self._starting.get(session)
            if starting is None:
                starting = self._starting[session] = asyncio.ensure_future(self._start_page(session))
                starting.add_done_callback(partial(self._add_page, session))
            await asyncio.wait({starting}, timeout=PATIENCE)
            if not starting.done():
                raise BrowserGone("a browser is being fetched and is not ready yet; that takes a minute or two")
            starting.result()
        self._touch(session)
        page = self._live[session]
        if private:
            page.browser.permit(url)
        return page

    async def _start_page(self, session: str) -> Page:
        means = self._means
        secrets = self._secrets.setdefault(session, Secrets(means.safety.secrets))
        browser = await self._browser.start(self._reach.rule)
        window = await browser.window(
            storage_state=means.choice.storage_state,
            folders=Folders(means.downloads / session, means.uploads),
            budget=BUDGET,
            secrets=secrets,
            gate=means.safety.gate(None, model_drives=True),
        )
        return Page(browser, window, secrets, means.folder)

    def _add_page(self, session: str, started: asyncio.Task[Page]) -> None:
        """Add a started page to the live ones, even if its call was cancelled, so that it will be ended."""
        del self._starting[session]
        if not started.cancelled() and started.exception() is None:
            self._live[session] = started.result()
            self._touch(session)
        unused = next((name for name, page in self._live.items() if name != session and not page.busy), None)
        if len(self._live) > MOST and unused is not None:
            self._drop(unused)
        self._end_later(self._end_if_unused())

    def _touch(self, session: str) -> None:
        """Begin the time anew after which an unused page is ended."""
        if session in self._live:
            self._live.move_to_end(session)
            if session in self._timers:
                self._timers[session].cancel()
            self._timers[session] = asyncio.get_running_loop().call_later(IDLE, self._drop, session)

    def _drop(self, session: str) -> None:
        """End a page while others go on."""
        page = self._live.pop(session, None)
        if page is not None:
            self._timers.pop(session).cancel()
            self._end_later(self._end_page(page))

    def _end_later(self, ending: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(ending)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end_page(self, page: Page) -> None:
        """End a page at once, and the browser with the last. Requests that wait for a yes are not sent."""
        gate = page.window.settings.gate
        async with nullcontext() if gate is None else gate.closing():
            if self._live or self._starting:
                await page.window.close()
            await self._end_if_unused()

    async def _end_if_unused(self) -> None:
        if not (self._live or self._starting):
            await self._browser.close(at_once=True)
