"""Places messages, writes refactorings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field, model_validator

from ctxfold.decisions.refactor import KEY_INFO, THOUGHT, Case, Operator, Refactored
from ctxfold.errors import BranchError, Unfit
from ctxfold.log import parse_step
from ctxfold.models.deciders.loop import ModelQuestion, RequestKind
from ctxfold.models.deciders.memory import known, log_of, records, standing, steps_of
from ctxfold.models.protocol import parse_words
from ctxfold.prompts import prompt
from ctxfold.session.branches import Move
from ctxfold.session.session import Session
from ctxfold.workspace import By, Workspace, spans

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
class PlaceQuestion:
    """Go where a message belongs, before it is recorded."""

    message: str
    kind: ClassVar[RequestKind[Placement]] = RequestKind.of(Placement, "place", "move")

    def ask(self, session: Session) -> ModelQuestion[Placement, Move] | str:
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
        return ModelQuestion(
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


REFACTOR_DOUBT = 0.5
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
    kind: ClassVar[RequestKind[Routing]] = RequestKind.of(Routing, "route", "route")

    def ask(self, session: Session) -> ModelQuestion[Routing, Routed | Refactored]:
        """Ask which operator the history calls for; what the user asks right now is not shown."""
        workspace = session.workspace

        def apply(_session: Session, written: Routing) -> Routed | Refactored:
            operator, analysis = written.selected_operator, " ".join(written.analysis.split())[:ANALYSIS]
            sure = written.confidence
            seen = analysis if sure is None else f"{sure:.2f} sure: {analysis}"
            if operator == "none":
                return Refactored("none", False, f"the model saw no drift: {seen}", "model")
            if sure is not None and sure < REFACTOR_DOUBT:
                return Refactored("none", False, f"the model is in doubt whether {operator} is due: {seen}", "model")
            return Routed(operator, seen)

        text = prompt("route_request", **_history(session, workspace, unanswered=False))
        return ModelQuestion(text, apply, "its operator")

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
    kind: ClassVar[RequestKind[Rewritten]] = RequestKind.of(Rewritten, "rewrite", "refactor")

    def ask(self, session: Session) -> ModelQuestion[Rewritten, Refactored] | str:
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
        return ModelQuestion(text, apply, "its form", _in_words)

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
    return {"text": said} if tagged else parse_words(said, "rewrite")


def _history(session: Session, workspace: Workspace, *, unanswered: bool) -> dict[str, str]:
    """The goal, the register and the log of the path; on demand without the step in which the user's newest words wait for an answer."""
    steps, blocks = steps_of(workspace), workspace.blocks
    waits = bool(blocks) and all(line.kind == "user" for line in blocks[-1].lines)
    shown = steps[: -len(blocks[-1].steps)] if waits and not unanswered else steps
    log = records(session, shown)
    told = {"standing": standing(workspace, log), "text": log_of(log, LONGEST) or "nothing yet"}
    return {**known(workspace), **told}
