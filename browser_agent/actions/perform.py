"""Does the actions of one decision in order, under time limits, and observes the page once after them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from browser_agent import actions as act
from browser_agent.actions import ActionResult, Outcome, OutcomeKind, Stop, is_ref, name_targets
from browser_agent.actions.asking import Done, do_guarded
from browser_agent.actions.elements import click, drag, find_element, hover, press, resolve, scroll
from browser_agent.actions.forms import check, download, fill_form, say_download, select, type_text, upload
from browser_agent.actions.look import Look, Sight, look, look_from_outside, share_room
from browser_agent.actions.navigate import (
    answer_dialog,
    check_barred,
    go_back,
    navigate,
    settle,
    use_tab,
    wait_for,
)
from browser_agent.browser.window import DialogOpened, PageLost, PageSilent, Window
from browser_agent.observation import View
from ctxfold.errors import BrowserGone

_DIALOGS = 5
"""Dialogs answered in a row, without another action between, after which the next costs a page its life."""
_NEXT_DIALOG = 0.15
"""Seconds in which a page that opens dialog after dialog opens the next."""
_SILENT = "the page does not answer yet; it is left as it is: look again in a moment, or navigate elsewhere"


async def _show(window: Window, action: act.Find | act.Read | act.ExtractValues) -> str:
    """Check the ref of an action that reads. The look after it shows its part of the page."""
    if isinstance(action, act.Read) and action.ref is not None:
        find_element(window, action.ref)
    return "shown"


ACTIONS: Mapping[type, Callable[[Window, Any], Awaitable[str]]] = {
    act.Navigate: navigate,
    act.Back: go_back,
    act.Click: click,
    act.Hover: hover,
    act.Drag: drag,
    act.Type: type_text,
    act.FillForm: fill_form,
    act.Select: select,
    act.Check: check,
    act.Press: press,
    act.Scroll: scroll,
    act.Upload: upload,
    act.Download: download,
    act.Dialog: answer_dialog,
    act.Tab: use_tab,
    act.WaitFor: wait_for,
    **dict.fromkeys((act.Find, act.Read, act.ExtractValues), _show),
}
"""What does each action. It returns a message, and raises `Stop` where the action cannot be done."""


async def perform(window: Window, actions: Sequence[act.PageAction], need: str = "", *, whole: bool = False) -> Outcome:
    """Do the actions of a decision, then look at the page once.

    Args:
        window: where to act.
        actions: in order. They stop at the first that cannot be done, and where one replaced the page of a later one
            that has a ref. Without any it just looks. Each that reads shows its part; several share the room.
        need: words of the task: the observation puts the parts that have them first.
        whole: show the page also where its changes alone would do.

    Returns:
        The outcome. Nothing a page does makes this raise. A page that does not answer costs at most `Limits.whole`
        seconds and is left as it is; one that crashed, or has not answered for `Limits.silence`, is closed, and an
        empty tab replaces it.
    """
    window.begin_call()
    window.begin()
    call = _Call(window, need)
    for number, action in enumerate(actions):
        await call.do(action, actions[number + 1 :])
        if call.ended:
            break
    return await call.finish(len(actions) - len(call.results), whole)


@dataclass(slots=True)
class _Call:
    """The actions of one call so far, and the looks at the page that share the room of its answer."""

    window: Window
    need: str
    results: list[ActionResult] = field(default_factory=list)
    sights: dict[int, Sight] = field(default_factory=dict)
    moved: bool = False
    ended: bool = False

    async def do(self, action: act.PageAction, later: Sequence[act.PageAction]) -> None:
        """Do the next action, and find out whether `later` ones may still be done."""
        window = self.window
        result, changed = await _do(window, action)
        if later and result.ok and isinstance(result.action, View):
            kind, message = await self._look(self._plan_look(result.action), result.kind, result.message)
            result = result.model_copy(update={"kind": kind, "message": message})
        self.results.append(result)
        self.moved = self.moved or changed
        is_lost = self.moved and bool(later) and not _means_any_page(later[0])
        self.ended = not result.ok or is_lost or window.spent > window.limits.call

    async def finish(self, skipped: int, whole: bool) -> Outcome:
        """Look at the page, and share the room of the answer among all looks."""
        window, results, sights = self.window, self.results, self.sights
        last = results[-1] if results else None
        kind, message = (last.kind, last.message) if last is not None else ("done", "looked")
        if kind != "browser_gone":
            view = last.action if last is not None and last.ok and isinstance(last.action, View) else None
            kind, message = await self._look(self._plan_look(view, whole or kind == "unknown_ref"), kind, message)
        if kind == "done" and skipped and window.spent > window.limits.call:
            kind, message = "timed_out", f"{message}; no time for {skipped} more: go on with those"
        elif kind == "done" and skipped:
            kind, message = "page_changed", f"{message}; the page changed, so {skipped} more were left: look and go on"
        shared = await share_room(tuple(sights.values()), window.settings.budget)
        seen = dict(zip(sights, shared, strict=True))
        scrub = window.settings.secrets.scrub
        return Outcome(
            kind=kind,
            message=scrub(message),
            observation=seen.pop(len(results), None),
            results=tuple(
                result.model_copy(update={"message": scrub(result.message), "seen": seen.get(number)})
                for number, result in enumerate(results)
            ),
            skipped=skipped,
            downloads=window.downloads.take(),
        )

    def _plan_look(self, view: View | None, whole: bool = False) -> Look:
        """Return how to look at the page: in full, or for what changed since this call showed the same part of it."""
        earlier = self.window.last if view is None and self.results and not whole else None
        if isinstance(view, act.Read) and not view.links:
            earlier = next((sight.seen for sight in reversed(self.sights.values()) if sight.view == view), None)
        return Look(view, self.need, earlier)

    async def _look(self, how: Look, kind: OutcomeKind, message: str) -> tuple[OutcomeKind, str]:
        """Look at the page now. Returns the kind and message given, or others if the page is lost or silent."""
        window, number = self.window, len(self.results)
        try:
            self.sights[number] = await look(window, how)
            return kind, message
        except PageSilent:
            self.sights[number] = await look_from_outside(window)
            return "timed_out", _SILENT
        except PageLost as fault:
            lost = _explain_lost(fault)
        try:
            await window.recover()
        except BrowserGone as gone:
            return "browser_gone", str(gone)
        with suppress(PageLost, PageSilent):  # the fresh tab is lost too: then there is nothing to see
            self.sights[number] = await look(window, Look(need=how.need))
        return ("refused", f"{message}; {lost}") if kind == "refused" else ("page_recovered", lost)


def _means_any_page(action: act.PageAction) -> bool:
    """Return whether an action may go on after the page changed, because it does not use a ref."""
    targets = name_targets(action)
    if targets:
        return not any(map(is_ref, targets))
    return isinstance(action, act.Navigate | act.Back | act.WaitFor | act.Scroll | View)


async def _do(window: Window, action: act.PageAction) -> Done:
    """One action and the settling after it, with the gate armed; its elements are looked for first."""
    window.begin()

    async def do() -> Done:
        meant, named = await resolve(window, action)
        result, changed = await do_guarded(window, meant, lambda: _catch(window, meant, lambda: _act(window, meant)))
        return result.model_copy(update={"named": named}), changed

    return await _catch(window, action, do)


async def _catch(window: Window, action: act.PageAction, work: Callable[[], Awaitable[Done]]) -> Done:
    """Do `work` for an action. Whatever goes wrong with the page becomes the action's result."""
    kind: OutcomeKind
    changed = False
    try:
        try:
            return await work()
        except PageLost as lost:
            await window.recover()
            window.answered = 0
            kind, message, changed = "page_recovered", _explain_lost(lost), True
    except Stop as stop:
        kind, message = stop.kind, str(stop)
    except DialogOpened:
        kind, message, changed = "done", "done, and a dialog opened", True
    except PageSilent:
        kind, message = "timed_out", _SILENT
    except BrowserGone as gone:
        kind, message = "browser_gone", str(gone)
    return ActionResult(action=action, kind=kind, message=message), changed


