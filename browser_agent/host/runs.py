"""Background runs of a host (`browse`, `browse_status`): started, waited for, cancelled; each in a session of its own
name.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import anyio

from browser_agent.agent.agent import BrowserAgent
from browser_agent.agent.result import RunResult, Status, StepTaken
from browser_agent.agent.settings import Keeping, RunLimits, Watching
from browser_agent.agent.steps import forget_typed
from browser_agent.host.pages import Means, Pages
from browser_agent.network.secrets import Secrets
from browser_agent.observation.inline import clean, cut
from ctxfold import Session
from ctxfold.config import EXPLORER
from ctxfold.errors import CtxfoldError, InputError, UnknownRun
from ctxfold.models.deciders.loop import SessionLease
from ctxfold.text.words import counted

MOST = 3
"""The most runs at once."""

PATIENCE = 40.0
"""Seconds a call waits for a run before it returns the run's name."""

BEAT = 3.0
"""Seconds between two progress reports, at most."""

_REMEMBERED = 64
_LEAVING = 0.7
"""Seconds that a finished run's record is waited for."""
_AT_ONCE = 0.3
"""Seconds that a cancellation waits for the run's record, before it answers and the browser ends."""
_LAST = 12.0
"""Seconds that ending browsers are waited for when the host goes; the end of the process ends them too."""
_LONGEST = 120
_NAME = 46


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The state of a run.

    Attributes:
        run: its name, also that of its session.
        status: how it ended, or `running`.
        steps: the number of steps so far.
        doing: the last step in a few words; it may hold names from a page.
        result: its result; None while it runs, and after a failure or cancellation.
        error: its failure; None for none.
    """

    run: str
    status: Status | Literal["running", "cancelled"] = "running"
    steps: int = 0
    doing: str = ""
    result: RunResult | None = None
    error: BaseException | None = None


Progress = Callable[[RunStatus], Awaitable[None]]
"""Called with a run's state at every step and at least every `BEAT` seconds."""


@dataclass(slots=True)
class _Run:
    """One run: its state, an event for changes, the task that carries it out, and the one that records its end."""

    status: RunStatus
    agent: BrowserAgent
    news: asyncio.Event = field(default_factory=asyncio.Event)
    work: asyncio.Task[RunResult] = field(init=False)
    recorded: asyncio.Task[None] = field(init=False)

    @property
    def is_running(self) -> bool:
        return self.status.status == "running"

    def update(self, **changes: Any) -> None:
        self.status = replace(self.status, **changes)
        self.news.set()


