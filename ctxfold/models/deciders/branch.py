"""Asks a model where the user's next message belongs, showing it all topics at once.

Source: Context-Agent, which asks once per leaf and takes a failed call for a new topic; here doubt lets the message go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import BaseModel, Field

from ctxfold.decisions.branch.values import Move
from ctxfold.errors import BranchError
from ctxfold.log.refs import parse_step
from ctxfold.models.deciders.loop import Kind, Question
from ctxfold.models.deciders.material import records
from ctxfold.prompts import prompt
from ctxfold.session.session import Session
from ctxfold.workspace.by import By

__all__ = ["Place", "Placement"]

DOUBT = 0.5
"""Confidence below which a message goes on."""
VIEW = 4_000
"""o200k tokens of what was said that a model is shown."""
GATHERED = 200
"""Steps elsewhere whose words are looked at, the newest, where a message asks for all topics together."""
MESSAGE = 8_000
"""Characters of the message it is shown."""


class Placement(BaseModel, frozen=True, extra="forbid"):
    """What a model answers: where the message belongs."""

    action: Literal["continue", "create", "switch", "new_topic"]
    branch: str = Field("", description="For switch: the branch.")
    step: str = Field("", description="For create: the last step kept, such as s12.")
    confidence: float = Field(ge=0, le=1, description="How sure you are, 0 to 1.")
    gather: bool = Field(
        False, description="Whether it asks for all topics together, such as a final plan of everything."
    )
    reason: str = Field("", max_length=300, description="Why, in a few words.")


@dataclass(frozen=True, slots=True)
class Place:
    """Go where a message belongs, before it is recorded."""

    message: str
    kind: ClassVar[Kind[Placement]] = Kind.of(Placement, "place", "move")

    def ask(self, session: Session) -> Question[Placement, Move] | str:
        """Ask where the message belongs, of the branches there are."""
        if not self.message.strip():
            return "there is no message"
        topics = session.tree()
        names = frozenset(branch.name for topic in topics for branch in topic.branches)
        steps = _steps(session)

        def apply(session: Session, placed: Placement) -> Move:
            if placed.action == "switch" and placed.branch not in names:
                raise BranchError(f"there is no branch {placed.branch[:64]!r}; they are {', '.join(sorted(names))}")
            if placed.action == "create" and (not placed.step or parse_step(placed.step) not in steps):
                raise BranchError(f"{placed.step[:20]!r} is no step shown to you; name the last step that is kept")
            if placed.confidence < DOUBT:
                return session.branch("continue", by=By("model", f"in doubt: {placed.confidence:.2f}"))
            at = placed.step if placed.action == "create" else None
            to = placed.branch if placed.action == "switch" else None
            moved = session.branch(placed.action, at=at, to=to, by=By("model", _why(placed)))
            if placed.gather:
                _gather(session)
            return moved

        listed = "\n".join(f"{topic.name}: {', '.join(branch.name for branch in topic.branches)}" for topic in topics)
        view = session.view(VIEW).text
        here, message = session.branch_name, self.message[:MESSAGE]
        return Question(
            prompt("move_request", here=here, branches=listed, view=view, message=message), apply, "its place"
        )

    def fall_back(self, session: Session, why: str) -> Move:
        """Let the embedded decider place it; where a model was asked in vain, the message goes on."""
        if why and self.message.strip():
            return session.branch("continue", by=By("embedded", why))
        return session.branch("auto", query=self.message)


def _gather(session: Session) -> None:
    """Put what the user said on other branches and topics before whoever answers, word for word, the newest first; constraints stand on every branch anyway.

    Source: Context-Agent's guard of a final synthesis.
    """
    elsewhere = session.workspace.elsewhere.branches
    steps = sorted({step for branch in elsewhere for turn in branch.turns for step in turn.steps}, reverse=True)
    said = [each for each in records(session, steps[:GATHERED]) if each.kind == "user"]
    if said:
        lines = [{"ref": each.ref, "why": "said on another branch"} for each in said]
        session.extract("what was said on every topic", lines, session.budget // 4, By("model", "all topics together"))


def _why(placed: Placement) -> str:
    """What an event says of a placement: how sure the model was, and why."""
    return "; ".join(filter(None, (f"{placed.confidence:.2f} sure", placed.reason)))


def _steps(session: Session) -> frozenset[int]:
    """The steps of the path and of every branch that is shown."""
    workspace = session.workspace
    path = [step for block in workspace.blocks for step in block.steps]
    return frozenset(
        path + [step for branch in workspace.elsewhere.branches for turn in branch.turns for step in turn.steps]
    )
