"""One episode of a task through our own page tools: the task's words, the page as last seen, acts, and the page's
reward.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from playwright.async_api import Error
from pydantic import TypeAdapter

from browser_agent.actions import PageAction
from browser_agent.actions.perform import perform
from browser_agent.browser.window import Window
from browser_agent.observation import Control, Observation
from browser_agent.observation.inline import REF, clean
from tests.browser_agent.doing import seen

BUDGET = 2_000
"""Tokens of an observation, at most."""
ACTIONS: TypeAdapter[PageAction] = TypeAdapter(PageAction)
START = """seed => {
  core.EPISODE_MAX_TIME = 3600000; Math.seedrandom(String(seed)); core.startEpisodeReal();
  return document.getElementById('query').textContent.replace(/\\s+/g, ' ').trim();
}"""
REWARD = "() => [window.WOB_DONE_GLOBAL, window.WOB_RAW_REWARD_GLOBAL]"
NOTE = "element => { (window.__shown = window.__shown || new Set()).add(element) }"
UNREACHED = """(() => {
  const shown = window.__shown || new Set(), all = [...document.querySelectorAll('#wrap *')];
  const kinds = ['click', 'mousedown', 'pointerdown', 'mouseup', 'dblclick'];
  const controls = 'a[href],button,input:not([type=hidden]),select,textarea,[tabindex]:not([tabindex="-1"])';
  const used = element => element.matches(controls) || kinds.some(kind => getEventListeners(element)[kind]);
  const visible = element => {
    const box = element.getBoundingClientRect(), check = { opacityProperty: true, visibilityProperty: true };
    return box.width > 1 && box.height > 1 && element.checkVisibility(check);
  };
  const same = (one, element) => one.matches('a,button') || one.textContent.trim() === element.textContent.trim();
  const near = (one, element) => element.contains(one) || one.contains(element) && same(one, element);
  const reached = element => [...shown].some(one => near(one, element));
  const name = element => element.nodeName.toLowerCase() + (element.id ? '#' + element.id : '');
  return all.filter(element => used(element) && visible(element) && !reached(element)).map(name);
})()"""
"""Finds visible controls, and elements with a listener, that no shown ref is in or stands for."""


@dataclass
class Task:
    """One episode. It reads observations and acts by refs, nothing else.

    Attributes:
        words: the task in words.
        page: the page as it was last seen.
    """

    window: Window
    words: str
    page: Observation

    @property
    def text(self) -> str:
        """The text of the page."""
        return self.page.text

    @property
    def body(self) -> str:
        """The text below the lines that name the page and the task."""
        lines = [line.replace(self.words, "").strip() for line in self.text.splitlines()[1:]]
        return "\n".join(line for line in lines if not line.startswith("(drawn"))

    @property
    def quoted(self) -> list[str]:
        """The quotations in the task."""
        return re.findall(r'"([^"]*)"', self.words)

    @property
    def numbers(self) -> list[int]:
        """The whole numbers in the task."""
        return [int(number) for number in re.findall(r"-?\d+", self.words)]

    def find(self, role: str, name: str | None = None) -> list[Control]:
        """Return the controls of a role, and of a name if one is given, in page order."""
        controls = [control for control in self.page.refs.values() if control.role == role]
        return [one for one in controls if name is None or one.name.strip().lower() == name.strip().lower()]

    def ref(self, role: str, name: str | None = None, at: int = 0) -> str:
        """Return the ref of one of them."""
        return self.find(role, name)[at].ref

    def named(self, name: str) -> str:
        """Return the ref, as the text shows it, of the first control of a name."""
        controls = (control for control in self.page.refs.values() if f"[{control.ref}]" in self.text)
        return next(control.ref for control in controls if control.name.strip(" .,") == name.strip(" .,"))

    def icons(self, words: str, within: str | None = None) -> list[str]:
        """Return the refs of the icons whose names begin with words."""
        found = re.findall(rf'\[(\w+)\]\(icon {words}[^)]*\)|"\(icon {words}[^)]*\)"\[(\w+)\]', within or self.text)
        return [first or second for first, second in found]

    async def do(self, kind: str, *refs: str, **fields: object) -> bool:
        """Do an action on each ref, or without one, and look. Returns whether all was done."""
        each = [{"ref": ref} for ref in refs] or [{}]
        outcome = await perform(self.window, [ACTIONS.validate_python({"kind": kind, **ref, **fields}) for ref in each])
        self.page = seen(outcome)
        return outcome.ok

    async def fill(self, *values: str) -> bool:
        """Fill the first text fields."""
        pairs = zip(self.find("textbox"), values, strict=False)
        return await self.do("fill_form", fields=[{"ref": field.ref, "value": value} for field, value in pairs])

    async def enter(self, text: str, role: str = "textbox") -> None:
        """Type into the first field of a role, and submit."""
        await self.do("type", self.ref(role), text=text)
        await self.submit()

    async def submit(self, name: str = "Submit") -> None:
        """Click the button that ends the task."""
        await self.do("click", self.ref("button", name))

    async def until(self, found: Callable[[], object]) -> None:
        """Look again until something is found, for what comes late."""
        for _ in range(20):
            if found():
                return
            await asyncio.sleep(0.2)
            self.page = seen(await perform(self.window, []))


Solver = Callable[[Task], Awaitable[object]]
"""Decides by what a task shows, and acts."""


async def start(window: Window, url: str, seed: int) -> Task:
    """Open a task's page, start its episode and look."""
    wait = {"kind": "wait_for", "event": "load", "seconds": 30}
    await perform(window, [ACTIONS.validate_python(action) for action in ({"kind": "navigate", "url": url}, wait)])
    words = await window.page.evaluate(START, seed)
    return Task(window, clean(str(words)), seen(await perform(window, [])))


async def play(window: Window, url: str, solver: Solver, seed: int) -> str:
    """Play one episode. Returns an empty text if it was rewarded, else what went wrong."""
    task = await start(window, url, seed)
    try:
        await solver(task)
    except (LookupError, RuntimeError, ValueError, TypeError) as error:
        return f"{type(error).__name__} {error} at {task.words!r}"  # a control that the solver needs is not shown
    done, reward = await window.page.evaluate(REWARD)
    return "" if done and reward > 0 else f"{f'reward {reward}' if done else 'not ended'} at {task.words!r}"


async def find_faults(window: Window, url: str) -> list[str]:
    """Open a page and start its first episode. Returns each fault: its status, its tokens, a control that no ref
    reaches.
    """
    task = await start(window, url, 0)
    first = task.page
    texts = [first.text]
    for part in range(1, (first.pages if first.is_cut or "(cut:" in first.text else 0) + 1):
        await task.do("read", page=part)
        texts.append(task.text)
    for ref in dict.fromkeys(REF.findall("\n".join(texts))):
        try:
            await window.page.get_by_ref(ref).evaluate(NOTE, timeout=1000)
        except Error:
            continue  # the element left the page meanwhile
    session = await window.page.context.new_cdp_session(window.page)
    asked = {"expression": UNREACHED, "includeCommandLineAPI": True, "returnByValue": True}
    unreached = (await session.send("Runtime.evaluate", asked))["result"]["value"]
    await session.detach()
    faults = [] if first.status == 200 else [f"status {first.status}"]
    faults += [] if 0 < first.tokens <= BUDGET else [f"{first.tokens} tokens"]
    return faults + [f"no ref reaches {name}" for name in dict.fromkeys(unreached)]
