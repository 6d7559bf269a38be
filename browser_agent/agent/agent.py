"""The browser agent: a task goes in, an answer with its sources comes out. It owns the browser and the session of a run, and nothing else.

How one step goes is in `run`, who decides it in `deciding`, what is written down in `journal`.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import Self

import anyio.to_thread

from browser_agent.agent.confirm import Safety, Watch
from browser_agent.agent.journal import Journal
from browser_agent.agent.result import Result
from browser_agent.agent.run import Run, Terms
from browser_agent.agent.settings import BrowserChoice, Keeping, RunLimits, Watching
from browser_agent.browser.browser import Browser
from browser_agent.browser.process import check_executable
from browser_agent.browser.window import Window
from browser_agent.deciders.alternatives import Comparison, comparison
from browser_agent.deciders.answer_schema import Schema, Shape
from browser_agent.deciders.comparer import Comparer
from browser_agent.deciders.explorer import Explorer
from browser_agent.deciders.model import ModelDecider
from browser_agent.deciders.protocol import Decider
from browser_agent.deciders.schema import Seeker
from browser_agent.deciders.sources import Evidence
from browser_agent.network.egress import check_start, origin_of
from browser_agent.network.secrets import Secrets
from ctxfold import Session, config
from ctxfold.config import EXPLORER
from ctxfold.errors import InputError, UnknownSession
from ctxfold.models import Model, load
from ctxfold.models.deciders import Deciders, Maintained
from ctxfold.text import STOP_WORDS
from ctxfold.text.encoder import encoder_of
from ctxfold.tokens import Budget

__all__ = ["BrowserAgent"]


class BrowserAgent:
    """Carries out tasks in a browser, each step on a context within a budget and recorded in full.

    ::

        async with BrowserAgent(model="explorer", budget=8000) as agent:
            result = await agent.run("What does os.walk yield?", start_url="https://docs.python.org/3/")

    Args:
        model: who decides: `explorer` (embedded: no model, no key), `claude-…`, or `script:FILE`.
        budget: tokens the context of a decision may take, counted for that model.
        limits: when a run ends at the latest.
        browser: which browser is used.
        keeping: the session runs are recorded in.
        safety: what a run may reach, type and bring about.

    Raises:
        InputError: no such model, or a script that cannot be read.
        BudgetError: a budget below the least.
    """

    def __init__(
        self,
        model: str = EXPLORER,
        budget: int = 8000,
        limits: RunLimits | None = None,
        browser: BrowserChoice | None = None,
        keeping: Keeping | None = None,
        safety: Safety | None = None,
    ) -> None:
        self._model: Model | None = load(model)
        Budget.of(budget, _counted_as(self._model))
        self._budget = budget
        self._limits = limits or RunLimits()
        self._choice = browser or BrowserChoice()
        self._keeping = keeping or Keeping()
        self._safety = safety or Safety()
        self._secrets = Secrets(self._safety.secrets)
        named = self._keeping.folder
        self._deciders = Deciders(load(named) if isinstance(named, str) else named)
        self._browser: Browser | None = None

    async def run(
        self,
        task: str,
        start_url: str | Sequence[str] | None = None,
        watching: Watching | None = None,
        schema: Schema | None = None,
    ) -> Result:
        """Carry out one task.

        Args:
            task: what is wanted, in words; when resuming, empty for the session's own goal.
            start_url: the page to begin on. The explorer needs one; a model may find its own. Several are alternatives, which the explorer
                compares, each on a branch of its own.
            watching: who is told of each step.
            schema: the form the answer must have, as a JSON schema or a pydantic model; None for words. The result's `data` then has
                it, and `answer` is that as JSON; or the run says what is missing.

        Returns:
            What it came to. A run that finds nothing, or reaches a limit, is a result too.

        Raises:
            InputError: no task, no page to start from or no web address, a session that is there already, or no schema of that form.
            PageUnreachable: the start page cannot be opened.
            BrowserError: no browser, or one that is lost for good.
            ModelError: the model cannot be asked. What was done until then stays in the session.
            StoreError: the session cannot be written.
        """
        told = watching or Watching()
        starts = [start_url] if isinstance(start_url, str) else list(start_url or ())
        for each in starts:
            check_start(each)
        first = starts[0] if starts else None
        shape = None if schema is None else Shape.of(schema)
        async with AsyncExitStack() as held:
            window = None
            if not self._keeping.resume:
                await anyio.to_thread.run_sync(self._check_new, task.strip(), first)
                window = await self._window(held, first, told, starts[1:])
            session = await anyio.to_thread.run_sync(self._open, task.strip())
            journal = Journal(session, self._budget, _counted_as(self._model), self._secrets, self._deciders)
            _at_the_end(held, journal)
            goal = await anyio.to_thread.run_sync(lambda: session.goal)
            before = await journal.start_addresses() if self._keeping.resume and first is None else []
            named = first or next(iter(before), None)
            compared = self._compared(goal, shape, starts or before)
            begin = await self._begin(journal, first) if compared is None or len(starts or before) < 2 else None
            evidence = Evidence()
            decider = self._decider(goal, evidence, shape, await self._standing(journal, compared, named))
            asked = Maintained()
            if session.created or task.strip():
                asked = await journal.asked(task.strip() or goal, starts)
            window = window or await self._window(held, named, told, (starts or before)[1:])
            terms = Terms(self._limits, self._watch(named), told, self._budget, shape, self._keeping.screenshots)
            run = Run(goal, decider, journal, window, terms)
            run.kept(asked)
            return await run.to_the_end(evidence, begin)

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
        """Refuse what a run that begins anew cannot be carried out with, before anything is started or made."""
        if not task:
            raise InputError("there is no task; say in a sentence what is wanted")
        self._check_begin(start_url)
        if self._choice.executable is not None and self._choice.endpoint is None:
            check_executable(self._choice.executable)
        named = self._keeping.session
        if named is not None:
            with suppress(UnknownSession):
                Session.open(named, store=self._keeping.store, create=False).close()
                raise _there_already(named)

    def _open(self, task: str) -> Session:
        """The run's session: made, once nothing that the run needs is missing, or with `resume` the one that is there."""
        keeping = self._keeping
        if keeping.resume:
            if keeping.session is None:
                raise InputError("resuming needs the session's name; `ctxfold sessions list` shows them")
            return Session.open(keeping.session, goal=task or None, store=keeping.store, create=False)
        session = Session.open(keeping.session or session_name(task), goal=task, store=keeping.store)
        if not session.created:
            session.close()
            raise _there_already(session.name)
        return session

    async def _begin(self, journal: Journal, start_url: str | None) -> str | None:
        """The page to begin on: the one named, or where a resumed session stood."""
        begin = start_url or (await journal.last_address() if self._keeping.resume else None)
        self._check_begin(begin)
        return begin

    def _check_begin(self, begin: str | None) -> None:
        if begin is None and self._model is None:
            raise InputError(
                "the explorer needs a page to start from: add --start-url URL, or name a model with --model claude-…"
            )

    def _compared(self, goal: str, shape: Shape | None, starts: Sequence[str]) -> Comparison | None:
        """What the embedded decider is to compare; a model, and an answer with a schema, find their own way."""
        return comparison(goal, starts) if shape is None and self._model is None else None

    async def _standing(self, journal: Journal, compared: Comparison | None, named: str | None) -> Comparer | None:
        """Who compares: in a run that goes on, from the alternatives that are not told yet; None where nothing is compared."""
        if compared is None:
            return None
        names = [each.name for each in compared.alternatives]
        before = await journal.earlier(names, named or "") if self._keeping.resume else None
        return Comparer(compared, _explorer, before)

    def _decider(self, goal: str, evidence: Evidence, shape: Shape | None, comparer: Comparer | None) -> Decider:
        """Who decides: the model, with the embedded decider behind it; or that alone."""
        explorer: Decider = comparer or _explorer(goal)
        embedded = explorer if shape is None else Seeker(explorer, shape, goal)
        if self._model is None:
            return embedded
        return ModelDecider(self._model, evidence, embedded, self._secrets, shape)

    def _watch(self, named: str | None) -> Watch:
        start = origin_of(named) if named is not None else None
        return Watch(self._safety, start, self._model is not None, self._secrets)

    async def _window(self, held: AsyncExitStack, named: str | None, told: Watching, beside: Sequence[str]) -> Window:
        """A window, closed when `held` ends, whose browser may reach the address a person named, and what the rules allow."""
        choice, report, egress = self._choice, told.report, self._safety.egress(named)
        if self._browser is None:
            if choice.endpoint is not None:
                self._browser = await Browser.connect(choice.endpoint, egress=egress, report=report)
            else:
                self._browser = await Browser.launch(
                    headed=choice.headed, executable=choice.executable, egress=egress, report=report
                )
        elif named is not None and origin_of(named) is not None:
            self._browser.permit(named)
        for url in beside:
            self._browser.permit(url)
        window = await self._browser.window(storage_state=choice.storage_state, secrets=self._secrets)
        _at_the_end(held, window)
        return window


def _at_the_end(held: AsyncExitStack, opened: Journal | Window) -> None:
    """Close what was opened when `held` ends, an interrupted run's too."""

    async def close() -> None:
        with anyio.CancelScope(shield=True):
            await opened.close()

    held.push_async_callback(close)


def _there_already(session: str) -> InputError:
    return InputError(f"the session {session!r} is there already: add --resume to go on with it, or name another")


def session_name(task: str) -> str:
    """A name for a session nobody named: the task's first telling words, and four letters that make it its own."""
    words = re.findall(r"[a-z0-9]+", task.lower())
    telling = [word for word in words if word not in STOP_WORDS] or words
    return "-".join([*telling[:4], secrets.token_hex(2)])[-64:].lstrip("-")


def _counted_as(model: Model | None) -> str | None:
    """The model whose tokens a budget counts; a script counts none of its own."""
    return None if model is None or model.name.startswith("script") else model.name


def _explorer(task: str) -> Explorer:
    """The embedded decider of a task, with the encoder that is configured."""
    return Explorer(task, encoder_of(config.encoder()))
