"""`serve_turn`: answers one message of the user in a tool loop; all is recorded, and the context stays small."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from inspect import getdoc, isawaitable
from typing import Any, cast

from anyio.to_thread import run_sync
from pydantic import TypeAdapter, ValidationError, validate_call

from ctxfold.errors import InputError
from ctxfold.messages import Call
from ctxfold.messages.apis import read_messages
from ctxfold.models.deciders import Deciders, Maintained
from ctxfold.prompts import prompt
from ctxfold.session.session import Session
from ctxfold.session.tools import SessionTool
from ctxfold.text.json import list_faults, strip_schema
from ctxfold.view.render import View

_REQUESTS = 40
"""The most requests of one turn: a loop that needs more has most often lost its way."""


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What the answering model is asked: the system text, the view as real calls and results, and the tools.

    message = await client.messages.create(model="…", max_tokens=2_000, **request.as_anthropic())
    """

    system: str
    view: View
    tools: Sequence[SessionTool]

    def as_anthropic(self) -> dict[str, Any]:
        """The arguments of Anthropic's `messages.create`."""
        tools = [tool.as_anthropic() for tool in self.tools]
        return {"system": self.system, "messages": self.view.as_anthropic(), "tools": tools}

    def as_openai(self) -> dict[str, Any]:
        """The arguments of OpenAI's `chat.completions.create`."""
        system = {"role": "system", "content": self.system}
        return {"messages": [system, *self.view.as_openai()], "tools": [tool.as_openai() for tool in self.tools]}


AskModel = Callable[[TurnRequest], Awaitable[object]]
"""Asks the answering model; returns its message, an object of Anthropic's or OpenAI's SDK or its JSON."""


@dataclass(frozen=True, slots=True)
class ServedTurn:
    """A turn that was served.

    Attributes:
        reply: the answer to the user; empty if the requests of the turn ran out.
        steps: the steps that were recorded.
        upkeep: what the deciders did, in order.
    """

    reply: str
    steps: tuple[int, ...]
    upkeep: tuple[Maintained, ...]


async def serve_turn(
    session: Session,
    message: str,
    tools: Sequence[SessionTool | Callable[..., Any]],
    model: AskModel,
    deciders: Deciders | None = None,
    *,
    system: str = "",
    most: int = _REQUESTS,
) -> ServedTurn:
    """Serve a message of the user (U-Fold, algorithm 1): place it, plan, extract, then ask and call until the reply.

        served = await serve_turn(session, "Where is order W-3?", [look_up], ask)

    Args:
        session: the session, whose view is within its own budget. This call has it for itself until it returns.
        message: the user's message.
        tools: functions with typed arguments and a docstring, sync or async; or `SessionTool`. The session's own tools
            (recall, fold, plan, note) are offered with them.
        model: asks the answering model.
        deciders: the models that plan, extract, fold and place; None for the embedded deciders.
        system: rules of the application; they outrank everything else.
        most: the most requests to the model.

    A call is recorded before it is carried out. A tool that fails answers with its error. Raises InputError: two tools
    of one name, or a message of the model that cannot be read; whatever `model` raises.
    """
    deciders = deciders or Deciders(None)
    offered = [tool if isinstance(tool, SessionTool) else make_function_tool(tool) for tool in tools]
    by_name = {tool.name: tool for tool in (*session.tools(), *offered)}
    if len(by_name) < len(offered) + len(session.tools()):
        raise InputError("two tools have one name; give each its own, and leave recall, fold, plan, note to ctxfold")
    if deciders.routes and sum(len(topic.branches) for topic in await run_sync(session.tree)) > 1:
        await deciders.branch(session, message)
    await run_sync(session.set_tools, [tool.as_anthropic() for tool in offered])
    await run_sync(session.record_turn, message)
    upkeep, steps = [await deciders.maintain(session)], list[int]()
    instructions = prompt("serve_system", system=system).strip()
    for _ in range(most):
        view = await run_sync(session.view)
        answered = await model(TurnRequest(instructions, view, tuple(by_name.values())))
        answer = read_messages(answered)
        calls = [item for each in answer for item in each.items if isinstance(item, Call)]
        if not calls:
            reply = "\n".join(each.text for each in answer)
            steps.append((await run_sync(session.record_reply, reply)).step)
            return ServedTurn(reply, tuple(steps), tuple(upkeep))
        steps.append((await run_sync(session.record_step, answered)).step)
        for call in calls:
            text = await _carry_out(by_name, call)
            await run_sync(session.record_result, steps[-1], call.id, text)
        upkeep.append(await deciders.maintain(session))
    return ServedTurn("", tuple(steps), tuple(upkeep))


def make_function_tool(function: Callable[..., Any]) -> SessionTool:
    """Return the tool of a function: its name, docstring and typed arguments, which are checked at each call."""
    adapter: TypeAdapter[Any] = TypeAdapter(cast(Any, function))
    checked = validate_call(function)
    name = getattr(function, "__name__", "tool")
    return SessionTool(
        name, getdoc(function) or name, strip_schema(adapter.json_schema()), lambda given: checked(**given)
    )


async def _carry_out(tools: dict[str, SessionTool], call: Call) -> str:
    """The result of a call as text; of one that fails the error, for the model to go on from."""
    tool = tools.get(call.name)
    if tool is None:
        return f"error: there is no tool {call.name!r}; call one of {', '.join(tools)}"
    try:
        arguments = call.args if isinstance(call.args, dict) else {}
        value = await run_sync(lambda: tool(**arguments))
        value = await value if isawaitable(value) else value
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    except ValidationError as error:
        return f"refused: {'; '.join(list_faults(error, 'the arguments'))}"
    except Exception as error:  # noqa: BLE001 - the model is told what failed, whatever it is
        return f"error: {type(error).__name__}: {error}"
