"""Records a run in its session, in worker threads so that the browser does not wait for the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import anyio.to_thread

from browser_agent.actions import Outcome
from browser_agent.agent.steps import begin_step, end_step, last_address, refuse_step
from browser_agent.agent.todo import apply_todo, close_answered, open_task
from browser_agent.deciders.decision import Decision
from browser_agent.deciders.protocol import Decided
from browser_agent.deciders.sources import Source
from browser_agent.network.egress import origin_of
from browser_agent.network.secrets import Secrets
from ctxfold import Session, View
from ctxfold.decisions.intent.triggers import Trigger
from ctxfold.errors import FoldError
from ctxfold.models.deciders import Deciders, Maintained
from ctxfold.tokens import Budget, count
from ctxfold.workspace.by import By
from ctxfold.workspace.workspace import Workspace

__all__ = ["Begun", "Context", "Journal"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Begun:
    """A step that is committed and not yet done.

    Attributes:
        step: its number.
        decision: what it will do.
        note: what became of its fold and its to-do, where that was refused.
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
        kept: what was folded, planned and extracted before.
    """

    view: View
    workspace: Workspace
    kept: Maintained


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
        self._scrub = secrets.scrub
        self._deciders = deciders or Deciders(None)

    @property
    def folder(self) -> str:
        """The model that folds, plans and extracts; empty for the embedded deciders."""
        return self._deciders.name

    async def asked(self, task: str, start: str | None) -> Maintained:
        """The user's task, as a turn, with the address they named to begin at; and as the to-do. Returns what a model had to do with that."""
        words = self._scrub(task if start is None else f"{task}\n{start}")
        await _threaded(lambda: self._session.record_turn(user=words))
        kept = Maintained()
        if self.folder:
            planned = await self._deciders.plan(self._session, Trigger("intent change", "the task"))
            notes = (planned.note,) if planned.note else ()
            kept = Maintained(notes=notes, usage=planned.usage, dollars=planned.dollars)
        await _threaded(lambda: open_task(self._session, self._scrub(task)))
        return kept

    async def tip(self) -> int:
        """The last step, 0 before the first."""
        return await _threaded(lambda: self._session.tip)

    async def context(self, now: str) -> Context:
        """Fold, plan and extract where that is due, then render: with `now` behind it, the view still fits the budget."""
        kept = await self._deciders.maintain(self._session, self._budget, self._model)

        def render() -> Context:
            view = self._session.view(self._budget - count(now) - 2, self._model)
            return Context(view, self._session.workspace, kept)

        return await _threaded(render)

    async def begin(self, decided: Decided) -> Begun:
        """Fold as decided, then commit the step without its results: should we die now, the log says what was tried."""
        return await _threaded(lambda: self._begin(decided))

    async def end(self, step: Begun, outcome: Outcome) -> str:
        """What came of a step. Returns the ref of the page's snapshot, empty where there was no page to look at."""
        return await _threaded(lambda: end_step(self._session, step.step, len(step.decision.actions), outcome))

    async def picture(self, step: Begun, jpeg: bytes | None) -> None:
        """Keep a picture of the page after a step; nothing where there is none."""
        if jpeg is not None:
            await _threaded(lambda: self._session.picture(step.step, jpeg))

    async def refuse(self, step: Begun, reason: str) -> None:
        """A step that was not done: its calls are answered with the reason."""
        await _threaded(lambda: refuse_step(self._session, step.step, len(step.decision.actions), reason))

    async def mend(self, *, stuck: bool = False) -> Maintained:
        """Refactor what went bad, if anything did. Where the run is `stuck` in one decision, a router model is asked for the operator, where there is one."""
        limit = Budget.of(self._budget, self._model).tokens
        if stuck and self._deciders.routes:
            done = await self._deciders.refactor(self._session, None, limit)
            notes = (done.note,) if done.note else ()
            return Maintained(notes=notes, usage=done.usage, dollars=done.dollars)
        operator = "path_prune" if stuck else "auto"
        await _threaded(lambda: self._mend(operator, limit))
        return Maintained()

    async def close_turn(self, decided: Decided, text: str, sources: Sequence[Source]) -> int:
        """The answer, or why there is none: fold as decided, then a reply; what its passages answer is done. Returns its step."""

        def reply() -> int:
            self._keep_refused(decided)
            self._fold(decided)
            apply_todo(self._session, decided, self._scrub)
            step = self._session.record_reply(self._scrub(text)).step
            close_answered(self._session, sources)
            return step

        return await _threaded(reply)

    async def start_address(self) -> str | None:
        """The web address that is the last line of the user's first turn, which they named to begin at; None for none."""

        def read_named() -> str | None:
            last = self._session.recall("s1.1").text.rpartition("\n")[2] if self._session.tip else ""
            return last if origin_of(last) is not None else None

        return await _threaded(read_named)

    async def last_address(self) -> str | None:
        """Where the browser stood when the session was last written; None where it had opened nothing."""
        return await _threaded(lambda: last_address(self._session))

    async def close(self) -> None:
        """Give up the session's store."""
        await _threaded(self._session.close)

    def _begin(self, decided: Decided) -> Begun:
        done = (
            self._fold(decided),
            apply_todo(self._session, decided, self._scrub),
        )
        self._keep_refused(decided)
        note = "; ".join(filter(None, done))
        decision = decided.decision
        return Begun(begin_step(self._session, decision.thought, decision.actions, self._scrub), decision, note)

    def _mend(self, operator: str, limit: int) -> None:
        """Refactor by the embedded rules; what they would fold at the high-water mark is left to a folder model, where there is one."""
        if self.folder and self._session.refactor(operator, dry_run=True, budget=limit).operator == "state_abstract":
            return
        self._session.refactor(operator, by=By("embedded"), budget=limit)

    def _keep_refused(self, decided: Decided) -> None:
        if decided.refused:
            kept = [(self._scrub(text), self._scrub(why)) for text, why in decided.refused]
            self._session.keep_refused(f"a step, asked of {decided.asked}", kept)

    def _fold(self, decided: Decided) -> str:
        fold = decided.decision.fold
        if fold is None:
            return ""
        try:
            summary = None if fold.summary is None else self._scrub(fold.summary)
            self._session.fold(summary, fold.first_step, fold.last_step, By(decided.kind))
        except FoldError as error:
            return f"the fold was refused: {error}"
        return ""


async def _threaded(work: Callable[[], T]) -> T:
    return await anyio.to_thread.run_sync(work)
