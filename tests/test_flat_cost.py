"""What an operation costs late in a session, counted in instructions of SQLite's machine: the same figure on every machine and under any load."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from ctxfold import Session
from tests.support.sessions import add_call, add_step, add_steps

_EVERY = 20
"""Instructions between two ticks of the count."""
_FEW = 200
"""Instructions of one look at a row, which a share of very few says nothing about."""


class Work:
    """The instructions that the connections opened so far have run."""

    def __init__(self) -> None:
        self.ticks = 0

    def tick(self) -> int:
        """Count, and let SQLite go on."""
        self.ticks += 1
        return 0

    def of(self, done: Callable[[], object]) -> int:
        """Instructions that something takes."""
        before = self.ticks
        done()
        return (self.ticks - before) * _EVERY


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    """A count over every store that the test opens."""
    counted = Work()
    connect = sqlite3.connect

    def counting(*given: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*given, **named)
        connection.set_progress_handler(counted.tick, _EVERY)
        return connection

    monkeypatch.setattr(sqlite3, "connect", counting)
    return counted


def test_an_object_that_every_step_returns_anew_costs_late_what_it_cost_early(work: Work) -> None:
    def polled(session: Session, n: int) -> int:
        job = {"id": "job-1", "state": "running", "done": n, "of": 1_000, "name": f"a job that takes long {n}"}
        return add_call(session, "poll", {"job": "job-1"}, json.dumps(job))

    with Session.open("polling", goal="See it through", store=":memory:") as session:
        for n in range(10):
            polled(session, n)
        early = work.of(lambda: [polled(session, n) for n in range(10, 14)])
        for n in range(14, 400):
            polled(session, n)
        late = work.of(lambda: [polled(session, n) for n in range(400, 404)])
    assert late <= 1.5 * early, f"{early} instructions early, {late} late"


def test_a_late_append_fold_and_view_ask_sqlite_for_no_more_than_early_ones(work: Work) -> None:
    with Session.open("long", goal="See it through", store=":memory:") as session:
        add_steps(session, 16, words=32)
        early = _costs(work, session, 17)
        add_steps(session, 396, first=21, words=32)
        late = _costs(work, session, 417)
    for what, before, now in zip(("records", "a fold", "a view"), early, late, strict=True):
        assert now <= 1.5 * before + _FEW, f"{what}: {before} instructions early, {now} late"


def _costs(work: Work, session: Session, first: int) -> tuple[int, int, int]:
    """Instructions of four steps, of a fold and of a view."""
    steps = work.of(lambda: [add_step(session, seed, words=32) for seed in range(first, first + 4)])
    return steps, work.of(session.fold), work.of(lambda: session.view(2_000))
