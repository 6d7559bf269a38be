"""Types text, chooses options, ticks boxes and fills whole forms."""

from __future__ import annotations

from playwright.async_api import Locator

from browser_agent.actions.elements import attempt, find_element, milliseconds, reveal_secrets
from browser_agent.actions.names import BOXES
from browser_agent.actions.outcome import OutcomeKind, Stop
from browser_agent.actions.passwords import learn_typed
from browser_agent.actions.union import Check, FieldValue, FillForm, Select, Type
from browser_agent.actions.wait import wait_for_suggestions
from browser_agent.browser.window import Window
from browser_agent.observation.values import Control
from ctxfold.text.words import counted

_SUGGESTING = frozenset({"combobox", "searchbox"})
_HOW = """e => e.readOnly ? 'not' : !e.disabled && e.getAttribute('role') !== 'spinbutton' && (e.nodeName === 'TEXTAREA'
  || e.nodeName === 'INPUT' && /^(text|search|email|url|tel)$/.test(e.type)) ? 'keys' : 'whole'"""
"""How a field takes a text: its last character by key, as a whole, or not at all."""
_ANY_KEY = "Shift"
"""A key that changes nothing: a page that listens to keys alone then reads the field."""
_OPTIONS = "e => e instanceof HTMLSelectElement ? [...e.options].flatMap(o => [o.value, o.label.trim()]) : null"


async def type_text(window: Window, action: Type) -> str:
    """Replace a field's text, and press Enter if that was asked. Raises Stop: the ref is stale, or the element takes no text."""
    element, control = await find_element(window, action.ref)
    await _put(window, action.ref, element, action.text)
    if control.role in _SUGGESTING and not action.submit:
        await wait_for_suggestions(window)
    if action.submit:
        await attempt(window, element.press("Enter", timeout=milliseconds(window)), action.ref)
        return f"typed into {action.ref} and pressed Enter"
    return f"typed into {action.ref}"


async def fill_form(window: Window, action: FillForm) -> str:
    """Fill several fields, each by its kind. All refs are checked before the first is filled; one that does not take its value keeps none of the others from theirs.

    Raises:
        Stop: a ref is stale, or a field does not take its value; the message says which.
    """
    found = [(field, *await find_element(window, field.ref)) for field in action.fields]
    faults: list[Stop] = []
    for field, element, control in found:
        try:
            await _fill(window, field, element, control)
        except Stop as stop:
            faults.append(stop)
    if faults:
        kind: OutcomeKind = "refused" if any(stop.kind == "refused" for stop in faults) else "not_possible"
        filled = f"filled {len(found) - len(faults)} of {len(found)} fields"
        raise Stop(kind, "; ".join((filled, *map(str, faults))))
    return f"filled {counted(len(found), 'field')}"


async def _fill(window: Window, field: FieldValue, element: Locator, control: Control) -> None:
    if control.role in BOXES:
        await _set_box(window, field.ref, element, _as_bool(field.ref, field.value))
    elif control.role in {"combobox", "listbox"} and await _options(window, field.ref, element) is not None:
        await _choose(window, field.ref, element, (field.value,))
    else:
        await _put(window, field.ref, element, field.value)


async def select(window: Window, action: Select) -> str:
    """Choose options of a list. Raises Stop: the ref is stale, the element is no list, or it has no such option."""
    element, _ = await find_element(window, action.ref)
    await _choose(window, action.ref, element, action.values)
    return f"chose in {action.ref}"


async def check(window: Window, action: Check) -> str:
    """Set a checkbox, radio button or switch. Raises Stop: the ref is stale, or the element is none of these."""
    element, _ = await find_element(window, action.ref)
    await _set_box(window, action.ref, element, action.checked)
    return f"{action.ref} is {'checked' if action.checked else 'unchecked'}"


async def _put(window: Window, ref: str, element: Locator, said: str) -> None:
    """Put what is said into a field, each secret for its placeholder.

    The last character is a key press, for pages that listen to keys and not to changes. A secret comes in one event: no listener sees a part of it.
    """
    text = await reveal_secrets(window, element, ref, said)
    how = await attempt(window, element.evaluate(_HOW), ref)
    if how == "not":
        raise Stop("not_possible", f"{ref} is read-only")
    most = milliseconds(window)
    if text != said or how != "keys" or not text[-1:].isprintable() or not text:
        await attempt(window, element.fill(text, timeout=most), ref)
    else:
        await _put_by_key(window, ref, element, text)
    if text != said:
        await attempt(window, element.press(_ANY_KEY, timeout=most), ref)
    await learn_typed(window, ref, element, said)


async def _put_by_key(window: Window, ref: str, element: Locator, text: str) -> None:
    most = milliseconds(window)
    await attempt(window, element.fill(text[:-1], timeout=most), ref)
    await attempt(window, element.press_sequentially(text[-1], timeout=most), ref)
    if await attempt(window, element.input_value(timeout=most), ref) != text:  # the page put something of its own in
        await attempt(window, element.fill(text, timeout=most), ref)


async def _options(window: Window, ref: str, element: Locator) -> list[str] | None:
    return await attempt(window, element.evaluate(_OPTIONS), ref)


async def _choose(window: Window, ref: str, element: Locator, values: tuple[str, ...]) -> None:
    options = await _options(window, ref, element)
    if options is None:
        raise Stop("not_possible", f"{ref} is no list of options; click it and choose from what opens")
    missing = sum(value not in options for value in values)
    if missing:
        raise Stop("not_possible", f"{ref} has no such option ({missing} of {len(values)}); read {ref} for its options")
    await attempt(window, element.select_option(list(values), timeout=milliseconds(window)), ref)


async def _set_box(window: Window, ref: str, element: Locator, checked: bool) -> None:
    time = milliseconds(window)
    try:
        await attempt(window, element.set_checked(checked, timeout=time / 2), ref)
    except Stop as stop:
        if not stop.covered:
            raise
        await attempt(window, element.set_checked(checked, timeout=time, force=True), ref)  # its label lies over it


def _as_bool(ref: str, value: str) -> bool:
    match value.strip().lower():
        case "true":
            return True
        case "false":
            return False
        case _:
            raise Stop("not_possible", f"{ref} is a box: give true or false")
