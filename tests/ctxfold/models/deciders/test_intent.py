"""Planning and extracting by a model: its plan and its choice of lines stand when the log bears them out; else they go back once, then the embedded deciders take over and say so."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ctxfold import Session
from ctxfold.config import Endpoint
from ctxfold.errors import ModelUnavailable
from ctxfold.models import Reply, Request, Usage
from ctxfold.models.anthropic import AnthropicModel
from ctxfold.models.deciders import Deciders, extraction
from ctxfold.models.deciders import register as intent
from ctxfold.models.named import ScriptedModel
from tests.support.folders import strong_folder
from tests.support.messages.server import Answer, Decide, MessagesServer, Words, in_turn
from tests.support.sessions import events, prose, settled

pytestmark = pytest.mark.anyio

PLAN: dict[str, Any] = {
    "todo": [{"text": "Refund W-2003 to the user's card"}, {"text": "Send a slip to mia.li@example.com"}],
}


@pytest.fixture
def session() -> Iterator[Session]:
    """A user's words and a call that looked their order up."""
    with Session.open("orders", goal="Help the customer", store=":memory:") as opened:
        opened.record_turn(user="Please refund order W-2003, it came broken. I am mia.li@example.com.")
        look_up(opened, 3)
        yield opened


def look_up(session: Session, number: int) -> int:
    """Look one order up, in bulk."""
    order = {"order": f"W-200{number}", "total": 100.5 + number, "status": "delivered", "note": prose(number, 96)}
    call = {"name": "get_order", "args": {"order": f"W-200{number}"}, "id": "c1"}
    return session.record_step(calls=[call], results=[{"id": "c1", "text": json.dumps(order)}]).step


def served(server: MessagesServer) -> AnthropicModel:
    """The real adapter, speaking to the double."""
    return AnthropicModel("claude-strong", Endpoint(server.url, True, "ANTHROPIC_API_KEY", "any"))


def planned(session: Session) -> list[tuple[str, str]]:
    """Who planned, and why."""
    return [(event.decider, event.cause) for event in events(session) if event.kind == "intent_set"]


def extracted(session: Session) -> list[tuple[str, str]]:
    """Who extracted, and why."""
    return [(event.decider, event.cause) for event in events(session) if event.kind == "extracted"]


def fold_all(session: Session) -> None:
    """Fold what was looked up, so that it stands nowhere in the view."""
    for number in range(4, 9):
        look_up(session, number)
    session.fold(summary="Looked up orders.", first_step=1, last_step=session.tip)


async def test_a_models_plan_stands_over_the_wire_and_the_event_says_whose_it_is_and_why(session: Session):
    with MessagesServer(in_turn(Decide(PLAN, name="plan"))) as server:
        kept = await Deciders(served(server)).maintain(session, 8_000)
        assert len(server.journal) == 1
    assert kept.notes == ()
    assert kept.usage.prompt > 0
    assert planned(session) == [("model", "written by claude-strong")]
    assert "t1 [ ] Refund W-2003 to the user's card" in settled(session)
    assert [item.text for item in session.intent.open] == [item["text"] for item in PLAN["todo"]]


async def test_the_model_sees_what_is_known_and_what_is_new_each_under_its_ref(session: Session):
    model = ScriptedModel(PLAN, PLAN)
    await Deciders(model).plan(session)
    session.record_reply("Refunded.")
    session.record_turn(user="Actually, make it a replacement instead.")
    await Deciders(model).plan(session)
    first, second = (request.messages[-1]["content"][0]["text"] for request in model.requests)
    assert "user: Please refund order W-2003" in first
    assert "s2.2" not in second.split("The log since then")[1]
    assert "t1 open: Refund W-2003 to the user's card" in second
    assert "Actually, make it a replacement instead." in second
    assert "data" in model.requests[0].system


async def test_evidence_is_held_against_the_log_and_a_claim_goes_back_once(session: Session):
    claim = {**PLAN, "todo": [{"text": "Look up W-2003", "state": "done", "evidence": ["s9"]}]}
    right = {**PLAN, "todo": [{"text": "Look up W-2003", "state": "done", "evidence": ["s1.3"]}]}
    with MessagesServer(in_turn(Decide(claim, name="plan"), Decide(right, name="plan"))) as server:
        kept = await Deciders(served(server)).plan(session)
        again = json.dumps(server.journal[1].body)
    assert "s9" in again
    assert kept.note == ""
    assert [(item.state, item.evidence) for item in session.intent.items] == [("done", ("s1.3",))]


async def test_lines_that_a_model_chose_stand_byte_for_byte(session: Session):
    fold_all(session)
    chosen = {"selections": [{"ref": "s1.3:2-3", "why": "the refund", "facts": ["W-2003", "W-7777"]}]}
    with MessagesServer(in_turn(Decide(chosen, name="extract"))) as server:
        kept = await Deciders(served(server)).extract(session, "total of W-2003", 200)
        asked = server.journal[0].body["messages"][-1]["content"][0]["text"]
    assert '2|  "order": "W-2003",' in asked
    assert kept.note == ""
    assert extracted(session) == [("model", "chosen by claude-strong")]
    (extract,) = session.intent.extracts
    assert extract.text == session.recall("s1.3:2-3").text
    assert extract.facts == ("W-2003",)


