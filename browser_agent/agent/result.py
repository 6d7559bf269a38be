"""The frozen values that say how a run ended and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from browser_agent.deciders.sources import Source
from ctxfold.decisions.fold.parse import Compliance
from ctxfold.models import Usage as ModelUsage
from ctxfold.models import add_prices, cost
from ctxfold.models.deciders import Maintained

__all__ = ["Result", "Status", "StepTaken", "Usage"]

Status = Literal["answered", "none_found", "stopped", "failed"]
"""`answered`; `none_found`: looked and found no answer, or gave up; `stopped`: a limit was reached; `failed`: the browser or the page."""


@dataclass(frozen=True, slots=True)
class Usage:
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

    def with_step(self, decider: str) -> Usage:
        """This, and a step that `decider` decided."""
        counted = {**dict(self.decided), decider: dict(self.decided).get(decider, 0) + 1}
        return replace(self, steps=self.steps + 1, decided=tuple(counted.items()))

    def with_replies(self, replies: Sequence[ModelUsage], model: str) -> Usage:
        """This, and what the replies of a deciding model cost."""
        return replace(
            self,
            input_tokens=self.input_tokens + sum(reply.prompt for reply in replies),
            output_tokens=self.output_tokens + sum(reply.output for reply in replies),
            cached_tokens=self.cached_tokens + sum(reply.cache_read for reply in replies),
            dollars=add_prices(self.dollars, *(cost(reply, model) for reply in replies)),
        )

    def with_maintenance(self, kept: Maintained) -> Usage:
        """This, and what folding, planning and extracting by models cost."""
        spent = kept.usage
        return replace(
            self,
            folder_tokens=self.folder_tokens + spent.prompt + spent.output,
            dollars=add_prices(self.dollars, kept.dollars),
        )


@dataclass(frozen=True, slots=True)
class Result:
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
    usage: Usage
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
