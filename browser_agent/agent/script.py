"""Writes a run as a Playwright script in Python (`--save-script`), a statement for each action."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from textwrap import indent
from typing import assert_never

from browser_agent.actions import (
    ActionResult,
    Back,
    Check,
    Click,
    Dialog,
    Download,
    Drag,
    ExtractValues,
    FieldValue,
    FillForm,
    Find,
    Hover,
    Navigate,
    PageAction,
    Press,
    Read,
    Scroll,
    Select,
    Tab,
    Type,
    Upload,
    WaitFor,
)
from browser_agent.agent.settings import BrowserChoice
from browser_agent.observation import Control, Observation
from ctxfold.errors import InputError

_TITLE = '"""What a ctxfold run did, as a Playwright script.'
_NEEDS = (("os", "os.environ["), ("re", "re.compile("))
_PAGE = re.compile(r"^    page = .*\.new_page\(\)\n", re.MULTILINE)
_SECRET = re.compile(r"<secret:([^>]+)>")
_WHEEL = {
    "up": (0, -600),
    "down": (0, 600),
    "left": (-600, 0),
    "right": (600, 0),
    "top": (0, -100_000),
    "bottom": (0, 100_000),
}
_ACTS = (Click, Press, Type, Check, Select)
"""Actions that may start something Playwright does not wait for."""
_REST = "page.wait_for_timeout(500)"


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
        acted = False
        for result in results:
            done = result.ok or result.kind == "http_error"  # an error page is where it led all the same
            lines = write_action(result.action, _add_named(page, result)) if done else ()
            answers = isinstance(result.action, Dialog)
            at = max(len(self._lines) - answers, 0)
            self._lines[at:at] = lines
            acted = bool(lines) and (isinstance(result.action, _ACTS) or (answers and at > 0))
        if acted and page is not None and after is not None:
            self._lines[-1] = _add_wait(self._lines[-1], page, after)
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
        needs = [name for name, sign in _NEEDS if sign in acts]
        opening = [
            f'{_TITLE} Run it with: python THIS_FILE"""\n',
            *(f"import {name}" + "\n" * (name == needs[-1]) for name in needs),
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


def _add_wait(line: str, before: Observation, after: Observation) -> str:
    """Add to a statement the wait for the page that it leads to."""
    if len(after.tabs) > max(len(before.tabs), 1):
        opened = f"with page.expect_popup() as opened:\n{indent(line, '    ')}"
        return f"{opened}\npage = opened.value\npage.wait_for_load_state()"
    if after.url != before.url:
        return f"with page.expect_navigation():\n{indent(line.removesuffix(_REST).rstrip(), '    ')}"
    return line if line.endswith(_REST) else f"{line}\n{_REST}"


def write_action(action: PageAction, page: Observation | None) -> Sequence[str]:
    """Return the statements for an action on a page; none for actions that only read."""
    match action:
        case Navigate(url=url):
            return [f"page.goto({_value(url)})"]
        case Back():
            return ["page.go_back()"]
        case FillForm(fields=fields):
            return [_fill_line(one, page) for one in fields]
        case Type(ref=ref, text=text, submit=submit):
            where = _locator(ref, page)
            return [f"{where}.fill({_value(text)})", *([f'{where}.press("Enter")'] if submit else [])]
        case Click(ref=ref):
            return [f"{_locator(ref, page)}.click()"]
        case Hover(ref=ref):
            return [f"{_locator(ref, page)}.hover()"]
        case Drag(ref=ref, to=to):
            return [f"{_locator(ref, page)}.drag_to({_locator(to, page)})"]
        case Select(ref=ref, values=values):
            return [f"{_locator(ref, page)}.select_option([{', '.join(map(_value, values))}])"]
        case Check(ref=ref, checked=checked):
            return [f"{_locator(ref, page)}.set_checked({checked})"]
        case Press(key=key, ref=ref):
            return [f"{_locator(ref, page) if ref else 'page.keyboard'}.press({_value(key)})"]
        case Scroll(direction=direction):
            return ["page.mouse.wheel({}, {})".format(*_WHEEL[direction])]
        case Upload(ref=ref, paths=paths):
            return [f"{_locator(ref, page)}.set_input_files([{', '.join(map(_value, paths))}])"]
        case Download(ref=ref):
            return [_download(_locator(ref, page))]
        case Dialog(accept=accept, text=text):
            answer = f"dialog.accept({_value(text or '')})" if accept else "dialog.dismiss()"
            return [f'page.once("dialog", lambda dialog: {answer})']
        case Tab() | WaitFor():
            return _tab_lines(action) if isinstance(action, Tab) else [_wait_line(action)]
        case Find() | Read() | ExtractValues():
            return []
        case _:
            assert_never(action)


def _add_named(page: Observation | None, result: ActionResult) -> Observation | None:
    """The page, with the elements that an action called by name on one that came after it."""
    if page is None or not result.named:
        return page
    return page.model_copy(update={"refs": {**page.refs, **{control.ref: control for control in result.named}}})


def _fill_line(field: FieldValue, page: Observation | None) -> str:
    control = page.refs.get(field.ref) if page is not None else None
    where = _locator(field.ref, page)
    match control.role if control is not None else "":
        case "checkbox" | "radio" | "switch":
            return f"{where}.set_checked({field.value.lower() == 'true'})"
        case "combobox" | "listbox":
            return f"{where}.select_option({_value(field.value)})"
        case _:
            return f"{where}.fill({_value(field.value)})"


def _download(where: str) -> str:
    """Return one statement for a whole download, so that the answer to a dialog comes before all of it."""
    save = "download.value.save_as(download.value.suggested_filename)"
    return f"with page.expect_download() as download:\n    {where}.click()\n{save}"


def _tab_lines(action: Tab) -> list[str]:
    match action.op:
        case "new":
            opened = ["page = page.context.new_page()"]
            return [*opened, f"page.goto({_value(action.url)})"] if action.url else opened
        case "switch":
            return [f"page = page.context.pages[{(action.index or 1) - 1}]"]
        case "close":
            closed = f"page.context.pages[{action.index - 1}]" if action.index else "page"
            return [f"{closed}.close()", "page = browser.contexts[0].pages[-1] if page.is_closed() else page"]
        case "list":
            return []
        case _:
            assert_never(action.op)


def _wait_line(action: WaitFor) -> str:
    timeout = f"timeout={action.seconds * 1000:g}"
    if action.text is not None:
        return f"page.get_by_text({_value(action.text)}).first.wait_for({timeout})"
    if action.url is not None:
        return f"page.wait_for_url(re.compile(re.escape({_value(action.url)})), {timeout})"
    return f'page.wait_for_load_state("{"networkidle" if action.event == "quiet" else "load"}", {timeout})'


def _locator(ref: str, page: Observation | None) -> str:
    """Return the locator of a ref by role and name, with its index when several elements are alike."""
    control = page.refs.get(ref) if page is not None else None
    if page is None or control is None:
        return f'page.locator("aria-ref={ref}")'
    alike = [each for each, other in page.refs.items() if _same(other, control)]
    which = f".nth({alike.index(ref)})" if len(alike) > 1 else ""
    if not control.name:  # of all in its role, as nothing else tells it from the others
        alike = [each for each, other in page.refs.items() if other.role == control.role]
        return f"page.get_by_role({control.role!r}).nth({alike.index(ref)})"
    if control.role == "generic":  # an element without a role has no name either
        return f"page.get_by_text({control.name!r}, exact=True){which}"
    return f"page.get_by_role({control.role!r}, name={control.name!r}, exact=True){which}"


def _same(one: Control, other: Control) -> bool:
    return (one.role, one.name) == (other.role, other.name)


def _value(text: str) -> str:
    """A text as Python writes it, a secret in it by the variable that holds it."""
    parts = _SECRET.split(text)  # every second one is a secret's name
    written = [f"os.environ[{part!r}]" if at % 2 else repr(part) for at, part in enumerate(parts) if part or at % 2]
    return " + ".join(written) or "''"
