"""Records the steps of a run in its session, folds when its past is full, and reads back where an interrupted run
ended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

import anyio.to_thread

from browser_agent.actions import Answer, FillForm, GiveUp, Outcome, PageAction, is_ref, with_targets
from browser_agent.agent.folds import (
    Folds,
    add_fold,
    apply_todo,
    choose_newest_runs,
    close_answered,
    commit_all,
    commit_paying,
    count_kept_blocks,
    measure_room,
    overflows,
)
from browser_agent.deciders import REMEMBERED, DecidedStep, Decision, Evidence, Source, address
from browser_agent.network.egress import origin_of
from browser_agent.network.secrets import Secrets
from browser_agent.observation import Observation
from browser_agent.observation.observe import from_log
from ctxfold import Session, View
from ctxfold.decisions.extraction import Trigger
from ctxfold.errors import InputError, RefError
from ctxfold.models.deciders import Deciders, Maintained
from ctxfold.session.recall import Recalled
from ctxfold.tokens import MIN_BUDGET, Budget, count
from ctxfold.workspace import By, Tile, Workspace, spans

LOOK = "look"
"""The call whose result is the page after a step."""

KEEP = "keep"
"""The call recorded when a decision's fold, to-do or recalled lines were refused; its result says why."""

AT = "now_at"
"""The field of an action's result that holds the page's address after it."""

_LEAST_FORGOTTEN = 6
"""Characters of the shortest password that is also removed from earlier records: a shorter one would remove ordinary
text too.
"""

Scrub = Callable[[str], str]

_NO_TEXT = ("kind", "ref", "to", "op", "direction", "event")
"""The fields of an action that hold no free text: a password may well be the word `click`."""


def begin_step(
    session: Session,
    thought: str,
    actions: Sequence[PageAction | Answer | GiveUp],
    scrub: Scrub,
    refused: str = "",
    found: str = "",
    need: str = "",
) -> int:
    """Record a step before it is performed, so that the log names it even if the process dies. Returns its number.

    Args:
        session: the session to record in.
        thought: the reason for the step.
        actions: the actions of the step.
        scrub: masks secrets.
        refused: why the decision's fold, to-do or recalled lines were refused; empty when none was.
        found: a finding from earlier pages, which every view then shows.
        need: the information wanted from the page after the step.
    """
    calls: list[dict[str, object]] = [
        {
            "name": action.kind,
            "args": scrub_values(action.model_dump(mode="json", exclude={"kind"}, exclude_defaults=True), scrub),
            "id": f"c{at}",
        }
        for at, action in enumerate(actions, 1)
    ]
    calls.append({"name": LOOK, "args": {"need": scrub(need)} if need else {}, "id": LOOK})
    if not refused:
        return session.record_step(scrub(thought), calls=calls, found=scrub(found)).step
    calls.append({"name": KEEP, "args": {}, "id": KEEP})
    kept = [{"id": KEEP, "text": scrub(refused)}]
    return session.record_step(scrub(thought), calls=calls, results=kept, found=scrub(found)).step


def end_step(session: Session, step: int, asked: int, outcome: Outcome, undone: str = "left undone") -> tuple[str, str]:
    """Record the results of a step: one for each action, then the page in full.

    Args:
        session: the session to record in.
        step: the step's number.
        asked: the number of its actions.
        outcome: the results of the actions that were tried.
        undone: the result recorded for the others.

    Returns:
        The ref of the page's snapshot (empty: there was no page), and the ref of the values last extracted (empty: none
        were).
    """
    values, page, results = "", outcome.observation, outcome.results
    for at in range(1, asked + 1):
        last = at == len(results) and page is not None
        seen = results[at - 1].seen if at <= len(results) else None
        if last and page is not None and page.extracted is not None:
            seen = page
        if seen is not None:
            ref = _record_seen(session, step, f"c{at}", seen)
            values = ref if seen.extracted is not None else values
            continue
        done = results[at - 1].message if at <= len(results) else undone
        if last and page is not None:
            arrived = json.dumps({"done": done, AT: page.url}, ensure_ascii=False)
            session.record_result(step, f"c{at}", arrived, shown=done)
        else:
            session.record_result(step, f"c{at}", done)
    if page is None:
        session.record_result(step, LOOK, "there is no page to look at")
        return "", values
    taken = page.extracted is not None and page.extracted.value is not None
    shown = (page.heading or page.url) if taken else page.text
    return str(session.record_result(step, LOOK, page.full, origin="page", shown=shown)), values