async def test_a_strong_folder_sees_to_a_long_session_and_every_reply_is_paid_for(session: Session):
    with MessagesServer(strong_folder(PLAN)) as server:
        deciders = Deciders(served(server))
        usage, folded = Usage(), 0
        for number in range(1, 10):
            look_up(session, number)
            kept = await deciders.maintain(session, 1_000)
            usage, folded = usage + kept.usage, folded + len(kept.folded)
        billed = sum(exchange.usage["output_tokens"] for exchange in server.journal)
    assert folded
    assert usage.output == billed
    assert {decider for decider, _ in planned(session)} == {"model"}
    assert session.view(1_000).tokens <= 1_000


class Interrupted(ScriptedModel):
    """A model during whose answer the user speaks."""

    def __init__(self, session: Session, *decisions: dict[str, Any]) -> None:
        super().__init__(*decisions)
        self._session = session

    async def decide(self, request: Request) -> Reply:
        """Let the user speak, then answer."""
        self._session.record_turn(user="Please also check order W-2004.")
        return await super().decide(request)


async def test_words_said_while_the_model_wrote_are_not_lost(session: Session):
    kept = await Deciders(Interrupted(session, PLAN)).plan(session)
    assert kept.note == "the session changed while script wrote"
    assert not session.intent.items
    assert "Please also check order W-2004." in session.view().text


async def test_a_model_without_tools_plans_in_words(session: Session):
    said = f"<think>hm</think>Here it is.\n<tool_call>{json.dumps({'name': 'plan', 'arguments': PLAN})}</tool_call>"
    with MessagesServer(in_turn(Words(said))) as server:
        kept = await Deciders(served(server)).plan(session)
    assert kept.note == ""
    assert [decider for decider, _ in planned(session)] == ["model"]


async def test_a_model_without_tools_folds_in_the_text_form(session: Session):
    for number in range(1, 10):
        look_up(session, number)

    def answer(body: dict[str, Any]) -> Answer:
        if body["tools"][0]["name"] != "remember":
            return Decide(PLAN, name="plan")
        return Words(json.dumps({"facts": "Looked up orders."}))

    with MessagesServer(answer) as server:
        kept = await Deciders(served(server)).maintain(session, 1_000)
    assert kept.folded
    assert [event.decider for event in events(session) if event.kind == "folded"] == ["model"]


class InParts(ScriptedModel):
    """Chooses the call of each part that it is shown, and plans from each."""

    async def decide(self, request: Request) -> Reply:
        """What the tool asks for."""
        self.requests.append(request)
        shown = request.messages[-1]["content"][0]["text"]
        if request.tool.name == "plan":
            said = {"todo": [{"text": f"Look at part {len(self.requests)}"}], "goal": "Refund what came broken"}
            return Reply(said)
        refs = [line.partition(",")[0] for line in shown.splitlines() if line.startswith("s") and ".1, " in line]
        return Reply({"selections": [{"ref": f"{ref}:1-1"} for ref in refs[:1]]})


