"""Eight situations of a browser run on a shop: a plan decides the steps before, a reader decides the next one."""

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
from tests.sites.server import Site

Choice = Callable[[str], dict[str, Any]]
"""Makes a decision from the page shown last."""
NAMES = "Ada Bram Cleo Dirk Edda Finn Greta Hugo Ines Joost Karin Lars".split()
CLAIMED = range(2, 12, 3)
"""The orders that are claimed, by number."""
TERMS = (
    "A refund is paid to the account the customer has named, within ten working days, and never in cash. Goods made to "
    "measure are not taken back. Whoever sends a parcel back keeps the slip until the refund has arrived."
)
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "account": {"type": "string"}},
    "required": ["name", "account"],
}


def make_pages() -> dict[str, str]:
    """Make the pages of the desk, by path. No value occurs twice."""
    pages = {"/terms": f"<title>Terms</title><main><h1>Terms</h1><p>{TERMS}</p></main>"}
    menu = "".join(f"<a href=/{name.lower()}>{name}</a> " for name in ("Orders", "Claims", "Refund", "Terms"))

    def add(path: str, title: str, body: str) -> None:
        pages[path] = f"<title>{title}</title><nav>{menu}</nav><main><h1>{title}</h1>{body}</main>"

    rows = [
        f"<tr><td><a href=/order/{n}>W-{20417 + 37 * n}</a><td>2026-09-{10 + n}<td>{name}<td>{41 + 13 * n}.50 EUR"
        for n, name in enumerate(NAMES)
    ]
    claims = "".join(f"{rows[n]}<td>AK{311 + 7 * n}-4{n}<td>damaged" for n in CLAIMED)
    fields = "".join(f"<p><label>{label} <input></label>" for label in ("Order number", "E-mail", "Account", "Amount"))
    add("/orders", "Orders", f"<table><tr><th>Order<th>Day<th>Customer<th>Total{''.join(rows)}</table>")
    add("/claims", "Claims", f"<table><tr><th>Order<th>Day<th>Customer<th>Total<th>Article<th>Reason{claims}</table>")
    add("/refund", "Refund form", f"<form action=/echo method=post>{fields}<button>Send refund</button></form>")
    for n, name in enumerate(NAMES):
        who = f"<a href=/customer/{n}>Customer {name}</a>"
        parcel = f"<p>Placed by {who}. Parcel PX{711203 + 991 * n}, delivered.</p>"
        add(f"/order/{n}", f"Order W-{20417 + 37 * n}", parcel)
        details = (
            f"<dt>E-mail<dd>{name.lower()}.{23 + n}@post.example<dt>Account<dd>NL{31 + n} HARB 0{412 + 17 * n} 8{n:03}"
        )
        add(f"/customer/{n}", f"Customer {name}", f"<dl>{details}</dl>")
    return pages


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


OPEN_CUSTOMERS = [(click("Claims"), click(f"W-{20417 + 37 * n}"), click(f"Customer {NAMES[n]}")) for n in CLAIMED]
FIRST = "W-20491"
ACCOUNT = f"To which account is the money for claimed order {FIRST} paid?"
REFUND = f"Send the refund for claimed order {FIRST}: its total, to the customer's account."
ALL = "Refund every claim. Look up each order and its customer first, then send one refund form for each claim."
FIND_NUMBER = (click("Claims"), do(kind="find", query="Utrecht"), click("Orders"), do(kind="find", query="telephone"))
BROWSED = (
    BrowsedCase(f"Which order did {NAMES[4]} place, and what was its total?"),
    BrowsedCase(ACCOUNT, OPEN_CUSTOMERS[0][:2]),
    BrowsedCase(REFUND, (*OPEN_CUSTOMERS[0], click("Refund"))),
    BrowsedCase("How long may a refund take?", (do(kind="navigate", url="{site}/terms"),)),
    BrowsedCase("What do the terms say on goods made to measure?", start=None),
    BrowsedCase(ALL, [choice for choices in OPEN_CUSTOMERS for choice in choices], budget=1_800),
    BrowsedCase(f"Who placed order {FIRST}, and what is their account?", OPEN_CUSTOMERS[0], schema=SCHEMA),
    BrowsedCase("What is the telephone number of the shop's warehouse in Utrecht?", FIND_NUMBER),
)


def read_texts(request: Request) -> str:
    """Return the texts of a request's messages."""
    return "\n".join(block.get("text", "") for message in request.messages for block in list_blocks(message))


class PlannedModel:
    """Decides by a plan, then leaves one decision to a reader. `site` is the site's address."""

    name = "reader"

    def __init__(self, plan: Sequence[Choice], reader: Model, site: str) -> None:
        self._left = list(plan)
        self._reader = reader
        self._site = site

    async def decide(self, request: Request) -> Reply:
        """Return the plan's next decision, or the reader's."""
        if not self._left:
            return await self._reader.decide(request)
        decision = json.dumps(self._left.pop(0)(read_texts(request)))
        return Reply(json.loads(decision.replace("{site}", self._site)))


async def browse(case: BrowsedCase, make_reader: Callable[[str], Model]) -> list[StepTaken]:
    """Run a situation until the reader's model ends it. Returns the steps. `make_reader` gets the site's address."""
    steps: list[StepTaken] = []
    with Site(pages=make_pages()) as site:
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
