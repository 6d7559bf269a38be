"""Makes the sample: our own browser agent works through five refund claims on a small site, and what it did is written down as a recording.

    python -m tests.benchmarks.fidelity.record FILE.jsonl.gz

A clerk made of code decides: it reads the list of claims, looks up each order and its customer, and only then fills in five refund forms, so
that most of what it types stood on a page long left. The recording holds what a model is shown of each page, not the whole snapshot.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from browser_agent.actions import Answer, Click, FieldValue, FillForm, Navigate
from browser_agent.agent.journal import LOOK, Journal
from browser_agent.agent.run import Run, Terms
from browser_agent.agent.settings import RunLimits, Watching
from browser_agent.browser.browser import Browser
from browser_agent.deciders import Decided, Decision, Evidence, Situation
from browser_agent.network.secrets import Secrets
from ctxfold import Session
from tests.sites.server import Site

TASK = (
    "Refund every claim on the claims page. Look up each order and its customer first, then send one refund form for each claim "
    "with the order, the customer's e-mail and account, the parcel and the amount claimed."
)
SYSTEM = "You work at the returns desk of a mail-order shop. You browse its site and fill in its forms. Type values exactly as the pages give them."
ORDERS, CLAIMS = 18, 5
GOODS = (
    "kettle lantern rug atlas clock globe easel hammock satchel barometer teapot tripod telescope anvil quilt".split()
)
NAMES = "Ada Bram Cleo Dirk Edda Finn Greta Hugo Ines Joost Karin Lars Mina Nils Olga Pim Rosa Sven".split()
TERMS = (
    "Parcels that come back are opened at the desk, weighed, and compared with the delivery note. A refund is paid to the account "
    "the customer has named, within ten working days, and never in cash. Goods made to measure are not taken back. Whoever sends "
    "a parcel back keeps the slip until the refund has arrived; without it a search for a lost parcel takes much longer."
)


@dataclass(frozen=True)
class Order:
    """One order and all that is said of it."""

    number: str
    customer: str
    name: str
    mail: str
    account: str
    parcel: str
    day: str
    goods: tuple[tuple[str, str, str], ...]
    total: str


def orders() -> list[Order]:
    """The orders of the shop; no value occurs twice."""
    chance = random.Random(41)
    made = []
    for at in range(ORDERS):
        name = NAMES[at]
        goods = tuple(
            (
                f"{chance.choice('ABKMRT')}{chance.randrange(100, 999)}-{chance.randrange(10, 99)}",
                chance.choice(GOODS),
                f"{chance.randrange(9, 180)}.{chance.choice(('00', '50', '90'))}",
            )
            for _ in range(chance.randrange(2, 5))
        )
        made.append(
            Order(
                f"W-{chance.randrange(20000, 99999)}",
                f"K{chance.randrange(3000, 9999)}",
                name,
                f"{name.lower()}.{chance.randrange(10, 99)}@post.example",
                f"NL{chance.randrange(10, 99)} HARB 0{chance.randrange(100, 999)} {chance.randrange(1000, 9999)} {chance.randrange(10, 99)}",
                f"PX{chance.randrange(100000, 999999)}",
                f"2026-{chance.randrange(8, 11):02}-{chance.randrange(10, 28)}",
                goods,
                f"{sum(float(price) for _, _, price in goods):.2f}",
            )
        )
    return made


def site(shop: list[Order]) -> dict[str, str]:
    """The pages of the shop's desk."""
    menu = "<nav><a href=/orders>All orders</a> <a href=/claims>Claims</a> <a href=/refund>Refund form</a></nav>"

    def page(title: str, body: str) -> str:
        return f"<title>{title}</title>{menu}<main><h1>{title}</h1>{body}<h2>Terms</h2><p>{TERMS}</p></main>"

    def table(head: str, rows: list[str]) -> str:
        return f"<table><tr><th>{'<th>'.join(head.split(', '))}</tr>{''.join(rows)}</table>"

    links = [
        f"<tr><td><a href=/order/{each.number}>{each.number}</a><td>{each.day}<td>{each.name}<td>{each.total} EUR</tr>"
        for each in shop
    ]
    claims = [
        f"<tr><td><a href=/order/{each.number}>{each.number}</a><td>{each.goods[0][0]}<td>{each.goods[0][2]}<td>damaged</tr>"
        for each in claimed(shop)
    ]
    fields = "".join(f"<p><label>{label} <input name={label.split()[0].lower()}></label></p>" for label in LABELS)
    pages = {
        "/orders": page("Orders", table("Order, Day, Customer, Total", links)),
        "/claims": page("Claims", table("Order, Article, Claimed, Reason", claims)),
        "/refund": page("Refund", f"<form action=/echo method=post>{fields}<button>Send refund</button></form>"),
    }
    for each in shop:
        goods = [f"<tr><td>{code}<td>{what}<td>{price}</tr>" for code, what, price in each.goods]
        pages[f"/order/{each.number}"] = page(
            f"Order {each.number}",
            f"<p>Placed {each.day} by <a href=/customer/{each.customer}>{each.name} ({each.customer})</a>.</p>"
            f"{table('Article, Goods, Price', goods)}<p>Total: {each.total} EUR. Parcel {each.parcel}, delivered.</p>",
        )
        pages[f"/customer/{each.customer}"] = page(
            f"Customer {each.customer}",
            f"<dl><dt>Name<dd>{each.name}<dt>E-mail<dd>{each.mail}<dt>Account<dd>{each.account}<dt>Orders<dd>{each.number}</dl>",
        )
    return pages


