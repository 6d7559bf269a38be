"""Ten situations of a browser run, on pages served on loopback: the steps before are a plan's, the one that is asked for is the reader's."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from browser_agent.agent.agent import BrowserAgent
from browser_agent.agent.result import StepTaken
from browser_agent.agent.settings import Keeping, RunLimits, Watching
from ctxfold.errors import ModelUnavailable
from ctxfold.models import Model, Reply, Request
from ctxfold.models.protocol import list_blocks
from tests.benchmarks.fidelity.record import TASK, claimed, orders, site
from tests.sites.server import LAB, Site

__all__ = ["BROWSED", "Browsed", "browse"]

Choice = Callable[[str], dict[str, Any]]
SHOP = orders()
FIRST = claimed(SHOP)[0]
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "account": {"type": "string"}}, "required": ["name", "account"]}  # fmt: skip


@dataclass(frozen=True)
class Browsed:
    """One situation of a run.

    Attributes:
        task: what the user asks.
        plan: the decisions of the steps before.
        start: the path the run begins at; None for none.
        budget: tokens of the context.
        schema: the form of the answer.
    """

    task: str
    plan: Sequence[Choice] = ()
    start: str | None = "/orders"
    budget: int = 4_000
    schema: dict[str, Any] | None = None


def click(label: str, **more: Any) -> Choice:
    """Click what bears a label on the page shown last."""
    return lambda page: {"thought": f"Open {label}.", "actions": [{"kind": "click", "ref": _ref(page, label)}], **more}


def do(**action: Any) -> Choice:
    """One action."""
    return lambda _: {"thought": "Look there.", "actions": [action]}


def _ref(page: str, label: str) -> str:
    found: list[str] = re.findall(re.escape(label) + r"\"?\[((?:f\d+)?e\d+)\]", page)
    return found[-1]


CUSTOMER = f"{FIRST.name} ({FIRST.customer})"
ABOUT_FIRST = (click("Claims"), click(FIRST.number), click(CUSTOMER))
ALL = [each for order in claimed(SHOP)[:4] for each in (click("Claims"), click(order.number), click(f"{order.name} ({order.customer})"))]  # fmt: skip
BROWSED = (
    Browsed(f"Which order did {SHOP[4].name} place, and what was its total?"),
    Browsed(f"To which account is the money for claimed order {FIRST.number} paid?", ABOUT_FIRST[:2]),
    Browsed(f"To which account is the money for claimed order {FIRST.number} paid?", ABOUT_FIRST),
    Browsed(f"Send the refund for claimed order {FIRST.number}: the claimed amount, to the customer's account.", (*ABOUT_FIRST, click("Refund form"))),
    Browsed("How long may a refund take?", (do(kind="navigate", url="{site}/terms"),)),
    Browsed("Which claim is about the dearest article?", (click("Claims"), *[do(kind="press", key="End")] * 3)),
    Browsed("What do the terms say on goods made to measure?", start=None),
    Browsed(TASK, ALL, budget=1_800),
    Browsed(f"Who placed order {FIRST.number}, and what is their account?", ABOUT_FIRST, schema=SCHEMA),
    Browsed("What is the telephone number of the shop's warehouse in Utrecht?", (click("Claims"), do(kind="find", query="Utrecht"), click("All orders"), do(kind="find", query="telephone"))),
)  # fmt: skip


class Planned:
    """Decides by a plan up to the step that is asked for, and leaves that to a reader.

    Args:
        plan: the decisions before.
        reader: who decides then, once.
        here: where the site is.
    """

    def __init__(self, plan: Sequence[Choice], reader: Model, here: str) -> None:
        self.name = "reader"
        self._left = list(plan)
        self._reader = reader
        self._here = here

    async def decide(self, request: Request) -> Reply:
        """The plan's next decision, or the reader's."""
        if not self._left:
            return await self._reader.decide(request)
        shown = "\n".join(block.get("text", "") for message in request.messages for block in list_blocks(message))
        return Reply(_at(self._left.pop(0)(shown), self._here))


def _at(decision: Any, here: str) -> Any:
    """A decision with the site's address in it."""
    match decision:
        case str():
            return decision.replace("{site}", here)
        case dict():
            return {key: _at(value, here) for key, value in decision.items()}
        case list():
            return [_at(value, here) for value in decision]
        case _:
            return decision


async def browse(case: Browsed, reader: Callable[[str], Model]) -> list[StepTaken]:
    """Run a situation up to where the reader's model ends it; its steps. `reader` makes the model, given where the site is."""
    told: list[StepTaken] = []
    with Site(LAB, pages=site(SHOP)) as served:
        planned = Planned(case.plan, reader(served.url), served.url)
        start = None if case.start is None else served.url + case.start
        task = case.task if start is not None else f"{case.task} The shop's desk is at {served.url}/orders."
        keeping = Keeping(store=":memory:")
        async with BrowserAgent(planned, case.budget, RunLimits(steps=30), keeping=keeping) as agent:
            try:
                await agent.run(task, start, Watching(step=told.append), case.schema)
            except ModelUnavailable:
                return told
    return told
