"""Finds the element that a ref or a name means, and clicks, hovers, drags, scrolls and presses keys on it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, TypeVar

from playwright.async_api import Error, Locator, Position

from browser_agent import actions as act
from browser_agent.actions import Stop, is_ref, name_targets, with_targets
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
    ("not an <input>", "{ref} is not a field that takes text"),
    ("not a <select>", "{ref} is not a list of options; click it and choose from what opens"),
    ("not a checkbox", "{ref} is not a checkbox or radio button"),
    ("not an htmlinputelement", "{ref} is not a file field"),
    ("malformed value", "{ref} does not take a value of that form; give dates as YYYY-MM-DD, times as HH:MM"),
    ("cannot type text into", "{ref} takes only numbers"),
    ("cannot set value", "{ref} does not take that value"),
    ("unknown key", "no such key; use names such as Enter, Escape, ArrowDown or Control+A"),
    ("clicking the checkbox did not change", "{ref} does not change by clicking it"),
    ("non-multiple file input", "{ref} takes one file only"),
)
"""Parts of Playwright's messages, and our words for them."""


async def attempt(window: Window, work: Coroutine[Any, Any, T], ref: str) -> T:
    """Do `work` on the element `ref`, in the time one action has. Raises Stop: the element does not take it."""
    try:
        return await window.run(work, window.limits.action + 0.3)
    except (Error, TimeoutError) as error:
        message = str(error).lower()
        for sign, reason in _REASONS:
            if sign in message:
                raise Stop("not_possible", reason.format(ref=ref), covered=sign == _COVERED) from error
        if isinstance(error, TimeoutError):
            raise Stop("timed_out", f"{ref} did not respond in time; look again before trying once more") from error
        raise Stop("not_possible", f"{ref} cannot take this action") from error


@dataclass(frozen=True, slots=True)
class Element:
    """An element of the page that a ref of the last observation means."""

    window: Window
    control: Control
    locator: Locator

    @property
    def ref(self) -> str:
        """Its ref."""
        return self.control.ref

    async def attempt(self, work: Coroutine[Any, Any, T]) -> T:
        """Do `work` on it, in the time one action has. Raises Stop: it does not take it."""
        return await attempt(self.window, work, self.ref)

    async def reveal(self, text: str) -> str:
        """Return `text` with each secret for its placeholder. Raises Stop: no such secret, or one of another site."""
        if not self.window.settings.secrets.has_placeholder(text):
            return text
        handle = await self.attempt(self.locator.element_handle())
        frame = await self.attempt(handle.owner_frame())
        return reveal_secrets(self.window, frame.url if frame is not None else "", text)


def find_element(window: Window, ref: str) -> Element:
    """Return the element of a ref. Raises Stop: the last observation does not have it; names the element most like it
    now.
    """
    control = window.controls.now.get(ref)
    if control is None:
        raise Stop("unknown_ref", f"{ref} is not in the last observation{_suggest(window, ref)}")
    return Element(window, control, window.page.get_by_ref(ref))


def reveal_secrets(window: Window, url: str, text: str) -> str:
    """Return `text` as it is typed into a document at `url`, with each secret for its placeholder.

    Raises:
        Stop: no secret has that name, or it does not belong there.
    """
    secrets = window.settings.secrets
    try:
        named = secrets.list_named(text)
    except KeyError as error:
        raise Stop("not_possible", "there is no secret of that name; give it with --secret NAME=SOURCE") from error
    for secret in named:
        if not secret.belongs_to(url):
            raise Stop("refused", f"{secret.placeholder} belongs to another site and is not typed here")
    return secrets.fill(text)


def _suggest(window: Window, ref: str) -> str:
    near = window.controls.find_nearest(ref)
    if near is not None and near.ref != ref:
        return f"; the nearest now is {near.ref} ({near.role})"
    return "; refs live for one observation: use one from the latest"


BOXES = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})
_ROLES: Mapping[type, Collection[str]] = {
    act.Type: FIELDS,
    act.FillForm: FIELDS | BOXES,
    act.Select: {"combobox", "listbox"},
    act.Check: BOXES,
    act.Click: INTERACTIVE - FIELDS,
    act.Download: INTERACTIVE - FIELDS,
    act.Read: AREAS,
    act.Scroll: AREAS,
}
"""The roles of the elements that an action is meant for; of any other action, all that can be acted on."""
_WITH_ROLE = re.compile(r'([a-z]+) "(.+)"')
_NO_LETTERS = re.compile(r"[\W\d_]+")
_MARK = re.compile(r"\s+[^\w\s]|[^\w\s]+(?:\s|$)|[(\[]")
"""How the rest of a name begins after words that may be used for all of it."""
_WORD = re.compile(rf"\s|{_MARK.pattern}")
"""The same for fields and boxes, which show their values."""
_NAMED = 5
"""So many elements are listed where a name fits none, or several."""


