"""Levels of detail: every word below the high-water mark, no idle room above it, no cliff, and nothing above the budget whatever is in it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from ctxfold import FoldSettings, Session
from ctxfold.errors import InputError
from ctxfold.tokens import count
from ctxfold.workspace import RawStep
from tests.support.sessions import add_call

ADVERSE: dict[str, Callable[[], str]] = {
    "one long line": lambda: "x" * 1_000_000,
    "blanks": lambda: " " * 200_000,
    "no spaces": lambda: "漢字" * 40_000,
    "tokens": lambda: "<|endoftext|>" * 5_000,
    "a giant cell": lambda: json.dumps({"id": "A1", "blob": "word " * 50_000}),
    "many cells": lambda: json.dumps({f"key{n}": n for n in range(5_000)}),
    "a table": lambda: json.dumps([{"id": f"R{n}", "name": f"n{n}", "note": "so " * 30} for n in range(1_000)]),
    "a document": lambda: "\n".join(f"line {n} of some code(x={n})" for n in range(8_000)),
    "brackets": lambda: "[" * 50_000,
}


def order(n: int) -> str:
    return json.dumps({"order_id": f"W-{1000 + n}", "status": "open", "track": f"TR{n:04d}K", "weight_g": 300 + 7 * n})


def dialogue(session: Session, turns: int, budget: int) -> list[int]:
    """A long dialogue with calls, consolidated as it goes; the view's tokens after each turn."""
    sizes: list[int] = []
    chance = random.Random(5)
    for n in range(turns):
        session.record_turn(user=f"Please look at order W-{1000 + n}: it should have come on day {n}.")
        add_call(session, "get_order", {"order_id": f"W-{1000 + n}"}, order(n))
        session.record_reply(f"Order W-{1000 + n} is open. " + "I would wait for it. " * chance.randrange(1, 12))
        session.consolidate(budget)
        sizes.append(session.view(budget).tokens)
    return sizes


def test_below_the_high_water_mark_every_word_stands(session: Session) -> None:
    words = [f"The {n}th reason is that nothing of number {n * 7919} was ever promised; so I say." for n in range(20)]
    for word in words:
        session.record_turn(user=f"And then? {word}")
        session.record_reply(f"{word} That is why, and I keep to it.")
    session.consolidate(8_000)
    text = session.view(8_000).text
    assert all(text.count(word) == 2 for word in words)


@pytest.mark.parametrize(("budget", "low"), [(2_000, 0.80), (8_000, 0.60)])
def test_a_view_is_never_idle_and_never_falls_off_a_cliff(session: Session, budget: int, low: float) -> None:
    sizes = dialogue(session, 150, budget)
    full = next(n for n, size in enumerate(sizes) if size > low * budget)
    assert max(sizes) <= budget
    assert min(sizes[full:]) >= (low - 0.02) * budget
    drops = [before - after for before, after in pairwise(sizes)]
    assert max(drops) <= budget / 3


@pytest.mark.parametrize("budget", [256, pytest.param(700, marks=pytest.mark.long), 3_000])
@pytest.mark.parametrize("make", ADVERSE.values(), ids=ADVERSE)
@pytest.mark.parametrize("kind", ["user", "reply", "result", "argument"])
def test_no_text_makes_a_view_larger_than_its_budget(
    session: Session, kind: str, make: Callable[[], str], budget: int
) -> None:
    text = make()
    session.record_turn(user="What is in it?")
    match kind:
        case "user":
            session.record_turn(user=text)
        case "reply":
            session.record_reply(text)
        case "result":
            add_call(session, "get", None, text)
        case _:
            add_call(session, "put", {"text": text}, "ok")
    session.consolidate(budget)
    view = session.view(budget)
    assert count(view.text) <= budget
    assert view.text == session.view(budget).text


def test_a_large_result_leaves_what_was_folded_before_it_in_the_view(tmp_path: Path) -> None:
    """A view looks back by what blocks can take of it, so that no size of one pushes the others out."""
    store, log = str(tmp_path / "large.db"), "\n".join(f"row {n} of the second log is fine" for n in range(8_000))
    with Session.open("large", store=store) as session:
        for n, found in enumerate(("SUP-2281 merged it", "tx_7731 was rolled back")):
            session.record_turn(user=f"What is in log {n}?")
            add_call(session, "read", {"path": f"/log/{n}"}, log[: 20_000 * (n + 1)])
            session.record_reply(f"In log {n}, {found}.")
            session.consolidate(2_000)
        session.record_step("", calls=[{"name": "read", "args": {}, "id": "c"}], results=[{"id": "c", "text": log}])
        session.record_turn(user="What did you find?")
        view = session.view(2_000)
    assert "SUP-2281" in view.text
    assert "tx_7731" in view.text
    assert view.tokens <= 2_000
    with Session.open("large", store=store) as fresh:
        assert fresh.view(2_000).text == view.text


