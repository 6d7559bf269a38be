"""Asks a model for a plan (summary, to-do, constraints, decisions) or for the lines of the log to extract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from ctxfold.decisions.fold.verify import check_summary
from ctxfold.decisions.intent.triggers import Trigger
from ctxfold.decisions.intent.written import ItemWritten, LinesWritten, StatementWritten
from ctxfold.errors import StaleDecision
from ctxfold.log.json_lines import line_form
from ctxfold.models.deciders.loop import Kind, Question
from ctxfold.models.deciders.material import (
    known,
    last_said,
    log_of,
    place_of,
    records,
    steps_of,
)
from ctxfold.prompts import prompt
from ctxfold.session.intent import Wanted
from ctxfold.session.session import Session
from ctxfold.tokens import count
from ctxfold.workspace.by import By
from ctxfold.workspace.intent import Extraction, Intent

__all__ = ["Extract", "LinesChosen", "Plan", "PlanWritten", "new_words"]

NEW, LOG = 16_000, 10_000
"""o200k tokens of dialogue, and of lines, that a model is shown at most."""
RECORD, HITS = 160, 12
"""Lines of one record that it is shown, around those that fit best, and how many records."""


class PlanWritten(BaseModel):
    """What a model answers when it plans: U-Fold's summary and to-do, and the register of what holds."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")

    summary: str = Field(min_length=1, max_length=4_000, description="The dialogue so far, in one plain paragraph.")
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
    def texts(self) -> str:
        """All that it says in words."""
        statements = (*self.constraints, *self.decisions)
        return "\n".join([self.summary, *(item.text for item in self.todo), *(each.text for each in statements)])

    @property
    def given(self) -> dict[str, Any]:
        """The plan as `Session.plan` takes it."""
        register = {"constraints": self.constraints, "decisions": self.decisions}
        held = {name: [each.given() for each in said] for name, said in register.items()}
        return {"summary": self.summary, "todo": [item.given() for item in self.todo], **held}


class LinesChosen(BaseModel):
    """What a model answers when it extracts; nothing where nothing serves."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")

    selections: tuple[LinesWritten, ...] = Field(default=(), max_length=24, description="The most wanted first.")


@dataclass(frozen=True, slots=True)
class Plan:
    """Set what the session is after.

    Attributes:
        model: the model's name, for the event.
        trigger: what called for it; None where somebody asked.
    """

    model: str
    trigger: Trigger | None = None
    kind: ClassVar[Kind[PlanWritten]] = Kind.of(PlanWritten, "plan", "plan")

    def ask(self, session: Session) -> Question[PlanWritten, Intent]:
        """Ask for the summary and the to-do, from what is known and the log since it was last read."""
        workspace, steps = session.workspace, steps_of(session.workspace)
        intent, blanks = workspace.intent, known(workspace)
        last, _ = last_said(session, workspace)
        log = records(session, steps)
        new = log_of([each for each in log if place_of(each.ref) > intent.looked], NEW)
        source = [*blanks.values(), intent.summary, *(each.text for each in log)]

        def apply(session: Session, written: PlanWritten) -> Intent:
            if last_said(session, session.workspace)[0] != last:
                raise StaleDecision("the user spoke while the plan was written; plan again")
            check_summary("plan", written.texts, source, frozenset(steps))
            by = By("model", f"{_reason(self.trigger)}; written by {self.model}")
            return session.plan(**written.given, by=by, trigger=self.trigger)

        text = prompt("plan_request", course=intent.summary or "nothing yet", new=new, **blanks)
        return Question(text, apply, "its evidence")

    def fall_back(self, session: Session, why: str) -> Intent:
        """Let the embedded planner plan."""
        reason = f"{_reason(self.trigger)}; {why}" if why else ""
        return session.plan(by=By("embedded", reason), trigger=self.trigger)


@dataclass(frozen=True, slots=True)
class Extract:
    """Put lines of the log at the end of the view.

    Attributes:
        model: the model's name, for the event.
        wanted: what is wanted, within which budget, and what called for it.
    """

    model: str
    wanted: Wanted
    kind: ClassVar[Kind[LinesChosen]] = Kind.of(LinesChosen, "extract", "extract")

    def ask(self, session: Session) -> Question[LinesChosen, Extraction]:
        """Ask for lines, from the records of the log that fit what is wanted."""
        workspace, wanted = session.workspace, self.wanted
        said = last_said(session, workspace)[1]
        about = [wanted.need] if wanted.need else [*(item.text for item in workspace.intent.open), said]
        log = _numbered(session, "\n".join(filter(None, about)) or workspace.goal) or "nothing fits"

        def apply(session: Session, written: LinesChosen) -> Extraction:
            if not written.selections:
                return Extraction((), need=wanted.need or "")
            given = [lines.model_dump() for lines in written.selections]
            by = By("model", f"{_reason(wanted.trigger)}; chosen by {self.model}")
            return session.extract(wanted.need, given, wanted.budget, by, wanted.trigger)

        blanks = {"need": wanted.need or "what the to-do needs", "budget": wanted.budget, "latest": said or "nothing"}
        return Question(prompt("extract_request", log=log, **blanks, **known(workspace)), apply, "its lines")

    def fall_back(self, session: Session, why: str) -> Extraction:
        """Let the embedded extractor find lines."""
        reason = f"{_reason(self.wanted.trigger)}; {why}" if why else ""
        return session.extract(self.wanted.need, None, self.wanted.budget, By("embedded", reason), self.wanted.trigger)


def _reason(trigger: Trigger | None) -> str:
    return "asked for" if trigger is None else str(trigger)


def _numbered(session: Session, query: str) -> str:
    """The lines of the log with their numbers: all of them where they are few, else those of the records that fit best, around where they do."""
    log = records(session, steps_of(session.workspace))
    if sum(len(each.text) for each in log) < LOG:
        return "\n".join(_lines(each.ref, each.text) for each in log)
    shown, left = list[str](), LOG
    for hit in session.recall(query=query, limit=HITS) if query.strip() else ():
        ref, _, near = hit.ref.partition(":")
        block = _lines(ref, session.recall(ref).text, max(0, int(near.partition("-")[0] or 1) - RECORD // 2))
        left -= count(block)
        if left < 0:
            break
        shown.append(block)
    return "\n".join(shown)


def _lines(ref: str, text: str, first: int = 0) -> str:
    """Lines of a record under its address, numbered, from one on."""
    lines = line_form(text)
    shown = (f"{at}| {each[:2_000]}" for at, each in enumerate(lines[first : first + RECORD], first + 1))
    return "\n".join([f"{ref}, {len(lines)} lines", *shown])


def new_words(session: Session) -> str:
    """The address of the user's last message where no plan has read it yet; empty where there is none."""
    workspace = session.workspace
    ref, _ = last_said(session, workspace)
    return ref if ref and place_of(ref) > workspace.intent.looked else ""
