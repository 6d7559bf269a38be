"""Findings stand in every view, through folds and consolidation, until they are superseded or lifted."""

from __future__ import annotations

import pytest

from ctxfold import Session
from ctxfold.errors import InputError


def read_pages(session: Session, pages: int, budget: int = 4_000) -> None:
    session.record_turn(user="Which page has the best price?")
    for n in range(pages):
        page = "\n".join(f"Row {i} of page {n} says nothing of any price" for i in range(60))
        call, result = {"name": "get", "args": {"page": n}, "id": "c"}, {"id": "c", "text": page, "origin": "page"}
        session.record_step(f"Reading page {n}.", [call], [result], found=f"Page {n} sells it at {n * 7}.50 EUR.")
        session.consolidate(budget)


def standing(session: Session, budget: int, pages: int = 40) -> list[int]:
    text = session.view(budget).text
    return [n for n in range(pages) if f"Page {n} sells it at {n * 7}.50 EUR." in text]


def test_findings_stand_through_consolidation_and_folds(session: Session) -> None:
    read_pages(session, 40)
    assert standing(session, 4_000) == list(range(40))
    steps = session.workspace.blocks[0].steps
    session.fold("All of them were read.", steps[0], steps[-1])
    assert standing(session, 4_000) == list(range(40))


def test_a_smaller_view_keeps_the_newest_findings(session: Session) -> None:
    read_pages(session, 40)
    found = standing(session, 900)
    assert len(found) >= 10
    assert found[-10:] == list(range(30, 40))


def test_a_lifted_finding_yields_and_is_named(session: Session) -> None:
    read_pages(session, 40)
    ref = session.recall(query="Page 12 sells it")[0].ref
    session.plan(decisions=[{"id": ref, "state": "lifted"}])
    assert f"lifted: {ref}" in session.view(4_000).text
    session.undo()
    assert "lifted:" not in session.view(4_000).text


def test_a_finding_is_superseded_by_a_decision(session: Session) -> None:
    read_pages(session, 3)
    ref = session.recall(query="Page 1 sells it")[0].ref
    intent = session.plan(decisions=[{"supersedes": ref, "text": "Page 1 sells it at 9.00 EUR."}])
    assert intent.lifted == {ref}
    assert f"d1 Page 1 sells it at 9.00 EUR. (s3; was 7.50, {ref})" in session.view(4_000).text


def test_only_a_finding_is_lifted_by_its_address(session: Session) -> None:
    read_pages(session, 1)
    with pytest.raises(InputError):
        session.plan(decisions=[{"id": "s1.1", "state": "lifted"}])
    with pytest.raises(InputError):
        session.plan(constraints=[{"id": "s1.5", "state": "lifted"}])
