"""`Deciders`: folds, plans, extracts, refactors and places messages by a model, else by the embedded decider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import anyio
from pydantic import BaseModel

from ctxfold.decisions.extraction import is_folded
from ctxfold.decisions.refactor import Operator, Refactored
from ctxfold.models.deciders.loop import Decided, DecisionKind, SessionLease, Timed, decide, lease_of
from ctxfold.models.deciders.memory import Draft, Fold, Remember, find_micro, find_new_tiles, plan_batch, plan_memory
from ctxfold.models.deciders.register import (
    ChooseLines,
    Part,
    PlanQuestion,
    extract_chosen,
    find_new_words,
    line_parts,
    plan_parts,
)
from ctxfold.models.deciders.steer import PlaceQuestion, Route, Write
from ctxfold.models.named import Roles, add_prices
from ctxfold.models.protocol import Model, Usage
from ctxfold.session.branches import Move
from ctxfold.session.session import Session
from ctxfold.tokens import Budget
from ctxfold.workspace import Decider, Extraction, Intent, Tile

__all__ = ["Decided", "Deciders", "Maintained", "SessionLease"]

Written = TypeVar("Written", bound=BaseModel)
Made = TypeVar("Made")


_SHARE, _FEW, _MOST = 3, 64, 400
"""An extraction after a plan takes a third of the budget that the cover leaves, from 64 to 400 o200k tokens."""


@dataclass(frozen=True, slots=True)
class Maintained:
    """The work of one `maintain`.

    Attributes:
        folded: the tiles that were made.
        notes: why the model did not make a decision, a line each.
        usage: tokens of every reply, refused ones included.
        dollars: their cost; None if a price is not on file.
    """

    folded: tuple[Tile, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    dollars: float | None = 0.0


class Deciders:
    """Makes the decisions of sessions.

        deciders = Deciders(model)
        session.record_turn("Under 100 EUR, please.")
        await deciders.maintain(session)

    Each method takes a session's handle, which it uses in worker threads, or a lease of it; the handle is free while a
    model writes. A reply that cannot be applied goes back once with the reason. Then, or if the model cannot be asked,
    the embedded decider decides; the note and the event say why.

    Args:
        model: one model, or one for each role; None for the embedded deciders.
        seconds: the time that one call waits for all its replies; None for no limit.
    """

    def __init__(self, model: Model | Roles | None, seconds: float | None = None) -> None:
        self._roles = Roles.of(model)
        self._seconds = seconds
        self._planned = WeakKeyDictionary[Session, str]()

    @property
    def name(self) -> str:
        """The models' names; empty for the embedded deciders."""
        return self._roles.name

    @property
    def routes(self) -> bool:
        """Whether a model chooses operators and places messages."""
        return self._roles.router is not None

    async def fold(
        self, session: Session | SessionLease, first_step: int | None = None, last_step: int | None = None
    ) -> Decided[Tile]:
        """Fold a stretch of steps, as `Session.fold` does. Raises FoldError: nothing to fold, a cut through a tile."""
        return await self._decide(self._roles.folder, session, Fold(name_of(self._roles.folder), first_step, last_step))

    async def plan(self, session: Session | SessionLease) -> Decided[Intent]:
        """Write the register from the log since the last plan; a long log is read in parts, with a plan for each."""
        return await self._plan(self._clock()(self._roles.planner), lease_of(session))

    async def extract(
        self, session: Session | SessionLease, need: str | None = None, budget: int = 400
    ) -> Decided[Extraction]:
        """Put lines of the log at the end of the view, as `Session.extract` does; a long log is read in parts."""
        reader, lease = self._clock()(self._roles.reader), lease_of(session)
        parts = await lease(line_parts) if reader is not None else []
        return await self._extract(reader, lease, need, budget, parts)

    async def refactor(
        self, session: Session | SessionLease, operator: Operator | None = None, budget: int | None = None
    ) -> Decided[Refactored]:
        """Refactor, as `Session.refactor` does; None lets the router choose an operator, or none."""
        usage, dollars, seen = Usage(), add_prices(), ""
        if operator is None:
            routed = await self._decide(self._roles.router, session, Route(budget))
            if isinstance(routed.made, Refactored):
                return Decided(routed.made, routed.decider, routed.note, routed.usage, routed.dollars)
            operator, seen, usage, dollars = routed.made.operator, routed.made.analysis, routed.usage, routed.dollars
        folder = self._roles.folder
        done = await self._decide(folder, session, Write(name_of(folder), operator, budget, seen))
        return Decided(done.made, done.decider, done.note, usage + done.usage, add_prices(dollars, done.dollars))

    async def branch(self, session: Session | SessionLease, message: str) -> Decided[Move]:
        """Go to the branch of a message, before it is recorded. Raises InputError: an empty message."""
        return await self._decide(self._roles.router, session, PlaceQuestion(message))

    async def maintain(
        self, session: Session | SessionLease, budget: int | None = None, model: str | None = None
    ) -> Maintained:
        """Maintain a session: the driver's call after it records. Most often nothing is due, and no model is asked.

        Consolidates at the high-water mark; with a model, plans if the user said something new, and extracts if that
        changed the plan. `budget` is in tokens of the `model` that reads the view. Raises BudgetError: below the least.
        """
        lease, roles, clock, spent = lease_of(session), self._roles, self._clock(), list[Decided[Any]]()
        limit = Budget.of(await lease(lambda session: session.budget) if budget is None else budget, model).tokens
        before = await lease(lambda session: session.workspace)
        if step := await lease(find_micro):
            spent.append(await decide(clock(roles.folder), lease, Fold(name_of(roles.folder), step, step)))
        due = await lease(lambda session: plan_memory(session, limit)) if roles.folder is not None else None
        stretch = await lease(lambda session: plan_batch(session, limit)) if roles.folder is not None else None
        if due is not None:
            spent += await self._remember(clock(roles.folder), lease, limit, *due)
        elif stretch is not None:
            spent.append(await decide(clock(roles.folder), lease, Fold(name_of(roles.folder), *stretch, limit)))
        await lease(lambda session: session.consolidate(limit))
        if roles.planner is not None and await lease(self._has_new_words):
            spent.append(await self._plan(clock(roles.planner), lease))
        after = await lease(lambda session: session.workspace)
        if roles.reader is not None and is_folded(after) and has_changed(before.intent, after.intent):
            room = min(max((limit - after.tokens) // _SHARE, _FEW), _MOST)
            spent.append(await self._extract(clock(roles.reader), lease, None, room))
        folded = find_new_tiles(after.blocks, before.blocks)
        total = join_decided(spent, None)
        notes = tuple(each.note for each in spent if each.note)
        return Maintained(folded, notes, total.usage, total.dollars)

    async def _remember(
        self, model: Model | None, lease: SessionLease, limit: int, draft: Draft, parts: Sequence[tuple[int, ...]]
    ) -> list[Decided[Any]]:
        """Write the memory part by part. Returns what was spent; a part that the model fails ends it."""
        spent = list[Decided[Any]]()
        for steps in parts:
            decided = await decide(model, lease, Remember(name_of(model), limit, steps, draft, steps == parts[-1]))
            spent.append(decided)
            if decided.decider != "model":
                break
            draft = decided.made
        return spent

    async def _plan(self, model: Model | None, lease: SessionLease) -> Decided[Intent]:
        parts = await lease(plan_parts) if model is not None else []
        first = await decide(model, lease, PlanQuestion(name_of(model), parts[0] if len(parts) > 1 else None))
        more = [await decide(model, lease, PlanQuestion(name_of(model), part)) for part in parts[1:]]
        return join_decided([first, *more], (more or [first])[-1].made)

    async def _extract(
        self, model: Model | None, lease: SessionLease, need: str | None, budget: int, parts: Sequence[Part] = ()
    ) -> Decided[Extraction]:
        spent = [await decide(model, lease, ChooseLines(need, budget, part)) for part in parts or (None,)]
        ranked = zip_longest(*(decided.made for decided in spent))
        chosen = [lines for best in ranked for lines in best if lines is not None]
        name, note = name_of(model), join_decided(spent, None).note
        made, why = await lease(lambda session: extract_chosen(session, need, budget, chosen, name, note))
        return join_decided([*spent, Decided(made, "embedded", why)] if why else spent, made)

    def _has_new_words(self, session: Session) -> bool:
        """Whether the user said something that no plan has read, and for which no model was asked yet."""
        ref = find_new_words(session)
        fresh = bool(ref) and self._planned.get(session) != ref
        if fresh:
            self._planned[session] = ref
        return fresh

    async def _decide(
        self, model: Model | None, session: Session | SessionLease, decision: DecisionKind[Written, Made]
    ) -> Decided[Made]:
        return await decide(self._clock()(model), lease_of(session), decision)

    def _clock(self) -> Callable[[Model | None], Model | None]:
        """Return a function that gives a model the time of this call to answer."""
        if self._seconds is None:
            return lambda model: model
        until = anyio.current_time() + self._seconds
        return lambda model: None if model is None else Timed(model, until)


def has_changed(before: Intent, after: Intent) -> bool:
    """Return whether a plan changed the open items or the constraints."""
    return (before.open, before.binding) != (after.open, after.binding)


def join_decided(spent: Sequence[Decided[Any]], made: Made) -> Decided[Made]:
    """Return the sum of several requests for one decision: the model made it if it answered all of them."""
    usage, dollars = sum((each.usage for each in spent), Usage()), add_prices(*(each.dollars for each in spent))
    decider: Decider = "model" if all(each.decider == "model" for each in spent) else "embedded"
    return Decided(made, decider, "; ".join(dict.fromkeys(each.note for each in spent if each.note)), usage, dollars)


def name_of(model: Model | None) -> str:
    """Return a model's name; empty for the embedded decider."""
    return "" if model is None else model.name
