"""Runs several tasks side by side, and hands out the steps of one as they are done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from dataclasses import replace
from typing import Any

from browser_agent.agent.result import Result, StepTaken
from ctxfold.errors import CtxfoldError

__all__ = ["side_by_side", "streamed"]


async def side_by_side(
    run: Callable[[int, str, str | None], Awaitable[Result]],
    tasks: Iterable[str | tuple[str, str]],
    limit: int,
    failed: Result,
) -> list[Result]:
    """The results of tasks, each in words or with the page to begin on, at most `limit` of them under way at once.

    `run` is told the number of a task, from 1; `failed` is the result of one that failed, but for why.
    """
    free = asyncio.Semaphore(limit)

    async def one(number: int, task: str, start_url: str | None) -> Result:
        async with free:
            try:
                return await run(number, task, start_url)
            except CtxfoldError as error:
                return replace(failed, reason=str(error))

    async with asyncio.TaskGroup() as group:
        wanted = [(task, None) if isinstance(task, str) else task for task in tasks]
        running = [group.create_task(one(number, *each)) for number, each in enumerate(wanted, 1)]
    return [task.result() for task in running]


async def streamed(
    begin: Callable[[Callable[[StepTaken], None]], Coroutine[Any, Any, Result]],
) -> AsyncIterator[StepTaken | Result]:
    """The steps of a run that is begun with someone to tell of them, then its result; whoever stops listening ends the run."""
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
