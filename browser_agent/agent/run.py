"""The loop of one run: render the context, ask for a decision, record it, perform it, record its outcome; its limits
and its end.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import anyio

from browser_agent.actions import Answer, Navigate, Outcome, PageAction, Terminal
from browser_agent.agent.journal import CutOff, Journal
from browser_agent.agent.result import RunResult, RunUsage, StepTaken
from browser_agent.agent.script import ScriptFile
from browser_agent.agent.settings import RunLimits, Watching
from browser_agent.agent.steps import PageDriver, Verdict, begin_step, scrub_values
from browser_agent.browser.window import Window, take_screenshot
from browser_agent.deciders import (
    DecidedStep,
    Decider,
    Decision,
    Evidence,
    Situation,
    Source,
    address,
    describe_decision,
)
from browser_agent.deciders.model import Shape
from browser_agent.network.secrets import Secrets
from browser_agent.observation import Observation
from browser_agent.prompts import PROMPTS
from ctxfold import Session
from ctxfold.config import EXPLORER
from ctxfold.errors import BrowserGone, InputError, PageUnreachable
from ctxfold.models.deciders import Maintained
from ctxfold.prompts import prompt
from ctxfold.text.words import counted


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a run: its limits, secrets and watchers; `budget` in tokens of a context; without a `shape` the
    answer is in words.
    """

    limits: RunLimits
    secrets: Secrets
    watching: Watching
    budget: int
    shape: Shape | None = None
    screenshots: bool = False
    script: ScriptFile | None = None


_OPENINGS = 2
"""How often the start address is opened when the browser is lost meanwhile."""

START = "the start address"
"""The decider of the step that opens the start address."""


