"""Folding by a model: its summary stands when it says what the steps say; else it goes back once, then the embedded folder folds and says why."""

import json

import pytest

from ctxfold import FoldSettings, Session
from ctxfold.errors import FoldError
from ctxfold.models import Model, Reply, Request, Roles
from ctxfold.models.deciders import Deciders, Maintained
from ctxfold.models.named import ScriptedModel
from ctxfold.workspace import RawStep, Tile
from tests.support.sessions import add_call, add_json, add_steps, events, prose

pytestmark = pytest.mark.anyio


@pytest.fixture
def session():
    """A user's words, then five looked-up orders of which later lines point at the third."""
    with Session.open("orders", goal="Refund what was damaged", store=":memory:") as opened:
        opened.record_turn(user="Order W-2003 came broken, I am mia.li@example.com.")
        for at in range(1, 6):
            order = {"order_id": f"W-200{at}", "total": 100.5 + at, "status": "delivered", "note": prose(at, 60)}
            add_json(opened, order, call=f"c{at}")
        yield opened


def said(summary: object, **more: object) -> dict[str, object]:
    return {"summary": summary, **more}


GOOD = "Looked up W-2001 to W-2003; W-2003 was delivered, total 103.5."


async def test_a_true_summary_stands_as_the_models(session: Session):
    model = ScriptedModel(said(GOOD), name="strong")
    planned = await Deciders(model).fold(session, 1, 3)
    assert (planned.decider, planned.note, planned.made.steps) == ("model", "", (1, 2, 3))
    assert planned.made.summary == GOOD
    event = session.history()[0]
    assert (event.kind, event.decider, event.cause) == ("folded", "model", "written by strong")
    assert "Order W-2003 came broken, I am mia.li@example.com." in session.view().text
    assert len(model.requests) == 1


async def test_the_model_tells_status_outcome_and_item_and_an_unknown_item_goes_back_once(session: Session):
    session.plan(todo=["Find what was damaged"])
    sub_task = {"status": "partial", "outcome": "W-2003 was delivered."}
    model = ScriptedModel(said(GOOD, **sub_task, todo="t7"), said(GOOD, **sub_task, todo="t1"))
    folded = await Deciders(model).fold(session, 1, 3)
    assert (folded.made.status, folded.made.todo, folded.made.outcome) == ("partial", "t1", "W-2003 was delivered.")
    assert (folded.decider, len(model.requests)) == ("model", 2)
    assert "t1 open: Find what was damaged" in model.requests[0].messages[-1]["content"][0]["text"]


async def test_one_request_condenses_each_of_the_last_steps_and_a_planted_value_goes_back(session: Session):
    texts = [{"step": step, "text": f"W-200{step} was delivered."} for step in (3, 4, 5)]
    model = ScriptedModel({"steps": [{"step": 3, "text": "Paid W-8888."}]}, {"steps": texts})
    condensed = await Deciders(model).condense(session, 3)
    assert [(tile.steps, tile.origin) for tile in condensed.made] == [((step,), "model") for step in (3, 4, 5)]
    assert "W-2005 was delivered." in session.view().text
    assert "W-2002" not in model.requests[0].messages[-1]["content"][0]["text"]


async def test_the_model_sees_the_goal_the_users_words_and_the_whole_rows(session: Session):
    model = ScriptedModel(said(GOOD))
    await Deciders(model).fold(session, 1, 3)
    (request,) = model.requests
    asked = request.messages[-1]["content"][0]["text"]
    for words in ("Refund what was damaged", "came broken", "W-2001", "W-2002", "W-2003", "103.5"):
        assert words in asked
    assert "W-2004" not in asked
    assert request.tool.name == "keep"
    assert "data" in request.system


@pytest.mark.parametrize(
    "planted",
    [
        "W-9999",
        "999.99 EUR",
        "mia.li@example.org",
        "2026-11-21",
        "s77",
        "reservation QXZKJP",
        '"never damaged"',
        "W-2004",
    ],
)
async def test_a_planted_value_goes_back_with_its_name_and_is_never_kept(session: Session, planted: str):
    model = ScriptedModel(said(f"{GOOD} See {planted}."), said(GOOD))
    planned = await Deciders(model).fold(session, 1, 3)
    assert planned.decider == "model"
    assert planned.made.summary == GOOD
    again = json.dumps(model.requests[1].messages[-1]["content"], ensure_ascii=False)
    assert "not in the log" in again


