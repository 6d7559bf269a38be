"""Records a run in its session, in worker threads so that the browser does not wait for the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import anyio.to_thread

from browser_agent.actions import Outcome
from browser_agent.agent.folds import Folds, commit_all, commit_paying, want
from browser_agent.agent.resume import CutOff, cut_off, pages_seen
from browser_agent.agent.standing import kept_blocks, newest_runs, overflows, room_of_past
from browser_agent.agent.steps import begin_step, end_step, forget_typed, refuse_step
from browser_agent.agent.todo import apply_todo, close_answered
from browser_agent.deciders.decision import Decision
from browser_agent.deciders.protocol import Decided
from browser_agent.deciders.sources import REMEMBERED, Evidence, Source, address
from browser_agent.network.egress import origin_of
from browser_agent.network.secrets import Secrets
from browser_agent.observation import Observation
from browser_agent.observation.logged import from_log
from ctxfold import Session, View
from ctxfold.decisions.intent.triggers import Trigger
from ctxfold.models.deciders import Deciders, Maintained
from ctxfold.tokens import MIN_BUDGET, Budget, count
from ctxfold.workspace.by import By
from ctxfold.workspace.workspace import Tile, Workspace, spans

__all__ = ["Begun", "Context", "Journal"]

T = TypeVar("T")

_BRIM = By("embedded", "high water")


@dataclass(frozen=True, slots=True)
class Begun:
    """A step that is committed and not yet done.

    Attributes:
        step: its number.
        decision: what it will do.
        note: what of its fold, its to-do and its recalled lines was refused, and why.
    """

    step: int
    decision: Decision
    note: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """What a decision is made on.

    Attributes:
        view: the session's context.
        workspace: what it was rendered from.
        kept: what was folded and extracted before, and why something of it is not a model's.
        stable: how many leading blocks of the view the next request is expected to keep.
    """

    view: View
    workspace: Workspace
    kept: Maintained
    stable: int


class Journal:
    """A run's access to its session.

    Args:
        session: where it is written.
        budget: tokens a view may take.
        model: the model that reads the view; None counts o200k tokens.
        secrets: what must not be written down.
        deciders: who folds, plans and extracts where that is due; None for the embedded deciders.
    """

    def __init__(
        self,
        session: Session,
        budget: int,
        model: str | None,
        secrets: Secrets,
        deciders: Deciders | None = None,
    ) -> None:
        self.name = session.name
        self._session = session
        self._budget = budget
        self._model = model
        self._secrets = secrets
        self._scrub = secrets.scrub
        self._forgotten = 0
        self._deciders = deciders or Deciders(None)
        self._folds = Folds()

    @property
    def folder(self) -> str:
        """The model that folds, plans and extracts; empty for the embedded deciders."""
        return self._deciders.name

    async def asked(self, task: str, start: str | None) -> Maintained:
        """The user's task, as a turn, with the address they named to begin at; and as the to-do. Returns what a model had to do with that."""
        words = self._scrub(task if start is None else f"{task}\n{start}")
        await _threaded(lambda: self._session.record_turn(user=words))
        if not self.folder:
            return Maintained(triggers=await _threaded(lambda: self._session.maintain(self._budget, self._model)))
        planned = await self._deciders.plan(self._session, Trigger("intent change", "the task"))
        notes = (planned.note,) if planned.note else ()
        return Maintained(notes=notes, usage=planned.usage, dollars=planned.dollars)

    async def tip(self) -> int:
        """The last step, 0 before the first."""
        return await _threaded(lambda: self._session.tip)

    async def context(self, now: str) -> Context:
        """Make room where the past needs it, then render: with `now` behind it, the view still fits the budget."""
        limit = Budget.of(self._budget, self._model).tokens

        def render() -> tuple[View, Workspace]:
            return self._session.view(self._budget - count(now) - 2, self._model), self._session.workspace

        def commit() -> int:
            room = room_of_past(render()[0], limit, now)
            if overflows(self._session.workspace, room):
                self._folds = commit_all(self._session, self._folds)
            return room

        room = await _threaded(commit)
        full = overflows(self._session.workspace, room)
        kept = await self._make_room(room, limit) if full else Maintained()
        notes, self._folds = (*self._folds.refused, *kept.notes), replace(self._folds, refused=())
        view, workspace = await _threaded(render)
        waiting = [step for fold in self._folds.waiting for step in range(fold.first, fold.last + 1)]
        return Context(view, workspace, replace(kept, notes=notes), kept_blocks(view, workspace, waiting))

    async def begin(self, decided: Decided, left: int) -> Begun:
        """Fold what a decision wants folded and what pays, then commit its step without results: should we die now, the log says what was tried.

        Args:
            decided: the decision.
            left: steps the run may take after it.
        """
        return await _threaded(lambda: self._begin(decided, left))

    async def forget(self) -> None:
        """Take passwords that were typed since this was last asked out of what was written before."""
        new, self._forgotten = self._secrets.typed[self._forgotten :], len(self._secrets.typed)
        if new:
            await _threaded(lambda: forget_typed(self._session, new))

    async def end(self, step: Begun, outcome: Outcome, held: str = "") -> str:
        """What came of a step, and why the rest of it was held back. Returns the ref of the page's snapshot, empty where there was none."""
        asked, undone = len(step.decision.actions), held or "left undone"
        return await _threaded(lambda: end_step(self._session, step.step, asked, outcome, undone)[0])

    async def picture(self, step: Begun, jpeg: bytes | None) -> None:
        """Keep a picture of the page after a step; nothing where there is none."""
        if jpeg is not None:
            await _threaded(lambda: self._session.picture(step.step, jpeg))

    async def refuse(self, step: Begun, reason: str) -> None:
        """A step that was not done: its calls are answered with the reason."""
        await _threaded(lambda: refuse_step(self._session, step.step, len(step.decision.actions), reason))

    async def prune(self) -> Maintained:
        """Mend the view of a run that is stuck in one decision: the tries are folded into one that says so, or a router model chooses what is done."""
        limit = Budget.of(self._budget, self._model).tokens
        if self._deciders.routes:
            done = await self._deciders.refactor(self._session, None, limit)
            notes = (done.note,) if done.note else ()
            return Maintained(notes=notes, usage=done.usage, dollars=done.dollars)
        await _threaded(lambda: self._session.refactor("path_prune", by=By("embedded", "repeated"), budget=limit))
        return Maintained()

    async def close_turn(self, decided: Decided, text: str, sources: Sequence[Source]) -> int:
        """The answer, or why there is none, as a reply; what its passages answer is done. Returns its step."""

        def reply() -> int:
            refused = self._keep(decided, 0)
            self._folds = replace(self._folds, refused=tuple(filter(None, (*self._folds.refused, refused))))
            step = self._session.record_reply(self._scrub(text)).step
            close_answered(self._session, sources)
            return step

        return await _threaded(reply)

    async def settle(self) -> tuple[str, ...]:
        """The end of a run: commit every fold that waits. Returns why others were refused, a line each."""

        def commit() -> tuple[str, ...]:
            folds, self._folds = commit_all(self._session, self._folds), Folds()
            return folds.refused

        return await _threaded(commit)

    async def start_address(self) -> str | None:
        """The web address that is the last line of the user's first turn, which they named to begin at; None for none."""

        def read_named() -> str | None:
            last = self._session.recall("s1.1").text.rpartition("\n")[2] if self._session.tip else ""
            return last if origin_of(last) is not None else None

        return await _threaded(read_named)

    async def cut_off(self) -> CutOff:
        """Where the last run stood when the session was last written."""
        return await _threaded(lambda: cut_off(self._session))

    async def seen_before(self, evidence: Evidence, begin: str | None) -> tuple[Observation, ...]:
        """The pages that runs of this session have seen, which `evidence` takes in too; not the one at `begin`, which is about to be opened."""

        def read() -> tuple[Observation, ...]:
            logged = [
                page for page in pages_seen(self._session, REMEMBERED) if address(page.url) != address(begin or "")
            ]
            pages = tuple(from_log(page.url, page.full) for page in logged)
            for page, one in zip(pages, logged, strict=True):
                evidence.add(page, one.ref)
            return pages

        return await _threaded(read)

    async def close(self) -> None:
        """Give up the session's store."""
        await _threaded(self._session.close)

    def _begin(self, decided: Decided, left: int) -> Begun:
        note, decision = self._keep(decided, left), decided.decision
        told = note if decided.kind == "model" else ""  # an embedded decider reads no reasons
        step = begin_step(self._session, decision.thought, decision.actions, self._scrub, told, decision.found)
        return Begun(step, decision, note)

    def _keep(self, decided: Decided, left: int) -> str:
        """Take in a decision's fold, to-do and recalled lines, and what its model wrote before that did not fit. Returns what was refused, and why."""
        if decided.refused:
            kept = [(self._scrub(text), self._scrub(why)) for text, why in decided.refused]
            self._session.keep_refused(f"a step, asked of {decided.asked}", kept)
        folds, refused = want(self._session, self._folds, decided, self._scrub)
        folds = commit_paying(self._session, folds, left)
        self._folds = replace(folds, refused=())
        return "; ".join(filter(None, (refused, *folds.refused, apply_todo(self._session, decided, self._scrub))))

    async def _make_room(self, room: int, limit: int) -> Maintained:
        """Fold at the brim: by the folding model, or else by the embedded folder, which is said. `room` is what the past may take of `limit`."""
        budget = min(limit, max(int(room / self._session.settings.of(limit).high), MIN_BUDGET))
        if self.folder:
            return await self._deciders.maintain(self._session, budget)
        made = await _threaded(lambda: self._fold_at_brim(room, budget))
        notes = [f"the view was full: the embedded folder folded {spans(tile.steps)}" for tile in made]
        return Maintained(made, notes=tuple(notes))

    def _fold_at_brim(self, room: int, budget: int) -> tuple[Tile, ...]:
        """Fold the newest steps alone where that makes room, else all that may be."""
        runs = newest_runs(self._session.workspace, room, self._session.settings.micro)
        made = tuple(self._session.fold(None, first, last, _BRIM) for first, last in runs)
        return (*made, *self._session.consolidate(budget)) if overflows(self._session.workspace, room) else made


async def _threaded(work: Callable[[], T]) -> T:
    return await anyio.to_thread.run_sync(work)
