"""Does one action with the gate armed, and asks a person about what it would send."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import anyio
from playwright.async_api import Error, Page

from browser_agent import actions as act
from browser_agent.actions import ActionResult
from browser_agent.browser.gate import Gate
from browser_agent.browser.page_events import Mark
from browser_agent.browser.window import PageLost, PageSilent, Window
from browser_agent.network.effects import Asked, Cause, Effect

__all__ = ["Done", "do_guarded", "only_looks"]

T = TypeVar("T")

Done = tuple[ActionResult, bool]
"""What came of an action, and whether another page stands there after it."""

Work = Callable[[], Coroutine[Any, Any, Done]]
"""Does the action."""

Settle = Callable[[Window, Page, Mark, float], Coroutine[Any, Any, bool]]
"""Waits until what an action set in motion has come to rest; whether another page stands there then."""

_MOST = 3
"""So many of the things that an action would send are named one by one."""


async def do_guarded(window: Window, action: act.PageAction, work: Work, settle: Settle) -> Done:
    """Do an action; what it makes pages send with effects waits for a yes. Raises PageLost: the browser does not take the gate's orders; nothing was done then."""
    gate = window.settings.gate
    if gate is None or only_looks(action):
        return await work()
    late = await _ask_about_late(window, gate)
    if gate.ask is not None and late:
        return ActionResult(action=action, kind="refused", message=_explain(gate, late)), False
    await _arm(window, gate, action)
    result, changed = await _do_held(window, gate, action, work, settle)
    if late:
        result = result.model_copy(update={"late": f"after the last action, {_explain(gate, late)}"})
    return result, changed


async def _do_held(window: Window, gate: Gate, action: act.PageAction, work: Work, settle: Settle) -> Done:
    page, mark = window.page, window.events.mark()
    lost: PageLost | PageSilent | None = None
    try:
        (result, changed), agreed = await _answering(window, gate, work())
        try:
            while agreed and window.dialog is None:  # what it waited for is on its way only now
                window.begin()
                moved, agreed = await _answering(window, gate, settle(window, page, mark, window.limits.settle))
                changed = moved or changed
                if result.kind == "timed_out":
                    result = ActionResult(action=action, kind="done", message="done, as the user agreed")
        except (PageLost, PageSilent) as error:
            lost = error
    finally:
        with anyio.CancelScope(shield=True):
            if gate.held:  # nobody waits for it any more
                await gate.answer(False)
        gate.rest()
    refused = gate.take_refused()
    if refused and result.kind != "browser_gone":
        return ActionResult(action=action, kind="refused", message=_explain(gate, refused)), changed
    if lost is not None:
        raise lost
    return result, changed


async def _answering(window: Window, gate: Gate, work: Coroutine[Any, Any, T]) -> tuple[T, bool]:
    """What `work` came to, and whether something that it made a page send was agreed to meanwhile."""
    task = asyncio.ensure_future(work)
    agreed = False
    try:
        while not task.done() or gate.held:
            await gate.wait(task)
            if gate.held:
                agreed = await _ask(window, gate) or agreed
        return task.result(), agreed
    finally:
        if not task.done():
            task.cancel()


async def _arm(window: Window, gate: Gate, action: act.PageAction) -> None:
    try:
        match action:
            case act.Navigate() | act.Tab():
                await gate.leave()
            case _:
                await gate.arm(_cause(window, action), [frame.url for each in window.pages for frame in each.frames])
    except (Error, TimeoutError) as error:
        raise PageLost("could not be guarded, since the browser did not answer, and was closed") from error


async def _ask_about_late(window: Window, gate: Gate) -> tuple[Effect, ...]:
    """Ask about what was sent after the action before was over; what of it was refused."""
    if gate.held:
        await _ask(window, gate)
    return gate.take_refused()


async def _ask(window: Window, gate: Gate) -> bool:
    held, scrub = gate.held, window.settings.secrets.scrub
    lines = [str(effect) for effect in held[:_MOST]]
    if len(held) > _MOST:
        lines.append(f"{len(held) - _MOST} more")
    agreed = gate.ask is not None and await gate.ask(Asked(scrub(f"send {'; '.join(lines)}"), scrub(window.page.url)))
    await gate.answer(agreed)
    return agreed


def _cause(window: Window, action: act.PageAction) -> Cause:
    """What an action acts on, by the last look."""
    match action:
        case act.Dialog():
            return Cause("dialog", window.dialog.message if window.dialog is not None else "")
        case act.FillForm(fields=(first, *_)):
            ref: str | None = first.ref
        case act.Press(ref=None, key=key):
            return Cause("key", key)
        case _:
            ref = getattr(action, "ref", None)
    control = window.controls.now.get(ref) if ref is not None else None
    return Cause() if control is None else Cause(control.role, control.name)


def _explain(gate: Gate, refused: tuple[Effect, ...]) -> str:
    """What was not sent and why, without a word of the page's own."""
    what = "; ".join(dict.fromkeys(effect.in_short for effect in refused[:_MOST]))
    if gate.ask is not None:
        return f"{what} was not sent: it was not agreed to"
    sites = " ".join(f"--trust {site}" for site in dict.fromkeys(effect.site for effect in refused) if site)
    how = f"; they can allow it by starting ctxfold with {sites}" if sites else ""
    return f"{what} was not sent: it needs the user's yes, and nobody can be asked here{how}"


def only_looks(action: act.PageAction) -> bool:
    """Whether an action changes nothing of a page."""
    return isinstance(action, act.Find | act.Read | act.Extract | act.WaitFor) or (
        isinstance(action, act.Tab) and action.op == "list"
    )
