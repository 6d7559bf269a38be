"""Asks a model for the summary of a fold, checks it, and hands it to the session. It applies nothing itself and holds no session.

A summary that invents a value, is empty or is no shorter than what it replaces goes back once with the reason. Then, and where the model cannot
be asked, the embedded folder folds, and the event's cause says why. The model is a setting of its own, so a strong one can serve a cheap agent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ctxfold.decisions.fold.consolidate import due, told_tile
from ctxfold.decisions.fold.directive import stretch
from ctxfold.decisions.fold.embedded import Settings
from ctxfold.decisions.fold.parse import Compliance, parse
from ctxfold.decisions.fold.verify import invented
from ctxfold.errors import FoldError, InputError, InvalidReply, ModelError, StaleDecision
from ctxfold.log.compact.ditto import spelled
from ctxfold.models import Model, Reply, Request, Tool, Usage, ask
from ctxfold.models.deciders.lease import Book, lent
from ctxfold.models.protocol import spoken
from ctxfold.prompts import prompt
from ctxfold.session.session import Session
from ctxfold.tokens import Budget
from ctxfold.view.ladder import show
from ctxfold.workspace.by import By
from ctxfold.workspace.workspace import Block, RawStep, Tile, Workspace, spans

__all__ = ["FoldSummary", "Planned", "Planner"]

MICRO, MACRO = 120, 800
"""o200k tokens a model is asked to stay within for one step, and for several."""
LONGEST = 100_000
"""o200k tokens of steps a model is asked about at most; longer stretches are the embedded folder's."""
RECENT = 8
"""Blocks at the end that are looked through for what the user said last."""
NAMED = 8
"""How many invented values the model is told of."""


