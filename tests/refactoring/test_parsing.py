"""Replies that do not fit change nothing and raise nothing: a router's means none, a refactorer's is refused with the reason."""

import json
import re

import pytest

from ctxfold import Session
from ctxfold.decisions.refactor.parse import routed, worded
from ctxfold.decisions.refactor.values import OPERATORS
from ctxfold.workspace.by import By
from tests.refactoring.malformed import GOOD, NONE, REFACTORERS, ROUTERS, said
from tests.support.faults import clean
from tests.support.sessions import settled


@pytest.fixture
def session():
    """Five orders looked up, and the user's next words."""
    with Session.open("orders", goal="Refund what was damaged", store=":memory:") as opened:
        clean(opened)
        opened.record_turn(user="Yes please.")
        yield opened


def test_there_are_enough_of_them():
    assert len(ROUTERS) >= 50
    assert len(ROUTERS) + len(REFACTORERS) >= 90


@pytest.mark.parametrize("reply", ROUTERS, ids=range(len(ROUTERS)))
def test_a_router_that_does_not_keep_its_contract_means_none(reply: object):
    route = routed(reply)
    assert route.operator is None
    assert "router" in route.reason


def test_a_router_that_keeps_it_is_heard_as_text_and_as_arguments():
    assert routed(GOOD).operator == "path_prune"
    assert routed(NONE).operator is None
    assert routed(f"\n {GOOD}\n").operator == "path_prune"
    for operator in OPERATORS:
        assert routed(json.loads(said(selected_operator=operator))).operator == operator


@pytest.mark.parametrize("operator", ["state_abstract", "attention_anchor"])
def test_a_refactorer_that_does_not_keep_its_contract_changes_nothing(session: Session, operator: str):
    before = settled(session)
    for reply, reason in REFACTORERS:
        done = session.refactor(operator, reply, by=By("model"))
        assert done.refused, (reply, done)
        too_long = reason.startswith("shorten") and "too long" in done.reason
        assert too_long or re.search(reason, done.reason), (reply, done.reason)
        assert settled(session) == before
        assert session.history()[0].kind == "routed"


@pytest.mark.parametrize("operator", ["fact_rectify", "path_prune", "noise_filter", "cognitive_boosting"])
def test_no_reply_whatever_raises_or_changes_the_history(session: Session, operator: str):
    before = settled(session)
    for reply, _ in REFACTORERS:
        assert session.refactor(operator, reply).refused, reply
        assert settled(session) == before


def test_a_refactorer_that_keeps_it_is_heard_with_tags_and_without(session: Session):
    assert worded("<summary>\nLooked up W-2001.\n</summary>").text == "Looked up W-2001."
    assert worded("Looked up W-2001.").text == "Looked up W-2001."
    assert session.refactor("state_abstract", "<summary>Looked up W-2001 to W-2005.</summary>").applied
    assert "Looked up W-2001 to W-2005." in settled(session)
    assert "<summary>" not in settled(session)
