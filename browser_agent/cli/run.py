"""Runs one task for a command, from its options to the exit code."""

from __future__ import annotations

import asyncio
import signal
import sys
from dataclasses import replace
from typing import Any, NoReturn

import anyio
import anyio.abc
import click

from browser_agent.agent.agent import BrowserAgent
from browser_agent.agent.result import Result
from browser_agent.agent.settings import Keeping, Watching, session_name
from browser_agent.cli.live import Live, print_result
from browser_agent.cli.request import RunRequest, resume_command
from browser_agent.network.secrets import Secrets
from ctxfold import Session
from ctxfold.errors import CtxfoldError

__all__ = ["DeferredReports", "carry_out"]


class DeferredReports:
    """Holds what a loop reports of failures that nobody awaited, until it is known how the run ended."""

    def __init__(self) -> None:
        self._held: list[tuple[asyncio.AbstractEventLoop, dict[str, Any]]] = []

    def listen(self) -> None:
        """Take the reports of the loop that runs now."""
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: self._held.append((loop, context)))

    def pass_on(self) -> None:
        """Report what is held."""
        for loop, context in self._held:
            loop.default_exception_handler(context)


NOT_ACHIEVED, ENVIRONMENT, INTERRUPTED = 1, 3, 130


def carry_out(request: RunRequest) -> None:
    """Run a request to its end, print what came of it, and exit with 1 or 3 where it was not achieved.

    Where it is interrupted, or fails after a step was done, the browser goes, the session stays, and the command that goes on is printed.
    """
    keeping = request.keeping
    if keeping.session is None:
        name = session_name(Secrets(request.safety.secrets).scrub(request.task))
        request = replace(request, keeping=replace(keeping, session=name))
    live = Live(quiet=request.as_json)
    if request.limits.dollars is not None:
        live.report(f"it costs at most ${request.limits.dollars:.2f} (--max-cost)")
    try:
        result = _run_to_end(request, live)
    except Exception:
        if live.steps:
            click.echo(f"what was done is kept. Go on with:  {resume_command(request)}", err=True)
        raise
    if result is None:
        _exit_interrupted(request)
    print_result(result, request.as_json)
    if result.status == "failed":
        raise click.exceptions.Exit(ENVIRONMENT)
    if result.status != "answered":
        raise click.exceptions.Exit(NOT_ACHIEVED)


def _run_to_end(request: RunRequest, live: Live) -> Result | None:
    """The run; None when it was interrupted, or the system asked us to end."""
    deferred = DeferredReports()
    try:
        with live:
            result = anyio.run(_browse, request, live, deferred)
    except KeyboardInterrupt:
        return None
    except BaseException:
        deferred.pass_on()
        raise
    if result is not None:
        deferred.pass_on()
    return result


async def _browse(request: RunRequest, live: Live, deferred: DeferredReports) -> Result | None:
    """The run; None when the system asked us to end."""
    deferred.listen()
    result: Result | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_when_told, tasks.cancel_scope)
        result = await _run(request, live)
        tasks.cancel_scope.cancel()
    return result


async def _run(request: RunRequest, live: Live) -> Result:
    safety = replace(request.safety, ask=live.ask) if sys.stdin.isatty() else request.safety
    async with BrowserAgent(
        request.model, request.budget, request.limits, request.browser, request.keeping, safety
    ) as agent:
        schema = None if request.shape is None else request.shape.schema
        return await agent.run(request.task, request.start_url, Watching(step=live.step, report=live.report), schema)


async def _end_when_told(scope: anyio.CancelScope) -> None:
    """Cancel the run when the system asks this process to end."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP) as told:
        async for _ in told:
            scope.cancel()


def _exit_interrupted(request: RunRequest) -> NoReturn:
    kept = (
        f"; what was done is kept. Go on with:  {resume_command(request)}"
        if _is_kept(request.keeping)
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
