"""Scripted sessions with changes of mind, English and Chinese: what is open at the end is what the user still wants, and nothing closed without evidence.

`changes_of_mind.json` holds them: what was said and done, and for each item that must be open at the end the words that stand in it.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from ctxfold import Session

SESSIONS: dict[str, Any] = json.loads(Path(__file__).with_name("changes_of_mind.json").read_text("utf-8"))


def play(session: Session, turns: list[dict[str, Any]]) -> None:
    """Record a script as a driver does, with a look after each entry."""
    for turn in turns:
        if "user" in turn:
            session.record_turn(user=turn["user"])
        elif "reply" in turn:
            session.record_reply(turn["reply"])
        else:
            call = {"name": turn["call"], "args": turn["args"], "id": "c"}
            session.record_step(calls=[call], results=[{"id": "c", "text": turn["result"]}])
        session.maintain(8_000)


@pytest.mark.parametrize("name", SESSIONS)
def test_after_changes_of_mind_the_right_items_are_open(session: Session, name: str) -> None:
    play(session, SESSIONS[name]["turns"])
    wanted = SESSIONS[name]["open"]
    left = [item.text for item in session.intent.open]
    assert len(left) == len(wanted), left
    for words in wanted:
        assert any(all(word in text for word in words) for text in left), (words, left)


@pytest.mark.parametrize("name", SESSIONS)
def test_every_item_that_changed_its_state_names_its_evidence(session: Session, name: str) -> None:
    """A call with its result, or the user's words; never a reply."""
    turns = SESSIONS[name]["turns"]
    play(session, turns)
    replies = {turn.get("reply") for turn in turns}
    for item in session.intent.items:
        assert item.state == "open" or item.evidence
        assert not replies & {session.recall(ref).text for ref in item.evidence}


ASKED = "Could you compare the two tariffs for me?"


@pytest.mark.parametrize(
    ("reply", "then", "state"),
    [
        ("Tariff A costs 0.31 per kWh, tariff B 0.27.", "Thank you!", "done"),
        ("Tariff A costs 0.31 per kWh, tariff B 0.27.", "Do you have an app?", "done"),
        ("Tariff A costs 0.31 per kWh, tariff B 0.27.", "That's wrong, A is cheaper.", "open"),
        ("Tariff A costs 0.31 per kWh, tariff B 0.27.", "Can you elaborate?", "open"),
        ("For which region?", "Thank you!", "open"),
        ("I'll look into the two tariffs and come back to you.", "Thank you!", "open"),
        ("Sorry, I could not find the two tariffs.", "Thanks anyway.", "open"),
        ("", "Thank you!", "open"),
    ],
)
def test_a_question_is_done_by_an_answer_that_the_user_leaves_at_that(
    session: Session, reply: str, then: str, state: str
) -> None:
    session.record_turn(user=ASKED)
    session.maintain(8_000)
    if reply:
        session.record_reply(reply)
        session.maintain(8_000)
    assert session.intent.items[0].state == "open", "a reply alone is a claim"
    said = session.record_turn(user=then).step
    session.maintain(8_000)
    item = session.intent.items[0]
    assert item.state == state
    assert item.evidence == ((f"s{said}.1",) if state == "done" else ())


def test_what_only_a_deed_can_fulfil_no_reply_and_no_thanks_close(session: Session) -> None:
    session.record_turn(user="Please book a table for four at Chez Paul.")
    session.maintain(8_000)
    session.record_reply("Your table for four at Chez Paul is booked for 19:30.")
    session.record_turn(user="Great, thank you!")
    session.maintain(8_000)
    assert [item.state for item in session.intent.items] == ["open"]
