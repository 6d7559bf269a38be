"""Keeps a session's context while a driver works: consolidates, plans and extracts where that is due, with a model where one can be had.

What a model writes is checked and applied by the session; a reply that cannot be applied goes back once with the reason. Then, and where the model
cannot be asked, the embedded deciders take over and the event's cause says why. The model is a setting of its own, so a strong one can serve a
cheap agent. It holds no session and decides nothing itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ctxfold.decisions.fold.parse import Compliance
from ctxfold.decisions.fold.verify import invented
from ctxfold.decisions.intent.triggers import Trigger
from ctxfold.decisions.intent.written import ItemWritten, LinesWritten, StatementWritten
from ctxfold.errors import InputError, InvalidReply, ModelError, StaleDecision
from ctxfold.models import Model, Reply, Request, Tool, Usage, settle
from ctxfold.models.deciders.fold import Planner
from ctxfold.models.deciders.lease import Book, lent
from ctxfold.models.deciders.material import Material, for_extract, for_plan
from ctxfold.prompts import prompt
from ctxfold.session.handle import DEFAULT_BUDGET
from ctxfold.session.intent import Wanted
from ctxfold.session.maintain import extraction_of
from ctxfold.session.session import Session
from ctxfold.tokens import Budget
from ctxfold.workspace.by import By
from ctxfold.workspace.intent import Extraction
from ctxfold.workspace.workspace import Tile

__all__ = ["Attendant", "Kept", "LinesChosen", "PlanWritten"]

_REPLY = 8_000
_NAMED = 8


class PlanWritten(BaseModel):
    """What a model answers when it plans: U-Fold's summary and to-do."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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


