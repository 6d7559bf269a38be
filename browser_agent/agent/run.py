"""One run, step by step: look at the context, decide, write that down, do it, write down what came of it.

It holds what changes while a run goes on. It decides nothing, and no page can make it raise.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from typing import assert_never

import anyio

from browser_agent.actions import Answer, GiveUp, Navigate, Outcome, Terminal, perform
from browser_agent.agent.confirm import Watch
from browser_agent.agent.journal import Begun, Context, Journal
from browser_agent.agent.loop_guard import LoopGuard, Verdict
from browser_agent.agent.result import Result, Status, StepTaken, Usage
from browser_agent.agent.settings import RunLimits, Watching
from browser_agent.browser.screenshot import pictured
from browser_agent.browser.window import Window
from browser_agent.deciders.answer_schema import Shape
from browser_agent.deciders.decision import Decision
from browser_agent.deciders.describe import described
from browser_agent.deciders.protocol import Decided, Decider, Situation
from browser_agent.deciders.sources import Evidence, Source, address
from browser_agent.observation import Observation
from ctxfold.decisions.fold.parse import Compliance
from ctxfold.errors import BrowserGone, InputError, InvalidReply, PageUnreachable
from ctxfold.models import Usage as ModelUsage
from ctxfold.models import cost
from ctxfold.models.deciders import Maintained
from ctxfold.prompts import prompt
from ctxfold.view.render import View

__all__ = ["Run", "Terms"]

_PROMPTS = "browser_agent.prompts"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run stands between two steps. A frozen value: each step gives another."""

    observation: Observation | None = None
    ref: str = ""
    guard: LoopGuard = field(default_factory=LoopGuard)
    notice: str = ""
    repeated: bool = False
    steps: int = 0
    pages: int = 0
    peak: int = 0
    unfolded: int = 0
    refused: int = 0
    spent: ModelUsage = field(default_factory=ModelUsage)
    folder: ModelUsage = field(default_factory=ModelUsage)
    compliance: Compliance = field(default_factory=Compliance)
    aside: tuple[str, ...] = ()
    dollars: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Terms:
    """What a run is held to, and who is told of it.

    Attributes:
        limits: when it ends at the latest.
        watch: what it may reach, type and bring about.
        watching: who is told of each step.
        budget: tokens the context of a decision may take.
        shape: the form the answer must have; None for words.
        screenshots: whether the page after each step is pictured.
    """

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
    data: object = None
    by: str = ""


