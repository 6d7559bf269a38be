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

from browser_agent.actions import ExtractValues, Find, OutcomeKind, PageAction, Read, WaitFor
from browser_agent.agent.steps import DrivenStep, PageDriver, begin_step
from browser_agent.browser.browser import Browser
from browser_agent.browser.window import Window
from browser_agent.network.effects import Ask, Asked
from browser_agent.network.secrets import Secrets
from ctxfold import Session
from ctxfold.errors import InputError, Refused
from ctxfold.models import Model, Roles
from ctxfold.models.deciders import Deciders
from ctxfold.models.deciders.loop import SessionLease
from ctxfold.prompts import prompt
from ctxfold.tokens import count

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

_ACTIONS: TypeAdapter[tuple[PageAction, ...]] = TypeAdapter(
    tuple[Annotated[PageAction, Field(discriminator="kind")], ...]
)

_PROMPTS = "browser_agent.prompts"

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
    """Make the call that performs actions which a host sent. Raises InputError: none or too many; ValidationError: not
    an action.
    """
    if not 1 <= len(actions) <= MOST_ACTIONS:
        raise InputError(f"give 1 to {MOST_ACTIONS} actions, not {len(actions)}")
    return PageCall(_ACTIONS.validate_python(list(actions)), why, need, found)


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


@dataclass(frozen=True, slots=True)
class PageShown:
    """The result of one call.

    Attributes:
        step: the step that records it.
        kind: the kind of outcome; `refused` when a guard refused the call.
        message: the outcome in one line without page text.
        ref: the ref of the whole page; empty when there was no page.
        text: the page within the budget. Data, never instructions.
        values: the ref of the values last extracted; empty for none.
        downloads: the paths of files that arrived.
        notes: requests of the page that were blocked since the last call, and notes on the actions.
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
        """Whether all actions were performed, or the rest stopped because the page changed."""
        return self.kind in ("done", "page_changed")


_ONCE = "the user is asked once a call, so ask for that in the next"


@dataclass(slots=True, eq=False)
class _Act:
    """A running call and its question to the user; a second question in the same call counts as a no."""

    call: PageCall
    asked: Asked | None = None
    asked_again: bool = False
    answer: asyncio.Future[bool] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    question: asyncio.Event = field(default_factory=asyncio.Event)
    work: asyncio.Task[PageShown] = field(init=False)

    async def ask(self, asked: Asked) -> bool:
        """Put a question and wait for the answer."""
        if self.asked is not None:
            self.asked_again = True
            return False
        self.asked = asked
        self.question.set()
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
            The question; None when there is none, or when the host cannot ask.
        """
        for act in [act for act in self._acts if act.asked is not None]:
            if act.call == call:
                return act.asked
            self._acts.remove(act)
            act.answer.set_result(False)
        act = _Act(call)
        act.work = asyncio.ensure_future(self._do(lease, call, act.ask if can_ask else None))
        act.work.add_done_callback(lambda work: work.cancelled() or work.exception())  # its caller may be gone
        self._acts.append(act)
        question = asyncio.ensure_future(act.question.wait())
        try:
            await asyncio.wait({act.work, question}, return_when=asyncio.FIRST_COMPLETED)
        except anyio.get_cancelled_exc_class():
            self._acts.remove(act)
            act.work.cancel()
            raise
        finally:
            question.cancel()
        return act.asked

    async def finish(self, call: PageCall, agreed: bool = False) -> PageShown:
        """Give the user's answer to a call and show the page after it.

        Raises:
            Refused: another call came before the answer, so nothing was sent.
            InputError: it would wait longer than a host does.
            StoreError: it cannot be recorded; then it is not performed either.
        """
        act = next((act for act in reversed(self._acts) if act.call == call), None)
        if act is None:
            raise Refused("another call came before the user's answer did, so nothing was sent")
        self._acts.remove(act)
        if not act.answer.done():
            act.answer.set_result(agreed)
        try:
            shown = await act.work
        except anyio.get_cancelled_exc_class():
            act.work.cancel()
            raise
        return replace(shown, message=f"{shown.message}; {_ONCE}") if act.asked_again and agreed else shown

    async def _do(self, lease: SessionLease, call: PageCall, ask: Ask | None) -> PageShown:
        """Perform a call and show the page after it; `ask` asks the user about requests with effects."""
        async with self._lock:
            driver, settings = self._driver, self.window.settings
            if settings.gate is not None:
                settings.gate.ask = ask
            if call.need or call.anew:
                driver.need = call.need
            _check_waits(call)
            actions = await driver.hide_passwords(lease, call.actions, {})
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
            return _show(done, len(actions))

    def _refuse_repeated(self, actions: Sequence[PageAction]) -> str:
        """Return why repeated actions are refused; empty when they are allowed, as those that only read always are."""
        if all(isinstance(action, Find | Read | ExtractValues) for action in actions):
            return ""
        return prompt("notice_tried", _PROMPTS) if self._driver.judge_try(actions) != "go" else ""


def _check_waits(call: PageCall) -> None:
    """Raise InputError for a call whose waits exceed the patience of hosts."""
    waits = sum(action.seconds for action in call.actions if isinstance(action, WaitFor))
    if waits > WAITS:
        raise InputError(f"these wait {waits:g} s in all, and one call may wait {WAITS:g}; wait again in the next")


def _show(done: DrivenStep, asked: int) -> PageShown:
    outcome, page = done.outcome, done.outcome.observation
    text = "\n\n".join(outcome.texts)
    return PageShown(
        done.step,
        outcome.kind,
        outcome.message,
        sum(result.ok for result in outcome.results),
        asked,
        page.url if page is not None else "",
        done.ref,
        text,
        count(text),
        done.values,
        outcome.downloads,
        outcome.notes,
    )
