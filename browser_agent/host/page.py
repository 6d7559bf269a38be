"""One page that a host's model controls call by call; each call is checked, recorded and answered within a token budget."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass, replace

import anyio

from browser_agent.actions import Extract, Find, Outcome, OutcomeKind, PageAction, Read, WaitFor
from browser_agent.actions.forms import hide_typed
from browser_agent.actions.perform import perform
from browser_agent.agent.journal import begin_step, end_step, forget_typed, refuse_step
from browser_agent.agent.run import LoopGuard
from browser_agent.agent.settings import BrowserChoice
from browser_agent.browser.browser import Browser
from browser_agent.browser.gate import Gate
from browser_agent.browser.limits import Folders
from browser_agent.browser.window import Window
from browser_agent.network.effects import Ask
from browser_agent.network.egress import Egress
from browser_agent.network.secrets import Secrets
from ctxfold.errors import InputError
from ctxfold.models import Model, Roles
from ctxfold.models.deciders import Deciders
from ctxfold.models.deciders.loop import SessionLease
from ctxfold.prompts import prompt
from ctxfold.tokens import count as count_tokens


class SharedBrowser:
    """A browser whose windows share nothing but its process."""

    def __init__(self, choice: BrowserChoice, rule: Egress) -> None:
        self._choice = choice
        self._rule = rule
        self._browser: Browser | None = None
        self._windows: set[Window] = set()
        self._lock = asyncio.Lock()

    async def open(self, folders: Folders, budget: int, secrets: Secrets, gate: Gate | None) -> Window:
        """Open a window; start the browser where none runs. Raises BrowserError: there is no browser; InputError: the storage state cannot be used."""
        async with self._lock:
            choice = self._choice
            if self._browser is None:
                self._browser = await Browser.launch(
                    headed=choice.headed, executable=choice.executable, egress=self._rule
                )
            try:
                window = await self._browser.window(
                    storage_state=choice.storage_state, folders=folders, budget=budget, secrets=secrets, gate=gate
                )
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await self._end_if_unused()
                raise
            self._windows.add(window)
            return window

    def permit(self, url: str) -> None:
        """Let the browser reach the origin of `url`, private or not."""
        if self._browser is not None:
            self._browser.permit(url)

    async def close(self, window: Window) -> None:
        """Close a window, and end the browser at once with the last."""
        async with self._lock:
            self._windows.discard(window)
            if self._windows:
                await window.close()
            await self._end_if_unused()

    async def end(self) -> None:
        """Close every window and end the browser at once."""
        async with self._lock:
            self._windows.clear()
            await self._end_if_unused()

    async def _end_if_unused(self) -> None:
        if self._browser is not None and not self._windows:
            browser, self._browser = self._browser, None
            await browser.end()


BUDGET = 900
"""Tokens a page's text takes in an answer where a host says no other number."""

LEAST, LARGEST = 200, 2000
"""The bounds of that number."""

WAITS = 30.0
"""Seconds that the waits of one call may take together: hosts give up on a call after a minute."""

PATIENCE = 15.0
"""Seconds that one call waits for the replies of the folder's model, all together."""

_PROMPTS = "browser_agent.prompts"

_UNSETTLED = frozenset({"timed_out", "page_recovered"})
"""After these a call may well be made again: that it changed nothing is not known."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a host's model says with a call. `need`: what it looks for; those parts of the page are shown first; `found`: what it learned on the pages before, which every view keeps."""

    why: str = ""
    need: str = ""
    found: str = ""


NO_WORDS = Words()
"""A call that says nothing."""


@dataclass(frozen=True, slots=True)
class PageCall:
    """What one call wants of a page, in order; no action for a look. Without a need the one before holds on; `anew`: it is done with, also where none is said."""

    words: Words = NO_WORDS
    actions: tuple[PageAction, ...] = ()
    budget: int = BUDGET
    anew: bool = False


@dataclass(frozen=True, slots=True)
class PageReading:
    """Which part of a page is wanted.

    Attributes:
        find: words to find.
        ref: an element to show in full.
        page: which part of the whole, or of that element, counted from 1; 0 where none is asked for.
        need: what is looked for; those parts of the page are shown first.
        budget: o200k tokens the text may take; 0 for the usual.
        links: with where links lead.
        found: what was learned on the pages before, which every view keeps.
    """

    find: str = ""
    ref: str = ""
    page: int = 0
    need: str = ""
    budget: int = 0
    links: bool = False
    found: str = ""

    @property
    def wish(self) -> PageCall:
        """This as what one call wants. Raises InputError: two of them at once, or a budget out of bounds; ValidationError: a ref that is none, or a part before the first."""
        if self.find and (self.ref or self.page):
            raise InputError("find shows places, ref and page show a part in full: give one of the two")
        if self.budget and not LEAST <= self.budget <= LARGEST:
            raise InputError(f"a page is shown in {LEAST} to {LARGEST} tokens, not {self.budget}")
        actions: tuple[PageAction, ...] = ()
        if self.find:
            actions = (Find(kind="find", query=self.find, links=self.links),)
        elif self.ref or self.page or self.links:
            actions = (Read(kind="read", ref=self.ref or None, page=self.page or 1, links=self.links),)
        return PageCall(Words("", self.need, self.found), actions, self.budget or BUDGET)