class Run:
    """Carries out a task: `decider` decides each step, `journal` keeps it, `window` performs it, all within `terms`;
    `evidence` collects the pages seen.
    """

    def __init__(
        self, task: str, decider: Decider, journal: Journal, window: Window, evidence: Evidence, terms: Terms
    ) -> None:
        self._decider = decider
        self._journal = journal
        self._driver = PageDriver(window, terms.secrets, task)
        self._evidence = evidence
        self._terms = terms
        self._usage = RunUsage(budget=terms.budget)
        self._page: Observation | None = None
        self._ref = ""  # of the page's snapshot in the log
        self._outcome: Outcome | None = None  # of the last step that was performed
        self._notice = ""  # closes the next context
        self._notes: list[str] = []  # for the next step's note
        self._steps_before = 0  # of this task, by an earlier process
        self._view_tokens = 0

    async def finish(self, begin: str | None, cut_off: CutOff) -> RunResult:
        """Take steps until the task is answered, given up, or a limit is reached.

        Args:
            begin: the page to open first; None lets the decider choose.
            cut_off: the state in which an earlier process left the run, when it is resumed.

        Raises:
            PageUnreachable: the first page cannot be opened.
            BrowserGone: the browser is lost for good.
            ModelError: the model cannot be asked.
        """
        started, seconds = time.monotonic(), self._terms.limits.seconds
        result = RunResult("stopped", reason=f"the time limit of {seconds:g} s was reached; raise --timeout")
        with anyio.move_on_after(seconds):
            result = await self._take_steps(begin, cut_off)
        with anyio.CancelScope(shield=True):
            self._notes += await self._journal.settle()
        usage = replace(self._usage, seconds=time.monotonic() - started)
        return replace(
            result,
            steps=usage.steps,
            session=self._journal.name,
            decider=self._decider.name,
            usage=usage,
            notes=tuple(self._notes),
        )

    def add_cost(self, maintained: Maintained) -> None:
        """Add the cost and notes of folding, planning and extracting to the run."""
        self._usage = self._usage.add_maintenance(maintained)
        self._notes += maintained.notes

    async def _take_steps(self, begin: str | None, cut_off: CutOff) -> RunResult:
        self._steps_before = cut_off.steps
        if begin is not None:
            await self._visit(begin)
            self._notice = prompt("notice_resumed", PROMPTS) if cut_off.steps else ""
        while (left := self._steps_left) > 0:
            situation = await self._prepare(left)
            decided = await self._decider.decide(situation)
            over = self._pay(decided)
            if decided.decision.end is not None:
                return await self._close(decided, decided.decision.end)
            over = over or await self._step(decided)
            if over:
                return self._stop(over)
        return self._stop(f"the limit of {counted(self._terms.limits.steps, 'step')} was reached; raise --max-steps")

    @property
    def _steps_left(self) -> int:
        return self._terms.limits.steps - self._usage.steps - self._steps_before

    def _stop(self, reason: str) -> RunResult:
        """Make the result of a run that reached a limit."""
        return RunResult("stopped", reason=reason, candidates=self._add_refs(self._decider.candidates()))

    async def _visit(self, begin: str) -> None:
        """Take the first step, which needs no decider: open the start address."""
        opening = Navigate(kind="navigate", url=begin)
        decision = Decision(thought="Open the page the task starts from.", actions=(opening,))
        decided = DecidedStep(decision, START, "embedded")
        for _ in range(_OPENINGS):
            await self._prepare(self._terms.limits.steps)
            await self._step(decided)
            if self._outcome is None or self._outcome.kind != "page_recovered":
                break
        outcome, begin = self._outcome, self._terms.secrets.scrub(begin)
        page = outcome.observation if outcome is not None and outcome.ok else None
        if page is None:
            reason = outcome.message if outcome is not None else "held back"
            raise PageUnreachable(f"{begin} cannot be opened ({reason}); check the address")
        if page.status is not None and page.status >= 400:
            raise PageUnreachable(f"{begin} answers with status {page.status}; check the address")

    async def _prepare(self, left: int) -> Situation:
        """Prepare all that the next decision is made on."""
        notice = self._notice if self._page is not None else prompt("notice_start", PROMPTS)
        step = self._usage.steps + self._steps_before + 1
        now = prompt("now", PROMPTS, step=step, left=left - 1, notice=notice).strip()
        situation, maintained = await self._journal.prepare(now, self._page, left)
        self._view_tokens = situation.view.tokens
        peak = max(self._usage.peak_view_tokens, self._view_tokens)
        self._usage = replace(self._usage, peak_view_tokens=peak, unfolded_tokens=situation.view.unfolded)
        self.add_cost(maintained)
        return situation

    async def _step(self, decided: DecidedStep) -> str:
        """Record a decision, perform it, record its outcome. Returns why the run must end, empty when it goes on."""
        lease, before, decision = self._journal.do, self._page, decided.decision
        hidden = await self._driver.hide_passwords(lease, decision.actions)
        decision = decision.model_copy(update={"actions": hidden})
        decided = replace(decided, decision=decision)
        verdict = self._driver.judge_try(hidden)
        refused = await self._journal.keep(decided)
        self._notice = ""
        self._usage = replace(self._usage, steps=self._usage.steps + 1)
        allowed, held, note = await self._permit(decision, verdict)
        told = refused if decided.kind == "model" else ""  # an embedded decider reads no reasons

        def begin(session: Session) -> int:
            scrub = self._terms.secrets.scrub
            return begin_step(session, decision.thought, decision.actions, scrub, told, decision.found)

        done = await self._driver.act(lease, begin, len(hidden), allowed, held)
        if held and not allowed:
            self._report(done.step, decided, f"not done: {note}", refused, before, ok=False)
            return await self._end_tries(verdict)
        outcome = self._outcome = done.outcome
        if self._terms.screenshots:
            jpeg = await take_screenshot(self._driver.window, outcome.observation)
            if jpeg is not None:
                await lease(lambda session: session.picture(done.step, jpeg))
        if self._terms.script is not None:
            self._terms.script.add(outcome.results, before, outcome.observation)
        self._note_page(outcome.observation, done.ref)
        failed = "" if outcome.ok else outcome.message
        ok = outcome.ok and not (note or outcome.notes)
        self._report(done.step, decided, "; ".join(filter(None, (note, failed, outcome.notes))), refused, before, ok=ok)
        if outcome.kind == "browser_gone":
            raise BrowserGone(outcome.message)
        return await self._terms.watching.hooks.check_results(outcome.results)

    async def _permit(self, decision: Decision, verdict: Verdict) -> tuple[Sequence[PageAction], str, str]:
        """Return the actions that may be performed, the reason against the others as the decider reads it, and the same
        in short for the report. Both reasons are empty if all may.
        """
        if verdict != "go":
            return (), prompt("notice_repeated", PROMPTS), "tried before on this page"
        allowed, why = await self._terms.watching.hooks.check_step(decision, decision.page_actions, self._page)
        return allowed, why, why

    async def _end_tries(self, verdict: Verdict) -> str:
        """Fold repeated tries. Returns why the run must end, empty when it goes on."""
        if verdict == "refuse":
            self.add_cost(await self._journal.prune())
        return "the same thing was tried six times on one page; word the task differently" if verdict == "end" else ""

    def _note_page(self, page: Observation | None, ref: str) -> None:
        """Remember the page after a step."""
        before = self._page
        self._page, self._ref = page, ref
        if page is not None:
            self._evidence.add(page, ref)
            moved = before is None or address(page.url) != address(before.url)
            self._usage = replace(self._usage, pages=self._usage.pages + moved)

    def _pay(self, decided: DecidedStep) -> str:
        """Add up the cost of a decision. Returns why the run must end, empty when it goes on."""
        name, limit = self._decider.name, self._terms.limits.dollars
        self._usage = self._usage.add_decision(decided, name)
        if limit is None:
            return ""
        if self._usage.dollars is None:
            models = " and ".join(filter(None, (name if name != EXPLORER else "", self._journal.folder)))
            raise InputError(
                f"no price of {models} is on file, so --max-cost cannot be kept: leave it out, or use --max-steps"
            )
        over = self._usage.dollars >= limit
        return f"the cost limit of {limit:g} dollars was reached; raise --max-cost" if over else ""

    async def _close(self, decided: DecidedStep, end: Terminal) -> RunResult:
        """Record the last step: the answer, or the reason for none."""
        end = scrub_values(end, self._terms.secrets.scrub)
        candidates = self._add_refs(decided.candidates)
        if isinstance(end, Answer):
            data: Any = end.data if self._terms.shape is not None else None
            text = end.text if self._terms.shape is None else json.dumps(data, ensure_ascii=False)
            sources = self._add_refs([] if end.quote is None else [Source(end.quote, end.url or "")])
            recorded = "\n".join([text, *(_cite(source, text) for source in sources)])
            result = RunResult("answered", text, sources, data=data, candidates=candidates or sources)
        else:
            sources, recorded = (), end.reason
            result = RunResult("none_found", reason=end.reason, candidates=candidates)
        step = await self._journal.close_turn(decided, recorded, sources)
        self._usage = replace(self._usage, steps=self._usage.steps + 1)
        self._report(step, decided, "", "", self._page)
        return replace(result, answered_by=decided.decider)

    def _add_refs(self, sources: Sequence[Source]) -> tuple[Source, ...]:
        """Add to each passage the ref of its page's snapshot."""
        return tuple(replace(source, ref=self._evidence.ref(source.url)) for source in sources)

    def _report(
        self, step: int, decided: DecidedStep, note: str, refused: str, before: Observation | None, *, ok: bool = True
    ) -> None:
        """Report a step to the watcher."""
        page, scrub = self._page, self._terms.secrets.scrub
        notes = "; ".join(filter(None, (note, decided.note, refused, *self._notes)))
        self._notes = []
        taken = StepTaken(
            step=step,
            did=scrub(describe_decision(decided.decision, before)),
            why=scrub(decided.decision.thought),
            ok=ok,
            note=scrub(notes),
            title=page.title if page is not None else "",
            url=page.url if page is not None else "",
            ref=self._ref,
            view_tokens=self._view_tokens,
            budget=self._terms.budget,
            decider=decided.decider,
        )
        self._terms.watching.step(taken)


def _cite(source: Source, text: str) -> str:
    """Return the address and ref of a passage, after its words when `text` lacks them."""
    where = f"({source.url} {source.ref})"
    return where if source.quote in text else f"“{source.quote}” {where}"
