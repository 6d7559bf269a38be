"""`Deciders`: folds, plans, extracts, refactors and places messages by a model, else by the embedded decider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import anyio

from ctxfold.decisions.extraction import Material
from ctxfold.decisions.refactor import Operator, Refactored
from ctxfold.log import place_of
from ctxfold.models.deciders.extraction import ChooseLines, extract_chosen
from ctxfold.models.deciders.loop import Decided as Decided
from ctxfold.models.deciders.loop import SessionLease as SessionLease
from ctxfold.models.deciders.loop import Timed, decide, lease_of
from ctxfold.models.deciders.memory import Condense, Fold, Remember, find_last_message, find_micro, plan_folding
from ctxfold.models.deciders.register import PlanQuestion, read_unread
from ctxfold.models.deciders.steer import PlaceQuestion, Route, Write
from ctxfold.models.named import Roles, add_prices
from ctxfold.models.protocol import Model, Usage
from ctxfold.session.branches import Move
from ctxfold.session.session import Session
from ctxfold.tokens import Budget
from ctxfold.workspace import Decider, Extraction, Intent, RawStep, Tile, Workspace

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
        self._served = WeakKeyDictionary[Session, Needs]()

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
        """Put lines of the log at the end of the view, as `Session.extract` does: of all lines since the last time."""
        return await _extract(self._start().reader, lease_of(session), need, budget)

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
        plans = roles.planner is not None and await lease(self._has_new_words)
        together = plans and self._roles.planner is self._roles.folder
        for due in await lease(lambda session: plan_folding(session, limit, together)) if roles.folder else ():
            spent.append(await decide(roles.folder, lease, due))
            if spent[-1].decider != "model":
                break
            plans = plans and not (isinstance(due, Remember) and due.plans)
        await lease(lambda session: session.consolidate(limit))
        if plans:
            spent.append(await _plan(roles.planner, lease))
        after = await lease(lambda session: session.workspace)
        if roles.reader is not None and await lease(lambda session: self._needs_lines(session, before, after)):
            room = min(max((limit - after.tokens) // _SHARE, _FEW), _MOST)
            spent.append(await _extract(roles.reader, lease, None, room))
        known = {block.number for block in before.blocks if isinstance(block, Tile)}
        folded = tuple(block for block in after.blocks if isinstance(block, Tile) and block.number not in known)
        total, notes = join_decided(spent, None), tuple(each.note for each in spent if each.note)
        return Maintained(folded, notes, total.usage, total.dollars)

    def _needs_lines(self, session: Session, before: Workspace, after: Workspace) -> bool:
        """Whether the goal, a constraint or an item was added or changed, and the view lacks words of the session."""
        known, needs = self._served.get(session, find_needs(before)), find_needs(after)
        self._served[session] = needs
        is_whole = after.older is None and all(isinstance(block, RawStep) or block.whole for block in after.blocks)
        return not needs <= known and not (is_whole and after.elsewhere.empty)

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


Needs = frozenset[tuple[str, ...]]
"""What the register asks for: its goals, the constraints that hold and the open items, in words."""


def find_needs(workspace: Workspace) -> Needs:
    """Return what the register asks for; who adds to it or changes it calls for lines of the log (U-Fold, 3.2.3)."""
    intent = workspace.intent
    items, bounds = [(each.id, each.text) for each in intent.open], [(each.id, each.text) for each in intent.binding]
    return frozenset([workspace.goals[-1:], *items, *bounds])


async def _plan(model: Model | None, lease: SessionLease) -> Decided[Intent]:
    parts = await lease(read_unread) if model is not None else [[]]
    following = [*(part[0].ref for part in parts[1:]), ""]
    spent = list[Decided[Intent]]()
    for part, ref in zip(parts, following, strict=True):
        spent.append(await decide(model, lease, PlanQuestion(part, ref)))
        if spent[-1].decider != "model":
            break  # the next plan begins with this part
    return join_decided(spent, spent[-1].made)


async def _extract(model: Model | None, lease: SessionLease, need: str | None, budget: int) -> Decided[Extraction]:
    material = await lease(lambda session: session.list_material(need)) if model is not None else Material()
    asked = [ChooseLines(need, budget, rows, material.steps) for rows in material.parts]
    spent = [await decide(model, lease, question) for question in asked]
    name = "" if model is None else model.name
    done = await lease(lambda session: extract_chosen(session, need, budget, material, spent, name))
    return join_decided([*spent, done], done.made)


def join_decided(spent: Sequence[Decided[Any]], made: Made) -> Decided[Made]:
    """Return the sum of several requests for one decision: the model made it if it answered all of them."""
    usage, dollars = sum((each.usage for each in spent), Usage()), add_prices(*(each.dollars for each in spent))
    decider: Decider = "model" if all(each.decider == "model" for each in spent) else "embedded"
    return Decided(made, decider, "; ".join(dict.fromkeys(each.note for each in spent if each.note)), usage, dollars)
