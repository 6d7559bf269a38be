"""Texts that hosts and models write for an operator: what is no plain text is refused with the reason, corrections are held against the log."""

import re

import pytest

from ctxfold import Session
from ctxfold.decisions.refactor.operators import clean_text
from ctxfold.errors import InputError
from ctxfold.workspace import By
from tests.ctxfold.decisions.refactor.malformed import REFACTORERS
from tests.support.faults import clean, look_up
from tests.support.sessions import settled


@pytest.fixture
def session():
    """Five orders looked up, and the user's next words."""
    with Session.open("orders", goal="Refund what was damaged", store=":memory:") as opened:
        clean(opened)
        opened.record_turn(user="Yes please.")
        yield opened


@pytest.mark.parametrize("operator", ["state_abstract", "attention_anchor"])
def test_a_text_that_is_none_changes_nothing(session: Session, operator: str):
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


def test_a_text_is_heard_with_its_tags_and_without(session: Session):
    assert clean_text("<summary>\nLooked up W-2001.\n</summary>") == clean_text("Looked up W-2001.")
    with pytest.raises(InputError, match="not text"):
        clean_text(7)
    assert session.refactor("state_abstract", "<summary>Looked up W-2001 to W-2005.</summary>").applied
    assert "Looked up W-2001 to W-2005." in settled(session)
    assert "<summary>" not in settled(session)


def summed_up() -> Session:
    """A note and a summary that say an order is pending; then it is told anew."""
    session = Session.open("trip", store=":memory:")
    session.record_turn(user="How is W-2001?")
    look_up(session, "W-2001", status="pending", note="left with the porter at the side entrance of the house")
    session.fold(summary="Order W-2001 to Porto has status pending.", first_step=1, last_step=1)
    look_up(session, "W-2001", status="delivered")
    session.record_reply("It has arrived.")
    return session


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("the status is wrong", "OLD => NEW"),
        ("pending => delivered", "OLD => NEW"),
        ("lost => delivered (s2.2)", "in no summary"),
        ("pending => cancelled (s2.2)", "lacks the new value"),
        ("pending => delivered (s9.2)", "lacks the new value"),
        ("pending => delivered (s1.3)", "lacks the new value"),
        ("W-2001 to Porto has status pending => delivered (s2.2)", "half of what it corrects"),
    ],
)
def test_a_correction_that_the_log_does_not_bear_out_is_refused(text: str, why: str):
    with summed_up() as session:
        before = settled(session)
        done = session.refactor("fact_rectify", text)
        assert done.refused
        assert why in done.reason
        assert settled(session) == before


def test_a_correction_changes_its_span_and_cites_the_record():
    with summed_up() as session:
        assert session.refactor("fact_rectify", "pending => delivered (s2.2)").applied
        assert "Order W-2001 to Porto has status delivered (s2.2)." in settled(session)
        (fact,) = session.workspace.guidance.superseded
        assert (fact.was, fact.now, fact.by) == ("pending", "delivered", "s2.2")
        session.record_reply("The word pending stands once more.")
        assert "< delivered (s2.2), not pending" in settled(session)


def test_a_note_of_the_model_is_corrected_and_the_log_keeps_what_it_said():
    with Session.open("trip", store=":memory:") as session:
        session.record_note("W-2001 is pending at the depot, says the newest look at it.")
        session.record_reply("Let me see.")
        look_up(session, "W-2001", status="delivered")
        session.record_reply("Seen.")
        done = session.refactor("fact_rectify", "pending => delivered (s2.2)")
        assert done.applied, done.reason
        assert "W-2001 is delivered (s2.2) at the depot" in settled(session)
        assert "pending" in session.recall("s1.1").text
