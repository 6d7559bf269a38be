"""A view in a native tool loop: valid for each API at every step, within the budget, and the same bytes before what was added."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from typing import Any

import pytest

from ctxfold import Session
from ctxfold.errors import FoldError
from ctxfold.tokens import count
from tests.support.chat import check_chat
from tests.support.messages.rules import checked
from tests.support.sessions import add_call

TOOLS = [{"name": "look_up", "input_schema": {"type": "object"}}]


def valid(session: Session, budget: int, say: str = "") -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The session's view as both APIs take it. Raises Breach where one would refuse it."""
    view = session.view(budget)
    anthropic, openai = view.as_anthropic(say), view.as_openai(say)
    checked({"model": "claude-x", "max_tokens": 9, "messages": anthropic, "tools": TOOLS})
    check_chat({"model": "gpt-x", "messages": openai})
    return anthropic, openai


def act(session: Session, number: int, dice: random.Random) -> None:
    """One step of some loop: several calls with one id, results that are late or never come, replies, odd tool names."""
    kind = dice.randrange(8)
    if kind == 0:
        session.record_turn(user=f"Now order W-{number}, please.")
    if kind == 1:
        session.record_reply(f"Order W-{number - 1} is done." if dice.random() < 0.8 else "  ")
        return
    calls = [
        {
            "name": "look up!" if kind == 2 else "look_up",
            "args": {"order": f"W-{number}-{n}", "note": "x" * kind},
            "id": f"c{n}",
        }
        for n in range(1 + kind % 3)
    ]
    text = json.dumps({"order": f"W-{number}", "rows": [{"sku": f"A{number}-{k}", "price": k} for k in range(kind)]})
    results = [{"id": call["id"], "text": text} for call in calls]
    if kind == 3:
        step = session.record_step("", calls=calls, results=results[:-1])
        if dice.random() < 0.5:
            session.record_reply("Waiting.")
            session.record_result(step, str(calls[-1]["id"]), "late \ud800")
    elif kind == 4:
        twins = [{**call, "id": "c1"} for call in calls[:2]]
        session.record_step("Two of one id.", calls=twins, results=[{**results[0], "id": "c1"}] * 2)
    else:
        session.record_step(f"Looking up {number}." if kind != 5 else "", calls=calls, results=results)


def cost(messages: list[dict[str, Any]]) -> int:
    """o200k tokens of what a model reads in messages."""
    total = 0
    for message in messages:
        for block in message["content"]:
            match block["type"]:
                case "text":
                    total += count(block["text"])
                case "tool_use":
                    total += count(block["name"]) + count(json.dumps(block["input"], ensure_ascii=False))
                case _:
                    total += count(block["content"][0]["text"])
    return total


@pytest.mark.parametrize("seed", [1, 2])
def test_no_request_of_a_long_loop_is_refused_by_either_api(seed: int) -> None:
    dice = random.Random(seed)
    with Session.open("loop", goal="Look up orders", store=":memory:") as session:
        for number in range(40):
            act(session, number, dice)
            session.consolidate(1500)
            anthropic, _ = valid(session, 1500, say="And now?" if dice.random() < 0.3 else "")
            assert cost(anthropic) <= 1500


@pytest.mark.long
def test_five_hundred_steps_are_taken_by_both_apis() -> None:
    dice = random.Random(7)
    with Session.open("loop", goal="Look up orders", store=":memory:") as session:
        for number in range(500):
            act(session, number, dice)
            if dice.random() < 0.02:
                with suppress(FoldError):
                    session.fold("Looked up.")
            session.consolidate(3000)
            valid(session, dice.choice((600, 3000, 8000)))


def looked_up(session: Session, number: int, note: str = "") -> None:
    add_call(session, "look_up", {"order": f"W-{number}", "note": note}, f"total={number}", f"Looking up {number}.")


def test_a_step_that_stands_raw_is_a_real_call_with_its_exact_arguments_and_its_address(session: Session) -> None:
    session.record_turn(user="Look up W-1.")
    looked_up(session, 1, "two\nlines")
    anthropic, openai = valid(session, 4000)
    assert [message["role"] for message in anthropic] == ["user", "assistant", "user"]
    assert anthropic[0]["content"][-1]["text"] == "Look up W-1."
    said, called = anthropic[1]["content"]
    assert said["text"] == "Looking up 1."
    assert (called["id"], called["name"], called["input"]) == (
        "s1_3",
        "look_up",
        {"order": "W-1", "note": "two\nlines"},
    )
    assert anthropic[2]["content"][0]["content"][0]["text"] == "s1.4 total=1"
    assert json.loads(openai[1]["tool_calls"][0]["function"]["arguments"]) == called["input"]
    assert openai[2] == {"role": "tool", "tool_call_id": "s1_3", "content": "s1.4 total=1"}


def test_a_tile_is_one_text_on_the_users_side(session: Session) -> None:
    for number in range(4):
        looked_up(session, number)
    session.fold("W-0 to W-2 were looked up.", 1, 3)
    anthropic, openai = valid(session, 4000)
    texts = [block["text"] for block in anthropic[0]["content"]]
    assert any(text.startswith("s1-s3") and "were looked up" in text for text in texts)
    assert sum("tool_calls" in message for message in openai) == 1


def test_what_stands_before_an_added_step_keeps_its_bytes_and_the_marks_hold(session: Session) -> None:
    before: list[dict[str, Any]] = []
    for number in range(12):
        looked_up(session, number)
        anthropic, _ = valid(session, 8000)
        blocks = [block for message in anthropic for block in message["content"]]
        plain = [{key: value for key, value in block.items() if key != "cache_control"} for block in blocks]
        assert plain[: len(before)] == before
        before = plain
        marked = [at for at, block in enumerate(blocks) if "cache_control" in block]
        assert 1 <= len(marked) <= 3
        assert marked[-1] == len(blocks) - 1, "nothing volatile stands behind the newest step here"
    session.plan(todo=["book"])
    blocks = [block for message in valid(session, 8000)[0] for block in message["content"]]
    assert "cache_control" not in blocks[-1], "the to-do changes and is not marked"


def test_arguments_longer_than_the_room_are_cut_inside_and_keep_their_names(session: Session) -> None:
    looked_up(session, 1, "word " * 3000)
    looked_up(session, 2)
    anthropic, _ = valid(session, 800)
    assert cost(anthropic) <= 800
    for message in anthropic:
        for block in message["content"]:
            if block["type"] == "tool_use":
                assert set(block["input"]) == {"order", "note"}


def test_a_loop_that_the_assistant_ended_is_told_to_go_on_and_what_is_said_now_stands_last(session: Session) -> None:
    session.record_turn(user="Hello.")
    session.record_reply("Hello!")
    assert valid(session, 4000)[1][-1] == {"role": "user", "content": "Go on."}
    assert valid(session, 4000, say="Book it.")[1][-1] == {"role": "user", "content": "Book it."}
