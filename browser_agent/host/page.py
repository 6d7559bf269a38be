"""One live page of a host: performs a call, asks the user where it must, records it, and shows the page within a token
budget.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import anyio
from pydantic import Field, TypeAdapter

from browser_agent.actions import ExtractValues, Find, PageAction, Read, WaitFor
from browser_agent.agent.steps import DrivenStep, PageDriver, begin_step
from browser_agent.browser.browser import Browser
from browser_agent.browser.window import Window
from browser_agent.network.effects import Ask, Asked
from browser_agent.network.secrets import Secrets
from browser_agent.prompts import PROMPTS
from ctxfold import Session
from ctxfold.errors import InputError, Refused
from ctxfold.models import Model, Roles
from ctxfold.models.deciders import Deciders
from ctxfold.models.deciders.loop import SessionLease
from ctxfold.prompts import prompt

BUDGET = 900
"""Tokens of a page's text in an answer unless the host asks for another number."""

LEAST, LARGEST = 200, 2000
"""The bounds of that number."""

WAITS = 30.0
"""Seconds that the waits of one call may take together; hosts give up on a call after a minute."""

PATIENCE = 15.0
"""Seconds that one call waits for the replies of the folder's model, all together."""

MOST_ACTIONS = 20
"""Most actions of one call."""

ACTIONS = TypeAdapter[tuple[PageAction, ...]](tuple[Annotated[PageAction, Field(discriminator="kind")], ...])


_UNSETTLED = frozenset({"timed_out", "page_recovered"})
"""After these outcomes a repeated call is allowed: the first may have changed nothing."""


@dataclass(frozen=True, slots=True)
class PageCall:
    """One call on a page.

    Attributes:
        actions: in order; none for a look.
        why: the reason for it.
        need: the information wanted, which is shown first. Without one the previous one remains, unless `anew`.
        found: a finding from earlier pages, which every view keeps.
        budget: o200k tokens the text may take.
        anew: whether the previous need is dropped.
    """

    actions: tuple[PageAction, ...] = ()
    why: str = ""
    need: str = ""
    found: str = ""
    budget: int = BUDGET
    anew: bool = False


def make_act(actions: Sequence[Mapping[str, Any]], why: str, need: str, found: str) -> PageCall:
    """Make the call that performs actions which a host sent.

    Raises:
        InputError: none or too many, or their waits exceed the patience of hosts.
        ValidationError: not an action.
    """
    if not 1 <= len(actions) <= MOST_ACTIONS:
        raise InputError(f"give 1 to {MOST_ACTIONS} actions, not {len(actions)}")
    acts = ACTIONS.validate_python(list(actions))
    waits = sum(action.seconds for action in acts if isinstance(action, WaitFor))
    if waits > WAITS:
        raise InputError(f"these wait {waits:g} s in all, and one call may wait {WAITS:g}; wait again in the next")
    return PageCall(acts, why, need, found)


def make_reading(
    find: str = "", ref: str = "", page: int = 0, need: str = "", budget: int = 0, links: bool = False, found: str = ""
) -> PageCall:
    """Make the call that shows a page, or a part of it, without acting on it.

    Args:
        find: words to find.
        ref: an element to show in full.
        page: the part of the page or element, counted from 1; 0 for no particular one.
        need: the information wanted, which is shown first.
        budget: o200k tokens the text may take; 0 for `BUDGET`.
        links: show the addresses of links.
        found: a finding from earlier pages, which every view keeps.

    Raises:
        InputError: contradicting wishes, or a budget out of bounds.
        ValidationError: not a ref or a part.
    """
    if find and (ref or page):
        raise InputError("find shows places, ref and page show a part in full: give one of the two")
    if budget and not LEAST <= budget <= LARGEST:
        raise InputError(f"a page is shown in {LEAST} to {LARGEST} tokens, not {budget}")
    actions: tuple[PageAction, ...] = ()
    if find:
        actions = (Find(kind="find", query=find, links=links),)
    elif ref or page or links:
        actions = (Read(kind="read", ref=ref or None, page=page or 1, links=links),)
    return PageCall(actions, "", need, found, budget or BUDGET)


