"""Messages become records: each once, a step's words, calls and results together, in time that grows with their size."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ctxfold import Call, Message, Opaque, Result, Session, Text, read_messages
from ctxfold.errors import InputError
from tests.ctxfold.text.hostile import within

ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": "Look up W-1."},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "t1", "name": "look_up", "input": {"order": "W-1"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "total=1"}]},
]
OPENAI: list[dict[str, Any]] = [
    {"role": "system", "content": "You are brief."},
    {"role": "user", "content": "Look up W-1."},
    {
        "role": "assistant",
        "content": "Looking.",
        "tool_calls": [{"id": "t1", "function": {"name": "look_up", "arguments": '{"order": "W-1"}'}}],
    },
    {"role": "tool", "tool_call_id": "t1", "content": "total=1"},
]


@pytest.fixture
def session() -> Iterator[Session]:
    """A session in memory."""
    with Session.open("loop", store=":memory:") as opened:
        yield opened


@pytest.mark.parametrize("natives", [ANTHROPIC, OPENAI], ids=["anthropic", "openai"])
def test_the_messages_of_an_api_become_one_step(session: Session, natives: list[dict[str, Any]]) -> None:
    assert [str(ref) for ref in session.record(read_messages(natives))] == ["s1.1", "s1.2", "s1.3", "s1.4"]
    assert [session.recall(f"s1.{k}").text for k in (1, 2, 4)] == ["Look up W-1.", "Looking.", "total=1"]
    assert json.loads(session.recall("s1.3").text) == {"name": "look_up", "args": {"order": "W-1"}}
    assert "brief" not in session.view().text


def test_a_message_with_an_id_is_recorded_once_and_one_without_each_time(session: Session) -> None:
    said = Message("user", (Text("Hello."), Text("Are you there?")), id="m1")
    assert [str(ref) for ref in session.record([said, said])] == ["s1.1", "s1.2"]
    assert session.record([said]) == []
    assert [str(ref) for ref in session.record([said], known=True)] == ["s1.1", "s1.2"]
    assert len(session.record([Message("user", (Text("Hello."),))] * 2)) == 2


def test_a_late_result_joins_the_step_of_its_call_and_one_of_no_call_is_left_out(session: Session) -> None:
    session.record([Message("assistant", (Call("look", {}, "a"), Call("look", {}, "b"), Result("a", "one")), id="m1")])
    session.record([Message("assistant", (Text("Waiting."),), id="m2")])
    late = [Message("user", (Result("b", "two"), Result("z", "of no call")), id="m3")]
    assert [str(ref) for ref in session.record(late)] == ["s1.4"]
    assert session.record(late) == []
    assert session.recall("s1.4").text == "two"


def test_a_summary_of_a_host_is_a_note_and_a_picture_is_named_by_its_size(session: Session) -> None:
    summary = Message("user", (Text("Rows were listed."),), id="k1", compacted=True)
    picture = Opaque("image", {"type": "image", "source": {"data": "A" * 500}})
    session.record([summary, Message("user", (Text("See"), picture)), Message("assistant", (Opaque("thinking", {}),))])
    assert session.recall("s1.1").text == "Rows were listed."
    assert re.fullmatch(r"\[image, 5\d\d characters\]", session.recall("s1.3").text)
    with pytest.raises(InputError, match="read_messages"):
        session.record([{"role": "user", "content": "x"}])  # type: ignore[list-item]


MANY = 10_000
CALLS = [{"name": "look", "args": {"n": n}, "id": f"c{n}"} for n in range(MANY)]
RESULTS = [{"id": f"c{n}", "text": f"crate {n} stands in room {n % 13}"} for n in range(MANY)]
LARGE: dict[str, Callable[[Session], object]] = {
    "results": lambda session: session.record_step("", CALLS, RESULTS),
    "results of one id": lambda session: session.record_step(
        "", [{**call, "id": "c"} for call in CALLS], [{**result, "id": "c"} for result in RESULTS]
    ),
    "messages": lambda session: session.record(
        [
            Message("assistant", tuple(Call("look", {"n": n}, f"c{n}") for n in range(MANY)), id="a"),
            *(Message("user", (Result(f"c{n}", f"crate {n}"),), id=f"r{n}") for n in range(MANY)),
        ]
    ),
    "a message of 5 MB": lambda session: session.record_turn("The blue crate is in room 12, shelf 7.\n" * 130_000),
    "a line of 5 MB": lambda session: session.record_turn("The blue crate is in room 12, shelf 7. " * 130_000),
}


@pytest.mark.parametrize("record", LARGE.values(), ids=LARGE)
def test_much_at_once_takes_seconds(session: Session, record: Callable[[Session], object]) -> None:
    within(5, lambda: record(session))
