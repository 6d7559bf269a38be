"""Asks a model which operator the history calls for, and for the text that the operator puts in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field, model_validator

from ctxfold.decisions.refactor.checks import KEY_INFO, THOUGHT
from ctxfold.decisions.refactor.values import Case, Operator, Refactored
from ctxfold.errors import Unfit
from ctxfold.models.deciders.loop import Kind, Question
from ctxfold.models.deciders.material import known, log_of, records, standing, steps_of
from ctxfold.models.protocol import spoken
from ctxfold.prompts import prompt
from ctxfold.session.session import Session
from ctxfold.workspace.by import By
from ctxfold.workspace.workspace import Workspace, spans

__all__ = ["Rewritten", "Route", "Routed", "Routing", "Write"]

DOUBT = 0.5
"""Confidence below which a history is left alone."""
LEAST, MOST = 16, 1_200
"""o200k tokens of a text that is put in place of steps: there must be room for so many, and it is asked to stay within so many."""
ANALYSIS = 300
"""Characters of a router's analysis that an event keeps."""

LONGEST = 60_000
"""o200k tokens of history that a model is shown at most, the newest."""


class Routing(BaseModel, frozen=True, extra="forbid", strict=True):
    """What a model answers as a router: whether the history has gone bad, and the one operator for it."""

    analysis: Annotated[
        str, Field(min_length=1, max_length=2_000, description="What the history shows, in one or two sentences.")
    ]
    drift_detected: Annotated[bool, Field(description="Whether the history has gone bad.")]
    selected_operator: Annotated[
        Operator | Literal["none"],
        Field(description="The one operator for it; none exactly where no drift is detected."),
    ]
    confidence: Annotated[
        float | None, Field(ge=0, le=1, description="How sure you are, 0 to 1; in doubt nothing is done.")
    ] = None

    @model_validator(mode="after")
    def _agrees(self) -> Routing:
        if self.drift_detected == (self.selected_operator == "none"):
            raise ValueError("drift_detected is false exactly where selected_operator is none")
        return self


class Rewritten(BaseModel, frozen=True, extra="forbid"):
    """What a model answers as a refactorer: the text that is put in place."""

    text: str = Field(min_length=1, max_length=40_000, description="The text, as it is to stand.")


@dataclass(frozen=True, slots=True)
class Routed:
    """The operator that a model chose, and what it saw."""

    operator: Operator
    analysis: str


@dataclass(frozen=True, slots=True)
class Route:
    """Choose an operator, or none. Where no model says so, the embedded router chooses and its operator is applied at once."""

    budget: int | None = None
    kind: ClassVar[Kind[Routing]] = Kind.of(Routing, "route", "route")

    def ask(self, session: Session) -> Question[Routing, Routed | Refactored]:
        """Ask which operator the history calls for; what the user asks right now is not shown."""
        workspace = session.workspace

        def apply(_session: Session, written: Routing) -> Routed | Refactored:
            operator, analysis = written.selected_operator, " ".join(written.analysis.split())[:ANALYSIS]
            sure = written.confidence
            seen = analysis if sure is None else f"{sure:.2f} sure: {analysis}"
            if operator == "none":
                return Refactored("none", False, f"the model saw no drift: {seen}", "model")
            if sure is not None and sure < DOUBT:
                return Refactored("none", False, f"the model is in doubt whether {operator} is due: {seen}", "model")
            return Routed(operator, seen)

        text = prompt("route_request", **_history(session, workspace, unanswered=False))
        return Question(text, apply, "its operator")

    def fall_back(self, session: Session, why: str) -> Routed | Refactored:
        """Let the embedded router choose and refactor."""
        return session.refactor("auto", by=By("embedded", why), budget=self.budget)


@dataclass(frozen=True, slots=True)
class Write:
    """Write what an operator puts in place. `analysis`: what the router saw, for the event; empty where somebody named the operator."""

    model: str
    operator: Operator
    budget: int | None = None
    analysis: str = ""
    kind: ClassVar[Kind[Rewritten]] = Kind.of(Rewritten, "rewrite", "refactor")

    def ask(self, session: Session) -> Question[Rewritten, Refactored] | str:
        """Ask for the text; the session checks it and applies it, or logs why not."""
        workspace = session.workspace
        blanks = self._blanks(session, workspace)
        if isinstance(blanks, str):
            return blanks

        def apply(session: Session, written: Rewritten) -> Refactored:
            by = By("model", "; ".join(filter(None, (f"written by {self.model}", self.analysis))))
            done = session.refactor(self.operator, written.text, by, budget=self.budget)
            if done.refused:
                raise Unfit(f"this was refused: {done.why}", done.reason)
            return done

        wanted = prompt(f"refactor_wanted_{self.operator}", **blanks)
        text = prompt("refactor_request", wanted=wanted, **_history(session, workspace, unanswered=True))
        return Question(text, apply, "its form", _in_words)

    def _blanks(self, session: Session, workspace: Workspace) -> dict[str, object] | str:
        """What is to be replaced, and the room for it; or why there is nothing to write."""
        if self.operator == "path_prune":
            pruned = session.refactor("path_prune", dry_run=True, budget=self.budget)
            before, after = pruned.tokens
            if pruned.refused or before - after < LEAST:
                return (
                    pruned.reason if pruned.refused else "what went in circles is shorter than what could be said of it"
                )
            return {"steps": spans(pruned.steps), "most": before - after}
        if self.operator in ("state_abstract", "noise_filter"):
            place = Case(workspace).protected
            stand, took = workspace.blocks[place:], sum(block.tokens for block in workspace.blocks[:place])
            if took < 2 * LEAST:
                return "nothing stands before the latest step that could be said in fewer words"
            return {"latest": f"s{stand[0].steps[0]}", "most": min(MOST, took // 2)}
        room = {"cognitive_boosting": THOUGHT, "attention_anchor": KEY_INFO}
        return {"most": room[self.operator]} if self.operator in room else {}

    def fall_back(self, session: Session, why: str) -> Refactored:
        """Let the embedded operator do what it can."""
        return session.refactor(self.operator, None, By("embedded", why), budget=self.budget)


def _in_words(said: str) -> Mapping[str, Any]:
    """The arguments of a reply that calls no tool: a text between its tags, or the tool's call in words. Raises InputError for any other."""
    said = said.strip()
    tagged = said.startswith("<summary>") and said.endswith("</summary>")
    return {"text": said} if tagged else spoken(said, "rewrite")


def _history(session: Session, workspace: Workspace, *, unanswered: bool) -> dict[str, str]:
    """The goal, the register and the log of the path; on demand without the step in which the user's newest words wait for an answer."""
    steps, blocks = steps_of(workspace), workspace.blocks
    waits = bool(blocks) and all(line.kind == "user" for line in blocks[-1].lines)
    shown = steps[: -len(blocks[-1].steps)] if waits and not unanswered else steps
    log = records(session, shown)
    told = {"standing": standing(workspace, log), "text": log_of(log, LONGEST) or "nothing yet"}
    return {**known(workspace), **told}
