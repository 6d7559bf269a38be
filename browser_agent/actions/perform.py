"""Does the actions of one decision in order, and observes the page once after them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from browser_agent import actions as act
from browser_agent.actions import ActionResult, Dialog, Navigate, Outcome, OutcomeKind, PageAction, Said, Stop, Tab
from browser_agent.actions.asking import Done, do_guarded, only_looks
from browser_agent.actions.elements import (
    click,
    drag,
    hover,
    is_ref,
    name_targets,
    press,
    require_known,
    resolve,
    scroll,
)
from browser_agent.actions.forms import check, download, fill_form, say_download, select, type_text, upload
from browser_agent.actions.look import Collected, Look, Showing, Sight, collect, look, look_from_outside, share
from browser_agent.actions.navigate import back, check_barred, dialog, navigate, settle, tab, wait_for
from browser_agent.browser.window import DialogOpened, PageLost, PageSilent, Window
from browser_agent.observation import Observation
from browser_agent.observation.observe import Fields, Lean, Part, Places, View
from ctxfold.errors import BrowserGone

_DIALOGS = 5
"""Dialogs answered in a row, without another action between, after which the next costs a page its life."""
_NEXT = 0.15
"""Seconds in which a page that opens dialog after dialog opens the next."""


def lost(how: PageLost) -> str:
    """What became of a page, and what to do next."""
    return f"the page {how}; an empty tab stands in its place: navigate on from there"


async def make_way(window: Window, action: PageAction) -> None:
    """Clear the way for what leaves a page; leave a dialog open before anything else.

    A page that is left opens its dialogs to nobody: they are dismissed. Where one goes on opening them, or does not
    answer, an address is opened in a fresh tab in its place, and another tab is turned to as if there were none.

    Raises:
        PageLost: a page was to have yet another of its dialogs answered.
        BrowserGone: no browser could be brought back.
    """
    if isinstance(action, Dialog) and window.dialog is not None and window.answered >= _DIALOGS:
        raise PageLost("opened dialog after dialog and was closed")
    if not _leaves(action):
        return
    for _ in range(_DIALOGS):
        if window.dialog is None:
            break
        await window.answer_dialog(False, None)
        await window.dialog_comes(_NEXT)
    if isinstance(action, Tab):
        window.forget_dialog()
    elif window.dialog is not None or window.events.silent_since is not None:
        await window.recover()


def _leaves(action: PageAction) -> bool:
    return isinstance(action, Navigate) or (isinstance(action, Tab) and action.op != "list")


_SILENT = "the page does not answer yet; it is left as it is: look again in a moment, or navigate elsewhere"


async def perform(
    window: Window, actions: Sequence[act.PageAction], need: str | None = None, *, whole: bool = False
) -> Outcome:
    """Do what a decision asks of the page, then look at it once.

    Args:
        window: where to act.
        actions: in order. They stop at the first that cannot be done, and where one replaced the page beneath a next that
            has a ref of it. None at all just looks. What reads shows its part; where several do, they share the room.
        need: what the task is after, in its words: the observation puts that first.
        whole: show the page also where what changed on it would do.

    Returns:
        What came of it. Nothing a page does makes this raise. One that does not answer costs at most `Limits.whole`
        seconds and is left as it is; one that crashed, or has not answered for `Limits.silence`, is closed, and an empty
        tab stands in its place.
    """
    window.begin_call()
    window.begin()
    results: list[ActionResult] = []
    sights: dict[int, Showing] = {}
    view: View = Lean()
    moved = False
    for number, action in enumerate(actions):
        later = actions[number + 1 :]
        if isinstance(action, act.Extract) and (action.urls or action.click) and action.wanted is not None:
            (result, taken), changed = await _collect(window, action, need or ""), True
            if taken is not None:
                sights[number] = taken
        else:
            result, changed = await _do(window, action)
        view = _view(result.action) if result.ok else Lean()
        if later and result.seen is None and view != Lean():
            result = await _with_view(window, result, need or "", sights, number)
        results.append(result)
        moved = moved or changed
        if not result.ok or (
            later and ((moved and not _means_any_page(later[0])) or window.spent() > window.limits.call)
        ):
            break
    how = Look(view, need or "", bool(results) and not whole)
    return await _outcome(window, results, len(actions) - len(results), sights, how)


def _means_any_page(action: act.PageAction) -> bool:
    """Whether an action may go on after the page changed: it has no ref of the page before, and says itself what it is after."""
    targets = name_targets(action)
    if targets:
        return not any(map(is_ref, targets))
    return isinstance(action, act.Navigate | act.Back | act.WaitFor | act.Find | act.Extract | act.Read | act.Scroll)


async def _collect(window: Window, action: act.Extract, need: str) -> tuple[ActionResult, Collected | None]:
    """An extraction over several pages; each has as long as one page has."""

    async def do(one: act.PageAction) -> ActionResult:
        return (await _do(window, one))[0]

    async def read(result: ActionResult) -> ActionResult:
        return await _with_view(window, result, need, {}, 0)

    return await collect(window, action, do, read, window.settings.budget)


async def _with_view(
    window: Window, result: ActionResult, need: str, sights: dict[int, Showing], number: int
) -> ActionResult:
    """A reading that others follow, with what it showed, which is put among the sights of the call."""
    try:
        sights[number] = sight = await look(window, Look(_view(result.action), need))
    except PageSilent:
        return ActionResult(action=result.action, kind="timed_out", message=_SILENT)
    except PageLost as how:
        return (await _recovered(window, result.action, lost(how)))[0]
    return result.model_copy(update={"seen": sight.seen})


async def _do(window: Window, action: act.PageAction) -> Done:
    """One action and its rest, with the gate armed; its elements are looked for first."""
    window.begin()
    try:
        meant, named = await resolve(window, action)
        result, changed = await do_guarded(window, meant, lambda: _do_unguarded(window, meant), settle)
        return result.model_copy(update={"named": named}), changed
    except Stop as stop:
        return ActionResult(action=action, kind=stop.kind, message=str(stop)), False
    except PageSilent:
        return ActionResult(action=action, kind="timed_out", message=_SILENT), False
    except PageLost as how:
        return await _recovered(window, action, lost(how))


async def _do_unguarded(window: Window, action: act.PageAction) -> Done:
    try:
        await make_way(window, action)
    except PageLost as how:
        return await _recovered(window, action, lost(how))
    except BrowserGone as gone:
        return ActionResult(action=action, kind="browser_gone", message=str(gone)), False
    page = window.page
    mark = window.events.mark()
    if window.dialog is not None and not isinstance(action, act.Dialog):
        return ActionResult(
            action=action, kind="dialog_open", message="a dialog is open; answer it with dialog first"
        ), False
    refused = window.proxy.refused if window.proxy is not None else 0
    begun = window.downloads.count
    try:
        said = await _apply(window, action)
        message, note = said if isinstance(said, Said) else (said, "")
        changed = not only_looks(action) and await settle(window, page, mark, window.limits.settle)
        if changed:
            await check_barred(window, refused)
        if window.downloads.count > begun:
            message = await say_download(window, message)
    except Stop as stop:
        return ActionResult(action=action, kind=stop.kind, message=str(stop)), False
    except DialogOpened:
        return ActionResult(action=action, kind="done", message="done, and a dialog opened"), True
    except PageSilent:
        return ActionResult(action=action, kind="timed_out", message=_SILENT), False
    except PageLost as how:
        return await _recovered(window, action, lost(how))
    if not isinstance(action, act.Dialog):
        window.answered = 0
    return ActionResult(action=action, kind="done", message=message, note=note), changed


async def _apply(window: Window, action: act.PageAction) -> str | Said:
    match action:
        case act.Navigate():
            return await navigate(window, action)
        case act.Back():
            return await back(window)
        case act.Click():
            return await click(window, action)
        case act.Hover():
            return await hover(window, action)
        case act.Drag():
            return await drag(window, action)
        case act.Type():
            return await type_text(window, action)
        case act.FillForm():
            return await fill_form(window, action)
        case act.Select():
            return await select(window, action)
        case act.Check():
            return await check(window, action)
        case act.Press():
            return await press(window, action)
        case act.Scroll():
            return await scroll(window, action)
        case act.Upload():
            return await upload(window, action)
        case act.Download():
            return await download(window, action)
        case act.Dialog():
            return await dialog(window, action)
        case act.Tab():
            return await tab(window, action)
        case act.WaitFor():
            return await wait_for(window, action)
        case act.Find() | act.Read() | act.Extract():
            return _readable(window, action)
        case _:
            assert_never(action)


def _readable(window: Window, action: act.Find | act.Read | act.Extract) -> str:
    if isinstance(action, act.Read) and action.ref is not None:
        require_known(window, action.ref)
    return "shown"


def _view(action: act.PageAction) -> View:
    match action:
        case act.Find(query=query, links=links):
            return Places((query,) if isinstance(query, str) else query, links)
        case act.Read(ref=ref, page=page, links=links):
            return Part(ref, page, links)
        case act.Extract(wanted=dict() as wanted):
            return Fields(wanted)
        case _:
            return Lean()


async def _recovered(window: Window, action: act.PageAction, why: str) -> Done:
    try:
        await window.recover()
    except BrowserGone as gone:
        return ActionResult(action=action, kind="browser_gone", message=str(gone)), False
    window.answered = 0
    return ActionResult(action=action, kind="page_recovered", message=why), True


async def _outcome(
    window: Window, results: Sequence[ActionResult], skipped: int, sights: dict[int, Showing], how: Look
) -> Outcome:
    last = results[-1] if results else None
    kind: OutcomeKind = last.kind if last is not None else "done"
    message = last.message if last is not None else "looked"
    known = _known(window, results)
    if isinstance(sights.get(len(results) - 1), Collected):  # rows off several pages stand for the page
        sights[len(results)] = sights.pop(len(results) - 1)
    elif known is None and kind != "browser_gone":
        sight: Sight | None = None
        try:
            sight = await look(window, how)
        except PageSilent:
            kind, message, sight = "timed_out", _SILENT, await look_from_outside(window)
        except PageLost as fault:
            became, why, sight = await _look_again(window, how.need, lost(fault))
            stays = kind == "refused" and became == "page_recovered"
            kind, message = (kind, f"{message}; {why}") if stays else (became, why)
        if sight is not None:
            sights[len(results)] = sight
    if kind == "done" and skipped:
        kind, why = _why_left(window, skipped)
        message = f"{message}; {why}"
    shared = await share(tuple(sights.values()), window.settings.budget)
    seen = {at: sight.seen for at, sight in zip(sights, shared, strict=True)}
    observation = seen.pop(len(results), known)
    scrub = window.settings.secrets.scrub
    return Outcome(
        kind=kind,
        message=scrub(message),
        observation=observation,
        results=tuple(
            one.model_copy(update={"message": scrub(one.message), "seen": seen.get(at)})
            for at, one in enumerate(results)
        ),
        skipped=skipped,
        downloads=window.downloads.take(),
    )


def _known(window: Window, results: Sequence[ActionResult]) -> Observation | None:
    """What shows the page without another look: the last look, where nothing was done since."""
    kept = window.last is not None and window.last.view == "page" and window.controls.now is window.last.refs
    return window.last if kept and len(results) == 1 and results[0].kind == "unknown_ref" else None


def _why_left(window: Window, skipped: int) -> tuple[OutcomeKind, str]:
    """Why actions were left though none failed."""
    if window.spent() > window.limits.call:
        return "timed_out", f"no time for {skipped} more: go on with those"
    return "page_changed", f"the page changed, so {skipped} more were left: look and go on"


async def _look_again(window: Window, need: str, why: str) -> tuple[OutcomeKind, str, Sight | None]:
    """After a page was lost while it was looked at: a fresh tab, and a look at that."""
    try:
        await window.recover()
        return "page_recovered", why, await look(window, Look(need=need))
    except (PageLost, PageSilent):
        return "page_recovered", why, None
    except BrowserGone as gone:
        return "browser_gone", str(gone), None