class FoldSummary(BaseModel):
    """What a model answers: the text that takes the place of the steps."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    summary: str = Field(min_length=1, max_length=40_000, description="What replaces the steps, in plain sentences.")


@dataclass(frozen=True, slots=True)
class Planned:
    """A fold that was made, and how it came about.

    Attributes:
        tile: the tile that stands now.
        decider: whose summary it is.
        note: why it is not the model's, in one line; empty when it is, or when there is no model.
        usage: tokens of every reply, refused ones included.
        compliance: how well replies in words kept to the form of a directive.
        tiles: all that a consolidation made, `tile` the last of them; empty for a fold.
    """

    tile: Tile
    decider: Literal["model", "embedded"]
    note: str = ""
    usage: Usage = field(default_factory=Usage)
    compliance: Compliance = field(default_factory=Compliance)
    tiles: tuple[Tile, ...] = ()


@dataclass(frozen=True, slots=True)
class _Wish:
    """A stretch to fold: where it stands, what a model is asked, and of that the part which tells of the session."""

    workspace: Workspace
    blocks: Sequence[Block]
    first: int
    last: int
    asked: str
    source: str

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(step for block in self.blocks for step in block.steps)

    @property
    def tokens(self) -> int:
        return sum(block.tokens for block in self.blocks)


@dataclass(frozen=True, slots=True)
class _Written:
    """What came of asking a model: its summary, or a note that says why there is none."""

    model: str
    summary: str | None
    note: str
    usage: Usage
    compliance: Compliance


class Planner:
    """Folds with a model's summary where one can be had.

    Args:
        model: who writes the summaries; None for the embedded folder.
    """

    def __init__(self, model: Model | None) -> None:
        self._model = model
        self._tool = Tool.deciding(FoldSummary, prompt("fold_tool"), "keep")
        self._system = prompt("fold_system")

    async def fold(
        self, session: Session | Book, first_step: int | None = None, last_step: int | None = None
    ) -> Planned:
        """Fold a stretch of a session.

        Args:
            session: where, or what lends it; it is used in worker threads, and free while a model writes.
            first_step: the first step; None for the last alone.
            last_step: the last step; None for the latest.

        Returns:
            What stands now. The user's words, and facts that later lines point at, are in the tile whoever wrote its summary.

        Raises:
            FoldError: nothing to fold there, or a cut through a tile.
            StaleDecision: the steps changed while the model wrote. Nothing was folded.
        """
        book = lent(session)
        if self._model is None:
            tile = await book(lambda session: session.fold(None, first_step, last_step, By("embedded")))
            return Planned(tile, "embedded")
        wish = await book(lambda session: _wish(session, first_step, last_step))
        if wish is None or wish.tokens > LONGEST:
            note = f"too much, or too far back, to ask {self._model.name} about"
            tile = await book(lambda session: session.fold(None, first_step, last_step, By("embedded", note)))
            return Planned(tile, "embedded", note)
        return await self._asked(self._model, book, wish)

    async def consolidate(
        self, session: Session | Book, budget: int = 8000, model: str | None = None
    ) -> Planned | None:
        """What `Session.consolidate` does at its high-water mark, with this planner's summary in place of the embedded one.

        Args:
            session: where, or what lends it; it is used in worker threads, and free while a model writes.
            budget: tokens of the view it is for.
            model: the model that reads the view, by which those tokens are counted; None for o200k.

        Returns:
            What was folded; None below the mark.

        Raises:
            BudgetError: a budget below the least.
        """
        limit, book = Budget.of(budget, model).tokens, lent(session)
        wish = await book(lambda session: _due(session, limit)) if self._model is not None else None
        note, usage, compliance = "", Usage(), Compliance()
        if self._model is not None and wish is not None and wish.tokens <= LONGEST:
            planned = await self._written(self._model, wish)
            note, usage, compliance = planned.note, planned.usage, planned.compliance
            if planned.summary is not None:
                try:
                    tile = await book(lambda session: _put(session, wish, planned, "high water, "))
                    return Planned(tile, "model", "", usage, compliance, (tile,))
                except StaleDecision:
                    note = "the steps changed while the model wrote"
        cause = f"high water; {note}" if note else "high water"
        tiles = await book(lambda session: session.consolidate(budget, model, By("embedded", cause)))
        return Planned(tiles[-1], "embedded", note, usage, compliance, tiles) if tiles else None

    async def _asked(self, model: Model, book: Book, wish: _Wish) -> Planned:
        planned = await self._written(model, wish)
        if planned.summary is None:
            tile = await book(lambda session: session.fold(None, wish.first, wish.last, By("embedded", planned.note)))
            return Planned(tile, "embedded", planned.note, planned.usage, planned.compliance)
        tile = await book(lambda session: _put(session, wish, planned))
        return Planned(tile, "model", "", planned.usage, planned.compliance)

    async def _written(self, model: Model, wish: _Wish) -> _Written:
        """Ask for a summary; where there is none to be had, say why."""
        check, spent = _Check(wish), list[Usage]()

        def seen(reply: Reply) -> None:
            spent.append(reply.usage)

        messages = [{"role": "user", "content": [{"type": "text", "text": wish.asked}]}]
        request = Request(system=self._system, messages=messages, tool=self._tool, max_tokens=MACRO * 10)
        summary: str | None = None
        note = ""
        try:
            summary = (await ask(model, request, check, seen, check.words)).summary
        except InvalidReply:
            note = f"{model.name} was refused twice, at last for {check.fault}"
        except ModelError as error:
            note = f"{model.name} could not be asked: {type(error).__name__}"
        return _Written(model.name, summary, note, sum(spent, Usage()), check.compliance)


class _Check:
    """Holds a model's reply against the steps it is about.

    Args:
        wish: the steps, and what the model was shown.

    Attributes:
        fault: what the last reply was refused for, in words of ours alone.
        compliance: how well replies in words kept to the form.
    """

    def __init__(self, wish: _Wish) -> None:
        self._wish = wish
        self.fault = "answering without its tool"
        self.compliance = Compliance()

    def words(self, reply: str) -> Mapping[str, Any]:
        """The arguments of a reply that calls no tool: a directive in its text form, for the steps that were shown, or the tool's call in words.

        Raises:
            InputError: neither.
        """
        self.fault = "answering without its tool"
        read = parse(reply, self._wish.workspace)
        self.compliance += read.compliance
        if read.reason is not None:
            raise InputError(f"- {read.reason}")
        if read.directive is None:
            return spoken(read.text, "keep")
        steps = (read.directive.first_step, read.directive.last_step)
        if steps != (self._wish.first, self._wish.last):
            raise InputError(f"- fold {spans(self._wish.steps)}, the steps you were shown, and no others")
        return {"summary": read.directive.summary}

    def __call__(self, arguments: Mapping[str, Any]) -> FoldSummary:
        """The summary of a reply.

        Raises:
            ValidationError: it has another form.
            FoldError: it invents values, is empty, or is no shorter than what it replaces.
        """
        self.fault = "its form"
        decision = FoldSummary.model_validate(arguments)
        values = invented(decision.summary, self._wish.source, frozenset(self._wish.steps))
        if values:
            self.fault = f"inventing {len(values)} value{'s' * (len(values) > 1)}"
            named = ", ".join(repr(value[:60]) for value in values[:NAMED])
            raise FoldError(
                f"the summary holds {named}, which does not stand in the steps; copy values exactly, or leave them out"
            )
        self.fault = "its length"
        told_tile(self._wish.workspace, self._wish.blocks, 0, decision.summary, "model")
        return decision


def _wish(session: Session, first_step: int | None, last_step: int | None) -> _Wish | None:
    """The stretch that is named, and what a model is shown of it; None where it lies before what a workspace loads.

    Raises:
        FoldError: nothing to fold there, or a cut through a tile.
    """
    workspace = session.workspace
    loaded = {step for block in workspace.blocks for step in block.steps}
    if workspace.older is not None and not {first_step, last_step} - {None} <= loaded:
        return None
    return _of(workspace, stretch(workspace, first_step, last_step))


def _due(session: Session, limit: int) -> _Wish | None:
    """The stretch that is to be consolidated; None below the mark, and where not all of the path is loaded."""
    workspace = session.workspace
    found = due(workspace, limit, Settings()) if workspace.older is None else None
    return None if found is None else _of(workspace, found[0])


def _of(workspace: Workspace, blocks: Sequence[Block]) -> _Wish:
    steps = tuple(step for block in blocks for step in block.steps)
    took = sum(block.tokens for block in blocks)
    said = [line.text for block in workspace.blocks[-RECENT:] for line in block.lines if line.kind == "user"]
    source = {
        "goal": " / ".join(note.text for note in workspace.notes) or "not said",
        "now": "\n".join(said[-2:]) or "not said",
        "text": "\n".join(show(_spelled(block)).text for block in blocks),
    }
    most = max(16, min(MICRO if len(steps) == 1 else MACRO, took // 2))
    asked = prompt("fold_request", steps=spans(steps), took=took, most=most, **source)
    return _Wish(workspace, blocks, steps[0], steps[-1], asked, "\n".join(source.values()))


def _put(session: Session, wish: _Wish, planned: _Written, why: str = "") -> Tile:
    """Fold as a model wrote.

    Raises:
        StaleDecision: the steps are no longer what it was shown.
    """
    _must_stand(session, wish)
    cause = f"{why}written by {planned.model}"
    return session.fold(planned.summary, wish.first, wish.last, By("model", cause))


def _spelled(block: Block) -> Block:
    """A block whose every row says all of its cells: a model need not read ditto marks."""
    match block:
        case RawStep():
            return replace(block, lines=tuple(spelled(block.lines)))
        case Tile():
            return replace(block, lines=tuple(spelled(block.lines)))


def _must_stand(session: Session, wish: _Wish) -> None:
    """Whether the steps still are what the model was shown.

    Raises:
        StaleDecision: they are not.
    """
    try:
        now = stretch(session.workspace, wish.first, wish.last)
    except FoldError as error:
        raise StaleDecision(f"{spans(wish.steps)} changed while the fold was written ({error}); fold again") from error
    if [(block.steps, block.lines) for block in now] != [(block.steps, block.lines) for block in wish.blocks]:
        raise StaleDecision(f"{spans(wish.steps)} changed while the fold was written; fold again")
