"""A tool loop with OpenAI's SDK at a flat context: `serve_turn` plans, asks, calls and records; each request carries the view.

    python examples/loops/openai_sdk.py MODEL TASK

OPENAI_API_KEY, and OPENAI_BASE_URL for any server that speaks chat completions, are read by the SDK.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import anyio

from ctxfold import Session
from ctxfold.loops import TurnRequest, serve_turn

try:
    import openai
except ImportError:
    sys.exit("OpenAI's SDK is missing: pip install 'ctxfold[models]'")

BUDGET = 3_000


async def run(session: Session, model: str, tools: Sequence[Callable[..., Any]], task: str, most: int = 60) -> str:
    """Serve a task with the model; the view stays within `BUDGET` all the while."""
    async with openai.AsyncOpenAI() as client:

        async def ask(request: TurnRequest) -> object:
            done = await client.chat.completions.create(model=model, **request.as_openai())
            return done.choices[0].message

        session.set_budget(BUDGET)
        return (await serve_turn(session, task, tools, ask, most=most)).reply


def look_up(order: str) -> str:
    """What is known of an order."""
    return f"{order}: delivered, 40 EUR"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("say which model and what it is to do: python examples/loops/openai_sdk.py MODEL 'Look up order W-3.'")
    if not os.environ.get("OPENAI_API_KEY"):
        sys.exit("there is no key: set OPENAI_API_KEY, to any word for a server of your own at OPENAI_BASE_URL")
    with Session.open("native-openai", goal=sys.argv[2]) as opened:
        print(anyio.run(run, opened, sys.argv[1], [look_up], sys.argv[2]))
