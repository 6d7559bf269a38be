"""Leads what an action calls its elements by to the refs they have as the page stands: names, and refs whose elements the page drew anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from playwright.async_api import Error

from browser_agent.actions import union as act
from browser_agent.actions.elements import suggest
from browser_agent.actions.names import find_named, is_ref, name_targets, roles_taken, with_targets
from browser_agent.actions.outcome import Stop
from browser_agent.actions.reading import look_for_refs
from browser_agent.browser.window import Window
from browser_agent.observation.inline import INTERACTIVE
from browser_agent.observation.values import Control
from ctxfold.text import words

__all__ = ["resolve"]

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
