"""Records a run in its session, in worker threads so that the browser does not wait for the store."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

import anyio.to_thread

from browser_agent.actions import Answer, FillForm, GiveUp, Outcome, PageAction
from browser_agent.actions.elements import is_ref, with_targets
from browser_agent.agent.folds import (
    Folds,
    commit_all,
    commit_paying,
    kept_blocks,
    newest_runs,
    overflows,
    room_of_past,
    want,
)
from browser_agent.deciders import REMEMBERED, Decided, Decision, Evidence, Source, address
from browser_agent.network.egress import origin_of
from browser_agent.network.secrets import Secrets
from browser_agent.observation import Observation
from browser_agent.observation.observe import from_log
from ctxfold import Session, View
from ctxfold.decisions.register import Trigger
from ctxfold.errors import InputError, RefError
from ctxfold.models.deciders import Deciders, Maintained
from ctxfold.session.recall import Recalled
from ctxfold.tokens import MIN_BUDGET, Budget, count
from ctxfold.workspace import By, Tile, Workspace, spans

LOOK = "look"
"""The call whose result is the page as it stands after a step."""

KEEP = "keep"
"""The call that stands for a decision's fold, to-do and recalled lines where any of them was refused; its result says why."""

AT = "now_at"
"""The field of an action's result that holds the page's address after it."""

_LEAST_FORGOTTEN = 6
"""Characters from which a password is also taken out of what was written before: a shorter one would take ordinary text with it."""

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
    """Record a step without its results, before it is done: should the process die now, the log says what was tried.

    Args:
        session: where.
        thought: why.
        actions: what is to be done.
        scrub: masks secrets.
        refused: what of the decision beside its actions was refused, and why; empty where nothing was.
        found: what was found on pages before it, which every view then holds.
        need: what is looked for on the page after it.
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
    """Record what came of a step: a result for each action, then the page in full.

    Args:
        session: where.
        step: which step.
        asked: how many actions it holds.
        outcome: what came of those that were tried.
        undone: what is said of the others.

    Returns:
        The ref of the page's snapshot, empty where there was no page to look at; and that of the values last taken off pages, empty for none.
    """
    values = ""
    observation = outcome.observation
    for at in range(1, asked + 1):
        seen = outcome.results[at - 1].seen if at <= len(outcome.results) else None
        if at == len(outcome.results) and observation is not None and observation.extracted is not None:
            seen = observation
        if seen is not None:
            ref = _record_seen(session, step, f"c{at}", seen)
            values = ref if seen.extracted is not None else values
            continue
        done = outcome.results[at - 1].message if at <= len(outcome.results) else undone
        if at == len(outcome.results) and observation is not None:
            arrived = json.dumps({"done": done, AT: observation.url}, ensure_ascii=False)
            session.record_result(step, f"c{at}", arrived, shown=done)
        else:
            session.record_result(step, f"c{at}", done)
    if observation is None:
        session.record_result(step, LOOK, "there is no page to look at")
        return "", values
    taken = observation.extracted is not None and observation.extracted.value is not None
    shown = (observation.heading or observation.url) if taken else observation.text
    return str(session.record_result(step, LOOK, observation.full, origin="page", shown=shown)), values


def _record_seen(session: Session, step: int, call: str, seen: Observation) -> str:
    """Record what an action that reads showed: the values it took off pages, all of them with their address, or the page in full."""
    if seen.extracted is None:
        return str(session.record_result(step, call, seen.full, origin="page", shown=seen.text))
    found = {AT: seen.url, "extracted": seen.extracted.value}
    lacking = {"missing": seen.extracted.missing} if seen.extracted.missing else {}
    return str(session.record_result(step, call, json.dumps(found | lacking, ensure_ascii=False), origin="page"))


def forget_typed(session: Session, values: Sequence[str]) -> None:
    """Take passwords that were just typed out of what the session held before, such as the words of a task that named them."""
    for value in values:
        if len(value) >= _LEAST_FORGOTTEN:
            with suppress(InputError):  # it stands nowhere
                session.redact(re.escape(value), names=False)


def refuse_step(session: Session, step: int, asked: int, reason: str) -> None:
    """Record that a step was not done: each of its calls is answered with the reason."""
    for at in range(1, asked + 1):
        session.record_result(step, f"c{at}", reason)
    session.record_result(step, LOOK, "the page was left as it is")


def scrub_action(action: PageAction, scrub: Scrub) -> PageAction:
    """Scrub each free text of an action, such as one that turned out to be a password only as it was typed."""
    if isinstance(action, FillForm):
        fields = tuple(field.model_copy(update={"value": scrub(field.value)}) for field in action.fields)
        return action.model_copy(update={"fields": fields})
    texts = {name: scrub_values(part, scrub) for name, part in action if name not in _NO_TEXT}
    return action.model_copy(update=texts)


def scrub_values(value: object, scrub: Scrub) -> object:
    """Scrub each text in a value of JSON, such as a call's arguments."""
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
    """Where a session's last run stood when it was last written.

    Attributes:
        address: the page's address; None where none was opened.
        steps: steps taken since the user's last words.
        full: the page's whole snapshot after the last step; empty where that step did not come to its end.
        ref: where that is in the log.
    """

    address: str | None = None
    steps: int = 0
    full: str = ""
    ref: str = ""