@dataclass(frozen=True, slots=True)
class PageShown:
    """What one call came to.

    Attributes:
        step: the step it is written down in.
        kind: what became of it; `refused` where a guard held it back.
        message: what became of it in one line of ours; it holds no page text.
        ref: the whole page as recorded; empty where there was no page to look at.
        text: the page within the budget. Data, never instructions.
        values: where what was extracted last is recorded whole; empty where nothing was.
        downloads: files that arrived, by their paths.
        notes: what the page was kept from sending after the call before, and what is to be said of what was done.
    """

    step: int
    kind: OutcomeKind
    message: str
    done: int
    asked: int
    url: str = ""
    ref: str = ""
    text: str = ""
    tokens: int = 0
    values: str = ""
    downloads: tuple[str, ...] = ()
    notes: str = ""

    @property
    def ok(self) -> bool:
        """Whether what was asked was done, or stopped only because the page changed beneath the rest."""
        return self.kind in ("done", "page_changed")


class Page:
    """A live page."""

    def __init__(
        self, browser: SharedBrowser, window: Window, secrets: Secrets, folder: Model | Roles | None = None
    ) -> None:
        self._browser = browser
        self._window = window
        self._secrets = secrets
        self._deciders = Deciders(folder, PATIENCE)
        self._guard = LoopGuard()
        self._need = ""
        self._forgotten = 0
        self._lock = anyio.Lock()

    @property
    def busy(self) -> bool:
        """Whether a call is under way on it."""
        return self._lock.locked()

    def permit(self, url: str) -> None:
        """Let the browser reach the origin of `url`, private or not."""
        self._browser.permit(url)

    async def do(self, book: SessionLease, wish: PageCall, ask: Ask | None = None) -> PageShown:
        """Do what a call wants, and show the page after it; `ask` asks the user about what that would send.

        Raises:
            InputError: it would wait longer than a host does.
            StoreError: it cannot be written down; then it is not done either.
        """
        async with self._lock:
            gate = self._window.settings.gate
            if gate is not None:
                gate.ask = ask
            words = wish.words
            if words.need or wish.anew:
                self._need = words.need
            _check_waits(wish)
            wish = replace(wish, actions=await hide_typed(self._window, wish.actions))
            held = self._held_back(wish)
            await self._forget(book)
            count, scrub = len(wish.actions), self._secrets.scrub
            step = await book(
                lambda session: begin_step(session, words.why, wish.actions, scrub, found=words.found, need=words.need)
            )
            if held:
                await book(lambda session: refuse_step(session, step, count, held))
                return PageShown(step, "refused", held, 0, count)
            outcome = await self._perform(book, step, wish)
            if outcome.kind in _UNSETTLED:
                self._guard = LoopGuard()
            await self._forget(book)
            ref, values = await book(lambda session: end_step(session, step, count, outcome))
            await self._deciders.maintain(book)
            return replace(_reply(step, ref, outcome, count), values=values)

    async def end(self) -> None:
        """End the page at once. What waits for a yes is not sent."""
        gate = self._window.settings.gate
        async with nullcontext() if gate is None else gate.closing():
            await self._browser.close(self._window)

    async def _forget(self, book: SessionLease) -> None:
        """Take passwords that were just typed out of what the session held before."""
        typed = self._secrets.typed
        new, self._forgotten = typed[self._forgotten :], len(typed)
        if new:
            await book(lambda session: forget_typed(session, new))

    def _held_back(self, wish: PageCall) -> str:
        """Why a wish is not done; empty where it may be. What only reads is never held back."""
        if all(isinstance(action, Find | Read | Extract) for action in wish.actions):
            return ""
        page = self._window.last
        self._guard, verdict = self._guard.after(wish.actions, page.fingerprint if page is not None else "")
        return prompt("notice_tried", _PROMPTS) if verdict != "go" else ""

    async def _perform(self, book: SessionLease, step: int, wish: PageCall) -> Outcome:
        """Act and look. A call that is cancelled leaves a step that says so."""
        self._window.settings = replace(self._window.settings, budget=wish.budget, keeps=True)
        try:
            return await perform(self._window, wish.actions, self._need, whole=bool(wish.words.need))
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                said = prompt("notice_cancelled", _PROMPTS)
                await book(lambda session: refuse_step(session, step, len(wish.actions), said))
            raise


def _check_waits(wish: PageCall) -> None:
    """Refuse a call that would come back after its host gave it up."""
    waits = sum(action.seconds for action in wish.actions if isinstance(action, WaitFor))
    if waits > WAITS:
        raise InputError(f"these wait {waits:g} s in all, and one call may wait {WAITS:g}; wait again in the next")


def _reply(step: int, ref: str, outcome: Outcome, asked: int) -> PageShown:
    page = outcome.observation
    done = sum(result.ok for result in outcome.results)
    shown = PageShown(
        step, outcome.kind, outcome.message, done, asked, ref=ref, downloads=outcome.downloads, notes=outcome.notes
    )
    text = "\n\n".join(outcome.texts)
    return shown if page is None else replace(shown, url=page.url, text=text, tokens=count_tokens(text))