def _explain_lost(how: PageLost) -> str:
    return f"the page {how}; an empty tab replaced it: navigate on from there"


async def _act(window: Window, action: act.PageAction) -> Done:
    """Do an action, and wait until the page has come to rest."""
    await _make_way(window, action)
    if window.dialog is not None and not isinstance(action, act.Dialog):
        raise Stop("dialog_open", "a dialog is open; answer it with dialog first")
    page, mark, begun = window.page, window.events.mark(), window.downloads.count
    message = await ACTIONS[type(action)](window, action)
    changed = not act.is_reading(action) and await settle(window, page, mark, window.limits.settle)
    if changed:
        await check_barred(window)
    if window.downloads.count > begun:
        message = await say_download(window, message)
    if not isinstance(action, act.Dialog):
        window.answered = 0
    return ActionResult(action=action, kind="done", message=message), changed


async def _make_way(window: Window, action: act.PageAction) -> None:
    """Clear the way for an action that leaves a page; leave a dialog open before any other.

    A page that is left opens its dialogs to nobody: they are dismissed. Where it goes on opening them, or does not
    answer, an address is opened in a fresh tab, and another tab is turned to as if there were no dialog.

    Raises:
        PageLost: yet another of a page's dialogs was to be answered.
        BrowserGone: no browser could be started again.
    """
    if isinstance(action, act.Dialog) and window.dialog is not None and window.answered >= _DIALOGS:
        raise PageLost("opened dialog after dialog and was closed")
    if act.is_reading(action) or not isinstance(action, act.Navigate | act.Tab):
        return
    for _ in range(_DIALOGS):
        if window.dialog is None:
            break
        await window.answer_dialog(False, None)
        await window.wait_for_dialog(_NEXT_DIALOG)
    if isinstance(action, act.Tab):
        window.forget_dialog()
    elif window.dialog is not None or window.events.silent_since is not None:
        await window.recover()