class LinesChosen(BaseModel):
    """What a model answers when it extracts; nothing where nothing serves."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    selections: tuple[LinesWritten, ...] = Field(default=(), max_length=24, description="The most wanted first.")


@dataclass(frozen=True, slots=True)
class Kept:
    """What was seen to.

    Attributes:
        folded: the tiles that were made.
        triggers: what called for a plan or an extract.
        notes: why something is not the model's work, a line each.
        usage: tokens of every reply, refused ones included.
        compliance: how well replies in words kept to the form of a fold.
        extraction: what an extraction that was asked for brought; empty where nothing serves, None where none was.
    """

    folded: tuple[Tile, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    compliance: Compliance = field(default_factory=Compliance)
    extraction: Extraction | None = None


@dataclass
class _Tally:
    """What replies cost and why one was refused at last; lives as long as one question."""

    usage: Usage = field(default_factory=Usage)
    fault: str = "answering without its tool"

    def seen(self, reply: Reply) -> None:
        self.usage += reply.usage


class Attendant:
    """Sees to what is due in a session.

    Args:
        model: who folds, plans and extracts; None for the embedded deciders.
    """

    def __init__(self, model: Model | None) -> None:
        self._model = model
        self._planner = Planner(model)
        self._plan = Tool.deciding(PlanWritten, prompt("plan_tool"), "plan")
        self._extract = Tool.deciding(LinesChosen, prompt("extract_tool"), "extract")

    @property
    def name(self) -> str:
        """The model's name; empty for the embedded deciders."""
        return "" if self._model is None else self._model.name

    async def keep(self, session: Session | Book, budget: int = DEFAULT_BUDGET, model: str | None = None) -> Kept:
        """Consolidate, plan and extract, each where it is due: most often nothing is, and no one is asked.

        Args:
            session: where, or what lends it; it is used in worker threads, and free while a model writes.
            budget: tokens of the view it is for.
            model: the model that reads the view, by which those tokens are counted; None for o200k.

        Raises:
            BudgetError: a budget below the least.
        """
        book = lent(session)
        planned = await self._planner.consolidate(book, budget, model)
        folded = () if planned is None else planned.tiles
        spent = Kept() if planned is None else Kept(usage=planned.usage, compliance=planned.compliance)
        notes = [planned.note] if planned is not None and planned.note else []
        if self._model is None:
            due = await book(lambda session: session.maintain(budget, model))
            return Kept(folded, due, tuple(notes))
        due = await book(lambda session: session.maintain(budget, model, act=False))
        usage = spent.usage
        change = next((trigger for trigger in due if trigger.cause == "intent change"), None)
        if change is not None:
            done = await self.plan(book, change)
            usage, notes = usage + done.usage, [*notes, *done.notes]
        limit = Budget.of(budget, model).tokens
        wanted = await book(lambda session: extraction_of(due, session.workspace, limit))
        if wanted is not None:
            done = await self.extract(book, wanted.need, wanted.budget, wanted.trigger)
            usage, notes = usage + done.usage, [*notes, *done.notes]
        return Kept(folded, due, tuple(notes), usage, spent.compliance)

    async def plan(self, session: Session | Book, trigger: Trigger | None = None) -> Kept:
        """Set the intent as the model writes it; without one it stays as it is.

        Args:
            session: where, or what lends it; it is used in worker threads, and free while a model writes.
            trigger: what called for it; None where somebody asked.
        """
        book = lent(session)
        if self._model is None:
            return Kept()
        model, tally = self._model, _Tally()
        shown = await book(for_plan)

        async def take(arguments: Mapping[str, Any]) -> None:
            tally.fault = "its form"
            written = PlanWritten.model_validate(arguments)
            held = (*written.constraints, *written.decisions)
            texts = [written.summary, *(item.text for item in written.todo), *(each.text for each in held)]
            tally.fault = "inventing values"
            _must_not_invent("\n".join(texts), shown)
            tally.fault = "its evidence"
            by = By("model", f"{_reason(trigger)}; written by {model.name}")
            await book(lambda session: _planned(session, shown, written, by, trigger))

        request = _request("plan_system", prompt("plan_request", **shown.blanks), self._plan)
        note = await self._settled(request, take, tally)
        return Kept(notes=(note,) if note else (), usage=tally.usage)

    async def extract(
        self, session: Session | Book, need: str | None = None, budget: int = 400, trigger: Trigger | None = None
    ) -> Kept:
        """Put lines of the log at the end of the view: those the model chooses, else those the embedded extractor finds.

        Args:
            session: where, or what lends it; it is used in worker threads, and free while a model writes.
            need: what is wanted, in words; None for what the intent is about.
            budget: o200k tokens that all of it may cost.
            trigger: what called for it; None where somebody asked: what stands in the view is not left out then.
        """
        book, wanted = lent(session), Wanted(need, None, budget, trigger)
        if self._model is None:
            return Kept(extraction=await book(lambda session: _found(session, wanted)))
        model, tally = self._model, _Tally()
        shown = await book(lambda session: for_extract(session, wanted))
        made = Extraction((), need=need or "")

        async def take(arguments: Mapping[str, Any]) -> None:
            nonlocal made
            tally.fault = "its form"
            chosen = LinesChosen.model_validate(arguments)
            tally.fault = "its lines"
            given = [lines.model_dump() for lines in chosen.selections]
            by = By("model", f"{_reason(trigger)}; chosen by {model.name}")
            if given:
                made = await book(lambda session: session.extract(need, given, budget, by, trigger))

        request = _request("extract_system", prompt("extract_request", **shown.blanks), self._extract)
        note = await self._settled(request, take, tally)
        if note:
            made = await book(lambda session: _found(session, wanted, f"{_reason(trigger)}; {note}"))
        return Kept(notes=(note,) if note else (), usage=tally.usage, extraction=made)

    async def _settled(
        self, request: Request, take: Callable[[Mapping[str, Any]], Awaitable[None]], tally: _Tally
    ) -> str:
        """Ask, and have the answer applied; why it was not, where it was not."""
        if self._model is None:
            return ""
        try:
            await settle(self._model, request, take, tally.seen)
        except InvalidReply:
            return f"{self._model.name} was refused twice, at last for {tally.fault}"
        except ModelError as error:
            return f"{self._model.name} could not be asked: {type(error).__name__}"
        except StaleDecision:
            return "the user spoke while the model wrote"
        return ""


def _planned(session: Session, shown: Material, written: PlanWritten, by: By, trigger: Trigger | None) -> None:
    """Plan as a model wrote.

    Raises:
        StaleDecision: the user spoke meanwhile.
        InputError: an unknown id, or a ref where nothing is recorded.
    """
    if not shown.stands(session.workspace):
        raise StaleDecision("the user spoke while the plan was written; plan again")
    todo = [item.given() for item in written.todo]
    held, settled = ([each.given() for each in part] for part in (written.constraints, written.decisions))
    session.plan(written.summary, todo, held, settled, by, trigger)


def _found(session: Session, wanted: Wanted, reason: str = "") -> Extraction:
    return session.extract(wanted.need, None, wanted.budget, By("embedded", reason), wanted.trigger)


def _reason(trigger: Trigger | None) -> str:
    return "asked for" if trigger is None else str(trigger)


def _must_not_invent(text: str, shown: Material) -> None:
    """Hold what a model wrote against what it was shown.

    Raises:
        InputError: it holds values that stand nowhere there.
    """
    values = invented(text, shown.text, shown.steps)
    if values:
        named = ", ".join(repr(value[:60]) for value in values[:_NAMED])
        raise InputError(f"the plan holds {named}, which the dialogue does not; copy values exactly, or leave them out")


def _request(system: str, asked: str, tool: Tool) -> Request:
    messages = [{"role": "user", "content": [{"type": "text", "text": asked}]}]
    return Request(system=prompt(system), messages=messages, tool=tool, max_tokens=_REPLY)
