"""Makes one decision: has a model asked, checks and applies its reply, and lets the embedded decider decide else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import anyio
import anyio.to_thread
from pydantic import BaseModel

from ctxfold.config import pairs_file
from ctxfold.decisions.marks import name_marks
from ctxfold.decisions.register import PlanWritten
from ctxfold.errors import InvalidReply, ModelError, ModelUnavailable, StaleDecision, Unfit
from ctxfold.models.named import add_prices, cost
from ctxfold.models.protocol import Model, Reply, Request, Tool, Usage, Words, ask, span
from ctxfold.prompts import prompt
from ctxfold.session.session import Session
from ctxfold.text.words import counted
from ctxfold.workspace import By, Decider, Intent

Written = TypeVar("Written", bound=BaseModel)
Made = TypeVar("Made")
T = TypeVar("T")

_REPLY = 8_000
"""The most tokens a reply may take."""


class SessionLease(Protocol):
    """Runs sync work on a session's handle, outside the event loop and one at a time; the handle is free in between."""

    async def __call__(self, work: Callable[[Session], T]) -> T:
        """Run the work and return its value. Raises CtxfoldError: as the work does."""


def lease_of(session: Session | SessionLease) -> SessionLease:
    """Return the lease of a session; a handle that the caller holds alone is used in worker threads."""
    if not isinstance(session, Session):
        return session

    async def run(work: Callable[[Session], T]) -> T:
        return await anyio.to_thread.run_sync(work, session)

    return run


@dataclass(frozen=True, slots=True)
class RequestKind(Generic[Written]):
    """The parts that all requests for one kind of decision share: tool, schema of a reply, system prompt."""

    tool: Tool
    schema: type[Written]
    system: str

    @classmethod
    def of(cls, schema: type[Written], name: str, prompts: str, **blanks: str) -> RequestKind[Written]:
        """Return the kind of a tool's name, with the prompts `PROMPTS_tool` and `PROMPTS_system`, its blanks filled."""
        system = prompt(f"{prompts}_system", **blanks).strip()
        return cls(Tool.deciding(schema, prompt(f"{prompts}_tool"), name), schema, system)


@dataclass(frozen=True, slots=True)
class ModelQuestion(Generic[Written, Made]):
    """One question to a model.

    Attributes:
        text: the question with its material.
        apply: checks a reply and applies it; raises InputError or Unfit to have it written again, StaleDecision if the
            session changed meanwhile.
        fault: the fault of a reply that `apply` refuses with a plain InputError, in a few words.
        words: reads a reply that calls no tool; None reads the tool's call in words.
        check: raises Unfit if a first reply goes back although it could be applied.
    """

    text: str
    apply: Callable[[Session, Written], Made]
    fault: str
    words: Words | None = None
    check: Callable[[Session, Written], None] | None = None


def check_values(session: Session, text: str, steps: Sequence[int] = ()) -> None:
    """Raise Unfit if a text holds values that the log of steps lacks; without steps, that of the whole path."""
    ((_, marks),) = session.mark([text], steps)
    if marks:
        why = f"not in the log: {name_marks(marks)}; copy values exactly, or leave them out"
        raise Unfit(why, f"inventing {counted(len(marks), 'value')}")


def write_plan(session: Session, written: PlanWritten, by: By, read: tuple[int, int]) -> Intent:
    """Apply the plan of a model that was shown the log up to a record, with marks behind values that the log lacks."""
    marked = written.reword(text for text, _ in session.mark(written.texts))
    return session.plan(None, marked.todo, marked.constraints, marked.decisions, by, marked.goal, read)


class DecisionKind(Protocol[Written, Made]):
    """One decision: how a model is asked for it, and how the embedded decider makes it."""

    @property
    def kind(self) -> RequestKind[Written]:
        """The parts that its requests share."""

    def ask(self, session: Session, by: By, /) -> ModelQuestion[Written, Made] | str:
        """Return the question, or why no model is asked. `by`: the author of the reply, for the event."""

    def fall_back(self, session: Session, why: str, /) -> Made:
        """Let the embedded decider decide; `why` is for the event, empty without a model."""


@dataclass(frozen=True, slots=True)
class Decided(Generic[Made]):
    """A decision that was made.

    Attributes:
        note: why the model did not make it, in one line; else empty.
        usage: tokens of every reply, refused ones included.
        dollars: their cost; None if a price is not on file.
    """

    made: Made
    decider: Decider
    note: str = ""
    usage: Usage = field(default_factory=Usage)
    dollars: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Timed:
    """A model that must answer by a time of the event loop's clock."""

    model: Model
    until: float

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    async def decide(self, request: Request) -> Reply:
        """Ask the model. Raises ModelUnavailable: the time is over."""
        with anyio.move_on_at(self.until):
            return await self.model.decide(request)
        raise ModelUnavailable(f"{self.name} did not answer in time")


