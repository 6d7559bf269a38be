"""Asks a model where a message belongs, which refactoring a history needs, and for the text of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field, model_validator

from ctxfold.decisions.refactor import KEY_INFO, THOUGHT, Case, Operator, Refactored
from ctxfold.decisions.refactor.operators import list_prose
from ctxfold.errors import BranchError, Unfit
from ctxfold.log import parse_step, spans
from ctxfold.models.deciders.loop import ModelQuestion, RequestKind, check_values
from ctxfold.models.deciders.memory import fill_register, list_newest_steps, show_log
from ctxfold.models.protocol import parse_words
from ctxfold.prompts import prompt
from ctxfold.session.branches import Move
from ctxfold.session.session import Session
from ctxfold.workspace import By

DOUBT = 0.5
"""Confidence below which a message stays on its branch, and no operator is applied."""
VIEW = 4_000
"""o200k tokens of the view that a model is shown."""
GATHERED = 200
"""Steps of other branches, the newest, from which words are gathered for a message that asks for all topics together.
"""
MESSAGE = 8_000
"""Characters of the message that it is shown."""


class Placement(BaseModel, frozen=True, extra="forbid"):
    """The reply of a model: the branch of a message."""

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
    """Go to the branch of a message, before it is recorded."""

    message: str
    kind: ClassVar[RequestKind[Placement]] = RequestKind.of(Placement, "place", "move")

    def ask(self, session: Session, _by: By) -> ModelQuestion[Placement, Move] | str:
        """Ask where the message belongs, of the branches there are."""
        if not self.message.strip():
            return "there is no message"
        branches = {topic.name: [branch.name for branch in topic.branches] for topic in session.tree()}
        names, steps = set(chain(*branches.values())), _list_other_steps(session)
        steps |= {step for block in session.workspace.blocks for step in block.steps}

        def apply(session: Session, placed: Placement) -> Move:
            if placed.action == "switch" and placed.branch not in names:
                raise BranchError(f"there is no branch {placed.branch[:64]!r}; they are {', '.join(sorted(names))}")
            if placed.action == "create" and (not placed.step or parse_step(placed.step) not in steps):
                raise BranchError(f"{placed.step[:20]!r} is no step shown to you; name the last step that is kept")
            if placed.confidence < DOUBT:
                return session.branch("continue", by=By("model", f"in doubt: {placed.confidence:.2f}"))
            at = placed.step if placed.action == "create" else None
            to = placed.branch if placed.action == "switch" else None
            why = "; ".join(filter(None, (f"{placed.confidence:.2f} sure", placed.reason)))
            moved = session.branch(placed.action, at=at, to=to, by=By("model", why))
            if placed.gather:
                _gather(session)
            return moved

        blanks = {
            "here": session.branch_name,
            "branches": "\n".join(f"{topic}: {', '.join(each)}" for topic, each in branches.items()),
            "view": session.view(VIEW).text,
            "message": self.message[:MESSAGE],
        }
        return ModelQuestion(prompt("move_request", **blanks), apply, "its place")

    def fall_back(self, session: Session, why: str) -> Move:
        """Let the embedded decider place it; if a model was asked in vain, stay."""
        if why and self.message.strip():
            return session.branch("continue", by=By("embedded", why))
        return session.branch("auto", query=self.message)


def _gather(session: Session) -> None:
    """Extract the user's words on other branches and topics, the newest first (Context-Agent's final synthesis)."""
    steps = sorted(_list_other_steps(session))[-GATHERED:]
    words = [record.ref for record in session.read_records(steps) if record.kind == "user"]
    lines = [{"ref": ref, "why": "said on another branch"} for ref in reversed(words)]
    if lines:
        session.extract("what was said on every topic", lines, session.budget // 4, By("model", "all topics together"))


def _list_other_steps(session: Session) -> set[int]:
    """The steps of other branches that are shown."""
    return {step for each in session.workspace.elsewhere.branches for turn in each.turns for step in turn.steps}


LEAST, MOST = 16, 1_200
"""o200k tokens of a text for steps: the least room it must have, and the most it is asked to take."""
ANALYSIS = 300
"""Characters of a router's analysis that an event keeps."""

LONGEST = 60_000
"""o200k tokens of history that a model is shown, the newest."""


class Routing(BaseModel, frozen=True, extra="forbid", strict=True):
    """The reply of a model as a router: whether the history has gone bad, and the operator for it."""

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
    """The reply of a model as a refactorer: the text of the operator."""

    text: str = Field(min_length=1, max_length=40_000, description="The text, as it is to stand.")


