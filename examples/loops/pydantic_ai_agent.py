"""A pydantic-ai agent at a flat context: a history processor records each exchange and sends the session's view in place of the history.

python examples/loops/pydantic_ai_agent.py openai:MODEL TASK
"""

from __future__ import annotations

import sys

from ctxfold import Session

try:
    from pydantic_ai import Agent, UserError
    from pydantic_ai.capabilities import ProcessHistory
    from pydantic_ai.messages import (
        ModelMessage,
        ModelRequest,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )
except ImportError:
    sys.exit("pydantic-ai is missing: pip install 'ctxfold[models]'")

BUDGET = 3_000


class FlatHistory:
    """A history processor over a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._held = 0

    def __call__(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        """Record what is new, and give the view as messages of the library."""
        self.record(messages[self._held :])
        self._session.consolidate(BUDGET)
        view = as_messages(self._session)
        self._held = len(view)  # the library keeps what is returned here as its history
        return view

    def record(self, new: list[ModelMessage]) -> None:
        """Record what the session does not hold yet: what was said, and each call with what came back."""
        for at, message in enumerate(new):
            if isinstance(message, ModelResponse):
                following = new[at + 1].parts if at + 1 < len(new) else []
                calls = [
                    {"name": c.tool_name, "args": c.args_as_dict(), "id": c.tool_call_id} for c in message.tool_calls
                ]
                results = [
                    {"id": part.tool_call_id, "text": part.model_response_str()}
                    for part in following
                    if isinstance(part, ToolReturnPart)
                ]
                self._session.record_step(message.text or "", calls=calls, results=results)
            else:
                for part in message.parts:
                    if isinstance(part, UserPromptPart) and isinstance(part.content, str):
                        self._session.record_turn(user=part.content)


def as_messages(session: Session) -> list[ModelMessage]:
    """The view as messages of the library, by way of its OpenAI form."""
    made: list[ModelMessage] = []
    names: dict[str, str] = {}
    for message in session.view(BUDGET).as_openai():
        if message["role"] == "assistant":
            parts: list[TextPart | ToolCallPart] = [TextPart(message["content"])] if message["content"] else []
            for call in message.get("tool_calls", ()):
                names[call["id"]] = call["function"]["name"]
                parts.append(ToolCallPart(call["function"]["name"], call["function"]["arguments"], call["id"]))
            made.append(ModelResponse(parts))
            continue
        if message["role"] == "tool":
            part: ToolReturnPart | UserPromptPart = ToolReturnPart(
                tool_name=names[message["tool_call_id"]],
                content=message["content"],
                tool_call_id=message["tool_call_id"],
            )
        else:
            part = UserPromptPart(message["content"])
        if made and isinstance(made[-1], ModelRequest):
            made[-1] = ModelRequest([*made[-1].parts, part])
        else:
            made.append(ModelRequest([part]))
    return made


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(
            "say which model and what it is to do: python examples/loops/pydantic_ai_agent.py openai:MODEL 'Look up order W-3.'"
        )
    with Session.open("native-pydantic-ai", goal=sys.argv[2]) as opened:
        try:
            agent = Agent(sys.argv[1], capabilities=[ProcessHistory(FlatHistory(opened))])
        except (
            UserError,
            ImportError,
        ) as error:  # no key, no such provider, or its extra is missing: it says what to set or install
            sys.exit(str(error))

        @agent.tool_plain
        def look_up(order: str) -> str:
            """What is known of an order."""
            return f"{order}: delivered, 40 EUR"

        print(agent.run_sync(sys.argv[2]).output)
