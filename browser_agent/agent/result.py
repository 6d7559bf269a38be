"""The result of a run and its cost; `Safety`: the sites, secrets and effects a run is allowed; `Hooks`: functions that
may refuse steps.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from browser_agent.actions import ActionResult, PageAction
from browser_agent.browser.gate import Gate
from browser_agent.deciders import DecidedStep, Decision, Source
from browser_agent.network.effects import Ask, Confirm, Trust
from browser_agent.network.egress import origin_of, read_domain
from browser_agent.network.secrets import Secret
from browser_agent.observation import Observation
from ctxfold.models import Usage, add_prices, cost
from ctxfold.models.deciders import Maintained

Status = Literal["answered", "none_found", "stopped", "failed"]
"""`answered`; `none_found`: looked and found no answer, or gave up; `stopped`: a limit was reached; `failed`: the
browser or the page.
"""


@dataclass(frozen=True, slots=True)
class RunUsage:
    """The cost of a run.

    Attributes:
        steps: steps taken.
        pages: addresses opened.
        peak_view_tokens: o200k tokens of the largest context a decider was shown.
        budget: the budget of that context.
        unfolded_tokens: o200k tokens of the whole history without folds.
        input_tokens, output_tokens, cached_tokens: tokens that the model's server counted; 0 without a model.
        dollars: the price of the model; None when its price is not known, 0.0 without a model.
        refused: replies of the model that did not fit and were replaced by the explorer's decision.
        folder_tokens: tokens read and written by the model that folds, plans and extracts; 0 without one.
        seconds: how long the run took.
    """

    steps: int = 0
    pages: int = 0
    peak_view_tokens: int = 0
    budget: int = 0
    unfolded_tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    dollars: float | None = 0.0
    refused: int = 0
    folder_tokens: int = 0
    seconds: float = 0.0

    def add_decision(self, decided: DecidedStep, model: str) -> RunUsage:
        """Add the cost of the replies of a deciding `model`."""
        spent = sum(decided.usage, Usage())
        return replace(
            self,
            input_tokens=self.input_tokens + spent.prompt,
            output_tokens=self.output_tokens + spent.output,
            cached_tokens=self.cached_tokens + spent.cache_read,
            dollars=add_prices(self.dollars, *(cost(reply, model) for reply in decided.usage)),
            refused=self.refused + bool(decided.usage and decided.note),
        )

    def add_maintenance(self, maintained: Maintained) -> RunUsage:
        """Add the cost of folding, planning and extracting by models."""
        tokens = maintained.usage.prompt + maintained.usage.output
        dollars = add_prices(self.dollars, maintained.dollars)
        return replace(self, folder_tokens=self.folder_tokens + tokens, dollars=dollars)


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    Attributes:
        status: how it ended.
        answer: the answer in words; None unless answered.
        sources: the passage that bears the answer; empty unless answered with a quote.
        reason: why it ended without an answer, in one line; empty when answered.
        steps: the number of steps taken.
        session: the session that holds them.
        decider: a model's name, or `explorer`.
        usage: its cost.
        data: the answer in the form of the task's schema; None without a schema or an answer.
        answered_by: the decider of the last step, which may be the explorer in place of a model; empty when a limit
            ended the run.
        candidates: the passages that fit the task best, at most three, best first, each with its address and ref.
        notes: changes to folds after the last reported step, a line each.
    """

    status: Status
    answer: str | None = None
    sources: tuple[Source, ...] = ()
    reason: str = ""
    steps: int = 0
    session: str = ""
    decider: str = ""
    usage: RunUsage = field(default_factory=RunUsage)
    data: object = None
    answered_by: str = ""
    candidates: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepTaken:
    """One step of a run, as reported to watchers.

    Attributes:
        step: its number in the session.
        did: its actions, in a few words.
        why: the decider's thought.
        ok: whether it was performed as decided.
        note: failures and changes; empty for none.
        title: the title of the page after it.
        url: the page's address.
        ref: the page's snapshot in the session's log; empty when there was no page.
        view_tokens: o200k tokens of the context it was decided on.
        budget: the budget of that context.
        decider: who decided it.
    """

    step: int
    did: str
    why: str
    ok: bool
    note: str
    title: str
    url: str
    ref: str
    view_tokens: int
    budget: int
    decider: str


