"""Does an action while the gate holds back what pages send with effects, and asks a person whether it may be sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import anyio
from playwright.async_api import Error

from browser_agent import actions as act
from browser_agent.actions import ActionResult, Stop, is_reading, name_targets
from browser_agent.actions.navigate import settle
from browser_agent.browser.gate import Gate
from browser_agent.browser.window import PageLost, PageSilent, Window
from browser_agent.network.effects import Asked, Cause, Effect

T = TypeVar("T")

Done = tuple[ActionResult, bool]
"""The result of an action, and whether the page is another one after it."""

_LISTED = 3
"""So many of the requests that an action would send are listed one by one."""


async def do_guarded(window: Window, action: act.PageAction, work: Callable[[], Awaitable[Done]]) -> Done:
    """Do an action; requests with effects that it makes pages send wait for a yes.

    Raises:
        Stop: a late request of the action before was refused; nothing was done.
        PageLost: the browser does not take the gate's orders; nothing was done.
    """
    gate = window.settings.gate
    if gate is None or is_reading(action):
        return await work()
    while gate.held:
        await _ask(window, gate)
    late = gate.take_refused()
    if gate.ask is not None and late:
        raise Stop("refused", _explain(gate, late))
    try:
        if isinstance(action, act.Navigate | act.Tab):
            await gate.leave()
        else:
            await gate.arm(_find_cause(window, action), [frame.url for page in window.pages for frame in page.frames])
    except (Error, TimeoutError) as error:
        raise PageLost("could not be guarded, since the browser did not answer, and was closed") from error
    result, changed = await _do_held(window, gate, work)
    if late:
        result = result.model_copy(update={"late": f"after the last action, {_explain(gate, late)}"})
    return result, changed


async def _do_held(window: Window, gate: Gate, work: Callable[[], Awaitable[Done]]) -> Done:
    """Do the work of an action, and settle anew each time something that it made a page send was agreed to."""
    page, mark = window.page, window.events.mark()
    try:
        (result, changed), agreed = await _answer(window, gate, work())
        with suppress(PageLost, PageSilent):  # the look that follows reports it
            while agreed and window.dialog is None:  # requests just agreed to are sent only now
                window.begin()
                moved, agreed = await _answer(window, gate, settle(window, page, mark, window.limits.settle))
                changed = moved or changed
                if result.kind == "timed_out":
                    result = ActionResult(action=result.action, kind="done", message="done, as the user agreed")
    finally:
        with anyio.CancelScope(shield=True):
            if gate.held:  # the action was cancelled: drop what it sent
                await gate.answer(False)
        gate.rest()
    refused = gate.take_refused()
    if refused and result.kind != "browser_gone":
        return ActionResult(action=result.action, kind="refused", message=_explain(gate, refused)), changed
    return result, changed


async def _answer(window: Window, gate: Gate, work: Awaitable[T]) -> tuple[T, bool]:
    """Do `work`, and ask about the requests that it makes a page send. Returns its result, and whether something was
    agreed to.
    """
    task = asyncio.ensure_future(work)
    agreed = False
    try:
        while not task.done() or gate.held:
            await gate.wait(task)
            if gate.held:
                agreed = await _ask(window, gate) or agreed
        return task.result(), agreed
    finally:
        task.cancel()


async def _ask(window: Window, gate: Gate) -> bool:
    """Ask a person about the held requests, and let those go or drop all. What comes while they think waits."""
    held, scrub = gate.held, window.settings.secrets.scrub
    lines = [str(effect) for effect in held[:_LISTED]]
    if len(held) > _LISTED:
        lines.append(f"{len(held) - _LISTED} more")
    asked = Asked(scrub(f"send {'; '.join(lines)}"), scrub(window.page.url))
    agreed = gate.ask is not None and await gate.ask(asked)
    await gate.answer(agreed, held)
    return agreed


def _find_cause(window: Window, action: act.PageAction) -> Cause:
    """Return the element that an action acts on, by the last look."""
    match action:
        case act.Dialog():
            return Cause("dialog", window.dialog.message if window.dialog is not None else "")
        case act.Press(ref=None, key=key):
            return Cause("key", key)
        case _:
            control = window.controls.now.get(next(iter(name_targets(action)), ""))
            return Cause() if control is None else Cause(control.role, control.name)


def _explain(gate: Gate, refused: tuple[Effect, ...]) -> str:
    """Say that requests were not sent, and why, without any words of the page."""
    what = "; ".join(dict.fromkeys(effect.in_short for effect in refused[:_LISTED]))
    if gate.ask is not None:
        return f"{what} was not sent: it was not agreed to"
    sites = " ".join(f"--trust {site}" for site in dict.fromkeys(effect.site for effect in refused) if site)
    how = f"; they can allow it by starting ctxfold with {sites}" if sites else ""
    return f"{what} was not sent: it needs the user's yes, and nobody can be asked here{how}"