def _record_seen(session: Session, step: int, call: str, seen: Observation) -> str:
    """Record the result of a reading action: the extracted values with their address, or the page in full."""
    if seen.extracted is None:
        return str(session.record_result(step, call, seen.full, origin="page", shown=seen.text))
    found = {AT: seen.url, "extracted": seen.extracted.value}
    lacking = {"missing": seen.extracted.missing} if seen.extracted.missing else {}
    return str(session.record_result(step, call, json.dumps(found | lacking, ensure_ascii=False), origin="page"))


def forget_typed(session: Session, values: Sequence[str]) -> None:
    """Remove passwords that were just typed from earlier records, such as the task that named them."""
    for value in values:
        if len(value) >= _LEAST_FORGOTTEN:
            with suppress(InputError):  # no record holds it
                session.redact(re.escape(value), names=False)


def refuse_step(session: Session, step: int, asked: int, reason: str) -> None:
    """Record that a step was not performed: each of its calls is answered with the reason."""
    for at in range(1, asked + 1):
        session.record_result(step, f"c{at}", reason)
    session.record_result(step, LOOK, "the page was left as it is")


def scrub_action(action: PageAction, scrub: Scrub) -> PageAction:
    """Mask secrets in each free text of an action; a text may prove to be a password only when it is typed."""
    if isinstance(action, FillForm):
        fields = tuple(field.model_copy(update={"value": scrub(field.value)}) for field in action.fields)
        return action.model_copy(update={"fields": fields})
    texts = {name: scrub_values(part, scrub) for name, part in action if name not in _NO_TEXT}
    return action.model_copy(update=texts)


def scrub_values(value: object, scrub: Scrub) -> object:
    """Mask secrets in each text of a JSON value, such as a call's arguments."""
    match value:
        case str():
            return scrub(value)
        case dict():
            return {name: scrub_values(part, scrub) for name, part in value.items()}
        case list():
            return [scrub_values(part, scrub) for part in value]
        case tuple():
            return tuple(scrub_values(part, scrub) for part in value)
        case _:
            return value


_REF = re.compile(r"\[ref=([^\]\s]+)\]")
_GONE = "e0"
"""A ref that no page has."""


@dataclass(frozen=True, slots=True)
class CutOff:
    """The last recorded state of a session's run.

    Attributes:
        address: the page's address; None when no page was opened.
        steps: steps taken since the user's last message.
        full: the page's whole snapshot after the last step; empty when that step has no results.
        ref: the snapshot's ref in the log.
    """

    address: str | None = None
    steps: int = 0
    full: str = ""
    ref: str = ""


def read_cut_off(session: Session) -> CutOff:
    """Read from the log where the session's last run ended."""
    tip = session.tip
    address: str | None = None
    last: tuple[Recalled, ...] = ()
    steps = 0
    asked = False
    for step in range(tip, 0, -1):
        records = _records(session, step)
        last = last or records
        kinds = [record.kind for record in records]
        steps += not asked and "call" in kinds
        asked |= "user" in kinds
        address = address or _address(records)
        if asked and address is not None:
            break
    results = [record for record in last if record.kind == "result"]
    whole = bool(results) and len(results) == sum(record.kind == "call" for record in last)
    page = results[-1] if whole and results[-1].origin == "page" else None
    return CutOff(address, steps, page.text if page is not None else "", page.ref if page is not None else "")


@dataclass(frozen=True, slots=True)
class Logged:
    """A page in the log: its address, its whole snapshot, and the snapshot's ref."""

    url: str
    full: str
    ref: str


def list_pages(session: Session, most: int) -> tuple[Logged, ...]:
    """List the newest `most` pages of a session, oldest first, each with its newest snapshot."""
    found: dict[str, Logged] = {}
    for step in range(session.tip, 0, -1):
        records = _records(session, step)
        results = [record for record in records if record.kind == "result"]
        where = _address(records)
        page = results[-1] if results and results[-1].origin == "page" else None
        if where is not None and page is not None:
            found.setdefault(address(where), Logged(where, page.text, page.ref))
        if len(found) == most:
            break
    return tuple(reversed(found.values()))