@pytest.fixture
def long_session(session: Session, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session whose log is too long to be shown at once."""
    monkeypatch.setattr(extraction, "LOG", 600)
    monkeypatch.setattr(intent, "NEW", 250)
    for number in range(4, 9):
        look_up(session, number)
    return session


async def test_a_log_too_long_for_one_request_is_planned_in_parts_each_on_the_plan_before(long_session: Session):
    model = InParts(name="strong")
    done = await Deciders(model).plan(long_session)
    asked = [request.messages[-1]["content"][0]["text"] for request in model.requests]
    assert (done.decider, done.note) == ("model", "")
    assert 1 < len(asked) <= intent.PASSES
    assert len({each.partition("The log since then")[2] for each in asked}) == len(asked)
    assert "t1 open: Look at part 1" in asked[1]
    assert [item.id for item in long_session.intent.open] == [f"t{n}" for n in range(1, len(asked) + 1)]
    assert long_session.workspace.goals[1:] == ("Refund what came broken",)
    assert len([event for event in events(long_session) if event.cause == "goal" and event.decider == "model"]) == 1


async def test_a_log_too_long_for_one_request_is_read_for_lines_in_parts_whose_choices_are_put_together(
    long_session: Session,
):
    model = InParts(name="strong")
    done = await Deciders(model).extract(long_session, "every call")
    assert (done.decider, done.note) == ("model", "")
    assert len(model.requests) > 1
    assert 1 < len(done.made.extracts) <= len(model.requests)
    assert extracted(long_session) == [("model", "chosen by strong")]


async def test_parts_that_nobody_could_read_are_the_embedded_extractors(long_session: Session):
    model = ScriptedModel(*[ModelUnavailable("down")] * intent.PASSES, name="far")
    done = await Deciders(model).extract(long_session, "total of W-2005")
    assert (done.decider, done.note) == ("embedded", "far could not be asked: ModelUnavailable")
    assert extracted(long_session) == [("embedded", f"{done.note}")]


async def test_a_bound_at_the_end_of_a_long_message_reaches_the_planner(session: Session):
    message = f"{prose(5, 4_400)} And it may cost 417 EUR at most, please."
    session.record_turn(user=message)
    model = ScriptedModel(*[{}] * 3)
    await Deciders(model).plan(session)
    shown = "\n".join(request.messages[-1]["content"][0]["text"] for request in model.requests)
    assert "417 EUR at most" in shown
    long = session.record_turn(user=f"{prose(6, 40_000)} Pay by card 7788.")
    model = ScriptedModel(*[{}] * 9)
    await Deciders(model).plan(session)
    texts = [request.messages[-1]["content"][0]["text"] for request in model.requests]
    parts = [text.partition(f"{long} ")[2].partition("user: ")[2] for text in texts]
    assert len(parts) > 1
    assert "".join("".join(parts).split()) == "".join(session.recall(long).text.split()), "no word is left out"


async def test_the_planner_is_told_when_a_message_came_so_that_tomorrow_is_a_date(session: Session):
    session.record_turn(user="Have it here by tomorrow.")
    model = ScriptedModel({})
    await Deciders(model).plan(session)
    shown = model.requests[0].messages[-1]["content"][0]["text"]
    (line,) = (row for row in shown.splitlines() if "by tomorrow" in row)
    told = datetime.strptime(line.split(" user:")[0].split(" ", 2)[2], "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
    assert abs(datetime.now(UTC) - told) < timedelta(minutes=2)
    date = (told + timedelta(days=1)).date()
    session.record_turn(user="Yes, by tomorrow.")
    made = await Deciders(ScriptedModel({"constraints": [{"text": f"deliver by tomorrow ({date})"}]})).plan(session)
    assert (made.decider, made.made.binding[0].text) == ("model", f"deliver by tomorrow ({date})")


async def test_thanks_change_nothing_and_call_for_nothing_more(session: Session):
    fold_all(session)
    lines = {"selections": [{"ref": "s1.3:2-3"}]}
    model = ScriptedModel(PLAN, lines, {}, {"todo": [{"id": "t1", "text": "Replace W-2003"}]}, lines)
    deciders = Deciders(model)
    asked = []
    for words in ("Refund it, please.", "ok thanks", "A replacement instead."):
        session.record_turn(user=words)
        before = len(model.requests)
        await deciders.maintain(session, 8_000)
        asked.append([request.tool.name for request in model.requests[before:]])
        session.record_reply("Noted.")
    assert asked == [["plan", "extract"], ["plan"], ["plan", "extract"]]
    assert [event.kind for event in events(session)].count("intent_set") == 2
    again = ScriptedModel()
    await Deciders(again).maintain(session, 8_000)
    assert again.requests == [], "what was read stays read, in any process"
    session.undo()
    session.undo()
    assert session.intent.open[0].text == PLAN["todo"][0]["text"], "what changed nothing is not undone"


async def test_one_reply_writes_the_memory_and_the_register(session: Session):
    for number in range(4, 9):
        look_up(session, number)
    session.record_turn(user="And it may cost 417 EUR at most.")
    both = {"facts": "W-2004 to W-2008 are delivered.", "plan": {"constraints": [{"text": "417 EUR at most"}]}}
    model = ScriptedModel(both, {})
    kept = await Deciders(model).maintain(session, 1_000)
    assert kept.notes == ()
    assert [request.tool.name for request in model.requests] == ["remember", "extract"]
    assert "417 EUR at most" in model.requests[0].messages[-1]["content"][0]["text"]
    assert [each.text for each in session.intent.binding] == ["417 EUR at most"]
    assert "W-2004 to W-2008 are delivered." in session.view(1_000).text


def test_a_plan_sets_the_order_of_the_to_do(session: Session):
    session.plan(todo=["Reorder W-2003", "Check the delivery time"])
    session.plan(todo=["First ask for the address", {"id": "t1"}])
    assert [item.id for item in session.intent.open] == ["t3", "t1", "t2"]
    session.plan(todo=[{"id": "t2"}, {"id": "t3"}, {"id": "t1"}])
    assert [item.id for item in session.intent.open] == ["t2", "t3", "t1"]
    view = session.view().text
    assert view.index("t2 [ ]") < view.index("t3 [ ]") < view.index("t1 [ ]")
    session.plan(todo=["Say goodbye"])
    assert [item.id for item in session.intent.open] == ["t2", "t3", "t1", "t4"], "a new item comes last"
    session.undo()
    session.undo()
    assert [item.id for item in session.intent.open] == ["t3", "t1", "t2"]


def test_lines_extracted_for_a_goal_go_when_the_goal_is_revised(session: Session):
    fold_all(session)
    session.extract(selections=[{"ref": "s1.3:2-3", "why": "the refund"}])
    session.plan(goal="Book a hotel instead")
    assert session.intent.extracts == ()
    session.undo()
    assert session.intent.extracts != ()
