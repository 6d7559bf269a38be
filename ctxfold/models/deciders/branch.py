"""Asks a model where a message belongs, checks it, and hands the move to the session. It applies nothing itself and holds no session.

Source: Context-Agent asks a model once per leaf, and takes a failed call for a new topic. Here one call sees all topics; a reply that does not fit goes back
once with the reason; doubt, and a model that cannot be asked, let the message go on, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from ctxfold.decisions.branch.values import Move
from ctxfold.errors import BranchError, InvalidReply, ModelError
from ctxfold.log.refs import parse_step
from ctxfold.models import Model, Reply, Request, Tool, Usage, ask
from ctxfold.prompts import prompt
from ctxfold.session.session import Session
from ctxfold.workspace.by import By

__all__ = ["Moved", "Mover", "Placement"]

T = TypeVar("T")

DOUBT = 0.5
"""Confidence below which a message goes on."""
VIEW = 4_000
"""o200k tokens of what was said that a model is shown."""
MESSAGE = 8_000
"""Characters of the message it is shown."""


class Placement(BaseModel):
    """What a model answers: where the message belongs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Literal["continue", "create", "switch", "new_topic"]
    branch: str = Field("", description="For switch: the branch.")
    step: str = Field("", description="For create: the last step kept, such as s12.")
    confidence: float = Field(ge=0, le=1, description="How sure you are, 0 to 1.")
    reason: str = Field("", max_length=300, description="Why, in a few words.")


@dataclass(frozen=True, slots=True)
class Moved:
    """A message that was placed, and how it came about.

    Attributes:
        move: what was done.
        decider: whose decision it is.
        note: why it is not the model's, in one line; empty when it is, or when there is no model.
        usage: tokens of every reply, refused ones included.
    """

    move: Move
    decider: Literal["model", "embedded"]
    note: str = ""
    usage: Usage = field(default_factory=Usage)


class Mover:
    """Places messages by a model where one can be had.

    Args:
        model: who decides; None for the embedded decider.
    """

    def __init__(self, model: Model | None) -> None:
        self._model = model
        self._tool = Tool.deciding(Placement, prompt("move_tool"), "place")
        self._system = prompt("move_system")

    async def move(self, session: Session, message: str) -> Moved:
        """Go where a message belongs, before it is recorded.

        Args:
            session: where; it is used in worker threads.
            message: the user's words.

        Raises:
            InputError: an empty message.
        """
        if self._model is None or not message.strip():
            return Moved(await _threaded(lambda: session.branch("auto", query=message)), "embedded")
        spent = list[Usage]()
        asked, check = await _threaded(lambda: _asked(session, message))

        def seen(reply: Reply) -> None:
            spent.append(reply.usage)

        messages = [{"role": "user", "content": [{"type": "text", "text": asked}]}]
        request = Request(system=self._system, messages=messages, tool=self._tool, max_tokens=1_000)
        try:
            placed = await ask(self._model, request, check, seen)
        except InvalidReply:
            return await _stayed(session, f"{self._model.name} was refused twice", spent)
        except ModelError as error:
            return await _stayed(session, f"{self._model.name} could not be asked: {type(error).__name__}", spent)
        if placed.confidence < DOUBT:
            return await _stayed(session, f"{self._model.name} was in doubt: {placed.confidence:.2f}", spent)
        return Moved(await _threaded(lambda: _apply(session, placed)), "model", usage=sum(spent, Usage()))


def _asked(session: Session, message: str) -> tuple[str, Callable[[Mapping[str, Any]], Placement]]:
    """What a model is shown, and what its reply is held against."""
    topics = session.tree()
    names = frozenset(branch.name for topic in topics for branch in topic.branches)
    steps = frozenset(_numbers(session))
    listed = "\n".join(f"{topic.name}: {', '.join(branch.name for branch in topic.branches)}" for topic in topics)
    here = session.branch_name
    view = session.view(VIEW).text
    asked = prompt("move_request", here=here, branches=listed, view=view, message=message[:MESSAGE])

    def check(arguments: Mapping[str, Any]) -> Placement:
        """The placement of a reply. Raises ValidationError for another form, BranchError for what is not there."""
        placed = Placement.model_validate(arguments)
        if placed.action == "switch" and placed.branch not in names:
            raise BranchError(f"there is no branch {placed.branch[:64]!r}; the branches are {', '.join(sorted(names))}")
        if placed.action == "create" and (not placed.step or parse_step(placed.step) not in steps):
            raise BranchError(f"{placed.step[:20]!r} is no step shown to you; name the last step the new branch keeps")
        return placed

    return asked, check


def _numbers(session: Session) -> list[int]:
    """The steps of the path and of every other branch that is shown."""
    workspace = session.workspace
    path = [step for block in workspace.blocks for step in block.steps]
    return path + [step for branch in workspace.elsewhere.branches for turn in branch.turns for step in turn.steps]


def _apply(session: Session, placed: Placement) -> Move:
    at = placed.step if placed.action == "create" else None
    to = placed.branch if placed.action == "switch" else None
    return session.branch(placed.action, at=at, to=to, by=By("model", placed.reason))


async def _stayed(session: Session, note: str, spent: list[Usage]) -> Moved:
    """The message goes on."""
    move = await _threaded(lambda: session.branch("continue", by=By("embedded", note)))
    return Moved(move, "embedded", note, sum(spent, Usage()))


async def _threaded(work: Callable[[], T]) -> T:
    return await anyio.to_thread.run_sync(work)
