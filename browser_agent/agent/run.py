"""The loop of one run: render the context, have a step decided, record it, do it, and record what came of it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, assert_never

import anyio

from browser_agent.actions import ActionResult, Answer, GiveUp, Navigate, Outcome, PageAction, Terminal
from browser_agent.actions.forms import hide_typed
from browser_agent.actions.perform import perform
from browser_agent.agent.journal import (
    Begun,
    Context,
    CutOff,
    Journal,
    match_refs,
    rename_refs,
    scrub_action,
    scrub_values,
)
from browser_agent.agent.result import Result, Status, StepTaken, Usage, allowed, veto
from browser_agent.agent.script import ScriptFile
from browser_agent.agent.settings import RunLimits, Watching
from browser_agent.browser.window import Window, take_screenshot
from browser_agent.deciders import Decided, Decider, Decision, Evidence, Situation, Source, address, describe_decision
from browser_agent.deciders.model import Shape
from browser_agent.network.secrets import Secrets
from browser_agent.observation import Observation
from ctxfold.config import EXPLORER
from ctxfold.errors import BrowserGone, InputError, InvalidReply, PageUnreachable
from ctxfold.models.deciders import Maintained
from ctxfold.prompts import prompt
from ctxfold.text.words import counted
from ctxfold.view.render import View

Verdict = Literal["go", "refuse", "end"]
"""`go` on; `refuse` this decision and ask for another; `end` the run with what was found."""

REFUSED_FROM, ENDED_AT = 3, 6


@dataclass(frozen=True, slots=True)
class LoopGuard:
    """How often each decision was tried on a page of the same address and content."""

    tried: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def after(self, actions: Sequence[PageAction | Terminal], fingerprint: str) -> tuple[LoopGuard, Verdict]:
        """The guard with this try counted, and what it says of it.

        Args:
            actions: what is to be done.
            fingerprint: of the page it is to be done on; empty before the first page.
        """
        key = (fingerprint, "\n".join(action.model_dump_json() for action in actions))
        times = self.tried.get(key, 0) + 1
        verdict: Verdict = "end" if times >= ENDED_AT else "refuse" if times >= REFUSED_FROM else "go"
        return replace(self, tried={**self.tried, key: times}), verdict


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run stands between two steps.

    Attributes:
        observation: the page as it stands; None before the first.
        ref: its snapshot in the log.
        renamed: of a page that was opened again, the ref that stands for each one the decider was shown; empty otherwise.
        guard: what was tried.
        failed: why the last step was not done; empty where it was.
        lost: whether that is because the browser or the page was lost.
        notice: what closes the next context, beside the step's number.
        repeated: whether the last decision was refused because it repeats what was tried.
        aside: what the next step's note says besides.
        before: steps of this task that an earlier process took.
        usage: what the run cost so far.
    """

    observation: Observation | None = None
    ref: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)
    guard: LoopGuard = field(default_factory=LoopGuard)
    failed: str = ""
    lost: bool = False
    notice: str = ""
    repeated: bool = False
    aside: tuple[str, ...] = ()
    before: int = 0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a run is held to, and who is told of it: `budget` is in tokens of a context, and without a `shape` the answer is in words."""

    limits: RunLimits
    secrets: Secrets
    watching: Watching
    budget: int
    shape: Shape | None = None
    screenshots: bool = False
    script: ScriptFile | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a run is over."""

    status: Status
    reason: str
    answer: str | None = None
    sources: tuple[Source, ...] = ()
    candidates: tuple[Source, ...] = ()
    data: object = None
    by: str = ""


def ended(decided: Decided, end: Terminal, evidence: Evidence, shape: Shape | None) -> tuple[Ending, str]:
    """The ending that a decision makes, and what the session keeps of it.

    Raises:
        InvalidReply: an answer without the schema asked for; no decider hands one in.
    """
    candidates = _with_refs(decided.candidates, evidence)
    match end:
        case Answer(text=text, quote=quote, url=url, data=data):
            only = () if quote is None else (Source(quote, url or ""),)
            sources = _with_refs(decided.sources or only, evidence)
            text, data = _shaped(text, data, shape)
            said = "\n".join([text, *(_cited(source, text) for source in sources)])
            return Ending("answered", "", text, sources, candidates or sources, data, decided.decider), said
        case GiveUp(reason=reason):
            return Ending("none_found", reason, None, (), candidates, None, decided.decider), reason
        case _:
            assert_never(end)


