"""The pages of a shop's returns desk: orders, customers, claims and a refund form. No value occurs twice."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

TASK = (
    "Refund every claim on the claims page. Look up each order and its customer first, then send one refund form for each claim "
    "with the order, the customer's e-mail and account, the parcel and the amount claimed."
)
ORDERS, CLAIMS = 18, 5
GOODS = (
    "kettle lantern rug atlas clock globe easel hammock satchel barometer teapot tripod telescope anvil quilt".split()
)
NAMES = "Ada Bram Cleo Dirk Edda Finn Greta Hugo Ines Joost Karin Lars Mina Nils Olga Pim Rosa Sven".split()
LABELS = ("Order number", "E-mail", "Account", "Parcel", "Amount")
TERMS = (
    "Parcels that come back are opened at the desk, weighed, and compared with the delivery note. A refund is paid to the account "
    "the customer has named, within ten working days, and never in cash. Goods made to measure are not taken back. Whoever sends "
    "a parcel back keeps the slip until the refund has arrived; without it a search for a lost parcel takes much longer."
)


@dataclass(frozen=True)
class Order:
    """One order. `goods` are rows of article, goods and price."""

    number: str
    customer: str
    name: str
    mail: str
    account: str
    parcel: str
    day: str
    goods: tuple[tuple[str, str, str], ...]
    total: str


def make_orders() -> list[Order]:
    """Make the orders of the shop."""
    chance = random.Random(41)

    def pick(low: int, high: int) -> int:
        return chance.randrange(low, high)

    orders = []
    for name in NAMES[:ORDERS]:
        goods = tuple(
            (
                f"{chance.choice('ABKMRT')}{pick(100, 999)}-{pick(10, 99)}",
                chance.choice(GOODS),
                f"{pick(9, 180)}.{chance.choice(('00', '50', '90'))}",
            )
            for _ in range(pick(2, 5))
        )
        orders.append(
            Order(
                f"W-{pick(20000, 99999)}",
                f"K{pick(3000, 9999)}",
                name,
                f"{name.lower()}.{pick(10, 99)}@post.example",
                f"NL{pick(10, 99)} HARB 0{pick(100, 999)} {pick(1000, 9999)} {pick(10, 99)}",
                f"PX{pick(100000, 999999)}",
                f"2026-{pick(8, 11):02}-{pick(10, 28)}",
                goods,
                f"{sum(float(price) for _, _, price in goods):.2f}",
            )
        )
    return orders


def choose_claimed(orders: list[Order]) -> list[Order]:
    """Return the orders that are claimed."""
    return orders[2 :: ORDERS // CLAIMS][:CLAIMS]


def make_pages(orders: list[Order]) -> dict[str, str]:
    """Make the pages of the desk, by path."""
    menu = "<nav><a href=/orders>All orders</a> <a href=/claims>Claims</a> <a href=/refund>Refund form</a></nav>"

    def page(title: str, body: str) -> str:
        return f"<title>{title}</title>{menu}<main><h1>{title}</h1>{body}<h2>Terms</h2><p>{TERMS}</p></main>"

    def table(head: str, rows: Sequence[tuple[str, ...]]) -> str:
        cells = "".join(f"<tr><td>{'<td>'.join(row)}</tr>" for row in rows)
        return f"<table><tr><th>{'<th>'.join(head.split(', '))}</tr>{cells}</table>"

    def link(order: Order) -> str:
        return f"<a href=/order/{order.number}>{order.number}</a>"

    links = [(link(order), order.day, order.name, f"{order.total} EUR") for order in orders]
    claims = [(link(order), order.goods[0][0], order.goods[0][2], "damaged") for order in choose_claimed(orders)]
    fields = "".join(f"<p><label>{label} <input name={label.split()[0].lower()}></label></p>" for label in LABELS)
    pages = {
        "/orders": page("Orders", table("Order, Day, Customer, Total", links)),
        "/claims": page("Claims", table("Order, Article, Claimed, Reason", claims)),
        "/refund": page("Refund", f"<form action=/echo method=post>{fields}<button>Send refund</button></form>"),
    }
    for order in orders:
        who = f"<a href=/customer/{order.customer}>{order.name} ({order.customer})</a>"
        pages[f"/order/{order.number}"] = page(
            f"Order {order.number}",
            f"<p>Placed {order.day} by {who}.</p>{table('Article, Goods, Price', order.goods)}"
            f"<p>Total: {order.total} EUR. Parcel {order.parcel}, delivered.</p>",
        )
        rows = (("Name", order.name), ("E-mail", order.mail), ("Account", order.account), ("Orders", order.number))
        details = "".join(f"<dt>{label}<dd>{value}" for label, value in rows)
        pages[f"/customer/{order.customer}"] = page(f"Customer {order.customer}", f"<dl>{details}</dl>")
    return pages