def match_refs(shown: str, now: str) -> Mapping[str, str] | None:
    """Map each ref of an earlier snapshot to the ref at the same place now; None when the page has changed."""
    if _REF.sub("", shown) != _REF.sub("", now):
        return None
    return dict(zip(_REF.findall(shown), _REF.findall(now), strict=False))  # as many: the texts between are the same


def rename_refs(decision: Decision, renamed: Mapping[str, str]) -> Decision:
    """Return a decision with the page's present refs; words that only look like a ref stay."""
    if not renamed:
        return decision
    actions = tuple(
        with_targets(action, lambda target: renamed.get(target, _GONE) if is_ref(target) else target)
        for action in decision.page_actions
    )
    return decision.model_copy(update={"actions": actions}) if actions else decision


def _records(session: Session, step: int) -> tuple[Recalled, ...]:
    """Read the records of a step, in order."""
    found: list[Recalled] = []
    with suppress(RefError):  # the first number that names no record ends the step
        while True:
            found.append(session.recall(f"s{step}.{len(found) + 1}"))
    return tuple(found)


def _address(records: tuple[Recalled, ...]) -> str | None:
    """Read the page's address after the last action of a step; None when no result of ours names it. Page text is not
    read.
    """
    for record in reversed(records):
        if record.kind == "result" and record.origin == "tool":
            with suppress(ValueError):
                result = json.loads(record.text)
                if isinstance(result, dict) and result.keys() == {"done", AT}:
                    return str(result[AT])
    return None


T = TypeVar("T")

_BRIM = By("embedded", "high water")


