"""A tool loop with Anthropic's SDK at a flat context: each request carries the session's view as real calls and results.

    python examples/loops/anthropic_sdk.py MODEL TASK

ANTHROPIC_API_KEY, and ANTHROPIC_BASE_URL for another server, are read by the SDK.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import anthropic

from ctxfold import Session

BUDGET = 3_000


def run(session: Session, model: str, tools: list[dict[str, Any]], call: Callable[[str, Any], str], most: int) -> str:
    """Carry on until the model answers in words, for `most` steps; the view stays within `BUDGET` all the while."""
    own = {tool.name: tool for tool in session.tools()}
    offered: Any = [*tools, *(tool.as_anthropic() for tool in own.values())]
    client = anthropic.Anthropic()
    for _ in range(most):
        messages: Any = session.view(BUDGET).as_anthropic()
        message = client.messages.create(model=model, max_tokens=2_000, tools=offered, messages=messages)
        called = [block for block in message.content if block.type == "tool_use"]
        if not called:
            answer = "".join(block.text for block in message.content if block.type == "text")
            session.record_reply(answer)
            return answer
        session.record_step(
            message,
            results=[
                {
                    "type": "tool_result",
                    "tool_use_id": each.id,
                    "content": own[each.name](**each.input) if each.name in own else call(each.name, each.input),
                }
                for each in called
            ],
        )
        session.consolidate(BUDGET)
    return ""


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(
            "say which model and what it is to do: python examples/loops/anthropic_sdk.py MODEL 'Look up order W-3.'"
        )
    if not os.environ.get("ANTHROPIC_API_KEY"):
        sys.exit("there is no key: set ANTHROPIC_API_KEY")
    LOOK_UP = {
        "name": "look_up",
        "description": "What is known of an order.",
        "input_schema": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    }
    with Session.open("native-anthropic", goal=sys.argv[2]) as opened:
        opened.record_turn(user=sys.argv[2])
        print(run(opened, sys.argv[1], [LOOK_UP], lambda _name, given: f"{given['order']}: delivered, 40 EUR", 60))
