"""Keeps a run in its session: folds when the past is full, and reads back where an interrupted run ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import anyio.to_thread

from browser_agent.agent.steps import ADDRESS
from browser_agent.deciders import REMEMBERED, DecidedStep, Situation, Source, address
from browser_agent.network.egress import origin_of
from browser_agent.network.secrets import Secrets
from browser_agent.observation import Observation
from browser_agent.observation.observe import from_log
from ctxfold import Session, View
from ctxfold.decisions.fold import FoldDirective, find_stretch, write_tile
from ctxfold.errors import CtxfoldError, FoldError, InputError
from ctxfold.log import spans
from ctxfold.models.deciders import Decided, Deciders, Maintained
from ctxfold.session.recall import Recalled
from ctxfold.text.json import parse_object
from ctxfold.tokens import MIN_BUDGET, Budget, count
from ctxfold.workspace import By, Workspace


@dataclass(frozen=True, slots=True)
class CutOff:
    """The last recorded state of a session's run.

    Attributes:
        address: the page's address; None when no page was opened.
        steps: steps taken since the user's last message.
        pages: the newest pages seen, oldest first, each as it was seen last and with its snapshot's ref.
    """

    address: str | None = None
    steps: int = 0
    pages: Sequence[tuple[Observation, str]] = ()


def read_cut_off(session: Session) -> CutOff:
    """Read from the log where the session's last run ended."""
    newest: str | None = None
    pages: dict[str, tuple[Observation, str]] = {}
    steps = 0
    asked = False
    for step in range(session.tip, 0, -1):
        records = session.read_records([step])
        kinds = [record.kind for record in records]
        steps += not asked and "call" in kinds
        asked |= "user" in kinds
        where, page = _find_address(records), _find_page(records)
        newest = newest or where
        if where is not None and page is not None and address(where) not in pages:
            pages[address(where)] = (from_log(where, page.text), page.ref)
        if asked and len(pages) >= REMEMBERED:
            break
    return CutOff(newest, steps, list(pages.values())[::-1])


def read_start_address(session: Session) -> str | None:
    """Read the start address that the user named, on the last line of their first turn; None for none."""
    last = session.recall("s1.1").text.rpartition("\n")[2] if session.tip else ""
    return last if origin_of(last) is not None else None


def _find_page(records: Sequence[Recalled]) -> Recalled | None:
    """Find the snapshot of the page after a step; None when its last result is not a page."""
    results = [record for record in records if record.kind == "result"]
    return results[-1] if results and results[-1].origin == "page" else None


def _find_address(records: Sequence[Recalled]) -> str | None:
    """Read the page's address after the last action of a step; None when no result of ours names it. Page text is not
    read.
    """
    for record in reversed(records):
        if record.kind == "result" and record.origin == "tool":
            result = parse_object(record.text)
            if result.keys() == {"done", ADDRESS}:
                return str(result[ADDRESS])
    return None


_SEAM = 4
"""Tokens of overhead of one text part of a context, at most."""


def overflows(workspace: Workspace, room: int) -> bool:
    """Return whether the past is larger than its room."""
    return workspace.older is not None or workspace.tokens > room


@dataclass(frozen=True, slots=True)
class WantedFold:
    """A decided fold that waits: its directive, its steps and its decider."""

    directive: FoldDirective
    first: int
    last: int
    by: By


# Source: U-Fold keeps a to-do beside the dialogue; here an item of a run closes by evidence alone, the passage that
# answers it or a call that worked.


def apply_todo(session: Session, decided: DecidedStep, scrub: Callable[[str], str]) -> str:
    """Apply a decision's to-do and recalled lines to the session; return why any were refused, empty for none."""
    refused: list[str] = []
    todo = [item.given(scrub) for item in decided.decision.todo]
    parts = [item for item in todo if not _is_task(item.get("text", ""), session.goal)]
    if len(parts) < len(todo):
        refused.append("the task as a whole cannot be an item of the to-do: it is the goal")
    if parts:
        try:
            session.plan(todo=parts, by=By(decided.kind, "decided with a step"))
        except InputError as error:
            refused.append(f"the to-do was left as it was: {error}")
    if decided.decision.recall:
        lines = [each.model_dump() for each in decided.decision.recall]
        try:
            session.extract(selections=lines, by=By(decided.kind))
        except InputError as error:
            refused.append(f"the lines were not shown: {error}")
    return "; ".join(refused)


