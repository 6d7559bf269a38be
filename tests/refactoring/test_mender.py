"""Refactoring with a model: what it routes and writes is held against the same checks; a reply that does not fit means none, or leaves the history as it was."""

import json
from typing import Any

import pytest

from ctxfold import Session
from ctxfold.errors import ModelKeyMissing, ModelUnavailable
from ctxfold.models import Reply
from ctxfold.models.deciders.refactor import Mender
from ctxfold.models.script import ScriptedModel
from tests.refactoring.malformed import ROUTERS
from tests.support.faults import clean, failing, look_up
from tests.support.sessions import settled

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
    mended = await Mender(model).mend(session)
    assert (mended.result.operator, mended.result.applied, mended.result.decider) == ("state_abstract", True, "model")
    assert mended.note == ""
    assert GOOD in settled(session)
    assert (session.history()[0].kind, session.history()[0].decider) == ("refactored", "model")


async def test_the_router_sees_task_and_history_and_never_the_current_query(session: Session):
    model = ScriptedModel(route("none"))
    mended = await Mender(model).mend(session)
    assert (mended.result.operator, session.history()[0].kind) == ("none", "routed")
    (request,) = model.requests
    asked = json.dumps(request.messages)
    assert "Refund what was damaged" in asked
    assert "W-2003 came broken" in json.loads(asked)[0]["content"][0]["text"].replace("Order ", "")
    assert "ZX-5512" not in asked
    assert "data" in request.system


@pytest.mark.parametrize("reply", [reply for reply in ROUTERS if isinstance(reply, (str, dict))][::3])
async def test_a_router_that_does_not_keep_its_contract_leaves_the_history_alone(session: Session, reply: Any):
    before = settled(session)
    scripted = Reply({}, fault="it answered in words", words=reply) if isinstance(reply, str) else reply
    mended = await Mender(ScriptedModel(scripted)).mend(session)
    assert mended.result.operator == "none"
    assert settled(session) == before


async def test_an_invention_goes_back_once_with_the_reason(session: Session):
    model = ScriptedModel({"text": f"{GOOD} See W-9999."}, {"text": GOOD})
    mended = await Mender(model).mend(session, "state_abstract")
    assert mended.result.applied
    again = json.dumps(model.requests[1].messages[-1]["content"])
    assert "does not have" in again
    assert "9999" not in settled(session)


@pytest.mark.parametrize(
    "replies",
    [
        ({"text": "See W-9999."}, {"text": "See W-8888."}),
        ({"text": ""}, {"text": []}),
        ({}, {"words": "x"}),
        ({"text": "<summary>a</summary><summary>b</summary>"}, {"text": '{"text": "W-2001"}'}),
        (Reply({}, fault="cut off", words="<summary>Looked up W-20"), Reply({}, fault="it declined")),
    ],
)
async def test_a_model_that_goes_on_so_leaves_the_history_as_it_was(session: Session, replies: tuple[Any, ...]):
    before = settled(session)
    mended = await Mender(ScriptedModel(*replies, name="weak")).mend(session, "state_abstract")
    assert mended.result.refused
    assert "refused twice" in mended.note
    assert settled(session) == before


async def test_a_reply_in_words_with_its_tags_is_heard(session: Session):
    reply = Reply({}, fault="it answered in words", words=f"<summary>{GOOD}</summary>")
    mended = await Mender(ScriptedModel(reply)).mend(session, "state_abstract")
    assert mended.result.applied
    assert GOOD in settled(session)


@pytest.mark.parametrize("error", [ModelUnavailable("down"), ModelKeyMissing("no key")])
async def test_a_model_that_cannot_be_asked_leaves_it_to_the_embedded_router(error: Exception):
    with Session.open("orders", store=":memory:") as session:
        session.record_turn(user="Refund W-2003.")
        failing(session, 4)
        look_up(session, "W-2001")
        assert isinstance(error, (ModelUnavailable, ModelKeyMissing))
        mended = await Mender(ScriptedModel(error, name="far")).mend(session)
        assert mended.note == f"far could not be asked: {type(error).__name__}"
        assert (mended.result.operator, mended.result.decider) == ("path_prune", "embedded")


async def test_without_a_model_the_embedded_operators_do_the_work(session: Session):
    mended = await Mender(None).mend(session)
    assert (mended.result.operator, mended.note) == ("none", "")