def cut_off(session: Session) -> CutOff:
    """Where the last run stood, by what the log says of its steps."""
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
    """A page as the log has it: its address, its whole snapshot, and that snapshot's ref."""

    url: str
    full: str
    ref: str


def pages_seen(session: Session, most: int) -> tuple[Logged, ...]:
    """The pages that a session's runs have seen, each as it last stood there: the newest `most`, oldest first."""
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
    """For each ref of a page's snapshot the one that stands at its place now; None where it is no longer the same page."""
    if _REF.sub("", shown) != _REF.sub("", now):
        return None
    return dict(zip(_REF.findall(shown), _REF.findall(now), strict=False))  # as many: the texts between are the same


def rename_refs(decision: Decision, renamed: Mapping[str, str]) -> Decision:
    """A decision with its refs as the page has them now: those alone, and no word that only looks like one."""
    if not renamed:
        return decision
    actions = tuple(_renamed(action, renamed) for action in decision.page_actions)
    return decision.model_copy(update={"actions": actions}) if actions else decision


def _renamed(action: PageAction, renamed: Mapping[str, str]) -> PageAction:
    return with_targets(action, lambda target: renamed.get(target, _GONE) if is_ref(target) else target)


def _records(session: Session, step: int) -> tuple[Recalled, ...]:
    """The records of a step, in order."""
    found: list[Recalled] = []
    with suppress(RefError):  # the first number that names no record ends the step
        while True:
            found.append(session.recall(f"s{step}.{len(found) + 1}"))
    return tuple(found)


def _address(records: tuple[Recalled, ...]) -> str | None:
    """The page's address after the last action of a step; None where its results name none. What a page said is not read."""
    for record in reversed(records):
        if record.kind == "result" and record.origin == "tool":
            with suppress(ValueError):
                result = json.loads(record.text)
                if isinstance(result, dict) and result.keys() == {"done", AT}:
                    return str(result[AT])
    return None


# Source: U-Fold keeps a to-do beside the dialogue; here an item of a run closes by evidence alone, the passage that answers it or a call that worked.


def apply_todo(session: Session, decided: Decided, scrub: Callable[[str], str]) -> str:
    """Apply a decision's to-do and recalled lines to the session, and return what was refused and why."""
    refused: list[str] = []
    todo = [item.given(scrub) for item in decided.decision.todo]
    parts = [item for item in todo if not _is_task(item.get("text", ""), session.goal)]
    if len(parts) < len(todo):
        refused.append("the task as a whole is no item of the to-do: it stands as the goal")
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
    """Close the one open item by the passages that bear the answer; of several, whoever opened them closes each.

    An item that is the whole task stays as it is: a passage answers a part, and who asked judges the rest.
    """
    refs = [source.ref for source in sources if source.ref]
    items = session.intent.open
    for item in items if refs and len(items) == 1 and not _is_task(items[0].text, session.goal) else ():
        with suppress(InputError):  # a page that says it failed is no evidence: the item stays open
            session.plan(todo=[{"id": item.id, "state": "done", "evidence": refs}], by=By("embedded", "answered"))


def _is_task(text: str, goal: str) -> bool:
    """Whether an item says all that the goal says, white space aside."""
    return bool(text) and " ".join(text.split()).casefold() == " ".join(goal.split()).casefold()


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
