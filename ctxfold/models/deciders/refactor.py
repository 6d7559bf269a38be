"""Refactors with a model: it routes, and writes what its operator needs. The session checks and applies; nothing is applied here, and no session is held.

A router's reply that does not fit means none. A text that fails its checks goes back once with the reason; then the history stays as it was, and its
events say why. Where the model cannot be asked, the embedded router and operators do the work. Source: ACR's router and refactorer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from ctxfold.decisions.refactor.parse import Routing, routed
from ctxfold.decisions.refactor.values import Operator, Refactored, Route
from ctxfold.errors import InputError, InvalidReply, ModelError
from ctxfold.log.compact.ditto import spelled
from ctxfold.models import Model, Reply, Request, Tool, Usage, settle
from ctxfold.models.protocol import spoken
from ctxfold.prompts import prompt
from ctxfold.session.session import Session
from ctxfold.tokens import head
from ctxfold.view.ladder import show
from ctxfold.workspace.by import By
from ctxfold.workspace.workspace import Block, Workspace

__all__ = ["Mended", "Mender", "Rewritten"]

T = TypeVar("T")

LONGEST = 60_000
"""o200k tokens of history that a model is shown at most, the newest."""
_REPLY = 8_000


class Rewritten(BaseModel):
    """What a model answers as a refactorer: the text that is put in place."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = Field(min_length=1, max_length=40_000, description="The text, as it is to stand.")


@dataclass(frozen=True, slots=True)
class Mended:
    """What became of it.

    Attributes:
        result: what was applied, or why not.
        note: why it is not the model's work, in one line; empty when it is, or when there is no model.
        usage: tokens of every reply, refused ones included.
    """

    result: Refactored
    note: str = ""
    usage: Usage = field(default_factory=Usage)


class Mender:
    """Refactors with a model where one can be had.

    Args:
        model: who routes and writes; None for the embedded router and operators.
    """

    def __init__(self, model: Model | None) -> None:
        self._model = model
        self._route = Tool.deciding(Routing, prompt("route_tool"), "route")
        self._rewrite = Tool.deciding(Rewritten, prompt("refactor_tool"), "rewrite")

    async def mend(self, session: Session, operator: Operator | None = None) -> Mended:
        """Route, unless an operator is named, and refactor.

        Args:
            session: where; it is used in worker threads.
            operator: which; None lets the model choose, or none.

        Returns:
            What became of it. A history that is fine, and one whose mending failed its checks, is as it was.
        """
        if self._model is None:
            return Mended(await _threaded(lambda: session.refactor(operator or "auto", by=By("embedded"))))
        usage = Usage()
        cause = "asked for"
        if operator is None:
            try:
                route, usage = await self._routed(self._model, session)
            except ModelError as error:
                note = f"{self._model.name} could not be asked: {type(error).__name__}"
                return Mended(await _threaded(lambda: session.refactor(by=By("embedded"))), note)
            if route.operator is None:
                left = await _threaded(lambda: session.refactor("none", None, By("model", route.reason)))
                return Mended(left, usage=usage)
            operator, cause = route.operator, route.reason
        return await self._written(self._model, session, operator, cause, usage)

    async def _routed(self, model: Model, session: Session) -> tuple[Route, Usage]:
        """What the model says of the history, without what the agent is asked right now."""
        workspace = await _threaded(lambda: session.workspace)
        asked = prompt("route_request", goal=_goal(workspace), text=_told(_before_query(workspace)))
        reply = await model.decide(_request("route_system", asked, self._route))
        return routed(reply.arguments if reply.fault is None else _spoken(reply.words)), reply.usage

    async def _written(self, model: Model, session: Session, operator: Operator, cause: str, spent: Usage) -> Mended:
        """Let the model write what an operator needs; what fails its checks goes back once."""
        workspace = await _threaded(lambda: session.workspace)
        usage = [spent]
        refused: list[Refactored] = []

        async def take(arguments: Mapping[str, Any]) -> Refactored:
            text = Rewritten.model_validate(arguments).text
            done = await _threaded(lambda: session.refactor(operator, text, By("model", cause)))
            if done.refused:
                refused.append(done)
                raise InputError(f"this was refused: {done.reason}")
            return done

        def seen(reply: Reply) -> None:
            usage.append(reply.usage)

        wanted = prompt(f"refactor_wanted_{operator}")
        asked = prompt("refactor_request", goal=_goal(workspace), text=_told(workspace.blocks), wanted=wanted)
        try:
            done = await settle(model, _request("refactor_system", asked, self._rewrite), take, seen, _words)
            return Mended(done, usage=sum(usage, Usage()))
        except InvalidReply:
            note = f"{model.name} was refused twice; the history stays as it was"
            left = refused[-1] if refused else Refactored(operator, False, "the reply does not fit its form", "model")
            return Mended(left, note, sum(usage, Usage()))
        except ModelError as error:
            note = f"{model.name} could not be asked: {type(error).__name__}"
            done = await _threaded(lambda: session.refactor(operator, None, By("embedded", cause)))
            return Mended(done, note, sum(usage, Usage()))


def _spoken(words: str) -> object:
    """A router's reply in words: the call it writes out, else the words themselves."""
    try:
        return spoken(words, "route")
    except InputError:
        return words


def _words(said: str) -> Mapping[str, Any]:
    """A reply in words: its text is held against the same checks."""
    return {"text": said}


def _goal(workspace: Workspace) -> str:
    return " / ".join(note.text for note in workspace.notes) or "not said"


def _before_query(workspace: Workspace) -> tuple[Block, ...]:
    """The history without the user's message that waits for its answer."""
    blocks = workspace.blocks
    waits = bool(blocks) and all(line.kind == "user" for line in blocks[-1].lines)
    return blocks[:-1] if waits else blocks


def _told(blocks: tuple[Block, ...]) -> str:
    """Blocks as a model reads them, the newest that fit, every row with all of its cells."""
    parts: list[str] = []
    left = LONGEST
    for block in reversed(blocks):
        left -= block.tokens
        if left < 0:
            break
        parts.append(show(replace(block, lines=tuple(spelled(block.lines)))).text)
    return "\n".join(reversed(parts)) or head(show(blocks[-1]).text, LONGEST) if blocks else "nothing yet"


def _request(system: str, asked: str, tool: Tool) -> Request:
    messages = [{"role": "user", "content": [{"type": "text", "text": asked}]}]
    return Request(system=prompt(system), messages=messages, tool=tool, max_tokens=_REPLY)


async def _threaded(work: Callable[[], T]) -> T:
    return await anyio.to_thread.run_sync(work)
