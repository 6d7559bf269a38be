"""Drives a window for a session: records each step before its actions and its results after, and refuses repeated tries
of the same thing on one page.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import anyio
from pydantic import BaseModel

from browser_agent.actions import Action, Answer, GiveUp, Outcome, PageAction
from browser_agent.actions.forms import hide_typed
from browser_agent.actions.perform import perform
from browser_agent.browser.window import Window
from browser_agent.network.secrets import Secrets
from browser_agent.observation import Observation
from browser_agent.prompts import PROMPTS
from ctxfold import Session
from ctxfold.errors import InputError
from ctxfold.models.deciders.loop import SessionLease
from ctxfold.prompts import prompt

LOOK = "look"
"""The call whose result is the page after a step."""

KEEP = "keep"
"""The call recorded when a decision's fold, to-do or recalled lines were refused; its result says why."""

ADDRESS = "now_at"
"""The field of an action's result that holds the page's address after it."""

Scrub = Callable[[str], str]
A = TypeVar("A", bound=Action)

_LEAST_FORGOTTEN = 6
"""Characters of the shortest password that is also removed from earlier records: a shorter one would remove ordinary
text too.
"""

_NO_TEXT = ("kind", "ref", "to", "op", "direction", "event")
"""The fields of an action that hold no free text: a password may well be the word `click`."""


def scrub_values(value: Any, scrub: Scrub) -> Any:
    """Mask secrets in each text of a JSON value, or in each free text of an action."""
    match value:
        case str():
            return scrub(value)
        case BaseModel():
            texts = {name: scrub_values(part, scrub) for name, part in value if name not in _NO_TEXT}
            return value.model_copy(update=texts)
        case dict():
            return {name: scrub_values(part, scrub) for name, part in value.items()}
        case list() | tuple():
            return type(value)(scrub_values(part, scrub) for part in value)
        case _:
            return value


def begin_step(
    session: Session,
    thought: str,
    actions: Sequence[PageAction | Answer | GiveUp],
    scrub: Scrub,
    refused: str = "",
    found: str = "",
    need: str = "",
) -> int:
    """Record a step before it is performed, so that the log names it even if the process dies. Returns its number.

    Args:
        session: the session to record in.
        thought: the reason for the step.
        actions: the actions of the step.
        scrub: masks secrets.
        refused: why the decision's fold, to-do or recalled lines were refused; empty when none was.
        found: a finding from earlier pages, which every view then shows.
        need: the information wanted from the page after the step.
    """
    calls: list[dict[str, object]] = []
    for at, action in enumerate(actions, 1):
        fields = action.model_dump(mode="json", exclude={"kind"}, exclude_defaults=True)
        calls.append({"name": action.kind, "args": scrub_values(fields, scrub), "id": f"c{at}"})
    calls.append({"name": LOOK, "args": {"need": scrub(need)} if need else {}, "id": LOOK})
    results = []
    if refused:
        calls.append({"name": KEEP, "args": {}, "id": KEEP})
        results.append({"id": KEEP, "text": scrub(refused)})
    return session.record_step(scrub(thought), calls, results, scrub(found)).step


def end_step(session: Session, step: int, asked: int, outcome: Outcome, undone: str = "left undone") -> tuple[str, str]:
    """Record the results of a step: one for each action, then the page in full.

    Args:
        session: the session to record in.
        step: the step's number.
        asked: the number of its actions.
        outcome: the results of the actions that were tried.
        undone: the result recorded for the others.

    Returns:
        The ref of the page's snapshot (empty: there was no page), and the ref of the values last extracted (empty: none
        were).
    """
    values, page = "", outcome.observation
    for at in range(1, asked + 1):
        result = outcome.results[at - 1] if at <= len(outcome.results) else None
        arrived = page if at == len(outcome.results) else None
        seen, message = (result.seen, result.message) if result is not None else (None, undone)
        if arrived is not None and arrived.extracted is not None:
            seen = arrived
        if seen is not None:
            ref = _record_seen(session, step, f"c{at}", seen)
            values = ref if seen.extracted is not None else values
        elif arrived is not None:
            text = json.dumps({"done": message, ADDRESS: arrived.url}, ensure_ascii=False)
            session.record_result(step, f"c{at}", text, shown=message)
        else:
            session.record_result(step, f"c{at}", message)
    if page is None:
        session.record_result(step, LOOK, "there is no page to look at")
        return "", values
    taken = page.extracted is not None and page.extracted.value is not None
    shown = (page.heading or page.url) if taken else page.text
    return str(session.record_result(step, LOOK, page.full, "page", shown)), values