async def resolve(window: Window, action: act.PageAction) -> tuple[act.PageAction, tuple[Control, ...]]:
    """Return an action with the ref that each of its elements has now, and the elements that it calls by a name.

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
    roles = _ROLES.get(type(action), INTERACTIVE)
    controls = {name: _find_one(window.controls.now, name, roles) for name in named}
    refs = {name: control.ref for name, control in controls.items()}
    for ref in gone:
        successor = window.controls.find_successor(ref)
        if successor is None:
            raise Stop("stale_ref", f"{ref} is no longer on the page{_suggest(window, ref)}")
        refs[ref] = successor.ref
    return with_targets(action, lambda target: refs.get(target, target)), tuple(controls.values())


async def _is_there(window: Window, ref: str) -> bool:
    """Return whether the element of a ref is still on the page."""
    if ref not in window.controls.now:
        return False
    with contextlib.suppress(Error, TimeoutError):
        return await window.run(window.page.get_by_ref(ref).count(), window.limits.action) > 0
    return False


def _find_one(controls: Mapping[str, Control], name: str, roles: Collection[str]) -> Control:
    """Return the one element of a name. Raises Stop: no element has it, or several do."""
    fitting = find_named(controls, name, roles)
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise Stop("unknown_ref", f"{len(fitting)} are called {name!r}: {_list(fitting)}; say which by its ref")
    wanted = frozenset(words(name))
    shared = {control.ref: len(wanted & frozenset(words(control.name))) for control in controls.values()}
    near = [control for control in controls.values() if control.role in INTERACTIVE and shared[control.ref]]
    near.sort(key=lambda control: -shared[control.ref])
    also = f"; with a word of it: {_list(near)}" if near else "; use find to see what is there"
    raise Stop("unknown_ref", f"nothing on this page is called {name!r}{also}")


def _list(controls: Sequence[Control]) -> str:
    more = f" and {len(controls) - _NAMED} more" if len(controls) > _NAMED else ""
    return ", ".join(f"{control.ref} ({control.role})" for control in controls[:_NAMED]) + more


def find_named(controls: Mapping[str, Control], name: str, roles: Collection[str]) -> tuple[Control, ...]:
    """Return the elements that a name fits best: `Save`, or `button "Save"` with the role that a page is shown with.

    Args:
        controls: those of the page, by their refs.
        name: the name of the element.
        roles: roles that the action is meant for; they go first, then other controls, then anything that has a name.

    Returns:
        All that fit equally well. Numbers and marks count only where a name fits letter by letter: `Reviews` is also
        `Reviews (12)`. Without such a fit, those of `roles` with a name that begins so: up to a mark, that of a field
        or box up to any word. Of links alike that lead to one address, the first.
    """
    with_role = _WITH_ROLE.fullmatch(name.strip())
    among = list(controls.values())
    exact = [control for control in among if control.name and _plain(control.name) == _plain(name)]
    if not exact and with_role is not None:
        role, name = with_role[1], with_role[2]
        among = [control for control in among if control.role == role]
        exact = [control for control in among if _plain(control.name) == _plain(name)]
    letters = "" if re.search(r"\d", name) else _letters(name)
    near = [control for control in among if letters and _letters(control.name) == letters]
    for alike in (exact, near):
        for wanted in (roles, INTERACTIVE, None):
            fit = [control for control in alike if wanted is None or control.role in wanted]
            if fit:
                return _drop_copies(fit)
    return _drop_copies([control for control in among if control.role in roles and _begins(control, name)])


def _drop_copies(fit: Sequence[Control]) -> tuple[Control, ...]:
    """Return controls without later links of the same role to the same address."""
    first: dict[object, Control] = {}
    for control in fit:
        first.setdefault((control.role, control.url) if control.url else control.ref, control)
    return tuple(first.values())


def _begins(control: Control, name: str) -> bool:
    """Return whether the name of a control begins with `name`."""
    called, start = _plain(control.name), _plain(name)
    rest = _WORD if control.role in FIELDS | BOXES else _MARK
    return bool(start) and called.startswith(start) and rest.match(called[len(start) :]) is not None


def _plain(name: str) -> str:
    return clean(name).casefold()


def _letters(name: str) -> str:
    return _NO_LETTERS.sub(" ", clean(name)).strip().casefold()


_ASIDE = ((0.1, 0.5), (0.9, 0.5), (0.5, 0.1), (0.5, 0.9))
"""Places of an element, in parts of its width and height, where one with a covered middle is clicked."""
_ASIDE_MS = 250
_SCROLL = files("browser_agent.actions").joinpath("scroll.js").read_text(encoding="utf-8")
_GROWS = 1.0
"""Seconds in which a list that goes on without an end brings its next part."""
_LET_GO = """(from, to) => {
  const start = from.getBoundingClientRect(), end = to.getBoundingClientRect();
  const past = (from, to) => Math.abs(to - from) > 1 ? Math.sign(to - from) : 0;
  const x = end.width * (4 + past(start.x, end.x)) / 8, y = end.height * (4 + past(start.y, end.y)) / 8;
  const under = document.elementFromPoint(end.x + x, end.y + y);
  return { place: { x: x - to.clientLeft, y: y - to.clientTop }, over: from.contains(under) && !from.contains(to) };
}"""
"""Where to let go, from the inner edge of a border, and whether the dragged element lies over that place already.

