"""What a host sends over real pipes that is no message, or takes back at once: each is answered, with its id where it can be parsed, and the server goes on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ctxfold import Session
from tests.mcp_server.conftest import Host

Start = Callable[..., Host]

DEEP = b'{"a":' * 250 + b"1" + b"}" * 250
CALL = b'{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"record","arguments":{"session":"trip","user":VALUE}}}'

ODD = {
    "half a character in a text": CALL.replace(b"VALUE", b'"a\\ud800b"'),
    "arguments nested 250 deep": CALL.replace(b"VALUE", DEEP),
    "no number": CALL.replace(b"VALUE", b"NaN"),
    "params as a text": b'{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":"{\\"id\\":7}"}',
    "no method": b'{"jsonrpc":"2.0","id":ID}',
    "bytes that are no UTF-8": CALL.replace(b"VALUE", b'"\xff\xfe"'),
}

NAMELESS = [CALL.replace(b"VALUE", b"[" * 200_000 + b"]" * 200_000), b'{"jsonrpc":"2.0","id":ID,"method":"ping","params":' + b"[" * 200_000, b'{"jsonrpc":"2.0","id":ID,"method":"ping"}\x00', b"hello", b"[" * 200_000, b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
            b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', b'[{"jsonrpc":"2.0","id":7,"method":"ping"}]']  # fmt: skip


def send(host: Host, line: bytes) -> None:
    assert host.process.stdin is not None
    host.process.stdin.write(line + b"\n")
    host.process.stdin.flush()


def answer(host: Host) -> dict[str, Any]:
    assert host.process.stdout is not None
    found = json.loads(host.process.stdout.readline())
    assert isinstance(found, dict)
    return found


def test_each_odd_request_is_answered_with_its_id_and_the_server_goes_on(host: Start) -> None:
    one = host()
    one.begin()
    one.call("open_session", session="trip")
    for number, (what, line) in enumerate(ODD.items(), 1_000):
        send(one, line.replace(b"ID", str(number).encode()))
        found = answer(one)
        assert found["id"] == number, what
        assert "error" in found or found["result"]["isError"] or what == "bytes that are no UTF-8", what
    for line in NAMELESS:
        send(one, line.replace(b"ID", b"5"))
        assert answer(one)["id"] is None
    for silent in (
        b"",
        b"   ",
        b'{"jsonrpc":"2.0","method":"notifications/none"}',
        b'{"jsonrpc":"2.0","id":9,"result":[]}',
    ):
        send(one, silent)
    assert "no step" not in one.call("record", session="trip", user="Still here.")


def test_half_a_character_in_the_log_does_not_end_the_server(host: Start) -> None:
    with Session.open("trip", goal="Find \ud83d.") as session:
        session.record_turn(user="Half a \ud800 character, café.")
    one = host()
    one.begin()
    assert "character" in one.call("recall", session="trip", ref="s1.1")
    assert "character" in one.call("recall", session="trip", query="café")
    assert "character" in one.call("context", session="trip")
    assert "contents" in one.ask("resources/read", uri="ctxfold://sessions/trip/context")


def test_fifty_calls_that_are_cancelled_at_once_leave_nothing_behind(host: Start, ctxfold_home: Path) -> None:
    one = host()
    one.begin()
    one.call("open_session", session="trip")
    lines = [
        {
            "jsonrpc": "2.0",
            "method": "tools/call",
            "params": {"name": name, "arguments": {"session": "trip"} | more},
        }
        for n in range(25)
        for name, more in (("record", {"user": f"Message {n}."}), ("context", {}))
    ]
    for n, line in enumerate(lines):
        send(one, json.dumps(line | {"id": n + 1_000}).encode())
    for n in range(len(lines)):
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": n + 1_000}}
        send(one, json.dumps(cancel).encode())
    send(
        one,
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"record","arguments":{"session":"trip","user":"The last."}}}',
    )
    while (found := answer(one))["id"] != 1:
        assert found["id"] >= 1_000
    assert not found["result"]["isError"]
    threads = len(list(Path(f"/proc/{one.process.pid}/task").iterdir()))
    assert threads < 60
    with Session.open("trip", create=False) as session:
        told = [session.recall(f"s1.{k}").text for k in range(1, len(session.recall("s1").text.split("## ")))]
    assert told[-1] == "The last."
    assert set(told[:-1]) <= {f"Message {n}." for n in range(25)}
    assert len(told) == len(set(told))
