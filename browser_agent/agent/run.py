"""The loop of one run: render the context, have a step decided, record it, do it, and record what came of it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

import anyio

from browser_agent.actions import Answer, GiveUp, Navigate, Outcome, Terminal, perform
from browser_agent.agent.confirm import Watch
from browser_agent.agent.journal import Begun, Context, Journal
from browser_agent.agent.loop_guard import LoopGuard, Verdict
from browser_agent.agent.result import Result, Status, StepTaken, Usage
from browser_agent.agent.settings import RunLimits, Watching
from browser_agent.browser.screenshot import take_screenshot
from browser_agent.browser.window import Window
from browser_agent.deciders.answer_schema import Shape
from browser_agent.deciders.decision import Decision
from browser_agent.deciders.describe import describe_decision
from browser_agent.deciders.protocol import Decided, Decider, Situation
from browser_agent.deciders.sources import Evidence, Source, address
from browser_agent.observation import Observation
from ctxfold.errors import BrowserGone, InputError, InvalidReply, PageUnreachable
from ctxfold.models.deciders import Maintained
from ctxfold.prompts import prompt
from ctxfold.view.render import View

__all__ = ["Run", "Terms"]

_PROMPTS = "browser_agent.prompts"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run stands between two steps."""

    observation: Observation | None = None
    ref: str = ""
    guard: LoopGuard = field(default_factory=LoopGuard)
    notice: str = ""
    repeated: bool = False
    aside: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a run is held to, and who is told of it: `budget` is in tokens of a context, and without a `shape` the answer is in words."""

    limits: RunLimits
    watch: Watch
    watching: Watching
    budget: int
    shape: Shape | None = None
    screenshots: bool = False


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

    async def to_the_end(self, evidence: Evidence, begin: str | None) -> Result:
        """Take steps until the task is answered, given up, or a limit is reached.

        Args:
            evidence: takes in each page seen.
            begin: the page to open first; None lets the decider choose.

        Raises:
            PageUnreachable: the first page cannot be opened.
            BrowserGone: the browser is lost for good.
            ModelError: the model cannot be asked.
        """
        started = time.monotonic()
        ending = Ending("stopped", f"the time limit of {self._limits.seconds:g} s was reached; raise --timeout")
        with anyio.move_on_after(self._limits.seconds):
            ending = await self._steps(evidence, begin)
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
        )

    async def _steps(self, evidence: Evidence, begin: str | None) -> Ending:
        if begin is not None:
            await self._open(begin, evidence)
        while True:
            left = self._limits.steps - self._now.usage.steps
            if left <= 0:
                return self._stopped(
                    evidence, f"the limit of {self._limits.steps} steps was reached; raise --max-steps"
                )
            context, closing = await self._context(left)
            situation = Situation(
                self._task,
                context.view,
                self._now.observation,
                closing,
                await self._journal.tip(),
                left,
                self._now.repeated,
                context.workspace,
            )
            decided = await self._decider.decide(situation)
            over = self._pay(decided)
            end = decided.decision.end
            if end is not None:
                return await self._close(decided, end, evidence, context.view)
            if over:
                return self._stopped(evidence, over)
            verdict = await self._step(decided, evidence, context.view)
            self.add_cost(await self._journal.mend(stuck=verdict == "refuse"))
            if verdict == "end":
                return self._stopped(evidence, "the same thing was tried six times on one page; say the task otherwise")

    async def _open(self, begin: str, evidence: Evidence) -> None:
        """The first step, which needs no decider: open the page to begin on."""
        decision = Decision(
            thought="Open the page the task starts from.", actions=(Navigate(kind="navigate", url=begin),)
        )
        context, _ = await self._context(self._limits.steps)
        await self._step(Decided(decision, self._decider.name, "embedded"), evidence, context.view)
        observation, notice = self._now.observation, self._now.notice
        if notice or observation is None:
            raise PageUnreachable(f"{begin} cannot be opened ({notice or 'nothing came'}); check the address")
        if observation.status is not None and observation.status >= 400:
            raise PageUnreachable(f"{begin} answers with status {observation.status}; check the address")

    async def _context(self, left: int) -> tuple[Context, str]:
        """The context of the next decision, and the words that close it."""
        now = self._now
        notice = now.notice if now.observation is not None else prompt("notice_start", _PROMPTS)
        closing = prompt("now", _PROMPTS, step=now.usage.steps + 1, left=left - 1, notice=notice).strip()
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

    async def _step(self, decided: Decided, evidence: Evidence, context: View) -> Verdict:
        """Write a decision down, do it, write down what came of it."""
        before = self._now.observation
        guard, verdict = self._now.guard.after(decided.decision, before.fingerprint if before is not None else "")
        begun = await self._journal.begin(decided)
        self._now = replace(self._now, guard=guard)
        self._count(steps=self._now.usage.steps + 1)
        held = prompt("notice_repeated", _PROMPTS) if verdict != "go" else await self._withhold(decided)
        if held:
            await self._journal.refuse(begun, held)
            self._now = replace(self._now, notice=held, repeated=verdict != "go")
            why = "tried before on this page" if verdict != "go" else "it was not agreed to"
            self._tell(begun, decided, f"not done: {why}", context, before)
            return verdict
        outcome = await perform(self._window, decided.decision.page_actions, self._task)
        ref = await self._journal.end(begun, outcome)
        if self._terms.screenshots:
            await self._journal.picture(begun, await take_screenshot(self._window, outcome.observation))
        self._note_page(outcome, ref, evidence, begun)
        self._tell(begun, decided, "" if outcome.ok else outcome.message, context, before)
        if outcome.kind == "browser_gone":
            raise BrowserGone(outcome.message)
        return verdict

    async def _withhold(self, decided: Decided) -> str:
        """Why a decision is not done: it is consequential and nobody agreed to it. Empty where it may be done."""
        watch, page = self._terms.watch, self._now.observation
        consequences = watch.consequences(decided.decision, page)
        if not consequences or await watch.agreed(describe_decision(decided.decision, page), consequences, page):
            return ""
        kinds = ", ".join(dict.fromkeys(one.kind for one in consequences))
        return prompt("notice_unconfirmed", _PROMPTS, kinds=kinds)

    def _note_page(self, outcome: Outcome, ref: str, evidence: Evidence, begun: Begun) -> None:
        """Take note of the page that stands there now."""
        now, page = self._now, outcome.observation
        if page is not None:
            evidence.add(page, ref)
        elsewhere = page is not None and (now.observation is None or address(page.url) != address(now.observation.url))
        notice = "" if outcome.ok else outcome.message
        if begun.note:
            notice = f"{notice} {prompt('notice_fold', _PROMPTS, reason=begun.note)}".strip()
        self._now = replace(now, observation=page, ref=ref, notice=notice, repeated=False)
        self._count(pages=now.usage.pages + elsewhere)

    def _pay(self, decided: Decided) -> str:
        """Add up what a decision cost. Returns why the run must end, where it must."""
        usage, limit = self._now.usage.with_replies(decided.usage, self._decider.name), self._limits.dollars
        self._now = replace(self._now, usage=usage)
        self._count(
            refused=usage.refused + bool(decided.usage and decided.note),
            compliance=usage.compliance + decided.compliance,
        )
        if limit is None or not decided.usage:
            return ""
        if usage.dollars is None:
            models = " and ".join(filter(None, (self._decider.name, self._journal.folder)))
            raise InputError(
                f"no price of {models} is on file, so --max-cost cannot be kept: leave it out, or use --max-steps"
            )
        return f"the cost limit of {limit:g} dollars was reached; raise --max-cost" if usage.dollars >= limit else ""

    async def _close(self, decided: Decided, end: Terminal, evidence: Evidence, context: View) -> Ending:
        """The last step: the answer, or why there is none."""
        candidates = _with_refs(decided.candidates, evidence)
        match end:
            case Answer(text=text, quote=quote, url=url, data=data):
                sources = () if quote is None else (Source(quote, url or "", evidence.ref(url or "")),)
                text, data = self._shaped(text, data)
                ending = Ending("answered", "", text, sources, candidates or sources, data, decided.decider)
                said = "\n".join([text, *(f"“{source.quote}” ({source.url} {source.ref})" for source in sources)])
            case GiveUp(reason=reason):
                ending, said = Ending("none_found", reason, None, (), candidates, None, decided.decider), reason
            case _:
                assert_never(end)
        step = await self._journal.close_turn(decided, said, ending.sources if ending.status == "answered" else ())
        self._count(steps=self._now.usage.steps + 1)
        self._tell(Begun(step, decided.decision), decided, "", context, self._now.observation)
        return ending

    def _shaped(self, text: str, data: object) -> tuple[str, object]:
        """An answer in words, or where the task has a schema, as that has it. Raises InvalidReply for one that has not: no decider hands one in."""
        shape = self._terms.shape
        if shape is None:
            return text, None
        faults = shape.faults(data)
        if faults:
            raise InvalidReply(f"the answer does not have the schema that was asked for: {'; '.join(faults)}")
        return json.dumps(data, ensure_ascii=False), data

    def _stopped(self, evidence: Evidence, reason: str) -> Ending:
        return Ending("stopped", reason, candidates=_with_refs(self._decider.candidates(), evidence))

    def _tell(self, begun: Begun, decided: Decided, note: str, context: View, before: Observation | None) -> None:
        page = self._now.observation
        notes = [part for part in (note, decided.note, begun.note, *self._now.aside) if part]
        self._now = replace(self._now, aside=())
        self._terms.watching.step(
            StepTaken(
                step=begun.step,
                did=describe_decision(decided.decision, before),
                why=decided.decision.thought,
                ok=not note,
                note="; ".join(notes),
                title=page.title if page is not None else "",
                url=page.url if page is not None else "",
                ref=self._now.ref,
                view_tokens=context.tokens,
                budget=self._terms.budget,
                decider=decided.decider,
            )
        )


def _with_refs(sources: Sequence[Source], evidence: Evidence) -> tuple[Source, ...]:
    return tuple(replace(source, ref=evidence.ref(source.url)) for source in sources)