@dataclass(frozen=True, slots=True)
class Safety:
    """The sites, secrets and effects that a run is allowed.

    Args:
        allow: the only domains it may connect to; empty for every public one. The start address may always be reached.
        secrets: values it may type by placeholder, each into its own domain.
        confirm: when a person is asked before a page sends something with effects.
        ask: asks the person; without it only trusted pages may send.
        local: whether addresses come from a person at this machine. Over HTTP they do not: then only `allow` opens
            private addresses.
        trust: domains that may send anything after an act, unasked.
        trust_start: whether a person gave the start address, which makes its origin trusted too.

    Raises:
        InputError: not a domain.
    """

    allow: tuple[str, ...] = ()
    secrets: tuple[Secret, ...] = ()
    confirm: Confirm = "auto"
    ask: Ask | None = None
    local: bool = True
    trust: tuple[str, ...] = ()
    trust_start: bool = True

    def __post_init__(self) -> None:
        for domain in self.trust:
            read_domain(domain)

    def gate(self, start_url: str | None, model_drives: bool) -> Gate | None:
        """Make the gate that holds back effects; None when nothing is to be asked.

        Args:
            start_url: the start address that this call names.
            model_drives: whether a model decides; the explorer only opens addresses.
        """
        if self.confirm == "never" or (self.confirm == "auto" and not model_drives):
            return None
        start = origin_of(start_url) if start_url is not None and self.trust_start else None
        domains = tuple(read_domain(domain) for domain in self.trust)
        return Gate(Trust(self.confirm == "always", start, domains), self.ask)


Permission = bool | str | None
"""A hook's verdict: `False`, or a reason in words, refuses; anything else allows."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """Functions of a program, sync or async, that may refuse the steps and actions of a run.

    Args:
        before_step: called with a decision and its page. If it refuses, no action is performed, and the decider learns
            why.
        before_action: called with an action and its page. If it refuses, this action and later ones are left out, and
            the decider learns why.
        after_action: called with the result of an action. If it refuses, the run stops after the step.
    """

    before_step: Callable[[Decision, Observation | None], Permission | Awaitable[Permission]] | None = None
    before_action: Callable[[PageAction, Observation | None], Permission | Awaitable[Permission]] | None = None
    after_action: Callable[[ActionResult], Permission | Awaitable[Permission]] | None = None

    async def check_step(
        self, decision: Decision, actions: Sequence[PageAction], page: Observation | None
    ) -> tuple[tuple[PageAction, ...], str]:
        """Return the actions before the first that a hook refuses, and why; empty when none is refused."""
        why = await _ask_hook("before_step", self.before_step, decision, page)
        if why:
            return (), why
        for at, action in enumerate(actions):
            why = await _ask_hook("before_action", self.before_action, action, page)
            if why:
                return tuple(actions[:at]), why
        return tuple(actions), ""

    async def check_results(self, results: Sequence[ActionResult]) -> str:
        """Show the hook each result. Returns why the run must end; empty when it need not."""
        reasons = [await _ask_hook("after_action", self.after_action, result) for result in results]
        return next(filter(None, reasons), "")


async def _ask_hook(name: str, hook: Callable[..., Permission | Awaitable[Permission]] | None, *given: object) -> str:
    """Call a hook. Returns why it refuses; empty when it allows."""
    verdict = None if hook is None else hook(*given)
    if inspect.isawaitable(verdict):
        verdict = await verdict
    if verdict is False:
        return f"{name} held it back"
    return f"{name} held it back: {verdict}" if isinstance(verdict, str) and verdict else ""
