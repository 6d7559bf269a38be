"""One episode of a task: what is asked, what is seen, what is done, and what the page rewards."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from browser_agent.actions import (
    Check,
    Click,
    Drag,
    Hover,
    Navigate,
    Outcome,
    PageAction,
    Press,
    Read,
    Scroll,
    Select,
    Type,
    WaitFor,
)
from browser_agent.actions.perform import perform
from browser_agent.browser.window import Window
from browser_agent.observation import Control, Observation
from browser_agent.observation.inline import clean
from tests.browser_agent.doing import seen

_START = """seed => {
  core.EPISODE_MAX_TIME = 3600000; Math.seedrandom(String(seed)); core.startEpisodeReal();
  return document.getElementById('query').textContent.replace(/\\s+/g, ' ').trim();
}"""
_REWARD = "() => [window.WOB_DONE_GLOBAL, window.WOB_RAW_REWARD_GLOBAL]"


@dataclass
class Task:
    """One episode: what is asked, and the page as it was last seen. It acts by refs alone."""

    window: Window
    words: str
    page: Observation

    @property
    def text(self) -> str:
        """What was seen last."""
        return self.page.text

    @property
    def lines(self) -> list[str]:
        """What was seen last, below the lines that only name the page and say what is asked."""
        lines = self.text.splitlines()
        return [line.replace(self.words, "").strip() for line in lines[1:] if not line.startswith("(drawn")]

    @property
    def quoted(self) -> list[str]:
        """What stands in quotation marks in the task."""
        return re.findall(r'"([^"]*)"', self.words)

    @property
    def numbers(self) -> list[int]:
        """The whole numbers in the task."""
        return [int(number) for number in re.findall(r"-?\d+", self.words)]

    def all(self, role: str, name: str | None = None) -> list[Control]:
        """The controls of a role, and of a name if one is given, in page order."""
        found = [entry for entry in self.page.refs.values() if entry.role == role]
        return [entry for entry in found if name is None or entry.name.strip().lower() == name.strip().lower()]

    def one(self, role: str, name: str | None = None) -> str:
        """The ref of the first of them."""
        return self.all(role, name)[0].ref

    def shown(self, name: str) -> str:
        """The ref, as the text shows it, of the first that is called so."""
        controls = (entry for entry in self.page.refs.values() if f"[{entry.ref}]" in self.text)
        return next(entry.ref for entry in controls if entry.name.strip(" .,") == name.strip(" .,"))

    def icons(self, words: str, within: str | None = None) -> list[str]:
        """The refs of the icons whose names begin so, in the whole text or in a part of it."""
        found = re.findall(rf'\[(\w+)\]\(icon {words}[^)]*\)|"\(icon {words}[^)]*\)"\[(\w+)\]', within or self.text)
        return [first or second for first, second in found]

    async def act(self, *actions: PageAction) -> Outcome:
        """Do these; the page is then what was seen after."""
        outcome = await perform(self.window, actions)
        self.page = seen(outcome)
        return outcome

    async def click(self, *refs: str) -> Outcome:
        """Click these, in order."""
        return await self.act(*(Click(kind="click", ref=ref) for ref in refs))

    async def type(self, ref: str, text: str, submit: bool = False) -> Outcome:
        """Put a text into a field."""
        return await self.act(Type(kind="type", ref=ref, text=text, submit=submit))

    async def press(self, key: str, ref: str | None = None, times: int = 1) -> Outcome:
        """Press a key some times."""
        return await self.act(*[Press(kind="press", key=key, ref=ref)] * times)

    async def check(self, *refs: str) -> Outcome:
        """Set boxes."""
        return await self.act(*(Check(kind="check", ref=ref) for ref in refs))

    async def select(self, ref: str, *values: str) -> Outcome:
        """Choose options."""
        return await self.act(Select(kind="select", ref=ref, values=values))

    async def drag(self, ref: str, to: str) -> Outcome:
        """Drag one onto another."""
        return await self.act(Drag(kind="drag", ref=ref, to=to))

    async def hover(self, ref: str) -> Outcome:
        """Move the pointer there."""
        return await self.act(Hover(kind="hover", ref=ref))

    async def until(self, holds: Callable[[], object]) -> None:
        """Look again until something holds: what comes late, and nothing tells when."""
        for _ in range(20):
            if holds():
                return
            await asyncio.sleep(0.2)
            await self.act()

    async def bottom(self, ref: str) -> Outcome:
        """Scroll what it is in to its end."""
        return await self.act(Scroll(kind="scroll", direction="bottom", ref=ref))

    async def read(self, ref: str | None = None) -> str:
        """All of the page, or of one element."""
        await self.act(Read(kind="read", ref=ref))
        return self.text

    async def submit(self, name: str = "Submit") -> None:
        """Click the button that ends the task."""
        await self.click(self.one("button", name))


Solver = Callable[[Task], Awaitable[None]]
"""Decides by what a task shows, and acts."""


async def start(window: Window, url: str, seed: int) -> Task:
    """Open a task's page, start its episode and look."""
    await perform(window, [Navigate(kind="navigate", url=url), WaitFor(kind="wait_for", event="load", seconds=30)])
    words = await window.page.evaluate(_START, seed)
    return Task(window, clean(str(words)), seen(await perform(window, [])))


async def play(window: Window, url: str, solver: Solver, seed: int) -> str:
    """Play one episode; empty where it was rewarded, else what went wrong."""
    task = await start(window, url, seed)
    try:
        await solver(task)
    except (LookupError, RuntimeError, ValueError, TypeError, AssertionError) as error:
        return f"{type(error).__name__} {error} at {task.words!r}"  # what the solver looks for is not to be seen
    done, reward = await window.page.evaluate(_REWARD)
    return "" if done and reward > 0 else f"{f'reward {reward}' if done else 'not ended'} at {task.words!r}"
