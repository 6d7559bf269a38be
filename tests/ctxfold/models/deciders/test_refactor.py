"""Refactoring with a model: what it routes and writes is held against the same checks; a reply that does not fit means none, or leaves the history as it was."""

import json
from typing import Any

import pytest

from ctxfold import Session
from ctxfold.models import Reply
from ctxfold.models.deciders import Deciders
from ctxfold.models.named import ScriptedModel
from tests.support.faults import clean
from tests.support.sessions import events, settled

pytestmark = pytest.mark.anyio


@pytest.fixture
def session():
    """Five orders looked up; the user's next words wait."""
    with Session.open("orders", goal="Refund what was damaged", store=":memory:") as opened:
        clean(opened)
        opened.record_turn(user="And what of the parcel ZX-5512?")
        yield opened


def route(operator: str) -> dict[str, Any]:
    """A router's decision."""
    return {"analysis": "It drifts.", "drift_detected": operator != "none", "selected_operator": operator}


GOOD = "Looked up W-2001 to W-2005; W-2003 was delivered to Porto, total 103.5."


async def test_what_the_model_routes_and_writes_stands_as_the_models(session: Session):
    model = ScriptedModel(route("state_abstract"), {"text": GOOD}, name="strong")
    mended = await Deciders(model).refactor(session)
    assert (mended.made.operator, mended.made.applied, mended.made.decider) == ("state_abstract", True, "model")
    assert mended.note == ""
    assert GOOD in settled(session)
    assert (session.history()[0].kind, session.history()[0].decider) == ("refactored", "model")
    assert session.history()[0].cause.endswith("written by strong; It drifts."), "what the router saw is kept"


async def test_the_router_sees_task_and_history_and_never_the_current_query(session: Session):
    model, log = ScriptedModel(route("none")), events(session)
    mended = await Deciders(model).refactor(session)
    assert (mended.made.operator, mended.made.decider, events(session)) == ("none", "model", log)
    assert mended.made.reason == "the model saw no drift: It drifts."
    (request,) = model.requests
    asked = json.dumps(request.messages)
    assert "Refund what was damaged" in asked
    assert "W-2003 came broken" in json.loads(asked)[0]["content"][0]["text"].replace("Order ", "")
    assert "ZX-5512" not in asked
    assert "data" in request.system


async def test_an_invention_goes_back_once_with_the_reason(session: Session):
    model = ScriptedModel({"text": f"{GOOD} See W-9999."}, {"text": GOOD})
    mended = await Deciders(model).refactor(session, "state_abstract")
    assert mended.made.applied
    again = json.dumps(model.requests[1].messages[-1]["content"])
    assert "not in the log: 'W-9999'" in again
    assert "9999" not in settled(session)
    assert all("9999" not in event.cause for event in session.history()), "an event says it in words of ours"


async def test_a_correction_is_asked_for_with_the_prose_that_is_shown_and_mends_it(session: Session):
    session.remember({"state": "Order W-2002 is pending."}, upto=1)
    session.fold("Order W-2002 waits.", 2, 2)
    model = ScriptedModel({"text": "lost => delivered (s3.2)"}, {"text": "pending => delivered (s3.2)"})
    await Deciders(model).refactor(session, "fact_rectify")
    asked, again = (json.dumps(request.messages[-1]["content"]) for request in model.requests)
    assert "b1, of s1, state: Order W-2002 is pending." in asked
    assert "b2, of s2: Order W-2002 waits." in asked
    assert "OLD is in no summary and no note; copy it from one" in again
    assert "state:\nOrder W-2002 is delivered (s3.2)." in session.view(fill=True).text


async def test_a_reply_in_words_with_its_tags_is_heard(session: Session):
    reply = Reply({}, fault="it answered in words", words=f"<summary>{GOOD}</summary>")
    mended = await Deciders(ScriptedModel(reply)).refactor(session, "state_abstract")
    assert mended.made.applied
    assert GOOD in settled(session)


async def test_a_router_in_doubt_leaves_the_history_alone_and_its_confidence_is_kept(session: Session):
    doubting = {**route("state_abstract"), "confidence": 0.3}
    left = await Deciders(ScriptedModel(doubting)).refactor(session)
    assert left.made.operator == "none"
    assert left.made.reason == "the model is in doubt whether state_abstract is due: 0.30 sure: It drifts."
    sure = {**route("state_abstract"), "confidence": 0.8}
    await Deciders(ScriptedModel(sure, {"text": GOOD}, name="strong")).refactor(session)
    assert session.history()[0].cause.endswith("written by strong; 0.80 sure: It drifts.")
