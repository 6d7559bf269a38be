"""Writes a run as a Playwright script in Python (`--save-script`), a statement for each action."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from textwrap import indent

from browser_agent.actions import (
    ActionResult,
    Check,
    Click,
    Dialog,
    FieldValue,
    FillForm,
    PageAction,
    Press,
    Select,
    Tab,
    Type,
    WaitFor,
)
from browser_agent.agent.settings import BrowserChoice
from browser_agent.observation import Control, Observation
from ctxfold.errors import InputError

_TITLE = '"""What a ctxfold run did, as a Playwright script.'
_PAGE = re.compile(r"^    page = .*\.new_page\(\)\n", re.MULTILINE)
_SECRET = re.compile(r"<secret:([^>]+)>")
_WHEEL = {
    "up": "0, -600", "down": "0, 600", "left": "-600, 0", "right": "600, 0", "top": "0, -100_000",
    "bottom": "0, 100_000",
}  # fmt: skip
_ACTS = (Click, Press, Type, Check, Select, Dialog)
"""Actions that may start something Playwright does not wait for."""
_WAIT = "\npage.wait_for_timeout(500)\npage.wait_for_load_state()"
_TURN = "\npage = page.context.pages[-1]"
"""Turns to the tab that an action opened."""
_STATEMENTS = {
    "navigate": "page.goto({url})",
    "back": "page.go_back()",
    "type": "{ref}.fill({text})",
    "type and submit": '{ref}.fill({text})\n{ref}.press("Enter")',
    "click": "{ref}.click()",
    "hover": "{ref}.hover()",
    "drag": "{ref}.drag_to({to})",
    "select": "{ref}.select_option({values})",
    "check": "{ref}.set_checked({checked})",
    "press": "{ref}.press({key})",
    "scroll": "page.mouse.wheel({direction})",
    "upload": "{ref}.set_input_files({paths})",
    "download": "with page.expect_download() as download:\n    {ref}.click()\n"
    "download.value.save_as(download.value.suggested_filename)",
    "dialog": 'page.once("dialog", lambda dialog: dialog.accept({text}))',
    "dialog to dismiss": 'page.once("dialog", lambda dialog: dialog.dismiss())',
    "tab new": "page = page.context.new_page()",
    "tab switch": "page = {index}",
    "tab close": "{index}.close()\npage = browser.contexts[0].pages[-1] if page.is_closed() else page",
    "wait for text": "page.get_by_text({text}).first.wait_for(timeout={seconds})",
    "wait for url": "page.wait_for_url(re.compile(re.escape({url})), timeout={seconds})",
    "wait for event": "page.wait_for_load_state({event}, timeout={seconds})",
}
"""Each kind of action as source text; the names in braces are its fields. Actions that only read have none."""
_Refs = Mapping[str, Control]


class ScriptFile:
    """A script that grows with a run.

    Args:
        path: the file to write; an existing one is replaced.
        resume: append to an existing script.
        starting: the calls that start the browser and open its context: `launch(headless=False)` and
            `storage_state='state.json'`.

    Raises:
        InputError: the file cannot be written, or holds no script of a run.
    """

    def __init__(self, path: Path, resume: bool = False, starting: tuple[str, str] = ("launch()", "")) -> None:
        self._path = path
        self._starting = starting
        self._before = self._read() if resume and path.exists() else ""
        self._lines: list[str] = []
        self._write()

    def add(self, results: Iterable[ActionResult], page: Observation | None, after: Observation | None = None) -> None:
        """Add the performed actions on a page, and a wait when they led to the page `after`.

        The answer to a dialog comes before the action that opened it, as Playwright requires.
        """
        acted, refs = False, page.refs if page is not None else {}
        for result in results:
            done = result.ok or result.kind == "http_error"  # an error page is where it led all the same
            named = {control.ref: control for control in result.named if page is not None}
            line = write_action(result.action, {**refs, **named}) if done else ""
            at = max(len(self._lines) - isinstance(result.action, Dialog), 0)
            self._lines[at:at] = [line] if line else []
            acted = bool(line) and isinstance(result.action, _ACTS)
        if acted and page is not None and after is not None:
            is_opened = len(after.tabs) > max(len(page.tabs), 1)
            self._lines[-1] = self._lines[-1].removesuffix(_WAIT) + _WAIT + (_TURN + _WAIT if is_opened else "")
        self._write()

    def _read(self) -> str:
        """Read the statements of the existing script."""
        with suppress(OSError, ValueError):
            there = self._path.read_text(encoding="utf-8")
            opening = _PAGE.search(there)
            if there.startswith(_TITLE) and opening is not None:
                return there[opening.end() :]
        raise InputError(f"{str(self._path)!r} holds no script of a run, so this one cannot go on in it; name another")

    def _write(self) -> None:
        browser, context = self._starting
        acts = self._before + indent("".join(f"{line}\n" for line in self._lines), "    ")
        opening = [
            f'{_TITLE} Run it with: python THIS_FILE"""\n',
            "import os\nimport re\n",
            "from playwright.sync_api import sync_playwright\n",
            "with sync_playwright() as playwright:",
            f"    browser = playwright.chromium.{browser}",
            f"    page = browser.new_context({context}).new_page()\n",
        ]
        try:
            self._path.write_text("\n".join(opening) + acts, encoding="utf-8")
        except OSError as error:
            raise InputError(f"the script cannot be written to {str(self._path)!r} ({error.strerror})") from error


