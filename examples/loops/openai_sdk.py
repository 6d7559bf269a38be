"""A tool loop with OpenAI's SDK at a flat context: each request carries the session's view as real calls and results.

    python examples/loops/openai_sdk.py MODEL TASK

OPENAI_API_KEY, and OPENAI_BASE_URL for any server that speaks chat completions, are read by the SDK.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from ctxfold import Session

try:
    import openai
except ImportError:
    sys.exit("OpenAI's SDK is missing: pip install 'ctxfold[models]'")

BUDGET = 3_000


def run(session: Session, model: str, tools: list[dict[str, Any]], call: Callable[[str, Any], str], most: int) -> str:
    """Carry on until the model answers in words, for `most` steps; the view stays within `BUDGET` all the while."""
    own = {tool.name: tool for tool in session.tools()}
    offered: Any = [*tools, *(tool.as_openai() for tool in own.values())]
    client = openai.OpenAI()
    for _ in range(most):
        messages: Any = session.view(BUDGET).as_openai()
        message = client.chat.completions.create(model=model, tools=offered, messages=messages).choices[0].message
        if not message.tool_calls:
            session.record_reply(message.content or "")
            return message.content or ""
        results = []
        for each in message.tool_calls:
            if each.type == "function":
                name, given = each.function.name, json.loads(each.function.arguments)
                said = own[name](**given) if name in own else call(name, given)
                results.append({"role": "tool", "tool_call_id": each.id, "content": said})
        session.record_step(message, results=results)
        session.consolidate(BUDGET)
    return ""


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("say which model and what it is to do: python examples/loops/openai_sdk.py MODEL 'Look up order W-3.'")
    if not os.environ.get("OPENAI_API_KEY"):
        sys.exit("there is no key: set OPENAI_API_KEY, to any word for a server of your own at OPENAI_BASE_URL")
    LOOK_UP = {
        "type": "function",
        "function": {
            "name": "look_up",
            "description": "What is known of an order.",
            "parameters": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
        },
    }
    with Session.open("native-openai", goal=sys.argv[2]) as opened:
        opened.record_turn(user=sys.argv[2])
        print(run(opened, sys.argv[1], [LOOK_UP], lambda _name, given: f"{given['order']}: delivered, 40 EUR", 60))
