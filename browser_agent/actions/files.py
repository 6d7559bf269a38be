"""Uploads files to a page, and downloads from it."""

from __future__ import annotations

from pathlib import Path

from browser_agent.actions.elements import attempt, find_element, milliseconds
from browser_agent.actions.outcome import Stop
from browser_agent.actions.union import Download, Upload
from browser_agent.browser.window import Window
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