LONG: dict[str, Callable[[str], str]] = {
    "a line": str,
    "a cell": lambda words: json.dumps({"id": "A1", "note": words}),
    "a run": lambda words: "x" * len(words),
    "a document": lambda words: f"First.\n{words}\nLast.\n",
}


@pytest.mark.parametrize("make", LONG.values(), ids=LONG)
def test_one_long_line_is_shown_in_parts_with_each_gap_marked(session: Session, make: Callable[[str], str]) -> None:
    words = " ".join(f"The {n}th stone of the wall weighs {n * 7919 % 9973} grams." for n in range(1_500))
    session.record_turn(user="What is in it?")
    session.record_step("", calls=[{"name": "get"}], results=[{"text": make(words)}])
    for budget in (700, 2_000, 8_000):
        view = session.view(budget)
        assert 0.8 * budget <= view.tokens <= budget
        assert "…" in view.text.partition("get(")[2]
    session.record_reply("Stones.")
    session.record_turn(user="And what is said of the stone of 6027 grams?")
    session.consolidate(8_000)
    assert session.view(8_000).tokens >= 0.58 * 8_000


def test_what_is_edited_stands_in_full_for_longer_than_what_is_read_and_the_users_words_before_both(
    session: Session, tmp_path: Path
) -> None:
    with Session.open("reads", store=str(tmp_path / "reads.db")) as reads:
        for each, note in ((session, "Counted.\nAll there."), (reads, "Counted. All there.")):
            each.record_turn(user="Never touch berth 3, it is Ada's.")
            for n in range(40):
                crates = [f"berth {n * 31 + i} holds crate {n * 7919 + i * 131} of iron" for i in range(20)]
                call = {"name": "look", "args": {"n": n, "note": note}}
                each.record_step(f"Look {n}.", [call], [{"text": "\n".join(crates)}])
            each.consolidate(10_000)
            assert "Never touch berth 3, it is Ada's." in each.view(10_000).text
        full = [sum(isinstance(block, RawStep) for block in each.workspace.blocks) for each in (session, reads)]
    assert full[0] > full[1]


def test_a_caller_sets_when_and_how_far_a_session_folds(tmp_path: Path) -> None:
    sizes: list[int] = []
    for name, settings in (("usual", FoldSettings()), ("early", FoldSettings(at=0.5, to=0.3))):
        with Session.open(name, store=str(tmp_path / "store.db"), settings=settings) as session:
            sizes.append(max(dialogue(session, 60, 8_000)))
    assert sizes[1] <= 0.5 * 8_000 < sizes[0]
    with pytest.raises(InputError, match="0 < to < at"):
        FoldSettings(at=0.5)


def test_a_fold_keeps_call_and_result_together(session: Session) -> None:
    dialogue(session, 60, 1_000)
    text = session.view(1_000).text
    rows = [row for row in text.splitlines() if row.startswith("< ") and "track=TR0" in row]
    assert rows
    assert all("> get_order(" in text[: text.index(row)] for row in rows)


@pytest.mark.parametrize("budget", [600, 800, 1_200])
def test_the_odd_line_of_a_report_stands_before_the_lines_that_are_alike(session: Session, budget: int) -> None:
    same = [f"tests/test_tide_{at}.py ........ passed" for at in range(18)]
    for n in range(4):
        text = "\n".join(["collected 40 items", *same, f"1 failed in {n + 2} s"])
        session.record_step("Check.", [{"name": "bash", "args": {"command": "pytest"}}], [{"text": text}])
    read = "\n".join(f"row {at}: {at * 17 % 60}" for at in range(200))
    session.record_step("Read.", [{"name": "read", "args": {"path": "/srv/t.py"}}], [{"text": read}])
    view = session.view(budget).text
    assert view.count("passed") < 4 * len(same)
    assert all(f"1 failed in {n + 2} s" in view for n in range(4))