def close_answered(session: Session, sources: Sequence[Source]) -> None:
    """Close the only open to-do item with the passages of the answer as evidence; of several items none is closed.

    An item that repeats the whole task stays open: a passage answers a part, and the person who asked judges the rest.
    """
    refs = [source.ref for source in sources if source.ref]
    items = session.intent.open
    for item in items if refs and len(items) == 1 and not _is_task(items[0].text, session.goal) else ():
        with suppress(InputError):  # a page that says it failed is no evidence: the item stays open
            session.plan(todo=[{"id": item.id, "state": "done", "evidence": refs}], by=By("embedded", "answered"))


def _is_task(text: str, goal: str) -> bool:
    """Whether an item repeats the goal, white space aside."""
    return bool(text) and " ".join(text.split()).casefold() == " ".join(goal.split()).casefold()


T = TypeVar("T")


def _report_cost(decided: Decided[Any]) -> Maintained:
    """Return the note and the cost of one decision."""
    return Maintained(notes=(decided.note,) if decided.note else (), usage=decided.usage, dollars=decided.dollars)


class Journal:
    """A run's access to its session, in worker threads so that the browser never waits for the store.

    Args:
        session: the session to record in.
        budget: tokens a view may take.
        model: the model that reads the view; None counts o200k tokens.
        secrets: values that must not be written down.
        deciders: who folds, plans and extracts when that is due; None for the embedded deciders.
    """

    def __init__(
        self, session: Session, budget: int, model: str | None, secrets: Secrets, deciders: Deciders | None = None
    ) -> None:
        self.name = session.name
        self._session = session
        self._budget = budget
        self._model = model
        self._scrub = secrets.scrub
        self._deciders = deciders or Deciders(None)
        self._waiting: tuple[WantedFold, ...] = ()
        self._refused: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The model that folds, plans and extracts; empty for the embedded deciders."""
        return self._deciders.name

    async def do(self, work: Callable[[Session], T]) -> T:
        """Do work on the session in a worker thread, and return its result."""
        return await anyio.to_thread.run_sync(work, self._session)

    async def record_task(self, task: str, start: str | None) -> Maintained:
        """Record the user's task as a turn, with the start address they named, and plan for it when a model is set."""
        words = self._scrub(task if start is None else f"{task}\n{start}")
        await self.do(lambda session: session.record_turn(user=words))
        return _report_cost(await self._deciders.plan(self._session)) if self.folder else Maintained()

    async def prepare(self, now: str, page: Observation | None, steps_left: int) -> tuple[Situation, Maintained]:
        """Fold when the past is full, then render a view that fits the budget together with the closing words `now`.

        Returns:
            All that the next decision is made on, and the folds and extractions made before, with notes.
        """
        limit = Budget.of(self._budget, self._model).tokens

        def render(session: Session) -> tuple[View, Workspace, int]:
            return session.view(self._budget - count(now) - 2, self._model), session.workspace, session.tip

        def commit(session: Session) -> int:
            view = render(session)[0]
            texts = [part["text"] for part in view.messages[0]["content"]]
            ends = [texts[0], *texts[view.stable :], now]  # the goal, the register, the closing words
            room = limit - sum(count(text) + _SEAM for text in ends)
            if overflows(session.workspace, room):
                self._commit_waiting(session)
            return room if overflows(session.workspace, room) else 0

        room = await self.do(commit)
        maintained = await self._make_room(room, limit) if room else Maintained()
        maintained, self._refused = replace(maintained, notes=(*self._refused, *maintained.notes)), ()
        if maintained.folded and not self.folder:
            due = await self.do(lambda session: session.find_due(self._budget, self._model))
            now = now if due is None else f"{now} {due.describe('decide')}"
        view, workspace, tip = await self.do(render)
        return Situation(view, page, now, tip, steps_left, workspace), maintained

    async def keep(self, decided: DecidedStep) -> str:
        """Apply a decision's memory, fold, to-do and recalled lines, and keep the model's refused replies. Returns why
        any were refused.
        """
        return await self.do(lambda session: self._keep(session, decided))

    async def prune(self) -> Maintained:
        """Mend the view of a run that repeats one decision: a router model chooses how, or the tries are folded into
        one tile.
        """
        limit = Budget.of(self._budget, self._model).tokens
        if self._deciders.routes:
            return _report_cost(await self._deciders.refactor(self._session, None, limit))
        by = By("embedded", "repeated")
        await self.do(lambda session: session.refactor("path_prune", by=by, budget=limit))
        return Maintained()

    async def close_turn(self, decided: DecidedStep, text: str, sources: Sequence[Source]) -> int:
        """Record the answer, or the reason for none, as a reply, and close the to-do item it answers.
        Returns its step.
        """

        def reply(session: Session) -> int:
            self._refused = tuple(filter(None, (*self._refused, self._keep(session, decided))))
            step = session.record_reply(self._scrub(text)).step
            close_answered(session, sources)
            return step

        return await self.do(reply)

    async def settle(self) -> tuple[str, ...]:
        """Commit every waiting fold at the end of a run. Returns why others were refused, a line each."""
        await self.do(self._commit_waiting)
        refused, self._refused = self._refused, ()
        return refused

    def _commit_waiting(self, session: Session) -> None:
        waiting, self._waiting = self._waiting, ()
        for fold in waiting:
            try:
                session.fold(fold.directive.summary, fold.first, fold.last, fold.by, **fold.directive.told)
            except FoldError as error:
                steps = spans(range(fold.first, fold.last + 1))
                self._refused += (f"the fold of {steps} was refused: {error}",)

    def _keep(self, session: Session, decided: DecidedStep) -> str:
        if decided.refused:
            kept = [(self._scrub(text), self._scrub(why)) for text, why in decided.refused]
            session.keep_refused(f"a step, asked of {decided.asked}", kept)
        memory, faults = decided.decision.memory, list[str]()
        if memory:
            try:
                parts = {name: self._scrub(text) for name, text in memory.items()}
                session.remember(parts, budget=self._budget, model=self._model, by=By(decided.kind))
            except CtxfoldError as error:
                faults.append(f"the memory was refused: {error}")
        refused = self._add_fold(session, decided)
        return "; ".join(filter(None, (*faults, refused, apply_todo(session, decided, self._scrub))))

    def _add_fold(self, session: Session, decided: DecidedStep) -> str:
        """Let a decision's fold wait, in place of those it covers. Returns why it was refused; empty if it was not."""
        if decided.decision.fold is None:
            return ""
        directive = decided.decision.fold.reword(self._scrub)
        try:
            blocks = find_stretch(session.workspace, directive.first_step, directive.last_step)
            if directive.summary is not None:
                write_tile(session.workspace, blocks, 0, directive.summary, "model", directive)
        except FoldError as error:
            return f"the fold was refused: {error}"
        first, last = blocks[0].steps[0], blocks[-1].steps[-1]
        kept = [fold for fold in self._waiting if not first <= fold.first <= fold.last <= last]
        self._waiting = (*kept, WantedFold(directive, first, last, By(decided.kind)))
        return ""

    async def _make_room(self, room: int, limit: int) -> Maintained:
        """Fold when the view is full, so that the past takes its low-water share of `room`, out of `limit`."""
        budget = min(limit, max(int(room / self._session.settings.of(limit).at), MIN_BUDGET))
        made = await self._deciders.maintain(self._session, budget)
        if self.folder:
            return made
        notes = [f"the view was full: the embedded folder folded {spans(tile.steps)}" for tile in made.folded]
        return replace(made, notes=(*made.notes, *notes))
