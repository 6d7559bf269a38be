"""Planning and extracting by a model: its plan and its choice of lines stand when the log bears them out; else they go back once, then the embedded deciders take over and say so."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ctxfold import Session
from ctxfold.config import Endpoint
from ctxfold.errors import InputError, ModelUnavailable
from ctxfold.models import Reply, Request, Roles, Usage
from ctxfold.models.anthropic import AnthropicModel
from ctxfold.models.deciders import Deciders
from ctxfold.models.deciders import register as intent
from ctxfold.models.named import ScriptedModel
from ctxfold.tokens import count
from tests.support.messages.server import Answer, Decide, MessagesServer, Words, in_turn
from tests.support.sessions import add_call, add_json, add_result, copy_session, events, prose, settled

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
    return add_call(session, "get_order", {"order": f"W-200{number}"}, json.dumps(order))


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
    assert '"order": "W-2003", "total": 103.5,' in asked
    assert kept.note == ""
    assert extracted(session) == [("model", "chosen by claude-strong")]
    (extract,) = session.intent.extracts
    assert extract.text == session.recall("s1.3:2-3").text
    assert extract.facts == ("W-2003",)


async def test_a_model_sees_to_a_long_session_by_calls_and_in_words_and_every_reply_is_paid_for(session: Session):
    def answer(body: dict[str, Any]) -> Answer:
        match body["tools"][0]["name"]:
            case "remember":
                return Words(json.dumps({"facts": "Looked up orders."}))
            case "plan":
                return Decide(PLAN, name="plan")
            case _:
                return Decide({"selections": [{"ref": "s1.3:2-3"}]}, name="extract")

    with MessagesServer(answer) as server:
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
    assert next(event.decider for event in events(session) if event.kind == "folded") == "model"
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
    monkeypatch.setattr(intent, "NEW", 3_000)
    for number in range(4, 9):
        look_up(session, number)
        add_result(session, "\n".join(f"Row {number}-{at} of a long list" for at in range(1_000)))
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


async def test_what_the_user_said_while_a_model_wrote_is_read_by_the_next_plan(session: Session):
    for number in range(4, 9):
        look_up(session, number)
    session.record_turn(user="And it may cost 417 EUR at most.")
    model = Interrupted(
        session, {"facts": "W-2004 is delivered.", "plan": {"constraints": [{"text": "417 EUR at most"}]}}, {}
    )
    await Deciders(Roles(model, model)).maintain(session, 1_000)
    later = ScriptedModel({})
    await Deciders(Roles(planner=later)).maintain(session, 1_000)
    assert "Please also check order W-2004." in later.requests[0].messages[-1]["content"][0]["text"]
    failing = ScriptedModel({}, ModelUnavailable("down"))
    session.record_turn(user=f"{prose(6, 30_000)} Pay by card 7788.")
    await Deciders(failing).plan(session)
    assert len(failing.requests) == 2
    again = ScriptedModel(*[{}] * 4)
    await Deciders(again).plan(session)
    assert any("card 7788" in request.messages[-1]["content"][0]["text"] for request in again.requests)


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


class Reader(ScriptedModel):
    """Keeps what it is asked to read, and replies with one choice."""

    def __init__(self, **choice: Any) -> None:
        super().__init__(name="reader")
        self.choice: dict[str, Any] = {"selections": [], **choice}

    async def decide(self, request: Request) -> Reply:
        """The choice."""
        self.requests.append(request)
        return Reply(self.choice)

    def shown(self) -> str:
        """The log of all requests."""
        asked = (request.messages[-1]["content"][0]["text"] for request in self.requests)
        return "\n".join(text.partition("each record under its address:")[2] for text in asked)

    def input(self) -> int:
        """o200k tokens of all requests, their prompts included."""
        asked = (request.messages[-1]["content"][0]["text"] for request in self.requests)
        fixed = (request.system + json.dumps(request.tool.schema) for request in self.requests)
        return sum(map(count, (*asked, *fixed)))


def orders(first: int, many: int) -> list[dict[str, Any]]:
    """Orders as a shop returns them."""
    return [{"id": f"Q{n:04}", "total": n * 3.5, "to": {"city": "Lyon"}} for n in range(first, first + many)]


LONG = {
    "one result of 500 lines": ["\n".join(f"Entry E{n:04} of the harbor log" for n in range(500))],
    "400 orders as JSON": [json.dumps(orders(0, 400))],
    "30 results of 60 long lines": [
        "\n".join(f"R{at:02}-{n:02} {prose(60 * at + n, 48)}".replace("\n", " ") for n in range(60)) for at in range(30)
    ],
}


@pytest.mark.parametrize("results", LONG.values(), ids=LONG)
async def test_every_line_of_every_result_reaches_the_reader(session: Session, results: list[str]):
    model = Reader()
    for text in results:
        add_result(session, text)
    made = (await Deciders(model).extract(session)).made
    shown = model.shown()
    marks = [mark for text in results for mark in re.findall(r"E\d{4}|Q\d{4}|R\d\d-\d\d", text)]
    assert len(marks) >= 400
    assert [mark for mark in marks if shown.count(mark) != 1] == []
    assert made.unread == ""


async def test_the_rows_of_a_record_name_all_its_lines_and_an_object_of_json_is_whole_in_one(session: Session):
    step = add_json(session, {"page": 1, "orders": orders(0, 9)})
    model = Reader()
    await Deciders(model).extract(session)
    rows = re.findall(r"^(\d+)(?:-(\d+))?\| (.*)", model.shown().partition(f"s{step}.3, ")[2], re.MULTILINE)
    ends = [(int(first), int(last or first)) for first, last, _ in rows]
    assert [first for first, _ in ends] == [1, *(last + 1 for _, last in ends[:-1])]
    for first, last, text in rows:
        if "Q000" in text:
            lines = session.recall(f"s{step}.3:{first}-{last}").text
            assert json.loads(lines.rstrip(",")) == json.loads(text.rstrip(","))


async def test_the_reader_sees_results_of_other_topics_and_what_came_late(session: Session):
    session.branch("new_topic", to="hotels")
    late = session.record_step(calls=[{"name": "find", "args": {}, "id": "c9"}]).step
    model = Reader()
    await Deciders(model).extract(session, "which orders?")
    assert '"order": "W-2003"' in model.shown()
    session.record_turn("And?")
    session.record_result(late, "c9", "The hotel has room 77.")
    await Deciders(model).extract(session)
    assert model.shown().count("room 77") == 1


async def test_a_line_is_read_whole_once_and_again_where_it_is_near_what_is_wanted(session: Session):
    add_result(session, "\n".join(f"Harbor {n} opens at noon" for n in range(1_500)))
    first, second = Reader(), Reader()
    await Deciders(first).extract(session)
    add_result(session, "A new line.")
    await Deciders(second).extract(session, "When does harbor 1234 open?")
    assert second.shown().count("A new line.") == 1
    assert "Harbor 1234 opens" in second.shown()
    assert count(second.shown()) < 2_500


async def test_what_no_model_was_shown_is_named_in_the_event(session: Session):
    long = add_result(session, "\n".join(f"Row {n} {prose(n, 16)}" for n in range(6_000)))
    made = (await Deciders(Reader()).extract(session, "row 77")).made
    (event,) = [event for event in events(session) if event.kind == "extracted"]
    assert made.unread == f"s1-s{long}"
    assert f"not read: {made.unread}" in event.about
    model = ScriptedModel({"selections": []}, ModelUnavailable("down"), {"selections": []}, name="shaky")
    with Session.open("other", store=":memory:") as other:
        add_result(other, "x" * 9_000)
        add_result(other, "\n".join(f"Row {n} of them {n * 77}" for n in range(4_000)))
        made = (await Deciders(model).extract(other)).made
        add_result(other, "A short one.")
        again = (await Deciders(Reader()).extract(other)).made
    assert (made.unread, again.unread) == ("s1-s2", "")


async def test_the_tools_of_the_agent_are_kept_with_the_session_and_shown_to_the_reader(tmp_path: Path):
    schema = {"type": "object", "properties": {"order": {"type": "string"}, "full": {"type": "boolean"}}}
    anthropic = {"name": "get_order", "description": "Read one order.\nBy its id.", "input_schema": schema}
    openai = {"type": "function", "function": {"name": "cancel", "description": "Cancel it.", "parameters": schema}}
    store = str(tmp_path / "store.db")
    with Session.open("trip", store=store, tools=[anthropic, openai]) as session:
        session.branch("new_topic", to="other")
        add_result(session, "An order.")
        session.set_tools([anthropic, openai])
        assert [event.about[:5] for event in events(session)].count("tools") == 1
    with Session.open("trip", store=copy_session(store, tmp_path).as_posix()) as copy:
        assert copy.known_tools == (
            "get_order(order, full): Read one order. By its id.",
            "cancel(order, full): Cancel it.",
        )
        model = Reader(hint="Call get_order first.")
        made = (await Deciders(model).extract(copy)).made
        assert copy.known_tools[0] in model.requests[0].messages[-1]["content"][0]["text"]
        assert made.hint == "Call get_order first."
        copy.record_turn("And?")
        planner = ScriptedModel({})
        await Deciders(planner).plan(copy)
        assert "get_order, cancel" in planner.requests[0].messages[-1]["content"][0]["text"]
        with pytest.raises(InputError, match="name"):
            copy.set_tools([{"description": "no name"}])


async def test_constraints_stand_under_their_lines_and_the_hint_ends_the_view(session: Session):
    lines = {"ref": "s1.3:1-3", "why": "the refund", "constraints": ["Total is 103.5", "Only before May 2031"]}
    model = Reader(selections=[lines], hint="Refund W-2003 with order 998877.")
    made = (await Deciders(model).extract(session)).made
    session.refactor("attention_anchor", "Check the card first.")
    assert len(model.requests) == 2
    assert made.extracts[0].constraints == ("Total is 103.5", "Only before May 2031 [not in the log]")
    text = settled(session)
    assert text.splitlines()[-1].endswith("Refund W-2003 with order 998877 [not in the log].")
    assert "implies: Total is 103.5; Only before" in text
    assert text.index("implies:") < text.index("Check the card first.")


async def test_the_rules_for_hints_are_shown_unless_they_are_switched_off(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    model, settings = Reader(), tmp_path / "settings.toml"
    monkeypatch.setenv("CTXFOLD_SETTINGS", str(settings))
    await Deciders(model).extract(session)
    settings.write_text("[models]\nprinciples = false\n")
    look_up(session, 4)
    await Deciders(model).extract(session)
    with_rules, without = (request.system for request in model.requests)
    assert with_rules.startswith(without)
    assert len(re.findall(r"^\d+\. ", with_rules, re.MULTILINE)) == 18
    assert not re.findall(r"^\d+\. ", without, re.MULTILINE)


async def test_extracts_go_with_their_item_and_with_the_next_choice(session: Session):
    session.plan(todo=["Refund W-2003", "Write to Mia"])
    chosen = [{"ref": "s1.3:2", "todo": "t1"}, {"ref": "s1.3:3"}]
    await Deciders(Reader(selections=chosen, hint="Refund first.")).extract(session)
    session.plan(todo=[{"id": "t1", "state": "done"}])
    assert [each.ref for each in session.intent.extracts] == ["s1.3:3-3"]
    session.undo()
    assert [each.ref for each in session.intent.extracts] == ["s1.3:2-2", "s1.3:3-3"]
    await Deciders(Reader()).extract(session, "anything")
    assert not session.intent.extracts
    assert "Refund first." not in settled(session)
    session.undo()
    session.extract(selections=[])
    assert not session.intent.extracts


async def test_all_that_is_read_over_a_run_is_at_most_one_and_a_half_times_the_log(session: Session):
    model = Reader()
    for turn in range(8):
        session.record_turn(f"What about harbor {turn}?")
        add_result(session, "\n".join(prose(100 * turn + n, 48) for n in range(100)))
        add_json(session, orders(100 * turn, 100))
        await Deciders(model).extract(session)
    assert model.input() <= 1.5 * session.view().unfolded


class Traveller(ScriptedModel):
    """Plans as it is told turn by turn, writes short memories, and chooses the lines of the newest list."""

    def __init__(self, *plans: dict[str, Any]) -> None:
        super().__init__(*plans, name="traveller")
        self.asked: list[str] = []
        self.lines: dict[str, Any] = {}

    async def decide(self, request: Request) -> Reply:
        """What the tool asks for."""
        self.asked.append(request.tool.name)
        match request.tool.name:
            case "plan":
                return await super().decide(request)
            case "extract":
                return Reply(self.lines)
            case "keep":
                return Reply({"summary": "Looked at lists."})
            case _:
                return Reply({"wanted": "A trip (s1)."})


async def test_lines_are_chosen_anew_at_each_change_of_intent_and_at_no_thanks():
    flights = {"todo": [{"text": "Find a flight to Lyon"}], "goal": "Go to Lyon"}
    bound = {"constraints": [{"text": "before noon"}]}
    hotel = {"todo": [{"id": "t1", "state": "done", "evidence": ["s5"]}, {"text": "Find a hotel in Lyon"}]}
    said = ("Find a flight.", "ok thanks", "Only before noon.", "Great.", "It is booked. Now a hotel.", "Thank you.")
    model = Traveller(flights, {}, bound, {}, hotel, {})
    with Session.open("trip", store=":memory:") as session:
        folder = Roles(folder=Traveller(), planner=model, reader=model)
        deciders, asked = Deciders(folder), []
        add_result(session, "\n".join(f"Flight AF{n} leaves at {n % 24}:00" for n in range(400)))
        add_result(session, "\n".join(f"Hotel H{n} has room {n}" for n in range(400)))
        for turn, words in enumerate(said):
            session.record_turn(user=words)
            model.asked.clear()
            model.lines = {"selections": [{"ref": f"s{2 if turn == 4 else 1}.3:{turn + 1}", "why": "asked for"}]}
            await deciders.maintain(session, 1_000)
            asked.append([*model.asked])
            session.record_reply(f"Answer {turn}.")
            if turn == 2:
                assert [each.text for each in session.intent.extracts] == ["Flight AF2 leaves at 2:00"]
        assert asked == [["plan", "extract"], ["plan"], ["plan", "extract"], ["plan"], ["plan", "extract"], ["plan"]]
        assert [each.text for each in session.intent.extracts] == ["Hotel H4 has room 4"], "no flight line stands"
