"""Asks a model for a plan of the session: its to-do, constraints, decisions, goal and summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sys import maxsize
from typing import ClassVar

from pydantic import BaseModel, Field

from ctxfold.decisions.register import ItemWritten, StatementWritten
from ctxfold.errors import StaleDecision
from ctxfold.log import place_of
from ctxfold.models.deciders.loop import ModelQuestion, RequestKind, check_values
from ctxfold.models.deciders.memory import fill_register, find_last_message, list_steps, show_log, split_log
from ctxfold.prompts import prompt
from ctxfold.session.recall import Recalled
from ctxfold.session.session import Session
from ctxfold.session.sources import Place
from ctxfold.workspace import By, Intent, Workspace

NEW = 16_000
"""o200k tokens of dialogue that a model is shown."""
PASSES = 8
"""The most requests in which a long log is read: its newest parts."""

Part = tuple[Place, Place]
"""A part of the log: its first and last record."""


class PlanWritten(BaseModel, frozen=True, extra="forbid"):
    """The plan of a model: U-Fold's summary and to-do, and the register."""

    summary: str = Field(min_length=1, max_length=4_000, description="The dialogue so far, in one plain paragraph.")
    goal: str = Field(
        "", max_length=400, description="What the work is for; only where nobody said it or the user changed it."
    )
    todo: tuple[ItemWritten, ...] = Field(
        default=(), max_length=40, description="New items and changed ones; what you leave out stays as it is."
    )
    constraints: tuple[StatementWritten, ...] = Field(
        default=(), max_length=40, description="Bounds the user set, and those they changed or took back."
    )
    decisions: tuple[StatementWritten, ...] = Field(
        default=(), max_length=40, description="What was settled with the user, and need not be asked again."
    )

    @property
    def texts(self) -> list[str]:
        """Its texts, in order."""
        statements = (*self.constraints, *self.decisions)
        return [self.summary, self.goal, *(each.text for each in self.todo), *(each.text for each in statements)]

    def reword(self, texts: Iterable[str]) -> PlanWritten:
        """Return the plan with other texts, in the same order."""
        left = iter(texts)
        changed: dict[str, object] = {"summary": next(left), "goal": next(left)}
        for name in ("todo", "constraints", "decisions"):
            changed[name] = [each.model_copy(update={"text": next(left)}) for each in getattr(self, name)]
        return self.model_copy(update=changed)


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    """Write the register. `part`: the first and the last record to read; None for all since the last plan."""

    part: Part | None = None
    kind: ClassVar[RequestKind[PlanWritten]] = RequestKind.of(PlanWritten, "plan", "plan")

    def ask(self, session: Session, by: By) -> ModelQuestion[PlanWritten, Intent]:
        """Ask for the summary and the register, from those there are and the log since."""
        workspace = session.workspace
        last, _ = find_last_message(session, workspace)
        new = show_log(read_part(session, self.part or _find_unread(workspace)), NEW)
        course = workspace.intent.summary or "nothing yet"
        text = prompt("plan_request", course=course, new=new, **fill_register(workspace))

        def apply(session: Session, written: PlanWritten) -> Intent:
            if find_last_message(session, session.workspace)[0] != last:
                raise StaleDecision("the user spoke while the plan was written; plan again")
            marked = written.reword(text for text, _ in session.mark(written.texts))
            return session.plan(marked.summary, marked.todo, marked.constraints, marked.decisions, by, marked.goal)

        def check(session: Session, written: PlanWritten) -> None:
            check_values(session, "\n".join(written.texts))

        return ModelQuestion(text, apply, "its evidence", None, check)

    def fall_back(self, session: Session, _why: str) -> Intent:
        """Leave the register as it is: without a model no plan is guessed."""
        return session.intent


def plan_parts(session: Session) -> list[Part | None]:
    """Return the parts in which the log since the last plan is read; None for one that is read whole."""
    unread = read_part(session, _find_unread(session.workspace))
    parts = find_bounds(split_log(unread, NEW, NEW // 8))[-PASSES:]
    return [*parts] if len(parts) > 1 else [None]


def _find_unread(workspace: Workspace) -> Part:
    """The part that no plan has read."""
    step, k = workspace.intent.read
    return (step, k + 1), (maxsize, 0)


def find_bounds(parts: Sequence[Sequence[Recalled]]) -> list[Part]:
    """Return the first and the last record of each part of a log."""
    return [(place_of(part[0].ref), place_of(part[-1].ref)) for part in parts]


def read_part(session: Session, part: Part | None = None) -> list[Recalled]:
    """The records of a part of the path; None for all of its newest steps."""
    log = session.read_records(list_steps(session.workspace), reading=True)
    return [each for each in log if part is None or part[0] <= place_of(each.ref) <= part[1]]
