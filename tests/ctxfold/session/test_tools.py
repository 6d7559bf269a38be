"""The session's tools for native loops, and what `record_step` takes of the SDKs: their own objects, as they come and as they are sent."""

from __future__ import annotations

import json
from collections.abc import Iterator

import jsonschema
import pytest
from anthropic.types import ContentBlock, Message, TextBlock, ThinkingBlock, ToolUseBlock, Usage
from openai.types.chat import ChatCompletionMessage

from ctxfold import Session, SessionTool
from ctxfold.errors import InputError, RefError


@pytest.fixture
def session() -> Iterator[Session]:
    """A session in memory."""
    with Session.open("loop", goal="Look up orders", store=":memory:") as opened:
        yield opened


def tools(session: Session) -> dict[str, SessionTool]:
    return {tool.name: tool for tool in session.tools()}


def test_a_message_of_anthropics_sdk_is_taken_as_it_is(session: Session) -> None:
    content: list[ContentBlock] = [
        ThinkingBlock(type="thinking", thinking="hm", signature="x"),
        TextBlock(type="text", text="Looking."),
        ToolUseBlock(type="tool_use", id="toolu_1", name="look_up", input={"order": "W-1"}),
    ]
    used = Usage(input_tokens=1, output_tokens=1)
    message = Message(
        id="m", type="message", role="assistant", model="c", content=content, stop_reason="tool_use", usage=used
    )
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "total=1"}]}
    for said in (message, content, {"role": "assistant", "content": [block.model_dump() for block in content]}):
        step = session.record_step(said, results=[answer])
        assert session.recall(f"{step}.1").text == "Looking."
        assert json.loads(session.recall(f"{step}.2").text) == {"name": "look_up", "args": {"order": "W-1"}}
        assert session.recall(f"{step}.3").text == "total=1"


def test_a_message_of_openais_sdk_is_taken_as_it_is(session: Session) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": '{"order": "W-1"}'}}
    message = ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "tool_calls": [call]})
    answer = {"role": "tool", "tool_call_id": "call_1", "content": "total=1"}
    step = session.record_step(message, results=[answer])
    assert json.loads(session.recall(f"{step}.1").text) == {"name": "look_up", "args": {"order": "W-1"}}
    assert session.recall(f"{step}.2").text == "total=1"
    item = {"type": "function_call", "call_id": "fc_1", "name": "look_up", "arguments": "not json"}
    output = {"type": "function_call_output", "call_id": "fc_1", "output": "total=2"}
    step = session.record_step("Again.", calls=[item], results=[output])
    assert json.loads(session.recall(f"{step}.2").text)["args"] == "not json"
    assert session.view(2000).as_openai()


def test_a_picture_is_named_by_its_size_and_what_is_no_message_is_refused(session: Session) -> None:
    picture = {"type": "image", "source": {"type": "base64", "data": "A" * 500}}
    step = session.record_step(
        "Look.", calls=[{"name": "see", "args": {}, "id": "c"}], results=[{"tool_use_id": "c", "content": [picture]}]
    )
    assert session.recall(f"{step}.3").text.startswith("[image, 5")
    for odd in ([], {}, 3, [{"no": "type"}], {"role": "assistant"}):
        with pytest.raises(InputError, match="an assistant's message is"):
            session.record_step(odd)


def test_every_tool_has_a_schema_both_apis_take(session: Session) -> None:
    found = tools(session)
    assert list(found) == ["recall", "fold", "plan", "note"]
    for tool in found.values():
        jsonschema.Draft202012Validator.check_schema(tool.schema)
        assert tool.schema["type"] == "object"
        assert tool.as_anthropic()["input_schema"] == tool.as_openai()["function"]["parameters"] == tool.schema
        assert '"title"' not in json.dumps(tool.schema)


def test_a_model_recalls_folds_plans_and_notes(session: Session) -> None:
    for number in range(3):
        session.record_step(
            f"Looking {number} " * 9,
            calls=[{"name": "look", "args": {}, "id": "c"}],
            results=[{"id": "c", "text": f"total={number}"}],
        )
    found = tools(session)
    assert found["recall"](ref="s2.3") == "< total=1"
    assert "s3.3" in found["recall"](query="total=2")
    assert found["recall"](query="nowhere") == "nothing recorded holds these words"
    assert found["fold"](summary="Three looked up.", first_step=1, last_step=2).startswith("b1 stands for s1-s2")
    assert "t1 open: pay" in found["plan"](todo=[{"text": "pay"}], constraints=["at most 400 EUR"])
    assert "t1 done: pay" in found["plan"](todo=[{"id": "t1", "state": "done"}])
    assert found["note"](text="W-1 is paid.").startswith("kept as s4.")
    assert "W-1 is paid." in session.view(2000).text


def test_what_a_model_asks_in_vain_is_said_and_changes_nothing(session: Session) -> None:
    found = tools(session)
    before = len(session.history())
    for name, arguments in (
        ("recall", {"ref": "s99"}),
        ("recall", {"ref": "tile"}),
        ("recall", {"line": 3}),
        ("recall", {}),
        ("fold", {}),
        ("fold", {"summary": "x"}),
        ("plan", {"todo": "pay"}),
        ("plan", {"todo": [{}]}),
        ("plan", {"todo": [{"text": " ", "state": "done"}]}),
        ("note", {"text": ""}),
    ):
        assert found[name](**arguments).startswith(("refused: ", "nothing recorded")), (name, arguments)
    assert len(session.history()) == before


def test_a_long_text_is_recalled_in_parts(session: Session) -> None:
    step = session.record_step(
        "Read.", calls=[{"name": "read", "args": {}, "id": "c"}], results=[{"id": "c", "text": "word " * 9000}]
    )
    said = tools(session)["recall"](ref=f"{step}.3")
    assert "[cut; name lines, as in s1.3:40-80]" in said
    with pytest.raises(RefError):
        session.recall("s9.9")