Pages that sort by halves take the exact middle for the half that a drag comes from, so the place is a little past it.
"""
_MOVES = 10
"""Moves in one drag: pages that sort while something is dragged over them compare each move with the one before."""
_FOCUSED = "() => ![null, document.body, document.documentElement].includes(document.activeElement)"


async def click(window: Window, action: act.Click) -> str:
    """Click an element, away from its middle where that is covered. Raises Stop: it cannot be clicked."""
    element = find_element(window, action.ref)
    try:
        await element.attempt(element.locator.click())
    except Stop as stop:
        if not stop.covered or not await _click_aside(element):
            raise
    return f"clicked {action.ref}"


async def _click_aside(element: Element) -> bool:
    """Click an element where it is not covered, and return whether there was such a place."""
    window = element.window
    for across, down in _ASIDE:
        with contextlib.suppress(Error, TimeoutError):
            box = await window.run(element.locator.bounding_box(timeout=_ASIDE_MS), window.limits.probe)
            if box is None:
                return False
            place: Position = {"x": box["width"] * across, "y": box["height"] * down}
            await window.run(element.locator.click(position=place, timeout=_ASIDE_MS), window.limits.probe)
            return True
    return False


async def press(window: Window, action: act.Press) -> str:
    """Press a key on an element, or where the focus is. Raises Stop: no such key, or a secret of another site."""
    if action.ref is None:
        key = reveal_secrets(window, window.page.url, action.key)
        focused = await attempt(window, window.page.evaluate(_FOCUSED), "the page")
        await attempt(window, window.page.keyboard.press(key), "the page")
        return "pressed the key" if focused else "pressed the key on the page as a whole: nothing has the focus"
    element = find_element(window, action.ref)
    await element.attempt(element.locator.press(await element.reveal(action.key)))
    return f"pressed the key on {action.ref}"


async def hover(window: Window, action: act.Hover) -> str:
    """Move the pointer over an element. Raises Stop: another element covers it."""
    element = find_element(window, action.ref)
    await element.attempt(element.locator.hover())
    return f"the pointer is over {action.ref}"


async def drag(window: Window, action: act.Drag) -> str:
    """Drag an element onto another. Raises Stop: an element cannot be reached."""
    element, onto = find_element(window, action.ref), find_element(window, action.to).locator
    goal = await element.attempt(element.locator.evaluate(_LET_GO, await onto.element_handle()))
    if goal["over"]:  # Playwright takes it for a cover
        await element.attempt(element.locator.hover(trial=True))
    await element.attempt(
        element.locator.drag_to(onto, target_position=goal["place"], steps=_MOVES, force=goal["over"])
    )
    return f"dragged {action.ref} to {action.to}"


async def scroll(window: Window, action: act.Scroll) -> str:
    """Scroll the page, or the area of an element; at the end of a list, wait for its next part."""
    how = [action.direction, _GROWS * window.limits.pace * 1000]
    if action.ref is None:
        moved = await attempt(window, window.page.evaluate(_SCROLL, [None, *how]), "the page")
    else:
        element = find_element(window, action.ref)
        script = f"(element, how) => ({_SCROLL})([element, ...how])"
        moved = await element.attempt(element.locator.evaluate(script, how))
    if moved == "nowhere":
        return f"scrolled {action.direction}: at the end already"
    return f"scrolled {action.direction}{'; more came' if moved == 'grew' else ''}"