class Run:
    """One task being carried out.

    Args:
        task: what is wanted.
        decider: who decides.
        journal: where it is written down.
        window: where it is done.
        terms: what it is held to.
    """

    def __init__(self, task: str, decider: Decider, journal: Journal, window: Window, terms: Terms) -> None:
        self._task = task
        self._decider = decider
        self._journal = journal
        self._window = window
        self._terms = terms
        self._limits = terms.limits
        self._now = Standing()

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
        now, spent = self._now, self._now.spent
        usage = Usage(
            steps=now.steps,
            pages=now.pages,
            peak_view_tokens=now.peak,
            budget=self._terms.budget,
            unfolded_tokens=now.unfolded,
            input_tokens=spent.prompt,
            output_tokens=spent.output,
            cached_tokens=spent.cache_read,
            dollars=now.dollars,
            refused=now.refused,
            folder_tokens=now.folder.prompt + now.folder.output,
            compliance=now.compliance,
            seconds=time.monotonic() - started,
        )
        return Result(
            ending.status,
            ending.answer,
            ending.sources,
            ending.reason,
            now.steps,
            self._journal.name,
            self._decider.name,
            usage,
            ending.data,
            ending.by,
        )

    async def _steps(self, evidence: Evidence, begin: str | None) -> Ending:
        if begin is not None:
            await self._open(begin, evidence)
        while True:
            left = self._limits.steps - self._now.steps
            if left <= 0:
                return self._stopped(f"the limit of {self._limits.steps} steps was reached; raise --max-steps")
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
                return self._stopped(over)
            verdict = await self._step(decided, evidence, context.view)
            await self._journal.mend("path_prune" if verdict == "refuse" else "auto")
            if verdict == "end":
                return self._stopped("the same thing was tried six times on one page; say the task otherwise")

    async def _open(self, begin: str, evidence: Evidence) -> None:
        """The first step, which needs no decider: open the page to begin on."""
        decision = Decision(
            thought="Open the page the task starts from.", actions=(Navigate(kind="navigate", url=begin),)
        )
        context, _ = await self._context(self._limits.steps)
        await self._step(Decided(decision, self._decider.name, "embedded"), evidence, context.view)
        observation, notice = self._now.observation, self._now.notice
        if notice or observation is None:
            why = notice.partition("; ")[0] or "nothing came"  # what it advises is for who decides the steps
            raise PageUnreachable(f"{begin} cannot be opened ({why}); check the address")
        if observation.status is not None and observation.status >= 400:
            raise PageUnreachable(f"{begin} answers with status {observation.status}; check the address")

    async def _context(self, left: int) -> tuple[Context, str]:
        """The context of the next decision, and the words that close it."""
        now = self._now
        notice = now.notice if now.observation is not None else prompt("notice_start", _PROMPTS)
        closing = prompt("now", _PROMPTS, step=now.steps + 1, left=left - 1, notice=notice).strip()
        context = await self._journal.context(closing)
        self._now = replace(now, peak=max(now.peak, context.view.tokens), unfolded=context.view.unfolded)
        self.kept(context.kept)
        return context, closing

    def kept(self, kept: Maintained) -> None:
        """Take note of what a model did to the session beside the steps: what it cost, and what was not its work."""
        now = self._now
        price = cost(kept.usage, self._journal.folder) if kept.usage.prompt else 0.0
        self._now = replace(
            now,
            folder=now.folder + kept.usage,
            aside=(*now.aside, *kept.notes),
            dollars=None if price is None or now.dollars is None else now.dollars + price,
        )

    async def _step(self, decided: Decided, evidence: Evidence, context: View) -> Verdict:
        """Write a decision down, do it, write down what came of it."""
        before = self._now.observation
        guard, verdict = self._now.guard.after(decided.decision, before.fingerprint if before is not None else "")
        begun = await self._journal.begin(decided)
        self._now = replace(self._now, guard=guard, steps=self._now.steps + 1)
        if verdict != "go":
            notice = prompt("notice_repeated", _PROMPTS)
            await self._journal.refuse(begun, notice)
            self._now = replace(self._now, notice=notice, repeated=True)
            self._tell(begun, decided, "not done: tried before on this page", context, before)
            return verdict
        unasked = await self._unasked(decided)
        if unasked:
            await self._journal.refuse(begun, unasked)
            self._now = replace(self._now, notice=unasked, repeated=False)
            self._tell(begun, decided, "not done: it was not agreed to", context, before)
            return verdict
        outcome = await perform(self._window, decided.decision.page_actions, self._task)
        ref = await self._journal.end(begun, outcome)
        if self._terms.screenshots:
            await self._journal.picture(begun, await pictured(self._window, outcome.observation))
        self._arrive(outcome, ref, evidence, begun)
        self._tell(begun, decided, "" if outcome.ok else outcome.message, context, before)
        if outcome.kind == "browser_gone":
            raise BrowserGone(outcome.message)
        return verdict

    async def _unasked(self, decided: Decided) -> str:
        """Why a decision is not done: it is consequential and nobody agreed to it. Empty where it may be done."""
        watch, page = self._terms.watch, self._now.observation
        consequences = watch.consequences(decided.decision, page)
        if not consequences or await watch.agreed(described(decided.decision, page), consequences, page):
            return ""
        kinds = ", ".join(dict.fromkeys(one.kind for one in consequences))
        return prompt("notice_unconfirmed", _PROMPTS, kinds=kinds)

    def _arrive(self, outcome: Outcome, ref: str, evidence: Evidence, begun: Begun) -> None:
        """Take note of the page that stands there now."""
        now, page = self._now, outcome.observation
        if page is not None:
            evidence.add(page, ref)
        elsewhere = page is not None and (now.observation is None or address(page.url) != address(now.observation.url))
        notice = "" if outcome.ok else outcome.message
        if begun.note:
            notice = f"{notice} {prompt('notice_fold', _PROMPTS, reason=begun.note)}".strip()
        self._now = replace(now, observation=page, ref=ref, notice=notice, repeated=False, pages=now.pages + elsewhere)

    def _pay(self, decided: Decided) -> str:
        """Add up what a decision cost. Returns why the run must end, where it must."""
        now, limit = self._now, self._limits.dollars
        for usage in decided.usage:
            price = cost(usage, self._decider.name)
            total = None if price is None or now.dollars is None else now.dollars + price
            now = replace(now, spent=now.spent + usage, dollars=total)
        refused = now.refused + bool(decided.usage and decided.note)
        self._now = replace(now, refused=refused, compliance=now.compliance + decided.compliance)
        if limit is None or not decided.usage:
            return ""
        if now.dollars is None:
            models = " and ".join(filter(None, (self._decider.name, self._journal.folder)))
            raise InputError(
                f"no price of {models} is on file, so --max-cost cannot be kept: leave it out, or use --max-steps"
            )
        return f"the cost limit of {limit:g} dollars was reached; raise --max-cost" if now.dollars >= limit else ""

    async def _close(self, decided: Decided, end: Terminal, evidence: Evidence, context: View) -> Ending:
        """The last step: the answer, or why there is none."""
        match end:
            case Answer(text=text, quote=quote, url=url, data=data):
                told = (*(() if quote is None else (Source(quote, url or ""),)), *decided.beside)
                sources = tuple(replace(source, ref=evidence.ref(source.url)) for source in told)
                text, data = self._shaped(text, data)
                ending = Ending("answered", "", text, sources, data, decided.decider)
                said = "\n".join([text, *(f"“{source.quote}” ({source.url} {source.ref})" for source in sources)])
            case GiveUp(reason=reason):
                nearest = tuple(replace(source, ref=evidence.ref(source.url)) for source in decided.nearest)
                ending, said = Ending("none_found", reason, None, nearest, None, decided.decider), reason
            case _:
                assert_never(end)
        step = await self._journal.close_turn(decided, said, ending.sources if ending.status == "answered" else ())
        self._now = replace(self._now, steps=self._now.steps + 1)
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

    def _stopped(self, reason: str) -> Ending:
        return Ending("stopped", reason, None, self._decider.nearest())

    def _tell(self, begun: Begun, decided: Decided, note: str, context: View, before: Observation | None) -> None:
        page = self._now.observation
        notes = [part for part in (note, decided.note, begun.note, *self._now.aside) if part]
        self._now = replace(self._now, aside=())
        self._terms.watching.step(
            StepTaken(
                step=begun.step,
                did=described(decided.decision, before),
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
