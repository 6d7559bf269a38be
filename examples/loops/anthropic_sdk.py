"""A tool loop with Anthropic's SDK at a flat context: `serve_turn` plans, asks, calls and records; each request carries the view.

    python examples/loops/anthropic_sdk.py MODEL TASK

ANTHROPIC_API_KEY, and ANTHROPIC_BASE_URL for another server, are read by the SDK.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import anthropic
import anyio

from ctxfold import Session
from ctxfold.loops import TurnRequest, serve_turn

BUDGET = 3_000


async def run(session: Session, model: str, tools: Sequence[Callable[..., Any]], task: str, most: int = 60) -> str:
    """Serve a task with the model; the view stays within `BUDGET` all the while."""
    async with anthropic.AsyncAnthropic() as client:

        async def ask(request: TurnRequest) -> object:
            return await client.messages.create(model=model, max_tokens=2_000, **request.as_anthropic())

        session.set_budget(BUDGET)
        return (await serve_turn(session, task, tools, ask, most=most)).reply


def look_up(order: str) -> str:
    """What is known of an order."""
    return f"{order}: delivered, 40 EUR"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(
            "say which model and what it is to do: python examples/loops/anthropic_sdk.py MODEL 'Look up order W-3.'"
        )
    if not os.environ.get("ANTHROPIC_API_KEY"):
        sys.exit("there is no key: set ANTHROPIC_API_KEY")
    with Session.open("native-anthropic", goal=sys.argv[2]) as opened:
        print(anyio.run(run, opened, sys.argv[1], [look_up], sys.argv[2]))
