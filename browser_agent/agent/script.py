"""Writes what a run did as a Playwright script in Python, line by line as it is done."""

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
    Extract,
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
from browser_agent.observation import Control, Observation
from ctxfold.errors import InputError

__all__ = ["ScriptFile", "as_lines"]

_TITLE = '"""What a ctxfold run did, as a Playwright script.'
_OPENING = f'''{_TITLE} Run it with: python THIS_FILE"""

import os
import re

from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(headless=False)
    page = browser.new_context().new_page()
'''
_SECRET = re.compile(r"<secret:([^>]+)>")
_WHEEL = {
    "up": (0, -600),
    "down": (0, 600),
    "left": (-600, 0),
    "right": (600, 0),
    "top": (0, -100_000),
    "bottom": (0, 100_000),
}


class ScriptFile:
    """A script that grows with a run.

    Args:
        path: where it is written; what was there is replaced.
        resume: go on with the script that is there, where one is.

    Raises:
        InputError: it cannot be written, or is no script to go on with.
    """

    def __init__(self, path: Path, resume: bool = False) -> None:
        self._path = path
        self._before = self._read() if resume and path.exists() else _OPENING
        self._lines: list[str] = []
        self._write()

    def add(self, results: Iterable[ActionResult], page: Observation | None) -> None:
        """Add the actions that were done on a page. The answer to a dialog stands before what opened it, as Playwright wants it."""
        for result in results:
            lines = as_lines(result.action, _add_named(page, result)) if result.ok else ()
            at = len(self._lines) - isinstance(result.action, Dialog)
            self._lines[max(at, 0) : max(at, 0)] = lines
        self._write()

    def _read(self) -> str:
        with suppress(OSError, ValueError):
            there = self._path.read_text(encoding="utf-8")
            if there.startswith(_TITLE):
                return there
        raise InputError(f"{str(self._path)!r} holds no script of a run, so this one cannot go on in it; name another")

    def _write(self) -> None:
        try:
            lines = indent("".join(f"{line}\n" for line in self._lines), "    ")
            self._path.write_text(self._before + lines, encoding="utf-8")
        except OSError as error:
            raise InputError(f"the script cannot be written to {str(self._path)!r} ({error.strerror})") from error


def as_lines(action: PageAction, page: Observation | None) -> Sequence[str]:
    """The statements of a script that do an action on a page; none for what only reads."""
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
        case Find() | Read() | Extract():
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
    """All in one, so that the answer to a dialog stands before the whole of it."""
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
    """The element behind a ref by its role and name, as a person would find it again; of several alike, which."""
    control = page.refs.get(ref) if page is not None else None
    if page is None or control is None or not control.name:
        return f'page.locator("aria-ref={ref}")'
    alike = [each for each, other in page.refs.items() if _same(other, control)]
    which = f".nth({alike.index(ref)})" if len(alike) > 1 else ""
    return f"page.get_by_role({control.role!r}, name={control.name!r}, exact=True){which}"


def _same(one: Control, other: Control) -> bool:
    return (one.role, one.name) == (other.role, other.name)


def _value(text: str) -> str:
    """A text as Python writes it, a secret in it by the variable that holds it."""
    parts = _SECRET.split(text)  # every second one is a secret's name
    written = [f"os.environ[{part!r}]" if at % 2 else repr(part) for at, part in enumerate(parts) if part or at % 2]
    return " + ".join(written) or "''"