LABELS = ("Order number", "E-mail", "Account", "Parcel", "Amount")


def claimed(shop: list[Order]) -> list[Order]:
    """The orders that are claimed."""
    return shop[2 :: ORDERS // CLAIMS][:CLAIMS]


Choice = Callable[[str], Decision]


def click(why: str, label: str) -> Choice:
    """Click what bears a label."""
    return lambda page: Decision(thought=why, actions=(Click(kind="click", ref=_ref(page, label)),))


def fill(order: Order) -> Choice:
    """Fill in the form for one order, and send it."""
    values = (order.number, order.mail, order.account, order.parcel, order.goods[0][2])

    def choose(page: str) -> Decision:
        fields = tuple(
            FieldValue(ref=_ref(page, f'"{label}"'), value=value) for label, value in zip(LABELS, values, strict=True)
        )
        send = Click(kind="click", ref=_ref(page, '"Send refund"'))
        return Decision(
            thought=f"Send the refund of {order.name}.", actions=(FillForm(kind="fill_form", fields=fields), send)
        )

    return choose


def _ref(page: str, label: str) -> str:
    found = re.search(re.escape(label) + r"\[((?:f\d+)?e\d+)\]", page)
    if found is None:
        raise LookupError(f"no {label} on the page:\n{page}")
    return found[1]


class Clerk:
    """Decides by a plan, and keeps what it was shown.

    Args:
        shop: the orders.
        address: where the site is.
    """

    name = "clerk"

    def __init__(self, shop: list[Order], address: str) -> None:
        self.shown: list[str] = []
        self._plan = self._choices(shop)
        self._address = address

    async def decide(self, situation: Situation) -> Decided:
        """The next choice of the plan."""
        page = situation.observation.text if situation.observation is not None else ""
        self.shown.append(page)
        return Decided(next(self._plan)(page), self.name, "embedded")

    def candidates(self) -> tuple[()]:
        """It looks for no answer."""
        return ()

    def _choices(self, shop: list[Order]):
        yield click("The claims say which orders.", "Claims")
        for order in claimed(shop):
            yield click("What was ordered, and by whom?", order.number)
            yield click("Where does the money go?", f"{order.name} ({order.customer})")
            yield click("The next claim.", "Claims")
        for order in claimed(shop):
            yield self._to_form
            yield fill(order)
        yield lambda _: Decision(
            thought="All are sent.",
            actions=(Answer(kind="answer", text=f"Sent {CLAIMS} refunds, one for each claim."),),
        )

    def _to_form(self, page: str) -> Decision:
        return Decision(thought="To the form.", actions=(Navigate(kind="navigate", url=f"{self._address}/refund"),))


async def work(store: str) -> Clerk:
    """Let the clerk work through the claims, in a session of its own."""
    shop = orders()
    with Site(pages=site(shop)) as served, Session.open("claims", goal=TASK, store=store) as session:
        clerk, journal = Clerk(shop, served.url), Journal(session, 8000, None, Secrets())
        await journal.record_task(TASK, served.url)
        async with await Browser.launch() as browser:
            window = await browser.window()
            run = Run(TASK, clerk, journal, window, Terms(RunLimits(60, 240.0), Secrets(), Watching(), 8000))
            result = await run.finish(Evidence(), f"{served.url}/orders")
            await window.close()
        if result.status != "answered":
            raise SystemExit(f"the clerk did not come to an end: {result.reason}")
    return clerk


_HEAD = re.compile(r"^## s\d+\.(\d+) (\w+)(?: (\S+))?$", re.MULTILINE)


def recorded(store: str, shown: list[str]) -> list[dict[str, Any]]:
    """The session as events of a recording; for each page what a model was shown of it."""
    events: list[dict[str, Any]] = []
    pages = iter(shown)
    with Session.open("claims", store=store, create=False) as session:
        for step in range(1, session.tip + 1):
            heads = _HEAD.findall(session.recall(f"s{step}").text)
            said: dict[str, Any] = {"role": "assistant", "text": "", "calls": []}
            for k, kind, call_id in heads:
                text = session.recall(f"s{step}.{k}").text
                match kind:
                    case "user":
                        events.append({"role": "user", "text": text})
                    case "assistant":
                        said["text"] = text
                        events.append(said)
                    case "call":
                        said["calls"].append({"id": call_id, **json.loads(text)})
                    case _:
                        result = next(pages) if call_id == LOOK else text
                        events.append({"role": "tool", "text": result, "call_id": call_id})
    return events


def main() -> None:
    """Record, and write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", type=Path)
    file: Path = parser.parse_args().file
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "claims.db")
        clerk = anyio.run(work, store)
        row = {"id": "claims", "system": SYSTEM, "events": recorded(store, clerk.shown)}
    file.write_bytes(gzip.compress((json.dumps(row, ensure_ascii=False) + "\n").encode(), 9, mtime=0))
    print(f"{len(row['events'])} events, {file.stat().st_size} bytes in {file}")


if __name__ == "__main__":
    main()
