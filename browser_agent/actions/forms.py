"""Fills fields, chooses options, sets boxes, uploads and downloads files, and hides text typed into password fields."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from playwright.async_api import Error, Locator

from browser_agent import actions as act
from browser_agent.actions import Action, OutcomeKind, Stop, is_ref
from browser_agent.actions.elements import BOXES, Element, find_element, find_named
from browser_agent.actions.navigate import wait_for_suggestions
from browser_agent.browser.window import Window
from browser_agent.network.secrets import Secret
from browser_agent.observation.inline import FIELDS
from browser_agent.observation.masks import IS_PASSWORD, has_password_focus, is_called_password, is_password
from ctxfold.text.words import counted

A = TypeVar("A", bound=Action)

_SUGGESTING = frozenset({"combobox", "searchbox"})
_ENTER_FIELD = f"""e => {{
  if (e.readOnly) return ['not', false];
  e.focus();  // a page may make a field one for passwords as it is entered
  const byKeys = !e.disabled && e.getAttribute('role') !== 'spinbutton' && (e.nodeName === 'TEXTAREA'
    || e.nodeName === 'INPUT' && /^(text|search|email|url|tel)$/.test(e.type));
  return [byKeys ? 'keys' : 'whole', ({IS_PASSWORD})(e)];
}}"""
"""How a field takes a text (its last character by key, as a whole, or not at all), and whether it holds a password."""
_ANY_KEY = "Shift"
"""A key that changes nothing: a page that listens to keys alone then reads the field."""
_OPTIONS = "e => e instanceof HTMLSelectElement ? [...e.options].flatMap(o => [o.value, o.label.trim()]) : null"


async def hide_typed(window: Window, actions: Sequence[A]) -> tuple[A, ...]:
    """Return the actions with a placeholder for each text that goes into a password field; the window keeps its value.

    Args:
        window: the page as it was seen last.
        actions: to be done there. A field that cannot be judged in time counts as one for passwords. One that
            is called by a name which the page does not have belongs to the address that the actions open before.
    """
    hidden: list[Any] = []
    url = window.page.url
    for action in actions:
        changes = await _hide_texts(window, action, url)
        hidden.append(action.model_copy(update=changes))
        if isinstance(action, act.Navigate):
            url = action.url
    return tuple(hidden)


async def _hide_texts(window: Window, action: Action, url: str) -> dict[str, Any]:
    """Return the fields of an action to change where its texts go into password fields of the page at `url`."""
    match action:
        case act.Type(ref=ref, text=text):
            return {"text": await _hide(window, ref, text, url)}
        case act.FillForm(fields=fields):
            values = [await _hide(window, field.ref, field.value, url) for field in fields]
            pairs = zip(fields, values, strict=True)
            return {"fields": tuple(field.model_copy(update={"value": value}) for field, value in pairs)}
        case act.Press(key=key, ref=ref) if len(key) == 1:
            return {"key": await _hide(window, ref, key, url)}
        case _:
            return {}


async def _hide(window: Window, target: str | None, text: str, url: str) -> str:
    """`text`, or its placeholder where it goes into a password field, by default into what has the focus."""
    secrets, seconds = window.settings.secrets, window.limits.probe
    if not text or secrets.is_placeholder(text):
        return text
    if target is None:
        guarded = await has_password_focus(window.page, seconds)
        return secrets.learn(text, window.page.url).placeholder if guarded else text
    is_present = url == window.page.url
    fitting = () if is_ref(target) or not is_present else find_named(window.controls.now, target, FIELDS)
    control = fitting[0] if len(fitting) == 1 else window.controls.now.get(target)
    if control is None:
        return secrets.learn(text, url).placeholder if not is_ref(target) and is_called_password(target) else text
    field = window.page.get_by_ref(control.ref)
    guarded = is_called_password(control.name) or await is_password(field, seconds)
    return (await _learn(window, field, text)).placeholder if guarded else text


async def _learn(window: Window, field: Locator, text: str) -> Secret:
    """Keep a text out of sight from now on, as a secret of the document that its field is in."""
    url = window.page.url
    with suppress(Error, TimeoutError):  # else it is a secret of the whole page
        async with asyncio.timeout(window.limits.probe):
            frame = await (await field.element_handle()).owner_frame()
            url = frame.url if frame is not None else ""
    return window.settings.secrets.learn(text, url)


async def type_text(window: Window, action: act.Type) -> str:
    """Replace a field's text, and press Enter if that was asked. Raises Stop: the element takes no text."""
    element = find_element(window, action.ref)
    await _enter_text(element, action.text)
    if action.submit:
        await element.attempt(element.locator.press("Enter"))
        return f"typed into {action.ref} and pressed Enter"
    if element.control.role in _SUGGESTING:
        await wait_for_suggestions(window)
    return f"typed into {action.ref}"


async def fill_form(window: Window, action: act.FillForm) -> str:
    """Fill several fields, each by its kind; those that do not take their value do not keep others from theirs.

    Raises:
        Stop: a ref is unknown, and nothing was filled; or a field does not take its value, and the message says which.
    """
    elements = [find_element(window, field.ref) for field in action.fields]
    faults: list[Stop] = []
    for element, field in zip(elements, action.fields, strict=True):
        try:
            await _fill(element, field.value)
        except Stop as stop:
            faults.append(stop)
    if faults:
        kind: OutcomeKind = "refused" if any(stop.kind == "refused" for stop in faults) else "not_possible"
        filled = f"filled {len(elements) - len(faults)} of {len(elements)} fields"
        raise Stop(kind, "; ".join((filled, *map(str, faults))))
    return f"filled {counted(len(elements), 'field')}"