@dataclass(slots=True, eq=False)
class _Act:
    """A running call and its question to the user; a second question in the same call counts as a no."""

    call: PageCall
    question: asyncio.Future[Asked] = field(default_factory=asyncio.Future)
    answer: asyncio.Future[bool] = field(default_factory=asyncio.Future)
    asked_again: bool = False
    work: asyncio.Task[DrivenStep] = field(init=False)

    async def ask(self, asked: Asked) -> bool:
        """Put a question and wait for the answer."""
        if self.question.done():
            self.asked_again = True
            return False
        self.question.set_result(asked)
        return await self.answer


class Page:
    """A live page. A host may send its user's answer with a second call, so an act outlives its first call."""

    def __init__(self, browser: Browser, window: Window, secrets: Secrets, folder: Model | Roles | None = None) -> None:
        self.browser = browser
        self.window = window
        self._secrets = secrets
        self._driver = PageDriver(window, secrets)
        self._deciders = Deciders(folder, PATIENCE)
        self._acts: list[_Act] = []
        self._lock = anyio.Lock()

    @property
    def busy(self) -> bool:
        """Whether a call is running."""
        return self._lock.locked()

    async def begin(self, lease: SessionLease, call: PageCall, can_ask: bool = False) -> Asked | None:
        """Perform a call until it ends or must ask the user; one that waits already is not begun again, and unanswered
        questions of others count as a no.

        Returns:
            The question; None without one, or when the host cannot ask.
        """
        for act in [act for act in self._acts if act.question.done()]:
            if act.call == call:
                return act.question.result()
            self._acts.remove(act)
            act.answer.set_result(False)
        act = _Act(call)
        act.work = asyncio.ensure_future(self._do(lease, call, act.ask if can_ask else None))
        act.work.add_done_callback(lambda work: work.cancelled() or work.exception())  # its caller may be gone
        self._acts.append(act)
        either: set[asyncio.Future[Any]] = {act.work, act.question}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except anyio.get_cancelled_exc_class():
            self._acts.remove(act)
            act.work.cancel()
            raise
        return act.question.result() if act.question.done() else None

    async def finish(self, call: PageCall, agreed: bool = False) -> DrivenStep:
        """Give the user's answer to a call and show the page after it.

        Raises:
            Refused: another call came before the answer, so nothing was sent.
            StoreError: it cannot be recorded; then it is not performed either.
        """
        act = next((act for act in reversed(self._acts) if act.call == call), None)
        if act is None:
            raise Refused("another call came before the user's answer did, so nothing was sent")
        self._acts.remove(act)
        if not act.answer.done():
            act.answer.set_result(agreed)
        done = await act.work
        if not (act.asked_again and agreed):
            return done
        message = f"{done.outcome.message}; the user is asked once a call, so ask for that in the next"
        return replace(done, outcome=done.outcome.model_copy(update={"message": message}))

    async def _do(self, lease: SessionLease, call: PageCall, ask: Ask | None) -> DrivenStep:
        """Perform a call and show the page after it; `ask` asks the user about requests with effects."""
        async with self._lock:
            driver, settings = self._driver, self.window.settings
            if settings.gate is not None:
                settings.gate.ask = ask
            if call.need or call.anew:
                driver.need = call.need
            actions = await driver.hide_passwords(lease, call.actions)
            held = self._refuse_repeated(actions)

            def begin(session: Session) -> int:
                scrub = self._secrets.scrub
                return begin_step(session, call.why, actions, scrub, found=call.found, need=call.need)

            self.window.settings = replace(settings, budget=call.budget, keeps=True)
            allowed = () if held else actions
            done = await driver.act(lease, begin, len(actions), allowed, held, whole=bool(call.need))
            if done.outcome.kind in _UNSETTLED:
                driver.tries.clear()
            await self._deciders.maintain(lease)
            return done

    def _refuse_repeated(self, actions: Sequence[PageAction]) -> str:
        """Return why repeated actions are refused; empty when they are allowed, as those that only read always are."""
        if all(isinstance(action, Find | Read | ExtractValues) for action in actions):
            return ""
        return prompt("notice_tried", PROMPTS) if self._driver.judge_try(actions) != "go" else ""