class Runs:
    """The runs of one host."""

    def __init__(self, means: Means, pages: Pages, model: str, limits: RunLimits, store: str | None) -> None:
        self._means = means
        self._pages = pages
        self._model = model
        self._limits = limits
        self._store = store
        self._runs: OrderedDict[str, _Run] = OrderedDict()
        self._ending: set[asyncio.Task[None]] = set()

    async def browse(
        self, session: str, lease: SessionLease, task: str, start_url: str, agreed: bool, report: Progress
    ) -> RunStatus:
        """Begin a run and wait for it a while. Cancelling the call cancels the run.

        Args:
            session: the session that asks for the run.
            lease: runs work on it.
            task: the task of the run.
            start_url: the page to begin on; empty when a model finds its own.
            agreed: whether the user said yes to a question on that page.
            report: called with the state of the run as it changes.

        Raises:
            InputError: no task, no start page, or too many runs.
            Refused: its address may not be opened.
            UnknownSession: there is no such session.
        """
        run = await self._begin(session, lease, task, start_url or None, agreed)
        try:
            return await self._wait(run, report)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._cancel(run)
            raise

    async def status(self, name: str, cancel: bool, report: Progress) -> RunStatus:
        """Return a run's state when it has ended, or after a while. Raises UnknownRun: this process has no run of that
        name.
        """
        run = self._runs.get(name)
        if run is None:
            raise UnknownRun(
                "this server process has no run of that name: it was started elsewhere, or its process has ended; "
                "the session of the same name keeps its steps"
            )
        if cancel:
            await self._cancel(run)
            return run.status
        return await self._wait(run, report)

    async def close(self) -> None:
        """End every run at once."""
        async with anyio.create_task_group() as tasks:
            for run in self._runs.values():
                tasks.start_soon(self._cancel, run)
        left = {*self._ending, *(run.recorded for run in self._runs.values())}
        if left:
            await asyncio.wait(left, timeout=_LAST)

    async def _begin(self, session: str, lease: SessionLease, task: str, start_url: str | None, agreed: bool) -> _Run:
        means = self._means
        task = Secrets(means.safety.secrets).scrub(task.strip())
        if not task:
            raise InputError("there is no task; say in a sentence what is wanted")
        if start_url is None and self._model == EXPLORER:
            raise InputError("no model drives here, and the explorer needs a page to start from: give start_url")
        if sum(run.is_running for run in self._runs.values()) >= MOST:
            raise InputError(f"{MOST} runs are under way; wait for one, or cancel one, with browse_status")
        if start_url is not None:
            self._pages.admit(start_url, agreed)
        name = f"{session[:_NAME]}-{secrets.token_hex(8)}"
        asked = {"task": task, "session": name, **({"start_url": start_url} if start_url else {})}
        call = {"name": "browse", "args": asked, "id": name}
        step = await lease(lambda handle: handle.record_step("", calls=[call]).step)
        keeping, safety = Keeping(name, self._store, folder=means.folder), replace(means.safety, trust_start=False)
        agent = BrowserAgent(self._model, limits=self._limits, browser=means.choice, keeping=keeping, safety=safety)
        run = self._runs[name] = _Run(RunStatus(name), agent)
        ended = [old for old, run in self._runs.items() if not run.is_running]
        for old in ended[: max(0, len(self._runs) - _REMEMBERED)]:
            del self._runs[old]
        run.work = asyncio.ensure_future(self._carry_out(run, task, start_url))
        run.recorded = asyncio.ensure_future(self._record_end(run, lease, step))
        return run

    async def _carry_out(self, run: _Run, task: str, start_url: str | None) -> RunResult:
        def take_step(taken: StepTaken) -> None:
            self._pages.note_shown(taken.url)
            run.update(steps=run.status.steps + 1, doing=cut(clean(taken.did), _LONGEST))

        async with run.agent as agent:
            return await agent.run(task, start_url, watching=Watching(step=take_step))

    async def _record_end(self, run: _Run, lease: SessionLease, step: int) -> None:
        """Wait for a run's end, and record it in the session that asked for the run."""
        await asyncio.wait({run.work})
        if run.work.cancelled():
            run.update(status="cancelled")
        elif (error := run.work.exception()) is None:
            result = run.work.result()
            run.update(status=result.status, steps=result.steps, result=result)
        elif run.is_running:  # else it was cancelled, and failed because we ended its browser
            run.update(status="failed", error=error)

        def write_ending(handle: Session) -> None:
            forget_typed(handle, run.agent.typed)
            handle.record_result(step, run.status.run, describe_ending(run.status), origin="page")

        await lease(write_ending)

    async def _wait(self, run: _Run, report: Progress) -> RunStatus:
        """Report a run until it ends or the patience of a call is over."""
        with anyio.move_on_after(PATIENCE):
            while run.is_running:
                await report(run.status)
                run.news.clear()
                with anyio.move_on_after(BEAT):
                    await run.news.wait()
        await report(run.status)
        if not run.is_running:
            await asyncio.wait({run.recorded}, timeout=_LEAVING)
        return run.status

    async def _cancel(self, run: _Run) -> None:
        """End a run and its browser at once; its state says so before the browser is gone."""
        if run.is_running:
            run.work.cancel()
            run.update(status="cancelled")
            ending = asyncio.ensure_future(run.agent.close(at_once=True))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
            await asyncio.wait({run.recorded}, timeout=_AT_ONCE)


def describe_ending(status: RunStatus) -> str:
    """Describe how a run ended, as its session records it."""
    result = status.result
    if result is None:
        error = f": {status.error}" if isinstance(status.error, CtxfoldError) else ""
        return f"{status.status} after {counted(status.steps, 'step')}{error}"
    passages = result.sources or result.candidates
    quotes = [f"“{passage.quote}” ({passage.url} {passage.ref} in {result.session})" for passage in passages]
    return "\n".join([result.answer or f"{result.status}: {result.reason}", *quotes])
