"""`BrowserAgent`: opens a browser and a session and carries tasks out, one or several side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Self

import anyio.to_thread

from browser_agent.agent.journal import CutOff, Journal, read_cut_off, read_start_address
from browser_agent.agent.result import RunResult, RunUsage, Safety
from browser_agent.agent.run import Run, Terms
from browser_agent.agent.script import ScriptFile, write_start
from browser_agent.agent.settings import (
    BrowserChoice,
    Keeping,
    RunLimits,
    Watching,
    choose_fold_settings,
    make_session_name,
    name_counted_model,
)
from browser_agent.browser.browser import Browser, trace
from browser_agent.browser.process import LaunchPlan, Report
from browser_agent.browser.window import Window
from browser_agent.deciders import Decider, Evidence, address
from browser_agent.deciders.explorer import Explorer
from browser_agent.deciders.model import ModelDecider, Schema, Shape
from browser_agent.network.egress import Egress, check_start
from browser_agent.network.secrets import Secrets
from ctxfold import Session
from ctxfold.config import EXPLORER
from ctxfold.errors import CtxfoldError, InputError, UnknownSession
from ctxfold.models import Model, helpers, load
from ctxfold.models.deciders import Deciders, Maintained
from ctxfold.tokens import DEFAULT_BUDGET, Budget


class SharedBrowser:
    """A browser process that several isolated windows share, started when the first is wanted."""

    def __init__(self, choice: BrowserChoice) -> None:
        self._choice = choice
        self._browser: Browser | None = None
        self._lock = asyncio.Lock()

    async def start(self, egress: Egress, report: Report = lambda _: None) -> Browser:
        """Return the browser, started if needed; it may connect where `egress` allows. Raises BrowserError: no
        browser.
        """
        choice = self._choice
        async with self._lock:
            if self._browser is None:
                plan = LaunchPlan(choice.headed, choice.executable, choice.endpoint)
                self._browser = await Browser.start(plan, egress, report)
            return self._browser

    async def close(self, at_once: bool = False) -> None:
        """End the browser, `at_once` without asking it. Calling it again does nothing."""
        browser, self._browser = self._browser, None
        if browser is not None:
            await (browser.end() if at_once else browser.close())


class BrowserAgent:
    """Carries out tasks in a browser, each step on a context within a budget and recorded in full.

    ::

        async with BrowserAgent(model="explorer", budget=8000) as agent:
            result = await agent.run("What does os.walk yield?", start_url="https://docs.python.org/3/")

    Args:
        model: the decider: `explorer` (embedded: no model, no key), `claude-…`, `script:FILE`, or a `Model` object.
        budget: tokens the context of a decision may take, counted for that model.
        limits: the most steps, seconds and dollars of a run.
        browser: the browser to use.
        keeping: the session to record runs in.
        safety: the sites, secrets and effects that a run is allowed.

    Raises:
        InputError: no such model, or a script that cannot be read.
        BudgetError: a budget below the least.
    """

    def __init__(
        self,
        model: str | Model = EXPLORER,
        budget: int = DEFAULT_BUDGET,
        limits: RunLimits | None = None,
        browser: BrowserChoice | None = None,
        keeping: Keeping | None = None,
        safety: Safety | None = None,
    ) -> None:
        self._model: Model | None = load(model) if isinstance(model, str) else model
        Budget.of(budget, name_counted_model(self._model))
        self._budget = budget
        self._limits = limits or RunLimits()
        self._choice = browser or BrowserChoice()
        self._keeping = keeping or Keeping()
        self._safety = safety or Safety()
        self._secrets = Secrets(self._safety.secrets)
        named = self._keeping.folder
        self._deciders = Deciders(helpers(named) if isinstance(named, str) else named)
        self._browser = SharedBrowser(self._choice)
        if self._choice.trace is not None and self._safety.secrets:
            raise InputError("a trace holds all that pages show, secrets too: leave out --trace or --secret")

    async def run(
        self, task: str, start_url: str | None = None, watching: Watching | None = None, schema: Schema | None = None
    ) -> RunResult:
        """Carry out one task.

        Args:
            task: the task in words; when resuming, empty for the session's own goal.
            start_url: the page to begin on. The explorer needs one; a model may find its own.
            watching: functions that are called at each step.
            schema: the form of the answer, as a JSON schema or a pydantic model; None for words. The result's `data`
                then has this form, and `answer` is the same as JSON.

        Returns:
            The result, also of a run that finds nothing or reaches a limit.

        Raises:
            InputError: no task, no start page, not a web address, a session name in use, or a schema that cannot be
                used.
            PageUnreachable: the start page cannot be opened.
            BrowserError: no browser, or one that is lost for good.
            ModelError: the model cannot be asked. The session keeps the steps taken so far.
            StoreError: the session cannot be written.
        """
        return await self._carry_out(task, start_url, watching or Watching(), schema)

    async def map(self, tasks: Iterable[str | tuple[str, str]], limit: int = 4) -> list[RunResult]:
        """Carry out tasks side by side in one browser, each in a window and a session of its own; files it writes are
        named with its number.

        Args:
            tasks: each in words, or in words and with the page to begin on.
            limit: the most that are under way at once.

        Returns:
            The results in the order of the tasks; of one that failed the status is `failed` and the reason says why.

        Raises:
            InputError: fewer than one at once, or a session named for all of them.
        """
        if limit < 1:
            raise InputError(f"at least 1 task is under way at once, not {limit}")
        if self._keeping.session is not None:
            raise InputError("tasks side by side need sessions of their own: leave the session's name out")
        free = asyncio.Semaphore(limit)

        async def run(number: int, task: str, start_url: str | None = None) -> RunResult:
            async with free:
                try:
                    return await self._carry_out(task, start_url, Watching(), None, number)
                except CtxfoldError as error:
                    usage = RunUsage(budget=self._budget)
                    return RunResult("failed", reason=str(error), decider=self.name, usage=usage)

        async with asyncio.TaskGroup() as group:
            pairs = [(task,) if isinstance(task, str) else task for task in tasks]
            running = [group.create_task(run(number, *pair)) for number, pair in enumerate(pairs, 1)]
        return [task.result() for task in running]

    @property
    def name(self) -> str:
        """Who decides: a model's name, or `explorer`."""
        return EXPLORER if self._model is None else self._model.name

    @property
    def typed(self) -> tuple[str, ...]:
        """What was typed into password fields: for whoever wrote the task down elsewhere, to take it out there."""
        return self._secrets.typed

    async def close(self, at_once: bool = False) -> None:
        """End the browser, `at_once` without asking it: a run under way fails. Calling it again does nothing."""
        await self._browser.close(at_once)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        with anyio.CancelScope(shield=True):
            await self.close()

    async def _carry_out(
        self, task: str, start_url: str | None, watching: Watching, schema: Schema | None, number: int = 0
    ) -> RunResult:
        """Carry out one task, of several the one with this `number` from 1."""
        task, resume = self._secrets.scrub(task.strip()), self._keeping.resume
        shape = None if schema is None else Shape.of(schema)
        if start_url is not None:
            check_start(start_url)
        if not (task or resume):
            raise InputError("there is no task; say in a sentence what is wanted")
        if not resume:
            self._check_begin(start_url)
        async with AsyncExitStack() as held:
            session = await self._open_session(held, task) if resume else None
            named = start_url
            if session is not None and start_url is None:
                named = await anyio.to_thread.run_sync(read_start_address, session)
            browser, window = await self._open_window(held, named, start_url, watching, number)
            session = session or await self._open_session(held, task)
            journal = Journal(session, self._budget, name_counted_model(self._model), self._secrets, self._deciders)
            goal = await journal.do(lambda session: session.goal)
            asked = await journal.record_task(task, start_url) if task else Maintained()
            cut_off = await journal.do(read_cut_off) if resume else CutOff()
            begin = start_url or cut_off.address
            self._check_begin(begin)
            evidence = Evidence()
            pages = [(page, ref) for page, ref in cut_off.pages if address(page.url) != address(begin or "")]
            for page, ref in pages:
                evidence.add(page, ref)
            decider: Decider = Explorer(goal, [page for page, _ in pages], needs_model=shape is not None)
            if self._model is not None:
                decider = ModelDecider(self._model, evidence, decider, self._secrets, shape)
            path, started = _add_number(self._keeping.script, number), write_start(self._choice, browser.executable)
            script = None if path is None else ScriptFile(path, resume, started)
            screenshots = self._keeping.screenshots
            terms = Terms(self._limits, self._secrets, watching, self._budget, shape, screenshots, script)
            run = Run(goal, decider, journal, window, evidence, terms)
            run.add_cost(asked)
            return await run.finish(begin, cut_off)

    async def _open_session(self, held: AsyncExitStack, task: str) -> Session:
        """Open the run's session, closed when `held` ends: with `resume` the one that exists, else a new one."""
        resume, name, settings = self._keeping.resume, self._keeping.session, choose_fold_settings(self._budget)
        if resume and name is None:
            raise InputError("resuming needs the session's name; `ctxfold sessions list` shows them")
        name, store = name or make_session_name(task), self._keeping.store

        def open_session() -> Session:
            if not resume:
                with suppress(UnknownSession):
                    Session.open(name, store=store, create=False).close()
                    raise InputError(f"the session {name!r} exists: continue it with --resume, or choose another name")
            return Session.open(name, task or None, store, create=not resume, settings=settings)

        session = await anyio.to_thread.run_sync(open_session)
        held.callback(session.close)
        return session

    def _check_begin(self, begin: str | None) -> None:
        if begin is None and self._model is None:
            raise InputError(
                "the explorer needs a page to start from: add --start-url URL, or name a model with --model claude-…"
            )

    async def _open_window(
        self, held: AsyncExitStack, named: str | None, given: str | None, watching: Watching, number: int
    ) -> tuple[Browser, Window]:
        """Open a window, closed when `held` ends. Its browser may reach the `named` address and whatever the rules
        allow.

        Only an address `given` in this call is trusted with effects: a resumed session may have begun anywhere.
        """
        browser = await self._browser.start(Egress.of(self._safety.allow), watching.report)
        if self._safety.local and named is not None:
            browser.permit(named)
        gate = self._safety.gate(given, self._model is not None)
        window = await browser.window(storage_state=self._choice.storage_state, secrets=self._secrets, gate=gate)
        held.push_async_callback(_close_window, window)
        path = _add_number(self._choice.trace, number)
        if path is not None:
            await held.enter_async_context(trace(window, path, watching.report))
        return browser, window


async def _close_window(window: Window) -> None:
    """Close a window, even if its run is interrupted."""
    with anyio.CancelScope(shield=True):
        await window.close()


def _add_number(path: Path | None, number: int) -> Path | None:
    """Return the file of one run of several, such as `again-2.py` for `again.py`; of number 0 the file itself."""
    return path if path is None or not number else path.with_stem(f"{path.stem}-{number}")
