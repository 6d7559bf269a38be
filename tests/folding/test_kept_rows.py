"""Rows of one record that a fold keeps without the rows that stood between them: each cell still reads as what it was."""

import json
import re

import pytest

from ctxfold import Session
from tests.support.sessions import settled

COLUMNS = ("id", "owner", "plan", "region", "seats")


def account(n: int) -> dict[str, object]:
    """One of a list of accounts, with a part that fits in no row, so that each stands on lines of its own."""
    return {
        "id": f"AC{n:03d}",
        "owner": f"own{n // 3}",
        "plan": ("basic", "pro")[n % 2],
        "region": "us-east" if n % 5 == 0 else "eu-west",
        "seats": 3 + n // 4,
        "limits": {"api": {"rps": 10 + n, "burst": 20 + n}},
        "log": [{"at": f"2026-0{1 + n % 9}-01", "events": [{"kind": f"k{n}", "value": n}]}],
    }


def later(asked: str, found: object, budget: int) -> str:
    """The view at a budget, some messages after a call returned what was asked for."""
    with Session.open("kept", store=":memory:") as session:
        session.record_turn(user=asked)
        session.record_step(
            calls=[{"name": "find", "args": {"page": 1}, "id": "c"}],
            results=[{"id": "c", "text": json.dumps(found)}],
        )
        for n in range(4):
            session.record_turn(user=f"Message {n}: nothing to do with it, only a word about the weather here. ")
            session.record_reply("Noted. " * 20)
            session.consolidate(budget)
        return session.view(budget).text


def told(view: str) -> dict[str, list[str]]:
    """The accounts of a view as one reads them who knows the legend alone: a ditto mark is the cell of the row above."""
    found: dict[str, list[str]] = {}
    above: list[str] = []
    for text in (each.removesuffix(" …") for each in view.splitlines()):
        if first := re.fullmatch(r"<  - id=(\S+) owner=(\S+) plan=(\S+) region=(\S+) seats=(\S+)", text):
            above = list(first.groups())
        elif row := re.fullmatch(r"<  - as above: (\S+) (\S+) (\S+) (\S+) (\S+)", text):
            above = [up if cell == "^" else cell for cell, up in zip(row.groups(), above, strict=True)]
        elif text.startswith("<  - "):
            pytest.fail(f"no row of the list reads like this: {text}")
        else:
            continue
        found[above[0]] = above
    return found


def test_a_row_of_a_list_reads_true_whichever_rows_above_it_were_left_out() -> None:
    accounts = {str(each["id"]): [str(each[name]) for name in COLUMNS] for each in map(account, range(14))}
    sizes: set[int] = set()
    for budget in range(400, 1_200, 50):
        read = told(later("List the accounts.", [account(n) for n in range(14)], budget))
        assert read.items() <= accounts.items()
        sizes.add(len(read))
    assert max(sizes) == 14
    assert any(0 < size < 14 for size in sizes)


@pytest.mark.parametrize("part", [{}, {"size": {"w": 1, "h": 2}}])
def test_a_list_that_lost_rows_in_a_fold_says_where(part: dict[str, object]) -> None:
    """Four of fourteen lamps read as four lamps: the cheapest of them is then the wrong one."""
    lamps = [
        {"sku": f"SKU-{100 + n}", "title": f"Lamp {n}", "price": 90.5 - n * 3.25, "stock": n % 4, **part}
        for n in range(14)
    ]
    shown: set[int] = set()
    for budget in range(400, 1_200, 100):
        view = later("Which lamp is the cheapest?", lamps, budget)
        lines = [text for text in view.splitlines() if "price" in text or "SKU-" in text]
        text = "\n".join(lines)
        places = [
            (99, text.find("price")),
            *((int(found[1]), found.start()) for found in re.finditer(r"SKU-(\d+)", text)),
        ]
        ends = [at for _, at in places[1:]] + [len(text)]
        for (number, start), end, after in zip(places, ends, [n for n, _ in places[1:]] + [114], strict=True):
            assert after == number + 1 or "…" in text[start:end], text
        shown.add(len(places) - 1)
    assert any(0 < size < 14 for size in shown)


def test_a_folded_step_whose_prose_keeps_to_the_cap_stands_whole() -> None:
    """No row of its facts goes for the price of the mark that says so; what exceeds the cap is ranked as ever."""
    rows = [{"id": f"ord_{n}", "total": n * 3, "city": f"City{n}"} for n in range(30)]
    with Session.open("trip", store=":memory:") as session:
        for text in (json.dumps(rows), "\n".join(f"line {n} of a long log, number {n * n}" for n in range(60))):
            session.record_step(
                explanation="I look.",
                calls=[{"name": "get", "args": {}, "id": "c"}],
                results=[{"id": "c", "text": text}],
            )
        before = settled(session)
        assert session.fold(first_step=1, last_step=1).whole
        assert settled(session) == before
        assert not session.fold(first_step=2, last_step=2).whole
