"""Finds the element behind a ref on the page, and turns Playwright's errors into `Stop`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from importlib.resources import files
from typing import Any, TypeVar, assert_never

from playwright.async_api import Error, Locator, Position

from browser_agent import actions as act
from browser_agent.actions import Click, Drag, Hover, Press, Said, Scroll, Stop
from browser_agent.actions.look import look_for_refs
from browser_agent.browser.window import Window
from browser_agent.observation import Control
from browser_agent.observation.inline import AREAS, FIELDS, INTERACTIVE, clean
from ctxfold.text.words import words

T = TypeVar("T")

_COVERED = "intercepts pointer events"
_REASONS = (
    (_COVERED, "another element covers {ref}; deal with that one first"),
    ("element is not enabled", "{ref} is disabled"),
    ("element is not visible", "{ref} is not visible now"),
    ("element is not stable", "{ref} keeps moving; wait and try again"),
    ("element is not editable", "{ref} is read-only"),
    ("outside of the viewport", "{ref} cannot be brought into view"),
    ("not an <input>", "{ref} is no field that takes text"),
    ("not a <select>", "{ref} is no list of options; click it and choose from what opens"),
    ("not a checkbox", "{ref} is no checkbox or radio button"),
    ("not an htmlinputelement", "{ref} is no file field"),
    ("malformed value", "{ref} does not take a value of that form; give dates as YYYY-MM-DD, times as HH:MM"),
    ("cannot type text into", "{ref} takes only numbers"),
    ("cannot set value", "{ref} does not take that value"),
    ("unknown key", "no such key; use names such as Enter, Escape, ArrowDown or Control+A"),
    ("clicking the checkbox did not change", "{ref} does not change by clicking it"),
    ("non-multiple file input", "{ref} takes one file only"),
)


def require_known(window: Window, ref: str) -> Control:
    """What the last observation says of a ref. Raises Stop: it is not in the last observation; said at once, with what is most like it now."""
    control = window.controls.now.get(ref)
    if control is None:
        raise Stop("unknown_ref", f"{ref} is not in the last observation{suggest(window, ref)}")
    return control


async def find_element(window: Window, ref: str) -> tuple[Locator, Control]:
    """The element behind a ref of the last observation. Raises Stop: the ref is not in the last observation, or its element is gone. It says so at once."""
    control = require_known(window, ref)
    element = window.element(ref)
    try:
        there = await window.running(element.count(), window.limits.action)
    except Error:
        there = 0
    if not there:
        raise Stop("stale_ref", f"{ref} is no longer on the page{suggest(window, ref)}")
    return element, control


async def attempt(window: Window, work: Coroutine[Any, Any, T], ref: str) -> T:
    """Do `work` on the element `ref`, in the time one action has. Raises Stop: the element does not take it, in our words."""
    try:
        return await window.running(work, window.limits.action + 0.3)
    except TimeoutError as error:
        raise _explain(str(error), ref, timed_out=True) from error
    except Error as error:
        raise _explain(error.message, ref, timed_out=False) from error


_COVER = """e => {
  const box = e.getBoundingClientRect();
  let cover = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  if (!cover || e.contains(cover)) return [];
  for (let up = cover; up && up !== document.body && !up.contains(e); up = up.parentElement) cover = up;
  const controls = [cover, ...cover.querySelectorAll('a[href],button,input,select,textarea,[role=button],[role=link]')];
  return controls.map(c => (c.getAttribute('aria-label') || c.innerText || c.value || c.title || '').replace(/\\s+/g, ' ').trim()).filter(Boolean).slice(0, 20);
}"""
_COVERING = 4


async def name_cover(window: Window, element: Locator, ref: str) -> Stop:
    """Say what lies over an element by the refs of the controls it holds."""
    try:
        names = await window.running(element.evaluate(_COVER), window.limits.probe)
    except (Error, TimeoutError):
        names = []
    known = window.controls.now.values()
    called = {clean(str(name)) for name in names}
    refs = [one.ref for one in known if one.name and one.name in called and one.ref != ref][:_COVERING]
    what = f", which holds {', '.join(refs)}; use that first" if refs else "; deal with that one first"
    return Stop("not_possible", f"another element covers {ref}{what}", covered=True)


async def reveal_secrets(window: Window, element: Locator, ref: str, text: str) -> str:
    """`text` as it is typed: with each secret in the place of its placeholder. Raises Stop: there is no such secret, or it does not belong to the page the element is in."""
    if not window.settings.secrets.mentioned_in(text):
        return text
    handle = await attempt(window, element.element_handle(timeout=milliseconds(window)), ref)
    frame = await attempt(window, handle.owner_frame(), ref)
    return reveal_at(window, frame.url if frame is not None else "", text)


def reveal_at(window: Window, url: str, text: str) -> str:
    """`text` as it is typed into a document at `url`. Raises Stop: there is no such secret, or it does not belong there."""
    secrets = window.settings.secrets
    try:
        named = secrets.named_in(text)
    except KeyError as error:
        raise Stop("not_possible", "there is no secret of that name; give it with --secret NAME=SOURCE") from error
    for secret in named:
        if not secret.belongs_to(url):
            raise Stop("refused", f"{secret.placeholder} belongs to another site and is not typed here")
    return secrets.fill(text)


def milliseconds(window: Window) -> float:
    """The time one action has, as Playwright counts it."""
    return window.limits.action * 1000


def _explain(message: str, ref: str, *, timed_out: bool) -> Stop:
    lower = message.lower()
    for sign, reason in _REASONS:
        if sign in lower:
            return Stop("not_possible", reason.format(ref=ref), covered=sign == _COVERED)
    if timed_out:
        return Stop("timed_out", f"{ref} did not respond in time; look again before trying once more")
    return Stop("not_possible", f"{ref} cannot take this action")


def suggest(window: Window, ref: str) -> str:
    """What to use in the place of a ref that is none now."""
    near = window.controls.nearest(ref)
    if near is not None and near.ref != ref:
        return f"; the nearest now is {near.ref} ({near.role})"
    return "; refs live for one observation: use one from the latest"


BOXES = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})
_REF = re.compile(r"(?:f\d+)?e\d+")
_WITH_ROLE = re.compile(r'([a-z]+) "(.+)"')
_NO_LETTERS = re.compile(r"[\W\d_]+")
_MARK = re.compile(r"\s+[^\w\s]|[^\w\s]+(?:\s|$)|[(\[]")
"""How the rest of a name begins behind words that may stand for all of it."""
_WORD = re.compile(rf"\s|{_MARK.pattern}")
"""The same for fields and boxes, which show what is put into them."""


def is_ref(target: str) -> bool:
    """Whether an element is called by its ref, and by no name."""
    return _REF.fullmatch(target) is not None


def name_targets(action: act.PageAction) -> tuple[str, ...]:
    """What an action calls the elements by that it acts on: refs or names."""
    match action:
        case act.FillForm(fields=fields):
            return tuple(field.ref for field in fields)
        case act.Drag(ref=ref, to=to):
            return ref, to
        case _:
            only: str | None = getattr(action, "ref", None)
            return () if only is None else (only,)


def with_targets(action: act.PageAction, change: Callable[[str], str]) -> act.PageAction:
    """An action with what it calls its elements by changed."""
    match action:
        case act.FillForm(fields=fields):
            changed = (field.model_copy(update={"ref": change(field.ref)}) for field in fields)
            return action.model_copy(update={"fields": tuple(changed)})
        case _:
            said = {part: getattr(action, part, None) for part in ("ref", "to")}
            return action.model_copy(update={part: change(ref) for part, ref in said.items() if isinstance(ref, str)})


def find_named(controls: Mapping[str, Control], name: str, takes: frozenset[str]) -> tuple[Control, ...]:
    """The elements that a name fits best: `Save`, or `button "Save"` with the role that a page is shown with.

    Args:
        controls: those of the page, by their refs.
        name: what the element is called.
        takes: roles that the action is meant for; they go first, then other controls, then anything that has a name.

    Returns:
        All that fit equally well. Numbers and marks count only where a name fits letter by letter, so `Reviews` is also `Reviews (12)`.
        Where none fits so, those that the action is meant for and whose name begins so: up to a mark, that of a field or box up to any word.
        Of links alike that lead to one address, the first.
    """
    with_role = _WITH_ROLE.fullmatch(name.strip())
    among = list(controls.values())
    exact = [control for control in among if control.name and _plain(control.name) == _plain(name)]
    if not exact and with_role is not None:
        role, name = with_role[1], with_role[2]
        among = [control for control in among if control.role == role]
        exact = [control for control in among if _plain(control.name) == _plain(name)]
    letters = _letters(name)
    near = [
        control for control in among if letters and not re.search(r"\d", name) and _letters(control.name) == letters
    ]
    for alike in (exact, near):
        for roles in (takes, INTERACTIVE, None):
            fit = [control for control in alike if roles is None or control.role in roles]
            if fit:
                return _without_copies(fit)
    return _without_copies([control for control in among if control.role in takes and _begins(control, name)])


def _without_copies(fit: Sequence[Control]) -> tuple[Control, ...]:
    return tuple({(one.role, one.url) if one.url else one.ref: one for one in reversed(fit)}.values())[::-1]


def _begins(control: Control, name: str) -> bool:
    """Whether a control is called by a name and more."""
    called, start = _plain(control.name), _plain(name)
    rest = _WORD if control.role in FIELDS | BOXES else _MARK
    return bool(start) and called.startswith(start) and rest.match(called[len(start) :]) is not None


def roles_taken(action: act.PageAction) -> frozenset[str]:
    """The roles of the elements that an action is meant for."""
    match action:
        case act.Type():
            return FIELDS
        case act.FillForm():
            return FIELDS | BOXES
        case act.Select():
            return frozenset({"combobox", "listbox"})
        case act.Check():
            return BOXES
        case act.Click() | act.Download():
            return INTERACTIVE - FIELDS
        case act.Hover() | act.Drag() | act.Press() | act.Upload():
            return INTERACTIVE
        case act.Read() | act.Scroll():
            return AREAS
        case act.Navigate() | act.Back() | act.Dialog() | act.Tab() | act.WaitFor() | act.Find() | act.Extract():
            return frozenset()
        case _:
            assert_never(action)


def _plain(name: str) -> str:
    return clean(name).casefold()


def _letters(name: str) -> str:
    return _NO_LETTERS.sub(" ", clean(name)).strip().casefold()


_ASIDE = ((0.1, 0.5), (0.9, 0.5), (0.5, 0.1), (0.5, 0.9))
_ASIDE_MS = 250
_SCROLL = files("browser_agent.actions").joinpath("scroll.js").read_text(encoding="utf-8")
_LET_GO = """(from, to) => {
  const start = from.getBoundingClientRect(), end = to.getBoundingClientRect();
  const past = (from, to) => Math.abs(to - from) > 1 ? Math.sign(to - from) : 0;
  const x = end.width * (4 + past(start.x, end.x)) / 8, y = end.height * (4 + past(start.y, end.y)) / 8;
  const under = document.elementFromPoint(end.x + x, end.y + y);
  return { place: { x: x - to.clientLeft, y: y - to.clientTop }, over: from.contains(under) && !from.contains(to) };
}"""
"""Where to let go, from the inner edge of a border: what sorts by halves takes the exact middle for the half that a drag comes from, and a straight drag
that ends a border's width aside for one that goes there. And whether what is dragged lies over that place already.
"""
_STEPS = 10
"""Moves in one drag: what sorts as it is dragged over compares each with the one before."""
_FOCUSED = "() => document.activeElement !== null && ![document.body, document.documentElement].includes(document.activeElement)"
_NO_FOCUS = "the key went to the page as a whole: nothing has the focus"
_GROWS = 1.0
"""Seconds in which a list that goes on without an end brings its next part."""


async def click(window: Window, action: Click) -> str:
    """Click an element. Raises Stop: the ref is stale, or the element cannot be clicked."""
    element, _ = await find_element(window, action.ref)
    try:
        await attempt(window, element.click(timeout=milliseconds(window)), action.ref)
    except Stop as stop:
        if not stop.covered:
            raise
        if not await _click_aside(window, element):
            raise await name_cover(window, element, action.ref) from stop
    return f"clicked {action.ref}"


async def _click_aside(window: Window, element: Locator) -> bool:
    """Click an element whose middle is covered where it is not; whether there was such a place."""
    for across, down in _ASIDE:
        with contextlib.suppress(Error, TimeoutError):
            box = await window.running(element.bounding_box(timeout=_ASIDE_MS), window.limits.probe)
            if box is None:
                return False
            place: Position = {"x": box["width"] * across, "y": box["height"] * down}
            await window.running(element.click(position=place, timeout=_ASIDE_MS), window.limits.probe)
            return True
    return False


async def press(window: Window, action: Press) -> str | Said:
    """Press a key on an element, or on whatever has the focus. Raises Stop: the ref is stale, there is no such key, or it stands for a secret of another site."""
    if action.ref is None:
        key = reveal_at(window, window.page.url, action.key)
        focused = await _has_focus(window)
        await attempt(window, window.page.keyboard.press(key), "the page")
        return "pressed the key" if focused else Said("pressed the key", _NO_FOCUS)
    element, _ = await find_element(window, action.ref)
    key = await reveal_secrets(window, element, action.ref, action.key)
    await attempt(window, element.press(key, timeout=milliseconds(window)), action.ref)
    return f"pressed the key on {action.ref}"


async def _has_focus(window: Window) -> bool:
    """Whether an element of the page has the focus; one that cannot be asked counts as having it."""
    try:
        return bool(await window.running(window.page.evaluate(_FOCUSED), window.limits.probe))
    except (Error, TimeoutError):
        return True


async def hover(window: Window, action: Hover) -> str:
    """Move the pointer over an element. Raises Stop: the ref is stale, or another element covers it."""
    element, _ = await find_element(window, action.ref)
    await attempt(window, element.hover(timeout=milliseconds(window)), action.ref)
    return f"the pointer is over {action.ref}"


async def drag(window: Window, action: Drag) -> str:
    """Drag an element onto another. Raises Stop: a ref is stale, or an element cannot be reached."""
    element, _ = await find_element(window, action.ref)
    onto, _ = await find_element(window, action.to)
    found = await attempt(window, element.evaluate(_LET_GO, await onto.element_handle()), action.ref)
    if found["over"]:  # Playwright takes it for a cover
        await attempt(window, element.hover(timeout=milliseconds(window), trial=True), action.ref)
    moved = element.drag_to(
        onto, target_position=found["place"], steps=_STEPS, timeout=milliseconds(window), force=found["over"]
    )
    await attempt(window, moved, action.ref)
    return f"dragged {action.ref} to {action.to}"


async def scroll(window: Window, action: Scroll) -> str | Said:
    """Scroll the page, or the area an element is in; at its end, wait for a list that goes on to bring its next part. Raises Stop: the ref is stale."""
    how = [action.direction, _GROWS * window.limits.pace * 1000]
    if action.ref is None:
        moved = await attempt(window, window.page.evaluate(_SCROLL, [None, *how]), "the page")
    else:
        element, _ = await find_element(window, action.ref)
        script = f"(element, how) => ({_SCROLL})([element, ...how])"
        moved = await attempt(window, element.evaluate(script, how), action.ref)
    if moved == "nowhere":
        return Said("scrolled", f"{action.direction}: at the end already")
    return f"scrolled {action.direction}{'; more came' if moved == 'grew' else ''}"


_MOST = 5
"""So many elements are named where a name fits none, or several."""


async def resolve(window: Window, action: act.PageAction) -> tuple[act.PageAction, tuple[Control, ...]]:
    """An action with the ref that each of its elements has now, and the elements that it calls by a name.

    Raises:
        Stop: a name fits none or several, or an element is gone; the message has the refs of those that come near.
        PageSilent: the page does not answer now.
        PageLost: it crashed, closed, or has not answered for long.
    """
    targets = name_targets(action) if window.dialog is None else ()
    named = [target for target in targets if not is_ref(target)]
    gone = [target for target in targets if target in window.controls.given and not await _is_there(window, target)]
    if not named and not gone:
        return action, ()
    await look_for_refs(window)
    controls, takes = window.controls.now, roles_taken(action)
    found = {name: _only(name, find_named(controls, name, takes), controls) for name in named}
    drawn = {ref: control for ref in gone if (control := window.controls.successor(ref)) is not None}
    for ref in gone:
        if ref not in drawn:
            raise Stop("stale_ref", f"{ref} is no longer on the page{suggest(window, ref)}")
    led = {target: control.ref for target, control in (found | drawn).items()}
    return with_targets(action, lambda target: led.get(target, target)), tuple(found.values())


async def _is_there(window: Window, ref: str) -> bool:
    if ref not in window.controls.now:
        return False
    try:
        return await window.running(window.element(ref).count(), window.limits.action) > 0
    except (Error, TimeoutError):
        return False


def _only(name: str, found: Sequence[Control], controls: Mapping[str, Control]) -> Control:
    """The one element that was found. Raises Stop: there is none, or several."""
    match found:
        case [only]:
            return only
        case []:
            wanted = frozenset(words(name))
            near = [one for one in controls.values() if one.role in INTERACTIVE and wanted & frozenset(words(one.name))]
            near.sort(key=lambda one: -len(wanted & frozenset(words(one.name))))
            also = f"; with a word of it: {_list(near)}" if near else "; find shows what stands there"
            raise Stop("unknown_ref", f"nothing on this page is called {name!r}{also}")
        case _:
            raise Stop("unknown_ref", f"{len(found)} are called {name!r}: {_list(found)}; say which by its ref")


def _list(found: Sequence[Control]) -> str:
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return ", ".join(f"{one.ref} ({one.role})" for one in found[:_MOST]) + more
