"""`BrowserAgent`: opens a browser and a session and carries tasks out, one, several side by side, or as a stream of
steps.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import anyio.to_thread

from browser_agent.agent.journal import CutOff, Journal, read_cut_off, read_start_address
from browser_agent.agent.result import Hooks, RunResult, RunUsage, Safety, StepTaken
from browser_agent.agent.run import Run, Terms, close_at_end
from browser_agent.agent.script import ScriptFile, write_start
from browser_agent.agent.settings import (
    BrowserChoice,
    Keeping,
    RunLimits,
    Watching,
    Written,
    choose_fold_settings,
    make_session_name,
    name_counted_model,
    refuse_name,
)
from browser_agent.browser.browser import Browser, trace
from browser_agent.browser.process import check_executable
from browser_agent.browser.window import Window
from browser_agent.deciders import Decider, Evidence
from browser_agent.deciders.explorer import Explorer
from browser_agent.deciders.model import ModelDecider, Schema, Shape
from browser_agent.network.egress import check_start, origin_of
from browser_agent.network.secrets import Secrets
from browser_agent.observation import Observation
from ctxfold import Session
from ctxfold.config import EXPLORER
from ctxfold.errors import CtxfoldError, InputError, UnknownSession
from ctxfold.models import Model, helpers, load
from ctxfold.models.deciders import Deciders, Maintained
from ctxfold.tokens import Budget


async def run_side_by_side(
    run: Callable[[int, str, str | None], Awaitable[RunResult]],
    tasks: Iterable[str | tuple[str, str]],
    limit: int,
    failed: RunResult,
) -> list[RunResult]:
    """Run tasks, at most `limit` at once, and return their results in order.

    Args:
        run: runs one task, given its number from 1, its words and its start address.
        tasks: each in words, or words and a start address.
        limit: the most tasks at once.
        failed: the result of a task that fails; its reason is filled in.
    """
    free = asyncio.Semaphore(limit)

    async def one(number: int, task: str, start_url: str | None) -> RunResult:
        async with free:
            try:
                return await run(number, task, start_url)
            except CtxfoldError as error:
                return replace(failed, reason=str(error))

    async with asyncio.TaskGroup() as group:
        wanted = [(task, None) if isinstance(task, str) else task for task in tasks]
        running = [group.create_task(one(number, *each)) for number, each in enumerate(wanted, 1)]
    return [task.result() for task in running]


async def stream_steps(
    begin: Callable[[Callable[[StepTaken], None]], Coroutine[Any, Any, RunResult]],
) -> AsyncIterator[StepTaken | RunResult]:
    """Yield the steps of a run and then its result. `begin` starts the run with a function to call for each step;
    closing the iterator ends it.
    """
    steps = asyncio.Queue[StepTaken | None]()
    running = asyncio.ensure_future(begin(steps.put_nowait))
    running.add_done_callback(lambda _: steps.put_nowait(None))
    try:
        while (taken := await steps.get()) is not None:
            yield taken
        yield await running
    finally:
        running.cancel()
        await asyncio.wait({running})


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
        budget: int = 8000,
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
        self._browser: Browser | None = None
        self._launching = asyncio.Lock()
        if self._choice.trace is not None and self._safety.secrets:
            raise InputError("a trace holds all that pages show, secrets too: leave out --trace or --secret")

    async def run(
        self,
        task: str,
        start_url: str | None = None,
        watching: Watching | None = None,
        schema: Schema | None = None,
    ) -> RunResult:
        """Carry out one task.

        Args:
            task: the task in words; when resuming, empty for the session's own goal.
            start_url: the page to begin on. The explorer needs one; a model may find its own.
            watching: functions that are called at each step.
            schema: the form of the answer, as a JSON schema or a pydantic model; None for words. The result's `data`
                then has
                this form, and `answer` is the same as JSON.

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
        written = Written(self._keeping.script, self._choice.trace)
        return await self._carry_out(task, start_url, watching or Watching(), schema, written)

    async def _carry_out(
        self, task: str, start_url: str | None, told: Watching, schema: Schema | None, written: Written
    ) -> RunResult:
        task, window = self._secrets.scrub(task.strip()), None
        if start_url is not None:
            check_start(start_url)
        shape = None if schema is None else Shape.of(schema)
        async with AsyncExitStack() as held:
            if not self._keeping.resume:
                await anyio.to_thread.run_sync(self._check_new, task, start_url)
                window = await self._window(held, start_url, start_url, told, written)
            session = await anyio.to_thread.run_sync(self._open, task)
            journal = Journal(session, self._budget, name_counted_model(self._model), self._secrets, self._deciders)
            close_at_end(held, journal)
            goal = await journal.do(lambda session: session.goal)
            named = start_url or (await journal.do(read_start_address) if self._keeping.resume else None)
            new = session.created or task
            asked = await journal.record_task(task or goal, start_url) if new else Maintained()
            cut_off = await journal.do(read_cut_off) if self._keeping.resume else CutOff()
            begin = start_url or cut_off.address
            self._check_begin(begin)
            evidence = Evidence()
            seen = await journal.remember_pages(evidence, begin) if self._keeping.resume else ()
            window = window or await self._window(held, named, start_url, told, written)
            decider, terms = self._decider(goal, evidence, shape, seen), self._terms(told, shape, written)
            run = Run(goal, decider, journal, window, terms)
            run.add_cost(asked)
            return await run.finish(evidence, begin, cut_off)

    def stream(
        self, task: str, start_url: str | None = None, hooks: Hooks | None = None, schema: Schema | None = None
    ) -> AsyncIterator[StepTaken | RunResult]:
        """Carry out one task, and give each step when it is done, then the result. Closing the iterator ends the run.

        Args:
            task: the task in words.
            start_url: the page to begin on.
            hooks: functions that may refuse decisions and actions.
            schema: the form of the answer.

        Raises:
            CtxfoldError: as `run` does.
        """
        held = hooks or Hooks()
        return stream_steps(lambda step: self.run(task, start_url, Watching(step=step, hooks=held), schema))

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
        failed = RunResult("failed", None, (), "", 0, "", self.name, RunUsage(budget=self._budget))
        written = Written(self._keeping.script, self._choice.trace)

        async def run(number: int, task: str, start_url: str | None) -> RunResult:
            return await self._carry_out(task, start_url, Watching(), None, written.add_number(number))

        return await run_side_by_side(run, tasks, limit, failed)

    @property
    def name(self) -> str:
        """Who decides: a model's name, or `explorer`."""
        return EXPLORER if self._model is None else self._model.name

    @property
    def typed(self) -> tuple[str, ...]:
        """What was typed into password fields: for whoever wrote the task down elsewhere, to take it out there."""
        return self._secrets.typed

    async def close(self) -> None:
        """End the browser. Calling it again does nothing."""
        browser, self._browser = self._browser, None
        if browser is not None:
            await browser.close()

    async def end(self) -> None:
        """End the browser at once, without asking it. A run that is under way fails."""
        browser, self._browser = self._browser, None
        if browser is not None:
            await browser.end()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            await self.close()

    def _check_new(self, task: str, start_url: str | None) -> None:
        """Check the arguments of a new run before a browser is started or a session made. Raises InputError: one cannot
        be used.
        """
        if not task:
            raise InputError("there is no task; say in a sentence what is wanted")
        self._check_begin(start_url)
        if self._choice.executable is not None and self._choice.endpoint is None:
            check_executable(self._choice.executable)
        named = self._keeping.session
        if named is not None:
            with suppress(UnknownSession):
                Session.open(named, store=self._keeping.store, create=False).close()
                raise refuse_name(named)

    def _open(self, task: str) -> Session:
        """The run's session: made, once nothing that the run needs is missing, or with `resume` the one that is there."""
        store, named, settings = self._keeping.store, self._keeping.session, choose_fold_settings(self._budget)
        if self._keeping.resume:
            if named is None:
                raise InputError("resuming needs the session's name; `ctxfold sessions list` shows them")
            return Session.open(named, goal=task or None, store=store, create=False, settings=settings)
        session = Session.open(named or make_session_name(task), goal=task, store=store, settings=settings)
        if not session.created:
            session.close()
            raise refuse_name(session.name)
        return session

    def _check_begin(self, begin: str | None) -> None:
        if begin is None and self._model is None:
            raise InputError(
                "the explorer needs a page to start from: add --start-url URL, or name a model with --model claude-…"
            )

    def _decider(self, goal: str, evidence: Evidence, shape: Shape | None, seen: Sequence[Observation]) -> Decider:
        """Make the decider: the explorer, which knows the pages `seen`, or a model with the explorer as its fallback."""
        explorer = Explorer(goal, seen, needs_model=shape is not None)
        if self._model is None:
            return explorer
        return ModelDecider(self._model, evidence, explorer, self._secrets, shape)

    def _terms(self, told: Watching, shape: Shape | None, written: Written) -> Terms:
        path, browser = written.script, write_start(self._choice, self._browser.executable if self._browser else None)
        script = None if path is None else ScriptFile(path, self._keeping.resume, browser)
        return Terms(self._limits, self._secrets, told, self._budget, shape, self._keeping.screenshots, script)

    async def _window(
        self, held: AsyncExitStack, named: str | None, given: str | None, told: Watching, written: Written
    ) -> Window:
        """Open a window, closed when `held` ends, whose browser may reach the `named` address and whatever the rules
        allow.

        Only an address `given` in this call is trusted with effects: a resumed session may have begun anywhere.
        """
        async with self._launching:
            browser = self._browser = self._browser or await self._launch(named, told)
        if self._safety.local and named is not None and origin_of(named) is not None:
            browser.permit(named)
        gate = self._safety.gate(given, self._model is not None)
        window = await browser.window(storage_state=self._choice.storage_state, secrets=self._secrets, gate=gate)
        close_at_end(held, window)
        if written.trace is not None:
            await held.enter_async_context(trace(window, written.trace, told.report))
        return window

    async def _launch(self, named: str | None, told: Watching) -> Browser:
        choice, report, egress = self._choice, told.report, self._safety.egress(named)
        if choice.endpoint is not None:
            return await Browser.connect(choice.endpoint, egress=egress, report=report)
        return await Browser.launch(headed=choice.headed, executable=choice.executable, egress=egress, report=report)