async def test_what_a_model_invents_twice_is_kept_with_marks(session: Session):
    model = ScriptedModel(said("Paid W-8888."), said("Paid W-8888 and W-7777."), name="liar")
    planned = await Deciders(model).fold(session, 1, 3)
    assert (planned.decider, planned.note) == ("model", "")
    assert planned.made.summary == "Paid W-8888 [not in the log] and W-7777 [not in the log]."
    assert planned.made.marks == ("W-8888", "W-7777")
    assert len(model.requests) == 2


async def test_a_summary_that_follows_a_malformed_reply_is_not_asked_for_again(session: Session):
    model = ScriptedModel({"summary": 7}, said("Paid W-8888."))
    planned = await Deciders(model).fold(session, 1, 3)
    assert planned.made.summary == "Paid W-8888 [not in the log]."


def high(session: Session) -> None:
    """Record until the cover stands above the mark of a budget of 1,000."""
    add_steps(session, 8, first=20)


async def maintained(model: Model | None, session: Session, budget: int = 1_000) -> Maintained:
    """What is due at a budget, folded."""
    return await Deciders(Roles(folder=model)).maintain(session, budget)


async def test_nobody_is_asked_below_the_high_water_mark(session: Session):
    high(session)
    model, before = ScriptedModel({"facts": GOOD}), session.history()
    assert (await maintained(model, session, 100_000)).folded == ()
    assert (model.requests, session.history()) == ([], before)


async def test_above_the_mark_the_models_memory_takes_the_place_of_the_older_steps(session: Session):
    high(session)
    done = await maintained(ScriptedModel({"facts": GOOD}, name="strong"), session)
    (tile,) = done.folded
    assert tile.memory is not None
    assert (tile.memory.facts, tile.scale, tile.origin) == (GOOD, "macro", "model")
    assert session.history()[0].cause == "high water, written by strong"
    assert isinstance(session.workspace.latest, RawStep)
    assert session.view(1_000).tokens <= 1_000


async def test_above_the_mark_a_refused_model_leaves_it_to_the_embedded_folder(session: Session):
    high(session)
    done = await maintained(ScriptedModel({"facts": 7}, {"facts": 7}, name="weak"), session)
    assert session.history()[0].cause == "high water; weak was refused twice, at last for its form"
    session.undo()
    unasked = await maintained(None, session)
    assert unasked.folded[-1].lines == done.folded[-1].lines
    assert session.history()[0].cause == "high water"


async def test_what_cannot_be_folded_is_refused_before_anyone_is_asked(session: Session):
    session.fold("Looked up.", 1, 3)
    model = ScriptedModel(said(GOOD))
    for first, last in ((2, 3), (1, 2), (7, None), (5, 4)):
        with pytest.raises(FoldError):
            await Deciders(model).fold(session, first, last)
    assert model.requests == []


class Meddler(ScriptedModel):
    """A model during whose answer the session changes."""

    def __init__(self, session: Session, *decisions: dict[str, object], late: bool) -> None:
        super().__init__(*decisions)
        self._session = session
        self._late = late

    async def decide(self, request: Request) -> Reply:
        """Change the session, then answer."""
        if self._late:
            self._session.fold("Looked up.", 2, 3)
        else:
            add_steps(self._session, 1, first=9)
        return await super().decide(request)


async def test_steps_that_changed_meanwhile_are_the_embedded_folders(session: Session):
    planned = await Deciders(Meddler(session, said(GOOD), late=True)).fold(session, 1, 3)
    assert (planned.decider, planned.note) == ("embedded", "the session changed while script wrote")
    assert GOOD not in session.view().text


async def test_steps_recorded_meanwhile_do_not_shift_the_fold(session: Session):
    planned = await Deciders(Meddler(session, said("W-2005 was delivered."), late=False)).fold(session)
    assert planned.made.steps == (5,)


@pytest.mark.parametrize("model", [None, ScriptedModel(*[{"summary": "Looked up an order."}] * 4, name="strong")])
async def test_on_demand_each_step_is_folded_alone_once_the_next_is_recorded(model: ScriptedModel | None) -> None:
    with Session.open("micro", store=":memory:", settings=FoldSettings(micro=True)) as session:
        session.record_turn(user="Look up three orders.")
        deciders = Deciders(model)
        for number in range(3):
            add_call(session, "get", {"order": f"W-{number}"}, prose(number, 400))
            await deciders.maintain(session)
        folded = [event for event in events(session) if event.kind == "folded"]
        assert [event.decider for event in folded] == ["model" if model else "embedded"] * 2
        assert [block.steps for block in session.workspace.blocks if isinstance(block, Tile)] == [(1,), (2,)]
        assert isinstance(session.workspace.blocks[-1], RawStep), "the latest stands in full"
