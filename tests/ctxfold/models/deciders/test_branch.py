"""Placing a message by a model: its placement stands when it names what is there; else it goes back once, then the message goes on, and the answer says so."""

import pytest

from ctxfold import Session
from ctxfold.errors import InputError
from ctxfold.models.deciders import Deciders
from ctxfold.models.named import ScriptedModel

pytestmark = pytest.mark.anyio

MESSAGE = "And the heap: which snapshot tells more?"


@pytest.fixture
def session():
    """Two topics; one stands on the first."""
    with Session.open("two", store=":memory:") as opened:
        opened.record_turn(user="Six days in Kyoto for 4200 euros.")
        opened.record_reply("Gladly.")
        opened.branch("new_topic", to="leak")
        opened.record_turn(user="Our Node service leaks heap memory.")
        opened.record_reply("Compare two snapshots.")
        opened.branch("switch", to="main")
        yield opened


def placed(action: str, confidence: float = 0.9, **more: object) -> dict[str, object]:
    return {"action": action, "confidence": confidence, "reason": "it asks about the heap", **more}


async def test_a_models_move_is_made_and_the_event_says_whose_it_is(session: Session):
    model = ScriptedModel(placed("switch", branch="leak"), name="strong")
    moved = await Deciders(model).branch(session, MESSAGE)
    assert (moved.decider, moved.note, moved.made.branch) == ("model", "", "leak")
    event = session.history()[0]
    assert (event.kind, event.decider, event.cause) == ("moved", "model", "0.90 sure; it asks about the heap")
    (request,) = model.requests
    asked = request.messages[-1]["content"][0]["text"]
    for words in ("Kyoto", "leaks heap", MESSAGE, "main: main", "leak: leak"):
        assert words in asked


async def test_a_fork_keeps_the_step_it_names_and_a_topic_begins(session: Session):
    assert (await Deciders(ScriptedModel(placed("create", step="s1"))).branch(session, "What if Osaka?")).made.tip == 1
    assert (await Deciders(ScriptedModel(placed("new_topic"))).branch(session, "My roses are ill.")).made.tip == 0


async def test_in_doubt_the_message_goes_on(session: Session):
    moved = await Deciders(ScriptedModel(placed("switch", 0.3, branch="leak"))).branch(session, MESSAGE)
    assert (moved.made.action, moved.made.branch, moved.made.reason) == ("continue", "main", "in doubt: 0.30")


async def test_an_empty_message_decides_nothing(session: Session):
    for model in (None, ScriptedModel(placed("continue"))):
        with pytest.raises(InputError):
            await Deciders(model).branch(session, " ")


async def test_a_message_that_asks_for_all_topics_gets_what_was_said_on_each(session: Session):
    await Deciders(ScriptedModel(placed("continue", gather=True))).branch(session, "Now the final plan of everything.")
    (extract,) = session.intent.extracts
    assert "Our Node service leaks heap memory." in extract.text
    assert "leaks heap memory" in session.view().text
    assert session.history()[0].decider == "model"
