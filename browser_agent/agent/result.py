"""The frozen values that say how a run ended and what it cost."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from browser_agent.browser.gate import Gate
from browser_agent.deciders import Source
from browser_agent.network.effects import Ask, Confirm, Trust
from browser_agent.network.egress import Egress, origin_of, read_domain
from browser_agent.network.secrets import Secret
from ctxfold.decisions.reply import Compliance
from ctxfold.models import Usage, add_prices, cost
from ctxfold.models.deciders import Maintained

if TYPE_CHECKING:
    from browser_agent.actions import ActionResult, PageAction
    from browser_agent.deciders import Decision
    from browser_agent.observation import Observation


Status = Literal["answered", "none_found", "stopped", "failed"]
"""`answered`; `none_found`: looked and found no answer, or gave up; `stopped`: a limit was reached; `failed`: the browser or the page."""


@dataclass(frozen=True, slots=True)
class RunUsage:
    """What a run cost.

    Attributes:
        steps: steps taken.
        pages: addresses opened.
        peak_view_tokens: o200k tokens of the largest context a decider was shown.
        budget: what that was held to.
        unfolded_tokens: o200k tokens the whole history would cost, unfolded.
        input_tokens, output_tokens, cached_tokens: a model's, as its server counted them; 0 without a model.
        dollars: what the model cost; None where no price is on file, 0.0 without a model.
        refused: replies of the model that did not fit and were replaced by the explorer's decision.
        folder_tokens: tokens read and written by the model that folds, plans and extracts; 0 without one.
        compliance: where a model answers in words, how well it kept to the form of a fold.
        decided: who decided how many steps, in the order they first did; opening the start address is nobody's decision.
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
    compliance: Compliance = field(default_factory=Compliance)
    decided: tuple[tuple[str, int], ...] = ()
    seconds: float = 0.0

    def with_step(self, decider: str) -> RunUsage:
        """This, and a step that `decider` decided."""
        counted = {**dict(self.decided), decider: dict(self.decided).get(decider, 0) + 1}
        return replace(self, steps=self.steps + 1, decided=tuple(counted.items()))

    def with_replies(self, replies: Sequence[Usage], model: str) -> RunUsage:
        """This, and what the replies of a deciding model cost."""
        return replace(
            self,
            input_tokens=self.input_tokens + sum(reply.prompt for reply in replies),
            output_tokens=self.output_tokens + sum(reply.output for reply in replies),
            cached_tokens=self.cached_tokens + sum(reply.cache_read for reply in replies),
            dollars=add_prices(self.dollars, *(cost(reply, model) for reply in replies)),
        )

    def with_maintenance(self, kept: Maintained) -> RunUsage:
        """This, and what folding, planning and extracting by models cost."""
        spent = kept.usage
        return replace(
            self,
            folder_tokens=self.folder_tokens + spent.prompt + spent.output,
            dollars=add_prices(self.dollars, kept.dollars),
        )


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run came to.

    Attributes:
        status: how it ended.
        answer: the answer in words; None unless answered.
        sources: the passage that bears the answer, one a question where the explorer answered several; empty unless answered with a quote.
        reason: why it ended without an answer, in one line; empty when answered.
        steps: how many steps were taken.
        session: the session that holds them.
        decider: who decided: a model's name, or `explorer`.
        usage: what it cost.
        data: the answer as the task's schema has it; None where the task had none, or was not answered.
        answered_by: who gave the answer, or found none: the explorer may have stood in for a model. Empty where a limit ended the run.
        candidates: the passages that fit the task best, at most three a question, best first, each with its address and ref. The first bears the answer where
            there is one; where there is none, a reader may find it among them.
        notes: what became of folds otherwise than decided after the last step was told, a line each.
    """

    status: Status
    answer: str | None
    sources: tuple[Source, ...]
    reason: str
    steps: int
    session: str
    decider: str
    usage: RunUsage
    data: object = None
    answered_by: str = ""
    candidates: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepTaken:
    """One step of a run as whoever watches is told of it, when it is done.

    Attributes:
        step: its number in the session.
        did: what was done, in a few words.
        why: the decider's thought.
        ok: whether it was done.
        note: what went wrong or was decided otherwise; empty when nothing was.
        title: the page that stands there now.
        url: its address.
        ref: that page's snapshot in the session's log; empty where there was no page to look at.
        view_tokens: o200k tokens of the context the decision was made on.
        budget: what that was held to.
        decider: who decided this step.
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
    """What a run may reach, type and bring about.

    Args:
        allow: domains it may connect to, and no others; none for every public one. The start address may always be reached.
        secrets: values it may type by placeholder, each into its own domain.
        confirm: when a person is asked before a page sends something with effects.
        ask: who asks; None where nobody can be asked, and nothing of that kind is then sent unless it is trusted.
        local: whether who names addresses shares this machine. Over HTTP they do not: then only `allow` opens what is private, a start address included.
        trust: domains whose pages may send what they like after an act, unasked.
        trust_start: whether a person gave the start address: then its origin is trusted too.

    Raises:
        InputError: a domain that is none.
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

    def egress(self, start_url: str | None) -> Egress:
        """Where the browser may connect.

        Raises:
            InputError: a domain that is none.
        """
        web = start_url if self.local and start_url is not None and origin_of(start_url) is not None else None
        return Egress.of(self.allow, web)

    def gate(self, start_url: str | None, model_drives: bool) -> Gate | None:
        """What holds back the effects of acts; None where nothing is to be asked.

        Args:
            start_url: the address that this call names to begin at.
            model_drives: whether a model decides; the explorer only opens addresses.
        """
        if self.confirm == "never" or (self.confirm == "auto" and not model_drives):
            return None
        start = origin_of(start_url) if start_url is not None and self.trust_start else None
        domains = tuple(read_domain(domain) for domain in self.trust)
        return Gate(Trust(self.confirm == "always", start, domains), self.ask)


Verdict = bool | str | None
"""What a hook says: `False`, or a reason in words, holds back; anything else lets it be."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """Functions of a program, sync or async, that a run calls; each may hold back what it is told of.

    Args:
        before_step: given a decision and the page it was made on. Held back, none of it is done, and the decider is told why.
        before_action: given an action and that page. Held back, it and those behind it are left undone, and the decider is told why.
        after_action: given what came of an action. Where it says no, the run stops after the step.
    """

    before_step: Callable[[Decision, Observation | None], Verdict | Awaitable[Verdict]] | None = None
    before_action: Callable[[PageAction, Observation | None], Verdict | Awaitable[Verdict]] | None = None
    after_action: Callable[[ActionResult], Verdict | Awaitable[Verdict]] | None = None


async def veto(name: str, said: Verdict | Awaitable[Verdict]) -> str:
    """Why a hook of this name holds back; empty where it does not."""
    verdict = await said if inspect.isawaitable(said) else said
    if verdict is False:
        return f"{name} held it back"
    return f"{name} held it back: {verdict}" if isinstance(verdict, str) and verdict else ""


async def allowed(
    hooks: Hooks, actions: Sequence[PageAction], page: Observation | None
) -> tuple[tuple[PageAction, ...], str]:
    """The actions that may be done, up to the first that is held back, and why that one is; empty where none is."""
    if hooks.before_action is None:
        return tuple(actions), ""
    for at, action in enumerate(actions):
        why = await veto("before_action", hooks.before_action(action, page))
        if why:
            return tuple(actions[:at]), why
    return tuple(actions), ""
