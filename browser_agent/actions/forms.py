"""Fields, choices, boxes, files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from playwright.async_api import Error, Locator

from browser_agent.actions import Action as AnyAction
from browser_agent.actions import (
    Check,
    Download,
    FieldValue,
    FillForm,
    Navigate,
    OutcomeKind,
    Press,
    Select,
    Stop,
    Type,
    Upload,
)
from browser_agent.actions.elements import (
    BOXES,
    attempt,
    find_element,
    find_named,
    is_ref,
    milliseconds,
    reveal_secrets,
)
from browser_agent.actions.navigate import wait_for_suggestions
from browser_agent.browser.window import DialogOpened, PageLost, PageSilent, Window
from browser_agent.network.secrets import Secret
from browser_agent.observation import Control
from browser_agent.observation.capture import is_called_password
from browser_agent.observation.inline import FIELDS
from ctxfold.text.words import counted


async def upload(window: Window, action: Upload) -> str:
    """Put files into a file field. Raises Stop: the ref is stale or no file field, a file is not there, or lies outside the folders uploads may come from."""
    paths = [_check_upload(window, path) for path in action.paths]
    element, _ = await find_element(window, action.ref)
    await attempt(window, element.set_input_files(paths, timeout=milliseconds(window)), action.ref)
    return f"put {counted(len(paths), 'file')} into {action.ref}"


async def download(window: Window, action: Download) -> str:
    """Click what starts a download, and keep the file. Raises Stop: the ref is stale, or no download came of it."""
    element, _ = await find_element(window, action.ref)
    begun = window.downloads.count
    await attempt(window, element.click(timeout=milliseconds(window)), action.ref)
    if not await window.downloads.wait_begun(begun, window.limits.settle):
        raise Stop("nothing_to_do", f"no download came of {action.ref}; click it and look")
    return "downloaded"


async def say_download(window: Window, message: str) -> str:
    """What was done, and how the download stands that came of it."""
    if await window.downloads.wait_saved(window.limits.settle):
        return message if message == "downloaded" else f"{message}; a file was downloaded and saved"
    return f"{message}; the download goes on and is listed when it has arrived"


def _check_upload(window: Window, name: str) -> Path:
    path = Path(name).expanduser().resolve()
    roots = [root.resolve() for root in window.settings.folders.uploads]
    if not any(path.is_relative_to(root) for root in roots):
        raise Stop("refused", "that file is outside the folders uploads may come from; allow its folder first")
    if not path.is_file():
        raise Stop("not_possible", "there is no such file to upload")
    return path


A = TypeVar("A", bound=AnyAction)

_UNASKED = (Error, TimeoutError, PageLost, PageSilent, DialogOpened)
"""What says that the page cannot be asked now."""
_GUARDED = """e => e.type === 'password' || /password|one-time-code|cc-csc/i.test(e.autocomplete || '')
  || getComputedStyle(e).webkitTextSecurity !== 'none'"""
_FOCUSED = f"""() => {{
  let e = document.hasFocus() ? document.activeElement : null;
  while (e && e.shadowRoot && e.shadowRoot.activeElement) e = e.shadowRoot.activeElement;
  return !!e && ({_GUARDED})(e);
}}"""


async def hide_typed(
    window: Window, actions: Sequence[A], renamed: Mapping[str, str] = MappingProxyType({})
) -> tuple[A, ...]:
    """The actions with a placeholder for each text that goes into a password field as the page stands; the window keeps its value.

    What cannot be looked at now is left: a stale ref, or a page that hangs, takes no text either. A field that is called by its name is found as the
    page stands, else told by that name: then it belongs to the site that the call opened before. `renamed`: the ref that stands for one that an action names, where it is another.
    """
    window.begin()
    hidden, url = [], window.page.url
    for action in actions:
        url = action.url if isinstance(action, Navigate) else url
        hidden.append(await _hide(window, action, renamed, url))
    return tuple(hidden)


async def learn_typed(window: Window, ref: str, element: Locator, text: str) -> None:
    """Keep `text` out of sight from now on where the field it was typed into is one for passwords: a page may make it one as it is entered."""
    if text and not window.settings.secrets.stands_for_one(text) and await _is_guarded(window, ref, element):
        await _placeholder(window, element, text)


async def _hide(window: Window, action: A, renamed: Mapping[str, str], url: str) -> A:
    match action:
        case Type(ref=ref, text=text):
            return action.model_copy(update={"text": await _hidden(window, renamed.get(ref, ref), text, url)})
        case FillForm(fields=fields):
            values = [await _hidden(window, renamed.get(field.ref, field.ref), field.value, url) for field in fields]
            filled = (field.model_copy(update={"value": value}) for field, value in zip(fields, values, strict=True))
            return action.model_copy(update={"fields": tuple(filled)})
        case Press(key=key, ref=None) if len(key) == 1 and await _has_guarded_focus(window):
            return action.model_copy(update={"key": window.settings.secrets.learn(key, window.page.url).placeholder})
        case Press(key=key, ref=str() as ref) if len(key) == 1:
            return action.model_copy(update={"key": await _hidden(window, renamed.get(ref, ref), key, url)})
        case _:
            return action


async def _hidden(window: Window, target: str, text: str, url: str) -> str:
    """`text`, or what stands for it where it goes into a password field; `url`: the page that stands there then."""
    secrets = window.settings.secrets
    if not text or secrets.stands_for_one(text):
        return text
    ref = target if is_ref(target) else _ref_of(window, target, url)
    if ref is None and is_called_password(target):
        return secrets.learn(text, url).placeholder
    if ref is None or ref not in window.controls.now:
        return text
    element = window.element(ref)
    if not await _is_guarded(window, ref, element):
        return text
    secret = await _placeholder(window, element, text)
    return text if secret is None else secret.placeholder


def _ref_of(window: Window, name: str, url: str) -> str | None:
    """The field of that name on the page as it was seen last; None where the call leaves it before, or it has none."""
    found = find_named(window.controls.now, name, FIELDS) if url == window.page.url else ()
    return found[0].ref if len(found) == 1 else None


async def _is_guarded(window: Window, ref: str, element: Locator) -> bool:
    """Whether a field is one for passwords, by what the page says of it or by its name."""
    control = window.controls.now.get(ref)
    if control is not None and is_called_password(control.name):
        return True
    try:
        return bool(await window.running(element.evaluate(_GUARDED, timeout=_time(window)), window.limits.probe))
    except _UNASKED:
        return False


async def _has_guarded_focus(window: Window) -> bool:
    for frame in window.page.frames:
        try:
            if await window.running(frame.evaluate(_FOCUSED), window.limits.probe):
                return True
        except _UNASKED:
            continue
    return False


async def _placeholder(window: Window, element: Locator, text: str) -> Secret | None:
    """The secret that `text` is in the frame of an element; None for an element that went away."""
    try:
        handle = await window.running(element.element_handle(timeout=_time(window)), window.limits.probe)
        frame = await window.running(handle.owner_frame(), window.limits.probe)
    except _UNASKED:
        return None
    return window.settings.secrets.learn(text, frame.url if frame is not None else "")


def _time(window: Window) -> float:
    return window.limits.probe * 1000


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