async def _fill(element: Element, value: str) -> None:
    """Fill one field of a form by its kind: set a box, choose an option, or enter a text."""
    role = element.control.role
    if role in BOXES:
        if value.strip().lower() not in ("true", "false"):
            raise Stop("not_possible", f"{element.ref} is a box: give true or false")
        await _set_box(element, value.strip().lower() == "true")
    elif role in ("combobox", "listbox") and await element.attempt(element.locator.evaluate(_OPTIONS)) is not None:
        await _choose(element, (value,))
    else:
        await _enter_text(element, value)


async def _enter_text(element: Element, given: str) -> None:
    """Put a text into a field, each secret for its placeholder.

    The last character is a key press, for pages that listen to keys and not to changes. A secret comes in one event:
    no listener sees a part of it.
    """
    window, locator = element.window, element.locator
    text = await element.reveal(given)
    shown = given != "" and not window.settings.secrets.is_placeholder(given)
    field = await element.attempt(locator.element_handle())
    how, guarded = await element.attempt(field.evaluate(_ENTER_FIELD))
    if how == "not":
        raise Stop("not_possible", f"{element.ref} is read-only")
    if guarded and shown:
        await _learn(window, locator, given)
    if text != given or how != "keys" or not text[-1:].isprintable() or not text:
        await element.attempt(locator.fill(text))
    else:
        await element.attempt(locator.fill(text[:-1]))
        await element.attempt(locator.press_sequentially(text[-1]))
        if await element.attempt(locator.input_value()) != text:  # the page put something of its own in
            await element.attempt(locator.fill(text))
    if text != given:
        await element.attempt(locator.press(_ANY_KEY))
    # A page may make a field one for passwords as something is typed into it.
    if shown and not guarded and await is_password(field, window.limits.probe, if_gone=False):
        await _learn(window, locator, given)


async def select(window: Window, action: act.Select) -> str:
    """Choose options of a list. Raises Stop: the element is not a list, or has no such option."""
    await _choose(find_element(window, action.ref), action.values)
    return f"chose in {action.ref}"


async def _choose(element: Element, values: tuple[str, ...]) -> None:
    """Choose options of a list by label or value. Raises Stop: not a list, or no such option."""
    ref, options = element.ref, await element.attempt(element.locator.evaluate(_OPTIONS))
    if options is None:
        raise Stop("not_possible", f"{ref} is not a list of options; click it and choose from what opens")
    missing = sum(value not in options for value in values)
    if missing:
        raise Stop("not_possible", f"{ref} has no such option ({missing} of {len(values)}); read {ref} for its options")
    await element.attempt(element.locator.select_option(list(values)))


async def check(window: Window, action: act.Check) -> str:
    """Set a checkbox, radio button or switch. Raises Stop: it is another element."""
    await _set_box(find_element(window, action.ref), action.checked)
    return f"{action.ref} is {'checked' if action.checked else 'unchecked'}"


async def _set_box(element: Element, checked: bool) -> None:
    """Set a box, through its label if that covers it."""
    try:
        half = element.window.limits.action * 500  # milliseconds
        await element.attempt(element.locator.set_checked(checked, timeout=half))
    except Stop as stop:
        if not stop.covered:
            raise
        await element.attempt(element.locator.set_checked(checked, force=True))  # its label lies over it


async def upload(window: Window, action: act.Upload) -> str:
    """Put files into a file field. Raises Stop: a file is not there, or outside the folders uploads may come from."""
    paths = [_check_upload(window, path) for path in action.paths]
    element = find_element(window, action.ref)
    await element.attempt(element.locator.set_input_files(paths))
    return f"put {counted(len(paths), 'file')} into {action.ref}"


def _check_upload(window: Window, name: str) -> Path:
    """Return the path of a file to upload. Raises Stop: it is outside the allowed folders, or missing."""
    path = Path(name).expanduser().resolve()
    if not any(path.is_relative_to(root.resolve()) for root in window.settings.folders.uploads):
        raise Stop("refused", "that file is outside the folders uploads may come from; allow its folder first")
    if not path.is_file():
        raise Stop("not_possible", "there is no such file to upload")
    return path


async def download(window: Window, action: act.Download) -> str:
    """Click what starts a download, and keep the file. Raises Stop: no download came of it."""
    element = find_element(window, action.ref)
    begun = window.downloads.count
    await element.attempt(element.locator.click())
    if not await window.events.until(lambda: window.downloads.count > begun, window.limits.settle):
        raise Stop("nothing_to_do", f"no download came of {action.ref}; click it and look")
    return "downloaded"


async def say_download(window: Window, message: str) -> str:
    """Return the message of an action that started a download, with whether the file has arrived."""
    if await window.downloads.wait_saved(window.limits.settle):
        return message if message == "downloaded" else f"{message}; a file was downloaded and saved"
    return f"{message}; the download goes on and is listed when it has arrived"
