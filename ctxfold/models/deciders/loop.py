"""The loop that asks a model for one decision: ask, check, ask once more with the reason, then use the embedded decider."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import anyio
import anyio.to_thread
from pydantic import BaseModel

from ctxfold.errors import InvalidReply, ModelError, ModelUnavailable, StaleDecision, Unfit
from ctxfold.models.named import add_prices, cost
from ctxfold.models.protocol import Model, Reply, Request, Tool, Usage, Words, settle, span
from ctxfold.prompts import prompt
from ctxfold.session.session import Session
from ctxfold.workspace import Decider

Written = TypeVar("Written", bound=BaseModel)
Made = TypeVar("Made")
T = TypeVar("T")

_REPLY = 8_000
"""The most tokens a reply may take."""


class SessionLease(Protocol):
    """Does sync work on one session's handle, off the event loop and alone on it; the handle is free in between."""

    async def __call__(self, work: Callable[[Session], T]) -> T:
        """Do the work and give what it gives. Raises CtxfoldError: whatever the work raises."""
        ...


@dataclass(frozen=True, slots=True)
class _Own:
    """The handle of whoever holds it alone."""

    session: Session

    async def __call__(self, work: Callable[[Session], T]) -> T:
        return await anyio.to_thread.run_sync(work, self.session)


def leased(session: Session | SessionLease) -> SessionLease:
    """The lease of a session: its own where a handle is given, which is used in worker threads."""
    return _Own(session) if isinstance(session, Session) else session


@dataclass(frozen=True, slots=True)
class RequestKind(Generic[Written]):
    """What is the same in each request for one kind of decision; made once a process.

    Attributes:
        tool: what the model decides through.
        schema: the form of its reply.
        system: who it is and what it must do.
    """

    tool: Tool
    schema: type[Written]
    system: str

    @classmethod
    def of(cls, schema: type[Written], name: str, prompts: str) -> RequestKind[Written]:
        """A kind by its tool's name, its words in the prompt files `PROMPTS_tool` and `PROMPTS_system`."""
        return cls(Tool.deciding(schema, prompt(f"{prompts}_tool"), name), schema, prompt(f"{prompts}_system"))


@dataclass(frozen=True, slots=True)
class ModelQuestion(Generic[Written, Made]):
    """One question to a model.

    Attributes:
        text: what it is asked, the material in it.
        apply: checks a reply and applies it; raises InputError or Unfit for one that is to go back, StaleDecision where what was shown changed meanwhile.
        fault: what a reply that `apply` refuses with a plain InputError is at fault for.
        words: reads a reply that calls no tool; None reads the tool's call in words.
    """

    text: str
    apply: Callable[[Session, Written], Made]
    fault: str
    words: Words | None = None


class DecisionKind(Protocol[Written, Made]):
    """One decision that is due: how a model is asked for it, and what is done without one."""

    @property
    def kind(self) -> RequestKind[Written]:
        """What its requests have in common."""
        ...

    def ask(self, session: Session) -> ModelQuestion[Written, Made] | str:
        """The question, or why no model is asked."""
        ...

    def fall_back(self, session: Session, why: str) -> Made:
        """Let the embedded decider decide; `why` is for the event, empty where no model is there."""
        ...


@dataclass(frozen=True, slots=True)
class Decided(Generic[Made]):
    """A decision that was made.

    Attributes:
        note: why it is not the model's, in one line; empty when it is, or when there is no model.
        usage: tokens of every reply, refused ones included.
        dollars: what they cost; None where a price is not on file.
    """

    made: Made
    decider: Decider
    note: str = ""
    usage: Usage = field(default_factory=Usage)
    dollars: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Timed:
    """A model whose replies must be there at a moment: for work that somebody waits for."""

    model: Model
    until: float

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    async def decide(self, request: Request) -> Reply:
        """Ask it, for as long as there is time. Raises ModelUnavailable when that is over."""
        with anyio.move_on_at(self.until):
            return await self.model.decide(request)
        raise ModelUnavailable(f"{self.name} did not answer in time")


async def decide(model: Model | None, lease: SessionLease, decision: DecisionKind[Written, Made]) -> Decided[Made]:
    """Make a decision: by the model where one can be had and its reply holds, else by the embedded decider.

    Raises:
        CtxfoldError: what the session raises where nothing of the kind can be decided at all.
    """
    with span(f"ctxfold.{decision.kind.tool.name}") as noted:
        decided = await _decided(model, lease, decision)
        noted["ctxfold.decider"], noted["ctxfold.fell_back"] = decided.decider, bool(decided.note)
        return decided


async def _decided(model: Model | None, lease: SessionLease, decision: DecisionKind[Written, Made]) -> Decided[Made]:
    if model is None:
        return Decided(await lease(lambda session: decision.fall_back(session, "")), "embedded")
    question = await lease(decision.ask)
    if isinstance(question, str):
        why = f"{model.name} was not asked: {question}"
        return Decided(await lease(lambda session: decision.fall_back(session, why)), "embedded", why)
    asked = _Conversation(question, decision.kind.schema, lease, model.name, decision.kind.tool.name)
    messages = [{"role": "user", "content": [{"type": "text", "text": question.text}]}]
    request = Request(decision.kind.system, messages, decision.kind.tool, max_tokens=_REPLY)
    try:
        made = await settle(model, request, asked.take, asked.seen, question.words, asked.refuse)
        return Decided(made, "model", "", asked.usage, asked.dollars)
    except InvalidReply:
        note = f"{model.name} was refused twice, at last for {asked.fault}"
    except ModelError as error:
        note = f"{model.name} could not be asked: {type(error).__name__}"
    except StaleDecision:
        note = f"the session changed while {model.name} wrote"
    await asked.keep()
    made = await lease(lambda session: decision.fall_back(session, note))
    return Decided(made, "embedded", note, asked.usage, asked.dollars)


@dataclass
class _Conversation(Generic[Written, Made]):
    """One question under way: its cost so far, and what the last reply was refused for."""

    question: ModelQuestion[Written, Made]
    schema: type[Written]
    lease: SessionLease
    model: str
    tool: str
    usage: Usage = field(default_factory=Usage)
    dollars: float | None = 0.0
    fault: str = ""
    refused: list[tuple[str, str]] = field(default_factory=list)

    def refuse(self, written: str, why: str) -> None:
        self.refused.append((written, why))

    async def keep(self) -> None:
        """Keep what was refused since the last call, before the event of the decision that is made in the end."""
        if self.refused:
            kept, self.refused = self.refused, []
            await self.lease(lambda session: session.keep_refused(f"{self.tool}, asked of {self.model}", kept))

    def seen(self, reply: Reply) -> None:
        self.usage += reply.usage
        self.dollars = add_prices(self.dollars, cost(reply.usage, self.model) if reply.usage.prompt else 0.0)
        self.fault = "answering without its tool"

    async def take(self, arguments: Mapping[str, Any]) -> Made:
        await self.keep()
        self.fault = "its form"
        written = self.schema.model_validate(arguments)
        self.fault = self.question.fault
        try:
            return await self.lease(lambda session: self.question.apply(session, written))
        except Unfit as unfit:
            self.fault = unfit.fault
            raise