@dataclass(frozen=True, slots=True)
class Begun:
    """A step that is committed and not yet performed.

    Attributes:
        step: its number.
        decision: the decision behind it.
        note: why its fold, its to-do or its recalled lines were refused; empty for none.
    """

    step: int
    decision: Decision
    note: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """The input of one decision.

    Attributes:
        view: the session's context.
        workspace: the value that the view was rendered from.
        kept: folds and extractions made before rendering, with notes on any that no model made.
        stable: how many leading blocks of the view the next request is expected to keep.
    """

    view: View
    workspace: Workspace
    kept: Maintained
    stable: int


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
        self._secrets = secrets
        self._scrub = secrets.scrub
        self._forgotten = 0
        self._deciders = deciders or Deciders(None)
        self._folds = Folds()

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
        if not self.folder:
            return Maintained(triggers=await self.do(lambda session: session.maintain(self._budget, self._model)))
        planned = await self._deciders.plan(self._session, Trigger("intent change", "the task"))
        notes = (planned.note,) if planned.note else ()
        return Maintained(notes=notes, usage=planned.usage, dollars=planned.dollars)

    async def prepare_context(self, now: str) -> Context:
        """Fold when the past is full, then render a view that fits the budget together with `now`."""
        limit = Budget.of(self._budget, self._model).tokens

        def render(session: Session) -> tuple[View, Workspace]:
            return session.view(self._budget - count(now) - 2, self._model), session.workspace

        def commit(session: Session) -> tuple[int, bool]:
            room = measure_room(render(session)[0], limit, now)
            if overflows(session.workspace, room):
                self._folds = commit_all(session, self._folds)
            return room, overflows(session.workspace, room)

        room, full = await self.do(commit)
        kept = await self._make_room(room, limit) if full else Maintained()
        notes, self._folds = (*self._folds.refused, *kept.notes), replace(self._folds, refused=())
        view, workspace = await self.do(render)
        waiting = [step for fold in self._folds.waiting for step in range(fold.first, fold.last + 1)]
        return Context(view, workspace, replace(kept, notes=notes), count_kept_blocks(view, workspace, waiting))

    async def begin(self, decided: DecidedStep, left: int) -> Begun:
        """Commit a decision's folds that pay, then its step without results, so that the log names it even if the
        process dies.

        Args:
            decided: the decision.
            left: steps the run may take after it.
        """

        def record(session: Session) -> Begun:
            note, decision = self._keep(session, decided, left), decided.decision
            shown = note if decided.kind == "model" else ""  # an embedded decider reads no reasons
            step = begin_step(session, decision.thought, decision.actions, self._scrub, shown, decision.found)
            return Begun(step, decision, note)

        return await self.do(record)

    async def forget(self) -> None:
        """Remove passwords typed since the last call from earlier records."""
        new, self._forgotten = self._secrets.typed[self._forgotten :], len(self._secrets.typed)
        if new:
            await self.do(lambda session: forget_typed(session, new))

    async def prune(self) -> Maintained:
        """Mend the view of a run that repeats one decision: a router model chooses how, or the tries are folded into
        one tile.
        """
        limit = Budget.of(self._budget, self._model).tokens
        if self._deciders.routes:
            done = await self._deciders.refactor(self._session, None, limit)
            notes = (done.note,) if done.note else ()
            return Maintained(notes=notes, usage=done.usage, dollars=done.dollars)
        by = By("embedded", "repeated")
        await self.do(lambda session: session.refactor("path_prune", by=by, budget=limit))
        return Maintained()

    async def close_turn(self, decided: DecidedStep, text: str, sources: Sequence[Source]) -> int:
        """Record the answer, or why there is none, as a reply, and close the to-do item it answers.
        Returns its step.
        """

        def reply(session: Session) -> int:
            refused = self._keep(session, decided, 0)
            self._folds = replace(self._folds, refused=tuple(filter(None, (*self._folds.refused, refused))))
            step = session.record_reply(self._scrub(text)).step
            close_answered(session, sources)
            return step

        return await self.do(reply)

    async def settle(self) -> tuple[str, ...]:
        """Commit every waiting fold at the end of a run. Returns why others were refused, a line each."""

        def commit(session: Session) -> tuple[str, ...]:
            folds, self._folds = commit_all(session, self._folds), Folds()
            return folds.refused

        return await self.do(commit)

    async def remember_pages(self, evidence: Evidence, begin: str | None) -> tuple[Observation, ...]:
        """Return the pages that earlier runs of this session have seen, except the one at `begin`, and add them to
        `evidence`.
        """

        def read(session: Session) -> tuple[Observation, ...]:
            logged = [page for page in list_pages(session, REMEMBERED) if address(page.url) != address(begin or "")]
            pages = tuple(from_log(page.url, page.full) for page in logged)
            for page, one in zip(pages, logged, strict=True):
                evidence.add(page, one.ref)
            return pages

        return await self.do(read)

    async def close(self) -> None:
        """Close the session."""
        await self.do(Session.close)

    def _keep(self, session: Session, decided: DecidedStep, left: int) -> str:
        """Apply a decision's fold, to-do and recalled lines, and keep the model's refused replies. Returns why any were
        refused.
        """
        if decided.refused:
            kept = [(self._scrub(text), self._scrub(why)) for text, why in decided.refused]
            session.keep_refused(f"a step, asked of {decided.asked}", kept)
        folds, refused = add_fold(session, self._folds, decided, self._scrub)
        folds = commit_paying(session, folds, left)
        self._folds = replace(folds, refused=())
        return "; ".join(filter(None, (refused, *folds.refused, apply_todo(session, decided, self._scrub))))

    async def _make_room(self, room: int, limit: int) -> Maintained:
        """Fold when the view is full: by the folding model, else by the embedded folder with a note. `room` is the
        share of the past in `limit`.
        """
        budget = min(limit, max(int(room / self._session.settings.of(limit).at), MIN_BUDGET))
        if self.folder:
            return await self._deciders.maintain(self._session, budget)

        def fold(session: Session) -> tuple[Tile, ...]:
            """Fold the newest steps alone when that makes room, else all that may be folded."""
            runs = choose_newest_runs(session.workspace, room, _MICRO)
            made = tuple(session.fold(None, first, last, _BRIM) for first, last in runs)
            return (*made, *session.consolidate(budget)) if overflows(session.workspace, room) else made

        made = await self.do(fold)
        notes = [f"the view was full: the embedded folder folded {spans(tile.steps)}" for tile in made]
        return Maintained(made, notes=tuple(notes))


def read_start_address(session: Session) -> str | None:
    """Read the start address that the user named, on the last line of their first turn; None for none."""
    last = session.recall("s1.1").text.rpartition("\n")[2] if session.tip else ""
    return last if origin_of(last) is not None else None