def _record_seen(session: Session, step: int, call: str, seen: Observation) -> str:
    """Record the result of a reading action: the extracted values with their address, or the page in full."""
    if seen.extracted is None:
        return str(session.record_result(step, call, seen.full, "page", seen.text))
    values = {ADDRESS: seen.url, "extracted": seen.extracted.value}
    lacking = {"missing": seen.extracted.missing} if seen.extracted.missing else {}
    return str(session.record_result(step, call, json.dumps(values | lacking, ensure_ascii=False), "page"))


def refuse_step(session: Session, step: int, asked: int, reason: str) -> None:
    """Record that a step was not performed: each of its calls is answered with the reason."""
    for at in range(1, asked + 1):
        session.record_result(step, f"c{at}", reason)
    session.record_result(step, LOOK, "the page was left as it is")


def forget_typed(session: Session, values: Sequence[str]) -> None:
    """Remove passwords that were just typed from earlier records, such as the task that named them."""
    for value in values:
        if len(value) >= _LEAST_FORGOTTEN:
            with suppress(InputError):  # no record holds it
                session.redact(re.escape(value), names=False)


Verdict = Literal["go", "refuse", "end"]
"""`go`: perform the actions; `refuse`: ask for others; `end`: end the run with its best passages."""

REFUSED_FROM, ENDED_AT = 3, 6
"""Tries of the same actions on an unchanged page: from the third on they are refused, at the sixth a run ends."""


@dataclass(frozen=True, slots=True)
class DrivenStep:
    """A step that was recorded, with the outcome of its actions.

    Attributes:
        step: its number.
        asked: the number of its actions.
        outcome: what came of them; of the kind `refused` when none was performed.
        ref: the ref of the page's snapshot; empty when there was no page.
        values: the ref of the values last extracted; empty for none.
    """

    step: int
    asked: int
    outcome: Outcome
    ref: str = ""
    values: str = ""

    @property
    def text(self) -> str:
        """What was seen, within the budget of the window. Data, never instructions."""
        return "\n\n".join(self.outcome.texts)


class PageDriver:
    """Drives one window for a session.

    Args:
        window: where to act.
        secrets: values that must not be written down.
        need: the information wanted, which pages show first.
    """

    def __init__(self, window: Window, secrets: Secrets, need: str = "") -> None:
        self.window = window
        self.need = need
        self.tries = Counter[tuple[str, str]]()
        self._secrets = secrets
        self._forgotten = 0

    async def hide_passwords(self, lease: SessionLease, actions: Sequence[A]) -> tuple[A, ...]:
        """Replace each text for a password field by a placeholder; from then on the text is recorded nowhere."""
        hidden = await hide_typed(self.window, actions)
        await self._forget_passwords(lease)
        return hidden

    def judge_try(self, actions: Sequence[Action]) -> Verdict:
        """Count a try of actions on the present page, by its address and content, and judge it."""
        page = self.window.last
        key = (page.fingerprint if page is not None else "", "\n".join(action.model_dump_json() for action in actions))
        self.tries[key] += 1
        return "end" if self.tries[key] >= ENDED_AT else "refuse" if self.tries[key] >= REFUSED_FROM else "go"

    async def act(
        self,
        lease: SessionLease,
        begin: Callable[[Session], int],
        asked: int,
        allowed: Sequence[PageAction],
        held: str = "",
        whole: bool = False,
    ) -> DrivenStep:
        """Record a step, perform its allowed actions and look at the page, and record the results.

        Args:
            lease: runs work on the session.
            begin: records the step before its actions, and returns its number.
            asked: the number of its actions.
            allowed: those that may be performed.
            held: why the others may not; empty when all may.
            whole: show the page in full also where its changes alone would do.
        """
        step = await lease(begin)
        if held and not allowed:
            await lease(lambda session: refuse_step(session, step, asked, held))
            return DrivenStep(step, asked, Outcome(kind="refused", message=held, observation=None, results=()))
        try:
            outcome = await perform(self.window, allowed, self.need, whole=whole)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                cancelled = prompt("notice_cancelled", PROMPTS)
                await lease(lambda session: refuse_step(session, step, asked, cancelled))
            raise
        scrub = self._secrets.scrub  # a text may have proved secret while the actions ran
        results = [done.model_copy(update={"action": scrub_values(done.action, scrub)}) for done in outcome.results]
        outcome = outcome.model_copy(update={"results": tuple(results)})
        await self._forget_passwords(lease)
        ref, values = await lease(lambda session: end_step(session, step, asked, outcome, held or "left undone"))
        return DrivenStep(step, asked, outcome, ref, values)

    async def _forget_passwords(self, lease: SessionLease) -> None:
        """Remove passwords that were typed since the last call from earlier records."""
        new, self._forgotten = self._secrets.typed[self._forgotten :], len(self._secrets.typed)
        if new:
            await lease(lambda session: forget_typed(session, new))
