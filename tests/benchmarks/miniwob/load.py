"""Whether a task's page opens, fits its tokens, and shows a ref for each element that a person could use."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.async_api import CDPSession, Error

from browser_agent.actions import Read
from browser_agent.actions.perform import perform
from browser_agent.browser.window import Window
from browser_agent.observation.inline import REF
from tests.benchmarks.miniwob.play import Task, start
from tests.browser_agent.doing import seen

BUDGET = 2_000

_NOTE = "element => { (window.__shown = window.__shown || new Set()).add(element) }"
_UNREACHED = """(() => {
  const shown = window.__shown || new Set(), all = [...document.querySelectorAll('#wrap *')];
  const kinds = ['click', 'mousedown', 'pointerdown', 'mouseup', 'dblclick'];
  const used = element => element.matches('a[href],button,input:not([type=hidden]),select,textarea,[tabindex]:not([tabindex="-1"])')
    || kinds.some(kind => getEventListeners(element)[kind]);
  const visible = element => {
    const box = element.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };
  const stands = (one, element) => one.contains(element) && (one.matches('a,button') || one.textContent.trim() === element.textContent.trim());
  const reached = element => [...shown].some(one => element.contains(one) || stands(one, element));
  const called = element => element.nodeName.toLowerCase() + (element.id ? '#' + element.id : '')
    + (element.getAttribute('class') ? '.' + element.getAttribute('class').split(' ')[0] : '');
  return all.filter(element => used(element) && visible(element) && !reached(element)).map(called);
})()"""
"""Of what has a listener, or is a control by its kind, what no shown ref is in, nor stands for: a link, a button, or what holds nothing else."""


@dataclass(frozen=True)
class Loaded:
    """What one page came to: its status, its tokens, and the elements that a person could use and no ref reaches."""

    status: int | None
    tokens: int
    unreached: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether all is as it should be."""
        return self.status == 200 and 0 < self.tokens <= BUDGET and not self.unreached

    @property
    def said(self) -> str:
        """This in one line."""
        missing = f"  without a ref: {', '.join(dict.fromkeys(self.unreached))}" if self.unreached else ""
        return f"{self.tokens:>5} tokens{missing}"


async def load(window: Window, url: str) -> Loaded:
    """Open a page, start its first episode and look at it."""
    task = await start(window, url, 0)
    first = task.page
    await _note_shown(window, task)
    session: CDPSession = await window.page.context.new_cdp_session(window.page)
    asked = {"expression": _UNREACHED, "includeCommandLineAPI": True, "returnByValue": True}
    found = (await session.send("Runtime.evaluate", asked))["result"]
    await session.detach()
    return Loaded(first.status, first.tokens, tuple(found["value"]))


async def _note_shown(window: Window, task: Task) -> None:
    """Tell the page which of its elements have a ref in the text, also where the text shows it in parts."""
    parts = range(1, (task.page.pages if task.page.cut or "(cut:" in task.page.text else 0) + 1)
    read = [seen(await perform(window, [Read(kind="read", page=part)])).text for part in parts]
    texts = [task.page.text, *read]
    for ref in dict.fromkeys(REF.findall("\n".join(texts))):
        try:
            await window.locate(ref).evaluate(_NOTE, timeout=1000)
        except Error:
            continue  # it left the page meanwhile: what moves is looked at again at the end