async def decide(
    model: Model | None, session: Session | SessionLease, decision: DecisionKind[Written, Made]
) -> Decided[Made]:
    """Make a decision: by the model if it can be asked and its reply holds, else by the embedded decider.

    Raises:
        CtxfoldError: as the session does, if nothing of the kind can be decided.
    """
    with span(f"ctxfold.{decision.kind.tool.name}") as noted:
        decided = await _decide(model, lease_of(session), decision)
        noted["ctxfold.decider"], noted["ctxfold.fell_back"] = decided.decider, bool(decided.note)
        return decided


async def _decide(model: Model | None, lease: SessionLease, decision: DecisionKind[Written, Made]) -> Decided[Made]:
    if model is None:
        return Decided(await lease(lambda session: decision.fall_back(session, "")), "embedded")
    by = By("model", f"written by {model.name}")
    question = await lease(lambda session: decision.ask(session, by))
    if isinstance(question, str):
        note = f"{model.name} was not asked: {question}"
        return Decided(await lease(lambda session: decision.fall_back(session, note)), "embedded", note)
    kind = decision.kind
    asked = _Conversation(question, kind, lease, model.name)
    messages = [{"role": "user", "content": [{"type": "text", "text": question.text}]}]
    request = Request(kind.system, messages, kind.tool, max_tokens=_REPLY)
    try:
        made: Made = await ask(model, request, asked.take, asked.count, question.words, asked.refuse)
        file = pairs_file()
        note = await anyio.to_thread.run_sync(_keep_pair, file, request, asked.accepted, model.name) if file else ""
        return Decided(made, "model", note, asked.usage, asked.dollars)
    except InvalidReply:
        note = f"{model.name} was refused twice, at last for {asked.fault}"
    except ModelError as error:
        note = f"{model.name} could not be asked: {type(error).__name__}"
    except StaleDecision:
        note = f"the session changed while {model.name} wrote"
    await asked.keep_refused()
    made = await lease(lambda session: decision.fall_back(session, note))
    return Decided(made, "embedded", note, asked.usage, asked.dollars)


def _keep_pair(file: Path, request: Request, reply: Mapping[str, Any], model: str) -> str:
    """Add a request and the reply that was accepted to a file, readable by its owner alone. Returns why it was not."""
    asked = {"system": request.system, "messages": request.messages, "tool": asdict(request.tool)}
    line = json.dumps({"decision": request.tool.name, "model": model, **asked, "reply": reply}, ensure_ascii=False)
    try:
        with open(os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600), "a", encoding="utf-8") as out:
            out.write(f"{line}\n")
    except OSError as error:
        return f"a pair could not be kept in {file} ({error.strerror}); name another file in CTXFOLD_KEEP_PAIRS"
    return ""


@dataclass
class _Conversation(Generic[Written, Made]):
    """One question in progress: its cost so far, and the fault of the last reply."""

    question: ModelQuestion[Written, Made]
    kind: RequestKind[Written]
    lease: SessionLease
    model: str
    usage: Usage = field(default_factory=Usage)
    dollars: float | None = 0.0
    replies: int = 0
    fault: str = ""
    refused: list[tuple[str, str]] = field(default_factory=list)
    accepted: Mapping[str, Any] = field(default_factory=dict)

    async def keep_refused(self) -> None:
        """Commit the replies refused since the last call, before the event of the decision."""
        if self.refused:
            what, kept = f"{self.kind.tool.name}, asked of {self.model}", tuple(self.refused)
            self.refused.clear()
            await self.lease(lambda session: session.keep_refused(what, kept))

    def refuse(self, written: str, why: str) -> None:
        self.refused.append((written, why))

    def count(self, reply: Reply) -> None:
        self.replies += 1
        self.usage += reply.usage
        self.dollars = add_prices(self.dollars, cost(reply.usage, self.model) if reply.usage.prompt else 0.0)
        self.fault = "answering without its tool"

    async def take(self, arguments: Mapping[str, Any]) -> Made:
        await self.keep_refused()
        self.fault, self.accepted = "its form", arguments
        written = self.kind.schema.model_validate(arguments)
        self.fault = self.question.fault
        try:
            if self.replies == 1 and (check := self.question.check) is not None:
                await self.lease(lambda session: check(session, written))
            return await self.lease(lambda session: self.question.apply(session, written))
        except Unfit as unfit:
            self.fault = unfit.fault
            raise