@dataclass(frozen=True, slots=True)
class Write:
    """Write the text of an operator. `analysis`: the router's, for the event; empty if somebody named the operator."""

    operator: Operator
    budget: int | None = None
    analysis: str = ""
    kind: ClassVar[RequestKind[Rewritten]] = RequestKind.of(Rewritten, "rewrite", "refactor")

    def ask(self, session: Session, by: By) -> ModelQuestion[Rewritten, Refactored] | str:
        """Ask for the text; the session checks and applies it, or commits why not."""
        blanks = self._fill_room(session)
        if isinstance(blanks, str):
            return blanks

        def apply(session: Session, written: Rewritten) -> Refactored:
            who = By("model", "; ".join(filter(None, (by.reason, self.analysis))))
            done = session.refactor(self.operator, written.text, who, budget=self.budget)
            if done.refused:
                raise Unfit(f"this was refused: {done.why}", done.reason)
            return done

        wanted = prompt(f"refactor_wanted_{self.operator}", **blanks)
        text = prompt("refactor_request", wanted=wanted, **_fill_history(session, unanswered=True))

        def check(session: Session, written: Rewritten) -> None:
            if self.operator != "fact_rectify":
                check_values(session, written.text)

        return ModelQuestion(text, apply, "its form", _read_words, check)

    def _fill_room(self, session: Session) -> dict[str, object] | str:
        """The blanks of the request: the steps and the room; or why there is nothing to write."""
        if self.operator == "path_prune":
            pruned = session.refactor("path_prune", dry_run=True, budget=self.budget)
            room = pruned.tokens[0] - pruned.tokens[1]
            if pruned.refused or room < LEAST:
                return pruned.reason if pruned.refused else "what went in circles is shorter than a summary of it"
            return {"steps": spans(pruned.steps), "most": room}
        if self.operator in ("state_abstract", "noise_filter"):
            workspace = session.workspace
            first = Case(workspace).protected
            room = sum(block.tokens for block in workspace.blocks[:first]) // 2
            if room < LEAST:
                return "nothing before the latest step could be said in fewer words"
            return {"latest": f"s{workspace.blocks[first].steps[0]}", "most": min(MOST, room)}
        rooms = {"cognitive_boosting": THOUGHT, "attention_anchor": KEY_INFO}
        return {"most": rooms[self.operator]} if self.operator in rooms else {}

    def fall_back(self, session: Session, why: str) -> Refactored:
        """Let the embedded operator do it."""
        return session.refactor(self.operator, None, By("embedded", why), budget=self.budget)


@dataclass(frozen=True, slots=True)
class Route:
    """Choose an operator, or none. The embedded router applies its choice at once."""

    budget: int | None = None
    kind: ClassVar[RequestKind[Routing]] = RequestKind.of(Routing, "route", "route")

    def ask(self, session: Session, _by: By) -> ModelQuestion[Routing, Write | Refactored]:
        """Ask for the operator that the history needs; the message that waits for an answer is not shown."""

        def apply(_session: Session, written: Routing) -> Write | Refactored:
            operator, analysis = written.selected_operator, " ".join(written.analysis.split())[:ANALYSIS]
            sure = written.confidence
            seen = analysis if sure is None else f"{sure:.2f} sure: {analysis}"
            if operator == "none":
                return Refactored("none", False, f"the model saw no drift: {seen}", "model")
            if sure is not None and sure < DOUBT:
                return Refactored("none", False, f"the model is in doubt whether {operator} is due: {seen}", "model")
            return Write(operator, self.budget, seen)

        text = prompt("route_request", **_fill_history(session, unanswered=False))
        return ModelQuestion(text, apply, "its operator")

    def fall_back(self, session: Session, why: str) -> Write | Refactored:
        """Let the embedded router choose and refactor."""
        return session.refactor("auto", by=By("embedded", why), budget=self.budget)


def _read_words(reply: str) -> Mapping[str, Any]:
    """Read a reply that calls no tool: a text between its tags, or the tool's call in words."""
    reply = reply.strip()
    is_tagged = reply.startswith("<summary>") and reply.endswith("</summary>")
    return {"text": reply} if is_tagged else parse_words(reply, "rewrite")


def _fill_history(session: Session, *, unanswered: bool) -> dict[str, str]:
    """The goal, the register and the log of the path, on demand without the message that waits for an answer."""
    workspace = session.workspace
    steps, blocks = list_newest_steps(workspace), workspace.blocks
    waits = bool(blocks) and all(line.kind == "user" for line in blocks[-1].lines)
    steps = steps[: -len(blocks[-1].steps)] if waits and not unanswered else steps
    log = session.read_records(steps, reading=True)
    notes = frozenset(each.ref for each in log if each.kind == "note" and each.origin == "model")
    proses = list_prose(Case(workspace, model_notes=notes))
    standing = "\n".join(f"{name}: {text}" for name, text in proses) or "none"
    return {**fill_register(workspace), "standing": standing, "text": show_log(log, LONGEST) or "nothing yet"}