def stopped(reason: str, candidates: Sequence[Source], evidence: Evidence) -> Ending:
    """The ending that a limit makes."""
    return Ending("stopped", reason, candidates=_with_refs(candidates, evidence))


def _shaped(text: str, data: object, shape: Shape | None) -> tuple[str, object]:
    """An answer in words, or where the task has a schema, as that has it."""
    if shape is None:
        return text, None
    faults = shape.faults(data)
    if faults:
        raise InvalidReply(f"the answer does not have the schema that was asked for: {'; '.join(faults)}")
    return json.dumps(data, ensure_ascii=False), data


def _cited(source: Source, text: str) -> str:
    """Where a passage stands, behind its words where `text` lacks them."""
    where = f"({source.url} {source.ref})"
    return where if source.quote in text else f"“{source.quote}” {where}"


def _with_refs(sources: Sequence[Source], evidence: Evidence) -> tuple[Source, ...]:
    return tuple(replace(source, ref=evidence.ref(source.url)) for source in sources)


class _Opened(Protocol):
    async def close(self) -> None: ...


def close_at_end(held: AsyncExitStack, opened: _Opened) -> None:
    """Close what a run opened when `held` ends, an interrupted run's too."""

    async def close() -> None:
        with anyio.CancelScope(shield=True):
            await opened.close()

    held.push_async_callback(close)


_PROMPTS = "browser_agent.prompts"

_OPENINGS = 2
"""Times the start address is opened, where the browser is lost meanwhile."""

START = "the start address"
"""Who decides to open the address a run begins at."""


