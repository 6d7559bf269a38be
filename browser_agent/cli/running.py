"""Runs one task for a command: from its options to the exit code. It prints through `live` and decides nothing."""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import anyio
import anyio.abc
import click

from browser_agent.agent.agent import BrowserAgent, session_name
from browser_agent.agent.confirm import Safety
from browser_agent.agent.result import Result
from browser_agent.agent.settings import BrowserChoice, Keeping, RunLimits, Watching
from browser_agent.cli.live import Live, print_result
from browser_agent.deciders.answer_schema import Shape
from ctxfold import Session
from ctxfold.errors import CtxfoldError

__all__ = ["Unheard", "Wish", "carry_out"]


class Unheard:
    """Holds what a loop reports of failures that nobody awaited, until it is known how the run ended."""

    def __init__(self) -> None:
        self._held: list[dict[str, Any]] | None = []
        self._told_to_end = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def listen(self) -> None:
        """Take the reports of the loop that runs now."""
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(self._report)

    def ended(self, *, told: bool) -> None:
        """The run is over: what is held is passed on, unless it was `told` to end. So is what still comes."""
        held, self._held, self._told_to_end = self._held, None, told
        for context in held or ():
            if self._loop is not None:
                self._report(self._loop, context)

    def _report(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if self._held is not None:
            self._held.append(context)
        elif not self._told_to_end:
            loop.default_exception_handler(context)


NOT_ACHIEVED, ENVIRONMENT, INTERRUPTED = 1, 3, 130


@dataclass(frozen=True, slots=True)
class Wish:
    """What a command line asks for."""

    task: str
    start_url: str | None
    model: str
    budget: int
    limits: RunLimits
    browser: BrowserChoice
    keeping: Keeping
    safety: Safety = field(default_factory=Safety)
    as_json: bool = False
    shape: Shape | None = None


def carry_out(wish: Wish) -> None:
    """Run a wish to its end, print what came of it, and exit with 1 or 3 where it was not achieved.

    An interrupt ends it cleanly: the browser goes, the session stays, and the way to go on is said. So it is where the run fails in the middle.
    """
    keeping = wish.keeping
    if keeping.session is None:
        wish = replace(wish, keeping=replace(keeping, session=session_name(wish.task)))
    live = Live(quiet=wish.as_json)
    try:
        result = _ran(wish, live)
    except Exception:
        if live.steps:
            click.echo(f"what was done is kept. Go on with:  {_resuming(wish)}", err=True)
        raise
    if result is None:
        _interrupted(wish)
    print_result(result, wish.as_json)
    if result.status == "failed":
        raise click.exceptions.Exit(ENVIRONMENT)
    if result.status != "answered":
        raise click.exceptions.Exit(NOT_ACHIEVED)


def _ran(wish: Wish, live: Live) -> Result | None:
    """The run; None when it was interrupted, or the system asked us to end."""
    unheard, told = Unheard(), False
    try:
        with live:
            result = anyio.run(_browse, wish, live, unheard)
            told = result is None
            return result
    except KeyboardInterrupt:
        told = True
        return None
    finally:
        unheard.ended(told=told)


async def _browse(wish: Wish, live: Live, unheard: Unheard) -> Result | None:
    """The run; None when the system asked us to end."""
    unheard.listen()
    result: Result | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_when_told, tasks.cancel_scope)
        result = await _run(wish, live)
        tasks.cancel_scope.cancel()
    return result


async def _run(wish: Wish, live: Live) -> Result:
    safety = replace(wish.safety, ask=live.ask) if sys.stdin.isatty() else wish.safety
    async with BrowserAgent(wish.model, wish.budget, wish.limits, wish.browser, wish.keeping, safety) as agent:
        schema = None if wish.shape is None else wish.shape.schema
        return await agent.run(wish.task, wish.start_url, Watching(step=live.step, report=live.report), schema)


async def _end_when_told(scope: anyio.CancelScope) -> None:
    """Cancel the run when the system asks this process to end."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP) as told:
        async for _ in told:
            scope.cancel()


def _interrupted(wish: Wish) -> NoReturn:
    kept = (
        f"; what was done is kept. Go on with:  {_resuming(wish)}"
        if _is_kept(wish.keeping)
        else " before anything was done"
    )
    click.echo(f"\ninterrupted{kept}", err=True)
    raise click.exceptions.Exit(INTERRUPTED)


def _is_kept(keeping: Keeping) -> bool:
    """Whether the run came as far as its session."""
    try:
        Session.open(keeping.session or "", store=keeping.store, create=False).close()
    except CtxfoldError:
        return False
    return True


def _resuming(wish: Wish) -> str:
    """The command that goes on with a run."""
    store = f" --store {shlex.quote(wish.keeping.store)}" if wish.keeping.store else ""
    return f"ctxfold browse --resume --session {wish.keeping.session}{store}"
