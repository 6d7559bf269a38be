"""The loop of one run: render the context, ask for a decision, record it, perform it, record its outcome; limits, the
loop guard and the end.
"""

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
    end_step,
    match_refs,
    refuse_step,
    rename_refs,
    scrub_action,
    scrub_values,
)
from browser_agent.agent.result import RunResult, RunUsage, Status, StepTaken, allow_actions, veto
from browser_agent.agent.script import ScriptFile
from browser_agent.agent.settings import RunLimits, Watching
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
from ctxfold.config import EXPLORER
from ctxfold.errors import BrowserGone, InputError, InvalidReply, PageUnreachable
from ctxfold.models.deciders import Maintained
from ctxfold.prompts import prompt
from ctxfold.text.words import counted
from ctxfold.view.render import View

Verdict = Literal["go", "refuse", "end"]
"""`go`: perform the decision; `refuse`: ask for another; `end`: end the run with its best passages."""

REFUSED_FROM, ENDED_AT = 3, 6
"""Tries of one decision on an unchanged page: from the third on it is refused, at the sixth the run ends."""


@dataclass(frozen=True, slots=True)
class LoopGuard:
    """Counts how often each decision was tried on a page of the same address and content."""

    tried: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def after(self, actions: Sequence[PageAction | Terminal], fingerprint: str) -> tuple[LoopGuard, Verdict]:
        """Count a try. Returns the guard with the try counted, and the verdict on it.

        Args:
            actions: the actions to perform.
            fingerprint: the fingerprint of the page; empty before the first page.
        """
        key = (fingerprint, "\n".join(action.model_dump_json() for action in actions))
        times = self.tried.get(key, 0) + 1
        verdict: Verdict = "end" if times >= ENDED_AT else "refuse" if times >= REFUSED_FROM else "go"
        return replace(self, tried={**self.tried, key: times}), verdict


@dataclass(frozen=True, slots=True)
class RunState:
    """The state of a run between two steps.

    Attributes:
        observation: the present page; None before the first.
        ref: the ref of its snapshot in the log.
        renamed: for a page opened again, the present ref for each ref that the decider was shown; empty otherwise.
        guard: the tries so far.
        failed: why the last step failed; empty when it did not.
        lost: whether it failed because the browser or the page was lost.
        notice: a sentence for the end of the next context, next to the step's number.
        repeated: whether the last decision was refused as a repetition.
        aside: further sentences for the next step's note.
        before: steps of this task that an earlier process took.
        usage: the cost of the run so far.
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
    usage: RunUsage = field(default_factory=RunUsage)


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


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended, with its answer or the best passages."""

    status: Status
    reason: str
    answer: str | None = None
    sources: tuple[Source, ...] = ()
    candidates: tuple[Source, ...] = ()
    data: object = None
    by: str = ""


def make_ending(decided: DecidedStep, end: Terminal, evidence: Evidence, shape: Shape | None) -> tuple[Ending, str]:
    """Make the ending of a terminal decision, and the text that the session records for it.

    Raises:
        InvalidReply: the answer does not have the schema that was asked for.
    """
    candidates = _add_refs(decided.candidates, evidence)
    match end:
        case Answer(text=text, quote=quote, url=url, data=data):
            only = () if quote is None else (Source(quote, url or ""),)
            sources = _add_refs(decided.sources or only, evidence)
            text, data = _shape_answer(text, data, shape)
            said = "\n".join([text, *(_cite(source, text) for source in sources)])
            return Ending("answered", "", text, sources, candidates or sources, data, decided.decider), said
        case GiveUp(reason=reason):
            return Ending("none_found", reason, None, (), candidates, None, decided.decider), reason
        case _:
            assert_never(end)


def stop_at_limit(reason: str, candidates: Sequence[Source], evidence: Evidence) -> Ending:
    """Make the ending of a run that reached a limit."""
    return Ending("stopped", reason, candidates=_add_refs(candidates, evidence))


def _shape_answer(text: str, data: object, shape: Shape | None) -> tuple[str, object]:
    """Return an answer in words, or the JSON and value of one with a schema."""
    if shape is None:
        return text, None
    faults = shape.faults(data)
    if faults:
        raise InvalidReply(f"the answer does not have the schema that was asked for: {'; '.join(faults)}")
    return json.dumps(data, ensure_ascii=False), data


def _cite(source: Source, text: str) -> str:
    """Return the address and ref of a passage, after its words when `text` lacks them."""
    where = f"({source.url} {source.ref})"
    return where if source.quote in text else f"“{source.quote}” {where}"


def _add_refs(sources: Sequence[Source], evidence: Evidence) -> tuple[Source, ...]:
    return tuple(replace(source, ref=evidence.ref(source.url)) for source in sources)


class _Opened(Protocol):
    async def close(self) -> None: ...


def close_at_end(held: AsyncExitStack, opened: _Opened) -> None:
    """Close something that a run opened when `held` ends, even if the run is interrupted."""

    async def close() -> None:
        with anyio.CancelScope(shield=True):
            await opened.close()

    held.push_async_callback(close)


