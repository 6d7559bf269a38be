"""Sessions with a fault planted in them, for the tests of what refactoring makes of them."""

from __future__ import annotations

import json

from ctxfold import Session
from tests.support.sessions import add_call

ORDERS = ("W-2001", "W-2002", "W-2003", "W-2004", "W-2005")
ERROR = "Error: payment gateway refused the card ending 4471"


def look_up(session: Session, order: str, **more: object) -> int:
    """One order looked up; its number, a total, a status."""
    found = {"order_id": order, "total": 100.5 + int(order[-1]), "status": "delivered", "city": "Porto", **more}
    return called(session, "get_order", {"order_id": order}, json.dumps(found))


def called(session: Session, name: str, args: dict[str, object], answer: str, said: str = "") -> int:
    """One call and its answer."""
    return add_call(session, name, args, answer, said)


def visited(session: Session, page: str) -> int:
    """One page opened."""
    text = (
        f"Page {page}\nThe harbor of {page} has {len(page)}7 berths and code HB-{page}-22.\n" + f"About {page}. " * 20
    )
    url = f"http://harbors.example/{page}"
    return add_call(session, "navigate", {"url": url}, text, f"Opening {page}.", origin="page")


def clean(session: Session) -> None:
    """A user's request, five orders, an answer."""
    session.record_turn(user="Order W-2003 came broken, please refund it to mia.li@example.com.")
    for order in ORDERS:
        look_up(session, order)
    session.record_reply("W-2003 was delivered to Porto; shall I refund it?")


def failing(session: Session, times: int = 3) -> list[int]:
    """The same refund refused again and again; its steps."""
    args: dict[str, object] = {"order_id": "W-2003", "amount": 103.5}
    return [called(session, "refund", args, ERROR, f"Trying once more, try {at}.") for at in range(times)]
