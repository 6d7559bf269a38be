"""A LangChain agent at a flat context: a middleware records each exchange and sends the session's view in place of the history.

    python examples/loops/langchain_agent.py MODEL TASK

The agent's own state keeps every message, as LangGraph wants it; only what the model reads is the view.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ctxfold import Session

try:
    from langchain.agents import create_agent
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage, convert_to_messages
    from langchain_openai import ChatOpenAI
except ImportError:
    sys.exit("LangChain is missing: pip install langchain langchain-openai")

BUDGET = 3_000


class FlatContext(AgentMiddleware[Any, Any, Any]):
    """A middleware over a session."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._recorded = 0

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Record what is new, and let the model read the view."""
        self.record(request.messages[self._recorded :])
        self._recorded = len(request.messages)
        self._session.consolidate(BUDGET)
        view: Any = convert_to_messages(self._session.view(BUDGET).as_openai())
        return handler(request.override(messages=view))

    def record(self, new: Sequence[AnyMessage]) -> None:
        """Record what the session does not hold yet: what was said, and each call with what came back."""
        for at, message in enumerate(new):
            if isinstance(message, HumanMessage):
                self._session.record_turn(user=message.text)
            elif isinstance(message, AIMessage):
                wanted = {call["id"] for call in message.tool_calls}
                came = [each for each in new[at:] if isinstance(each, ToolMessage) and each.tool_call_id in wanted]
                self._session.record_step(message.text, calls=message.tool_calls, results=came)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(
            "say which model and what it is to do: python examples/loops/langchain_agent.py MODEL 'Look up order W-3.'"
        )
    if not os.environ.get("OPENAI_API_KEY"):
        sys.exit("there is no key: set OPENAI_API_KEY, to any word for a server of your own at OPENAI_BASE_URL")

    def look_up(order: str) -> str:
        """What is known of an order."""
        return f"{order}: delivered, 40 EUR"

    with Session.open("native-langchain", goal=sys.argv[2]) as opened:
        agent: Any = create_agent(ChatOpenAI(model=sys.argv[1]), [look_up], middleware=[FlatContext(opened)])
        done = agent.invoke({"messages": [{"role": "user", "content": sys.argv[2]}]})
        print(done["messages"][-1].text)