class Run:
    """Carries out a task: `decider` decides each step, `journal` records it, and it is done in `window` within `terms`."""

    def __init__(self, task: str, decider: Decider, journal: Journal, window: Window, terms: Terms) -> None:
        self._task = task
        self._decider = decider
        self._journal = journal
        self._window = window
        self._terms = terms
        self._limits = terms.limits
        self._now = Standing(usage=Usage(budget=terms.budget))

    async def to_the_end(self, evidence: Evidence, begin: str | None, cut_off: CutOff | None = None) -> Result:
        """Take steps until the task is answered, given up, or a limit is reached.

        Args:
            evidence: takes in each page seen.
            begin: the page to open first; None lets the decider choose.
            cut_off: where an earlier process left the run, for one that goes on.

        Raises:
            PageUnreachable: the first page cannot be opened.
            BrowserGone: the browser is lost for good.
            ModelError: the model cannot be asked.
        """
        started = time.monotonic()
        ending = Ending("stopped", f"the time limit of {self._limits.seconds:g} s was reached; raise --timeout")
        with anyio.move_on_after(self._limits.seconds):
            ending = await self._steps(evidence, begin, cut_off or CutOff())
        with anyio.CancelScope(shield=True):
            refused = await self._journal.settle()
        usage = replace(self._now.usage, seconds=time.monotonic() - started)
        return Result(
            ending.status,
            ending.answer,
            ending.sources,
            ending.reason,
            usage.steps,
            self._journal.name,
            self._decider.name,
            usage,
            ending.data,
            ending.by,
            ending.candidates,
            (*self._now.aside, *refused),
        )

    async def _steps(self, evidence: Evidence, begin: str | None, cut_off: CutOff) -> Ending:
        self._now = replace(self._now, before=cut_off.steps)
        if begin is not None and not (cut_off.full and await self._stand_again(begin, evidence, cut_off)):
            await self._open(begin, evidence)
            self._now = replace(self._now, notice=prompt("notice_resumed", _PROMPTS) if cut_off.steps else "")
        while True:
            now = self._now
            left = self._limits.steps - now.usage.steps - now.before
            if left <= 0:
                why = f"the limit of {counted(self._limits.steps, 'step')} was reached; raise --max-steps"
                return stopped(why, self._decider.candidates(), evidence)
            context, closing = await self._context(left)
            situation = Situation(
                self._task, context.view, now.observation, closing, await self._journal.tip(), left, now.repeated,
                context.workspace, context.stable,
            )  # fmt: skip
            decided = await self._decider.decide(situation)
            over = self._pay(decided)
            end = decided.decision.end
            if end is not None:
                return await self._close(decided, end, evidence, context.view)
            over = over or await self._step(decided, evidence, context.view)
            if over:
                return stopped(over, self._decider.candidates(), evidence)

    async def _open(self, begin: str, evidence: Evidence) -> None:
        """The first step, which needs no decider: open the page to begin on."""
        decision = Decision(
            thought="Open the page the task starts from.", actions=(Navigate(kind="navigate", url=begin),)
        )
        for _ in range(_OPENINGS):
            context, _closing = await self._context(self._limits.steps)
            await self._step(Decided(decision, START, "embedded"), evidence, context.view)
            if not self._now.lost:
                break
        observation, failed = self._now.observation, self._now.failed
        begin = self._terms.secrets.scrub(begin)
        if failed or observation is None:
            raise PageUnreachable(f"{begin} cannot be opened ({failed or 'nothing came'}); check the address")
        if observation.status is not None and observation.status >= 400:
            raise PageUnreachable(f"{begin} answers with status {observation.status}; check the address")

    async def _stand_again(self, begin: str, evidence: Evidence, cut_off: CutOff) -> bool:
        """Open the page that stood there when an earlier process ended. Returns whether it is the same but for its refs.

        Then the next decision is asked for as that process would have, and nothing is written down.
        """
        outcome = await perform(self._window, [Navigate(kind="navigate", url=begin)], self._task)
        page = outcome.observation
        renamed = match_refs(cut_off.full, page.full) if outcome.ok and page is not None else None
        if renamed is None or page is None:
            return False
        evidence.add(page, cut_off.ref)
        self._now = replace(self._now, observation=page, ref=cut_off.ref, renamed=renamed)
        return True

    async def _context(self, left: int) -> tuple[Context, str]:
        """The context of the next decision, and the words that close it."""
        now = self._now
        notice = now.notice if now.observation is not None else prompt("notice_start", _PROMPTS)
        taken = now.usage.steps + now.before
        closing = prompt("now", _PROMPTS, step=taken + 1, left=left - 1, notice=notice).strip()
        context = await self._journal.context(closing)
        peak = max(now.usage.peak_view_tokens, context.view.tokens)
        self._count(peak_view_tokens=peak, unfolded_tokens=context.view.unfolded)
        self.add_cost(context.kept)
        return context, closing

    def add_cost(self, kept: Maintained) -> None:
        """Take note of what a model did to the session beside the steps: what it cost, and what was not its work."""
        usage = self._now.usage.with_maintenance(kept)
        self._now = replace(self._now, usage=usage, aside=(*self._now.aside, *kept.notes))

    def _count(self, **changed: Any) -> None:
        self._now = replace(self._now, usage=replace(self._now.usage, **changed))

    async def _step(self, decided: Decided, evidence: Evidence, context: View) -> str:
        """Write a decision down, do it, write down what came of it. Returns why the run must end, where it must."""
        decided, before = await self._hide(decided), self._now.observation
        guard, verdict = self._now.guard.after(
            decided.decision.actions, before.fingerprint if before is not None else ""
        )
        left = self._limits.steps - self._now.usage.steps - self._now.before - 1
        begun = await self._journal.begin(decided, left)
        self._now = replace(self._now, guard=guard, notice="")
        usage = self._now.usage
        stepped = (
            replace(usage, steps=usage.steps + 1) if decided.decider == START else usage.with_step(decided.decider)
        )
        self._now = replace(self._now, usage=stepped)
        acting = rename_refs(decided.decision, self._now.renamed)
        actions, held, short = await self._held_back(decided.decision, acting, verdict)
        if held and not actions:
            await self._journal.refuse(begun, held)
            self._now = replace(self._now, repeated=verdict != "go")
            self._tell(begun, decided, f"not done: {short}", context, before, ok=False)
            return await self._end_of_tries(verdict)
        outcome = self._scrubbed(await perform(self._window, actions, self._task))
        await self._journal.forget()
        ref = await self._journal.end(begun, outcome, held)
        if self._terms.screenshots:
            await self._journal.picture(begun, await take_screenshot(self._window, outcome.observation))
        if self._terms.script is not None:
            self._terms.script.add(outcome.results, before, outcome.observation)
        self._note_page(outcome, ref, evidence)
        note = "; ".join(filter(None, (short, self._now.failed)))
        self._tell(begun, decided, note, context, before, ok=outcome.ok and not (short or outcome.late))
        if outcome.kind == "browser_gone":
            raise BrowserGone(outcome.message)
        return await self._stopped_by_hook(outcome.results)

    async def _hide(self, decided: Decided) -> Decided:
        """A decision with a placeholder for each text that goes into a password field, which is written nowhere from then on."""
        actions = await hide_typed(self._window, decided.decision.actions, self._now.renamed)
        await self._journal.forget()
        return replace(decided, decision=decided.decision.model_copy(update={"actions": actions}))

    def _scrubbed(self, outcome: Outcome) -> Outcome:
        """An outcome whose actions hold no text that was found to be secret while they were done."""
        scrub = self._terms.secrets.scrub
        results = [one.model_copy(update={"action": scrub_action(one.action, scrub)}) for one in outcome.results]
        return outcome.model_copy(update={"results": tuple(results)})

    async def _end_of_tries(self, verdict: Verdict) -> str:
        """Put tries that led nowhere behind a run. Returns why it must end, where there were too many."""
        if verdict == "refuse":
            self.add_cost(await self._journal.prune())
        return "the same thing was tried six times on one page; say the task otherwise" if verdict == "end" else ""

    async def _held_back(
        self, decision: Decision, acting: Decision, verdict: Verdict
    ) -> tuple[tuple[PageAction, ...], str, str]:
        """The actions of a decision that may be done, and why the rest may not: for the decider, and in short; empty where all may."""
        hooks, page = self._terms.watching.hooks, self._now.observation
        if verdict != "go":
            return (), prompt("notice_repeated", _PROMPTS), "tried before on this page"
        if hooks.before_step is not None:
            why = await veto("before_step", hooks.before_step(decision, page))
            if why:
                return (), why, why
        actions, held = await allowed(hooks, acting.page_actions, page)
        return actions, held, held

    async def _stopped_by_hook(self, results: tuple[ActionResult, ...]) -> str:
        """Why a program ends the run after one of these actions; empty where it does not."""
        hook = self._terms.watching.hooks.after_action
        said = [await veto("after_action", hook(result)) for result in results] if hook is not None else []
        return next(filter(None, said), "")

    def _note_page(self, outcome: Outcome, ref: str, evidence: Evidence) -> None:
        """Take note of the page that stands there now."""
        now, page = self._now, outcome.observation
        if page is not None:
            evidence.add(page, ref)
        elsewhere = page is not None and (now.observation is None or address(page.url) != address(now.observation.url))
        failed = "; ".join(filter(None, ("" if outcome.ok else outcome.message, outcome.notes)))
        lost = outcome.kind == "page_recovered"
        self._now = replace(now, observation=page, ref=ref, failed=failed, lost=lost, repeated=False, renamed={})
        self._count(pages=now.usage.pages + elsewhere)

    def _pay(self, decided: Decided) -> str:
        """Add up what a decision cost. Returns why the run must end, where it must."""
        usage, limit = self._now.usage.with_replies(decided.usage, self._decider.name), self._limits.dollars
        self._now = replace(self._now, usage=usage)
        self._count(
            refused=usage.refused + bool(decided.usage and decided.note),
            compliance=usage.compliance + decided.compliance,
        )
        if limit is None:
            return ""
        if usage.dollars is None:
            asked = (self._decider.name if self._decider.name != EXPLORER else "", self._journal.folder)
            models = " and ".join(filter(None, asked))
            raise InputError(
                f"no price of {models} is on file, so --max-cost cannot be kept: leave it out, or use --max-steps"
            )
        return f"the cost limit of {limit:g} dollars was reached; raise --max-cost" if usage.dollars >= limit else ""

    async def _close(self, decided: Decided, end: Answer | GiveUp, evidence: Evidence, context: View) -> Ending:
        """The last step: the answer, or why there is none."""
        end = type(end).model_validate(scrub_values(end.model_dump(mode="json"), self._terms.secrets.scrub))
        ending, said = ended(decided, end, evidence, self._terms.shape)
        step = await self._journal.close_turn(decided, said, ending.sources if ending.status == "answered" else ())
        self._now = replace(self._now, usage=self._now.usage.with_step(decided.decider))
        self._tell(Begun(step, decided.decision), decided, "", context, self._now.observation)
        return ending

    def _tell(
        self, begun: Begun, decided: Decided, note: str, context: View, before: Observation | None, *, ok: bool = True
    ) -> None:
        page, scrub = self._now.observation, self._terms.secrets.scrub
        notes = [part for part in (note, decided.note, begun.note, *self._now.aside) if part]
        self._now = replace(self._now, aside=())
        taken = StepTaken(
            step=begun.step,
            did=scrub(describe_decision(decided.decision, before)),
            why=scrub(decided.decision.thought),
            ok=ok,
            note=scrub("; ".join(notes)),
            title=page.title if page is not None else "",
            url=page.url if page is not None else "",
            ref=self._now.ref,
            view_tokens=context.tokens,
            budget=self._terms.budget,
            decider=decided.decider,
        )
        self._terms.watching.step(taken)
