"""Ten situations of a browser run on the shop: a plan decides the steps before, a reader the one that is asked for."""

from __future__ import annotations

import json
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
from tests.benchmarks.prompts.shop import TASK, choose_claimed, make_orders, make_pages
from tests.sites.server import LAB, Site

Choice = Callable[[str], dict[str, Any]]
"""Makes a decision from the page shown last."""
SHOP = make_orders()
CLAIMED = choose_claimed(SHOP)
FIRST = CLAIMED[0]
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "account": {"type": "string"}},
    "required": ["name", "account"],
}


@dataclass(frozen=True)
class BrowsedCase:
    """One situation of a run.

    Attributes:
        task: the user's task.
        plan: the decisions of the steps before.
        start: the path where the run begins; None for no page.
        budget: tokens of the context.
        schema: the form of the answer.
    """

    task: str
    plan: Sequence[Choice] = ()
    start: str | None = "/orders"
    budget: int = 4_000
    schema: dict[str, Any] | None = None


def click(label: str) -> Choice:
    """Click the last control on the page with a label."""

    def decide(page: str) -> dict[str, Any]:
        ref = re.findall(re.escape(label) + r"\"?\[((?:f\d+)?e\d+)\]", page)[-1]
        return {"thought": f"Open {label}.", "actions": [{"kind": "click", "ref": ref}]}

    return decide


def do(**action: Any) -> Choice:
    """Do one action."""
    return lambda _: {"thought": "Look there.", "actions": [action]}


OPEN_CUSTOMERS = [
    (click("Claims"), click(order.number), click(f"{order.name} ({order.customer})")) for order in CLAIMED[:4]
]
ACCOUNT = f"To which account is the money for claimed order {FIRST.number} paid?"
REFUND = f"Send the refund for claimed order {FIRST.number}: the claimed amount, to the customer's account."
LOOK_FOR_NUMBER = (
    click("Claims"),
    do(kind="find", query="Utrecht"),
    click("All orders"),
    do(kind="find", query="telephone"),
)
BROWSED = (
    BrowsedCase(f"Which order did {SHOP[4].name} place, and what was its total?"),
    BrowsedCase(ACCOUNT, OPEN_CUSTOMERS[0][:2]),
    BrowsedCase(ACCOUNT, OPEN_CUSTOMERS[0]),
    BrowsedCase(REFUND, (*OPEN_CUSTOMERS[0], click("Refund form"))),
    BrowsedCase("How long may a refund take?", (do(kind="navigate", url="{site}/terms"),)),
    BrowsedCase("Which claim is about the dearest article?", (click("Claims"), *[do(kind="press", key="End")] * 3)),
    BrowsedCase("What do the terms say on goods made to measure?", start=None),
    BrowsedCase(TASK, [choice for choices in OPEN_CUSTOMERS for choice in choices], budget=1_800),
    BrowsedCase(f"Who placed order {FIRST.number}, and what is their account?", OPEN_CUSTOMERS[0], schema=SCHEMA),
    BrowsedCase("What is the telephone number of the shop's warehouse in Utrecht?", LOOK_FOR_NUMBER),
)


class PlannedModel:
    """Decides by a plan, then leaves one decision to a reader.

    Args:
        plan: the decisions before.
        reader: decides after the plan.
        site: the site's address.
    """

    name = "reader"

    def __init__(self, plan: Sequence[Choice], reader: Model, site: str) -> None:
        self._left = list(plan)
        self._reader = reader
        self._site = site

    async def decide(self, request: Request) -> Reply:
        """Return the plan's next decision, or the reader's."""
        if not self._left:
            return await self._reader.decide(request)
        page = "\n".join(block.get("text", "") for message in request.messages for block in list_blocks(message))
        decision = json.dumps(self._left.pop(0)(page))
        return Reply(json.loads(decision.replace("{site}", self._site)))


async def browse(case: BrowsedCase, make_reader: Callable[[str], Model]) -> list[StepTaken]:
    """Run a situation until the reader's model ends it. `make_reader` is given the site's address. Returns the steps."""
    steps: list[StepTaken] = []
    with Site(LAB, pages=make_pages(SHOP)) as site:
        model = PlannedModel(case.plan, make_reader(site.url), site.url)
        start = None if case.start is None else site.url + case.start
        task = case.task if start is not None else f"{case.task} The shop's desk is at {site.url}/orders."
        keeping = Keeping(store=":memory:")
        async with BrowserAgent(model, case.budget, RunLimits(steps=30), keeping=keeping) as agent:
            try:
                await agent.run(task, start, Watching(step=steps.append), case.schema)
            except ModelUnavailable:
                return steps
    return steps
