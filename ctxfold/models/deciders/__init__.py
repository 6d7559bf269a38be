"""`Deciders`: folds, plans, extracts, refactors and places messages by a model, else by the embedded decider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import anyio

from ctxfold.decisions.refactor import Operator, Refactored
from ctxfold.log import place_of
from ctxfold.models.deciders.extraction import ChooseLines, extract_chosen, line_parts
from ctxfold.models.deciders.loop import Decided as Decided
from ctxfold.models.deciders.loop import SessionLease as SessionLease
from ctxfold.models.deciders.loop import Timed, decide, lease_of
from ctxfold.models.deciders.memory import Condense, Fold, find_last_message, find_micro, plan_folding
from ctxfold.models.deciders.register import Part, PlanQuestion, plan_parts
from ctxfold.models.deciders.steer import PlaceQuestion, Route, Write
from ctxfold.models.named import Roles, add_prices
from ctxfold.models.protocol import Model, Usage
from ctxfold.session.branches import Move
from ctxfold.session.session import Session
from ctxfold.tokens import Budget
from ctxfold.workspace import Decider, Extraction, Intent, RawStep, Tile

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
        return await decide(self._start().folder, session, Fold(first_step, last_step))

    async def condense(self, session: Session | SessionLease, last: int = 10) -> Decided[tuple[Tile, ...]]:
        """Fold each of the last steps alone, as `Session.condense` does; a model writes all their texts at once."""
        return await decide(self._start().folder, session, Condense(last))

    async def plan(self, session: Session | SessionLease) -> Decided[Intent]:
        """Write the register from the log since the last plan; a long log is read in parts, with a plan for each."""
        return await _plan(self._start().planner, lease_of(session))

    async def extract(
        self, session: Session | SessionLease, need: str | None = None, budget: int = 400
    ) -> Decided[Extraction]:
        """Put lines of the log at the end of the view, as `Session.extract` does; a long log is read in parts."""
        reader, lease = self._start().reader, lease_of(session)
        return await _extract(reader, lease, need, budget, await lease(line_parts) if reader is not None else [None])

    async def refactor(
        self, session: Session | SessionLease, operator: Operator | None = None, budget: int | None = None
    ) -> Decided[Refactored]:
        """Refactor, as `Session.refactor` does; None lets the router choose an operator, or none."""
        roles = self._start()
        if operator is not None:
            return await decide(roles.folder, session, Write(operator, budget))
        routed = await decide(roles.router, session, Route(budget))
        if isinstance(routed.made, Refactored):
            return join_decided([routed], routed.made)
        done = await decide(roles.folder, session, routed.made)
        return join_decided([routed, done], done.made)

    async def branch(self, session: Session | SessionLease, message: str) -> Decided[Move]:
        """Go to the branch of a message, before it is recorded. Raises InputError: an empty message."""
        return await decide(self._start().router, session, PlaceQuestion(message))

    async def maintain(
        self, session: Session | SessionLease, budget: int | None = None, model: str | None = None
    ) -> Maintained:
        """Maintain a session: the driver's call after it records. Most often nothing is due, and no model is asked.

        Consolidates at the high-water mark; with a model, plans if the user said something new, and extracts if that
        changed the plan. `budget` is in tokens of the `model` that reads the view. Raises BudgetError: below the least.
        """
        lease, roles, spent = lease_of(session), self._start(), list[Decided[Any]]()
        limit = Budget.of(await lease(lambda session: session.budget) if budget is None else budget, model).tokens
        before = await lease(lambda session: session.workspace)
        if step := await lease(find_micro):
            spent.append(await decide(roles.folder, lease, Fold(step, step)))
        for due in await lease(lambda session: plan_folding(session, limit)) if roles.folder is not None else ():
            spent.append(await decide(roles.folder, lease, due))
            if spent[-1].decider != "model":
                break
        await lease(lambda session: session.consolidate(limit))
        if roles.planner is not None and await lease(self._has_new_words):
            spent.append(await _plan(roles.planner, lease))
        after = await lease(lambda session: session.workspace)
        needed = [(each.intent.open, each.intent.binding) for each in (before, after)]
        is_whole = after.older is None and all(isinstance(block, RawStep) or block.whole for block in after.blocks)
        if roles.reader is not None and not is_whole and needed[0] != needed[1]:
            room = min(max((limit - after.tokens) // _SHARE, _FEW), _MOST)
            spent.append(await _extract(roles.reader, lease, None, room, [None]))
        known = {block.number for block in before.blocks if isinstance(block, Tile)}
        folded = tuple(block for block in after.blocks if isinstance(block, Tile) and block.number not in known)
        total, notes = join_decided(spent, None), tuple(each.note for each in spent if each.note)
        return Maintained(folded, notes, total.usage, total.dollars)

    def _has_new_words(self, session: Session) -> bool:
        """Whether the user said something that no plan has read, and for which no model was asked yet."""
        workspace = session.workspace
        ref, _ = find_last_message(session, workspace)
        fresh = bool(ref) and place_of(ref) > workspace.intent.read and self._planned.get(session) != ref
        if fresh:
            self._planned[session] = ref
        return fresh

    def _start(self) -> Roles:
        """Return the models with the time of this call to answer."""
        if self._seconds is None:
            return self._roles
        until = anyio.current_time() + self._seconds
        return Roles(*(None if model is None else Timed(model, until) for model in self._roles))


async def _plan(model: Model | None, lease: SessionLease) -> Decided[Intent]:
    parts = await lease(plan_parts) if model is not None else [None]
    spent = [await decide(model, lease, PlanQuestion(part)) for part in parts]
    return join_decided(spent, spent[-1].made)


async def _extract(
    model: Model | None, lease: SessionLease, need: str | None, budget: int, parts: Sequence[Part | None]
) -> Decided[Extraction]:
    spent = [await decide(model, lease, ChooseLines(need, budget, part)) for part in parts]
    ranked = zip_longest(*(decided.made for decided in spent))
    chosen = [lines for best in ranked for lines in best if lines is not None]
    name, note = "" if model is None else model.name, join_decided(spent, None).note
    made, why = await lease(lambda session: extract_chosen(session, need, budget, chosen, name, note))
    return join_decided([*spent, Decided(made, "embedded", why)] if why else spent, made)


def join_decided(spent: Sequence[Decided[Any]], made: Made) -> Decided[Made]:
    """Return the sum of several requests for one decision: the model made it if it answered all of them."""
    usage, dollars = sum((each.usage for each in spent), Usage()), add_prices(*(each.dollars for each in spent))
    decider: Decider = "model" if all(each.decider == "model" for each in spent) else "embedded"
    return Decided(made, decider, "; ".join(dict.fromkeys(each.note for each in spent if each.note)), usage, dollars)