def write_start(choice: BrowserChoice, executable: Path | None) -> tuple[str, str]:
    """Return the calls that start the browser of a run and open its context, as source text."""
    shown = {"executable_path": executable and str(executable), "headless": False if choice.headed else None}
    options = ", ".join(f"{name}={value!r}" for name, value in shown.items() if value is not None)
    browser = f"launch({options})" if choice.endpoint is None else f"connect_over_cdp({choice.endpoint!r})"
    return browser, "" if choice.storage_state is None else f"storage_state={str(choice.storage_state)!r}"


def write_action(action: PageAction, refs: _Refs) -> str:
    """Write an action on elements as source text; empty for actions that only read."""
    kind: str = action.kind
    match action:
        case FillForm(fields=fields):
            return "\n".join(_write_fill(field, refs) for field in fields)
        case WaitFor(text=text, url=url):
            kind = "wait for text" if text is not None else "wait for url" if url is not None else "wait for event"
        case Type(submit=True):
            kind = "type and submit"
        case Dialog(accept=False):
            kind = "dialog to dismiss"
        case Tab(op=op):
            kind = f"tab {op}"
        case _:
            pass
    parts = {name: _write_field(name, value, refs) for name, value in action}
    statement = _STATEMENTS.get(kind, "").format_map(parts)
    return f"{statement}\npage.goto({parts['url']})" if kind == "tab new" and parts["url"] else statement


def _write_field(name: str, value: object, refs: _Refs) -> str:
    """Write one field of an action as source text."""
    match name, value:
        case "ref" | "to", str():
            return _locator(value, refs)
        case "ref", None:
            return "page.keyboard"
        case "direction", str():
            return _WHEEL[value]
        case "index", _:
            return f"page.context.pages[{value - 1}]" if isinstance(value, int) else "page"
        case "seconds", float():
            return f"{value * 1000:g}"
        case "event", "quiet":
            return "'networkidle'"
        case _, str():
            return _value(value)
        case _, tuple():
            return f"[{', '.join(map(_value, value))}]"
        case _:
            return "" if value is None else str(value)


def _write_fill(field: FieldValue, refs: _Refs) -> str:
    """Return the statement that fills one field of a form, by its role."""
    control, where = refs.get(field.ref), _locator(field.ref, refs)
    match control.role if control is not None else "":
        case "checkbox" | "radio" | "switch":
            return f"{where}.set_checked({field.value.lower() == 'true'})"
        case "combobox" | "listbox":
            return f"{where}.select_option({_value(field.value)})"
        case _:
            return f"{where}.fill({_value(field.value)})"


def _locator(ref: str, refs: _Refs) -> str:
    """Return the locator of a ref by role and name, with its index when several elements are alike."""
    control = refs.get(ref)
    if control is None:
        return f'page.locator("aria-ref={ref}")'
    role, name = control.role, control.name  # one without a name is told by its place among all of its role
    alike = [each for each, other in refs.items() if other.role == role and (not name or other.name == name)]
    which = f".nth({alike.index(ref)})" if len(alike) > 1 or not name else ""
    if not name:
        return f"page.get_by_role({role!r}){which}"
    if role == "generic":  # an element without a role has no name either
        return f"page.get_by_text({name!r}, exact=True){which}"
    return f"page.get_by_role({role!r}, name={name!r}, exact=True){which}"


def _value(text: str) -> str:
    """A text as Python writes it, a secret in it by the variable that holds it."""
    parts = _SECRET.split(text)  # every second one is a secret's name
    written = [f"os.environ[{part!r}]" if at % 2 else repr(part) for at, part in enumerate(parts) if part or at % 2]
    return " + ".join(written) or "''"