_PROMPTS = "browser_agent.prompts"

_OPENINGS = 2
"""How often the start address is opened when the browser is lost meanwhile."""

START = "the start address"
"""The decider of the step that opens the start address."""


class Run:
    """Carries out a task: `decider` decides each step, `journal` records it, `window` performs it, all within `terms`."""

    def __init__(self, task: str, decider: Decider, journal: Journal, window: Window, terms: Terms) -> None:
        self._task = task
        self._decider = decider
        self._journal = journal
        self._window = window
        self._terms = terms
        self._limits = terms.limits
        self._now = RunState(usage=RunUsage(budget=terms.budget))

    async def finish(self, evidence: Evidence, begin: str | None, cut_off: CutOff | None = None) -> RunResult:
        """Take steps until the task is answered, given up, or a limit is reached.

        Args:
            evidence: collects each page seen.
            begin: the page to open first; None lets the decider choose.
            cut_off: the state in which an earlier process left the run, when it is resumed.

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
        return RunResult(
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
        if begin is not None and not (cut_off.full and await self._reopen(begin, evidence, cut_off)):
            await self._open(begin, evidence)
            self._now = replace(self._now, notice=prompt("notice_resumed", _PROMPTS) if cut_off.steps else "")
        while True:
            now = self._now
            left = self._limits.steps - now.usage.steps - now.before
            if left <= 0:
                why = f"the limit of {counted(self._limits.steps, 'step')} was reached; raise --max-steps"
                return stop_at_limit(why, self._decider.candidates(), evidence)
            context, closing = await self._context(left)
            tip = await self._journal.do(lambda session: session.tip)
            situation = Situation(
                self._task, context.view, now.observation, closing, tip, left, now.repeated,
                context.workspace, context.stable,
            )  # fmt: skip
            decided = await self._decider.decide(situation)
            over = self._pay(decided)
            end = decided.decision.end
            if end is not None:
                return await self._close(decided, end, evidence, context.view)
            over = over or await self._step(decided, evidence, context.view)
            if over:
                return stop_at_limit(over, self._decider.candidates(), evidence)

    async def _open(self, begin: str, evidence: Evidence) -> None:
        """Take the first step, which needs no decider: open the start address."""
        decision = Decision(
            thought="Open the page the task starts from.", actions=(Navigate(kind="navigate", url=begin),)
        )
        for _ in range(_OPENINGS):
            context, _closing = await self._context(self._limits.steps)
            await self._step(DecidedStep(decision, START, "embedded"), evidence, context.view)
            if not self._now.lost:
                break
        observation, failed = self._now.observation, self._now.failed
        begin = self._terms.secrets.scrub(begin)
        if failed or observation is None:
            raise PageUnreachable(f"{begin} cannot be opened ({failed or 'nothing came'}); check the address")
        if observation.status is not None and observation.status >= 400:
            raise PageUnreachable(f"{begin} answers with status {observation.status}; check the address")

    async def _reopen(self, begin: str, evidence: Evidence, cut_off: CutOff) -> bool:
        """Open the last page of an earlier process again. Returns whether it is unchanged except for its refs.

        If it is, the next decision is asked for exactly as that process would have asked, and nothing is recorded.
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
        """Prepare the context of the next decision, and the sentence that closes it."""
        now = self._now
        notice = now.notice if now.observation is not None else prompt("notice_start", _PROMPTS)
        taken = now.usage.steps + now.before
        closing = prompt("now", _PROMPTS, step=taken + 1, left=left - 1, notice=notice).strip()
        context = await self._journal.prepare_context(closing)
        peak = max(now.usage.peak_view_tokens, context.view.tokens)
        self._count(peak_view_tokens=peak, unfolded_tokens=context.view.unfolded)
        self.add_cost(context.kept)
        return context, closing

    def add_cost(self, kept: Maintained) -> None:
        """Add the cost and notes of folding, planning and extracting to the run."""
        usage = self._now.usage.with_maintenance(kept)
        self._now = replace(self._now, usage=usage, aside=(*self._now.aside, *kept.notes))

    def _count(self, **changed: Any) -> None:
        self._now = replace(self._now, usage=replace(self._now.usage, **changed))

    async def _step(self, decided: DecidedStep, evidence: Evidence, context: View) -> str:
        """Record a decision, perform it, record its outcome. Returns why the run must end, empty when it goes on."""
        decided, before = await self._hide(decided), self._now.observation
        guard, verdict = self._now.guard.after(
            decided.decision.actions, before.fingerprint if before is not None else ""
        )
        left = self._limits.steps - self._now.usage.steps - self._now.before - 1
        begun = await self._journal.begin(decided, left)
        asked = len(begun.decision.actions)
        self._now = replace(self._now, guard=guard, notice="")
        usage = self._now.usage
        stepped = (
            replace(usage, steps=usage.steps + 1) if decided.decider == START else usage.with_step(decided.decider)
        )
        self._now = replace(self._now, usage=stepped)
        acting = rename_refs(decided.decision, self._now.renamed)
        actions, held, short = await self._hold_back(decided.decision, acting, verdict)
        if held and not actions:
            await self._journal.do(lambda session: refuse_step(session, begun.step, asked, held))
            self._now = replace(self._now, repeated=verdict != "go")
            self._tell(begun, decided, f"not done: {short}", context, before, ok=False)
            return await self._end_tries(verdict)
        outcome = self._scrub_outcome(await perform(self._window, actions, self._task))
        await self._journal.forget()
        ref, _ = await self._journal.do(
            lambda session: end_step(session, begun.step, asked, outcome, held or "left undone")
        )
        if self._terms.screenshots:
            jpeg = await take_screenshot(self._window, outcome.observation)
            if jpeg is not None:
                await self._journal.do(lambda session: session.picture(begun.step, jpeg))
        if self._terms.script is not None:
            self._terms.script.add(outcome.results, before, outcome.observation)
        self._note_page(outcome, ref, evidence)
        note = "; ".join(filter(None, (short, self._now.failed)))
        self._tell(begun, decided, note, context, before, ok=outcome.ok and not (short or outcome.late))
        if outcome.kind == "browser_gone":
            raise BrowserGone(outcome.message)
        return await self._ask_after_action(outcome.results)

    async def _hide(self, decided: DecidedStep) -> DecidedStep:
        """Replace each text for a password field by a placeholder; from then on the text is recorded nowhere."""
        actions = await hide_typed(self._window, decided.decision.actions, self._now.renamed)
        await self._journal.forget()
        return replace(decided, decision=decided.decision.model_copy(update={"actions": actions}))

    def _scrub_outcome(self, outcome: Outcome) -> Outcome:
        """Mask texts in an outcome that proved secret while the actions ran."""
        scrub = self._terms.secrets.scrub
        results = [one.model_copy(update={"action": scrub_action(one.action, scrub)}) for one in outcome.results]
        return outcome.model_copy(update={"results": tuple(results)})

    async def _end_tries(self, verdict: Verdict) -> str:
        """Fold repeated tries. Returns why the run must end, empty when it goes on."""
        if verdict == "refuse":
            self.add_cost(await self._journal.prune())
        return "the same thing was tried six times on one page; word the task differently" if verdict == "end" else ""

    async def _hold_back(
        self, decision: Decision, acting: Decision, verdict: Verdict
    ) -> tuple[tuple[PageAction, ...], str, str]:
        """Return the actions that may be performed, and why the rest may not: for the decider, and in short; empty when
        all may.
        """
        hooks, page = self._terms.watching.hooks, self._now.observation
        if verdict != "go":
            return (), prompt("notice_repeated", _PROMPTS), "tried before on this page"
        if hooks.before_step is not None:
            why = await veto("before_step", hooks.before_step(decision, page))
            if why:
                return (), why, why
        actions, held = await allow_actions(hooks, acting.page_actions, page)
        return actions, held, held

    async def _ask_after_action(self, results: tuple[ActionResult, ...]) -> str:
        """Ask the program's hook after each action. Returns why it ends the run; empty when it does not."""
        hook = self._terms.watching.hooks.after_action
        said = [await veto("after_action", hook(result)) for result in results] if hook is not None else []
        return next(filter(None, said), "")

    def _note_page(self, outcome: Outcome, ref: str, evidence: Evidence) -> None:
        """Remember the page after a step."""
        now, page = self._now, outcome.observation
        if page is not None:
            evidence.add(page, ref)
        elsewhere = page is not None and (now.observation is None or address(page.url) != address(now.observation.url))
        failed = "; ".join(filter(None, ("" if outcome.ok else outcome.message, outcome.notes)))
        lost = outcome.kind == "page_recovered"
        self._now = replace(now, observation=page, ref=ref, failed=failed, lost=lost, repeated=False, renamed={})
        self._count(pages=now.usage.pages + elsewhere)

    def _pay(self, decided: DecidedStep) -> str:
        """Add up the cost of a decision. Returns why the run must end, empty when it goes on."""
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

    async def _close(self, decided: DecidedStep, end: Answer | GiveUp, evidence: Evidence, context: View) -> Ending:
        """Record the last step: the answer, or why there is none."""
        end = type(end).model_validate(scrub_values(end.model_dump(mode="json"), self._terms.secrets.scrub))
        ending, said = make_ending(decided, end, evidence, self._terms.shape)
        step = await self._journal.close_turn(decided, said, ending.sources if ending.status == "answered" else ())
        self._now = replace(self._now, usage=self._now.usage.with_step(decided.decider))
        self._tell(Begun(step, decided.decision), decided, "", context, self._now.observation)
        return ending

    def _tell(
        self,
        begun: Begun,
        decided: DecidedStep,
        note: str,
        context: View,
        before: Observation | None,
        *,
        ok: bool = True,
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
