"""A coding host's hooks: long results bounded in their own shape, and a view given back around a compaction."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ctxfold import HostCompacted, Session, delete_session
from ctxfold.errors import InputError
from ctxfold.session.handover import hand_over, is_waiting
from ctxfold.tokens import count
from mcp_server.hooks.__main__ import main
from mcp_server.hooks.events import BUDGET
from tests.ctxfold.messages.test_files import FILES

ROWS = "\n".join(f"row-{n} value ID-{n * 7919}-XK" for n in range(1_000))
HOSTS = ("claude-code", "codex")


def rows_of(at: int) -> str:
    """Rows of which none stands in those of another number."""
    return "\n".join(f"row-{n} value ID-{n * 7919 + at}-XK{at}" for n in range(1_000))


def event(host: str, name: str, **more: Any) -> bytes:
    payload = {"hook_event_name": name, "session_id": "5E55-ab", "transcript_path": str(FILES[host]), **more}
    return json.dumps(payload).encode()


def answered(host: str, name: str, part: str = "1/1", **more: Any) -> Any:
    return json.loads(main([host, part], event(host, name, **more)) or "null")


def bash(answer: Any, call: str = "toolu_long") -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_use_id": call, "tool_input": {"command": "list rows"}, "tool_response": answer}


def kept(host: str) -> Session:
    return Session.open(f"{host}-5e55-ab", create=False)


def test_a_long_result_comes_back_bounded_in_the_shape_it_had() -> None:
    answer = answered("claude-code", "PostToolUse", **bash({"stdout": ROWS, "stderr": "", "interrupted": False}))
    put = answer["hookSpecificOutput"]["updatedToolOutput"]
    assert set(put) == {"stdout", "stderr", "interrupted"}
    assert (put["stderr"], put["interrupted"]) == ("", False)
    assert count(put["stdout"]) < BUDGET + 100
    assert "claude-code-5e55-ab" in put["stdout"]


def test_codex_is_given_the_reason_that_stands_in_the_results_place() -> None:
    answer = answered("codex", "PostToolUse", **bash(ROWS))
    assert answer["decision"] == "block"
    assert count(answer["reason"]) < BUDGET + 100


@pytest.mark.parametrize("host", HOSTS)
def test_what_was_replaced_is_in_the_log_to_the_byte(host: str) -> None:
    answered(host, "PostToolUse", **bash({"content": ROWS, "at": 1, "more": ["x"]}))
    answered(host, "PostToolUse", **bash(ROWS, "toolu_other"))
    with kept(host) as session:
        hits = session.recall(query="ID-7918999-XK", limit=5)
        texts = [session.recall(hit.ref.split(":")[0]).text for hit in hits]
    assert ROWS in texts
    assert json.dumps({"content": ROWS, "at": 1, "more": ["x"]}) in texts


@pytest.mark.parametrize("call", ["toolu_long", ""])
def test_the_same_event_from_two_hooks_is_recorded_once(call: str) -> None:
    first = answered("claude-code", "PostToolUse", **bash(ROWS, call))
    assert first is not None
    with kept("claude-code") as session:
        tip = session.tip
    assert answered("claude-code", "PostToolUse", **bash(ROWS, call)) == first
    with kept("claude-code") as session:
        assert session.tip == tip


def test_many_long_texts_and_odd_ones_are_bounded_each() -> None:
    many = answered(
        "claude-code", "PostToolUse", **bash([{"type": "text", "text": f"{ROWS} {at}"} for at in range(30)])
    )
    put = many["hookSpecificOutput"]["updatedToolOutput"]
    assert len(put) == 30
    assert all(count(block["text"]) < 260 for block in put)
    assert answered("claude-code", "PostToolUse", **bash(ROWS + "\ud83d", "toolu_half")) is not None


def test_keys_of_known_forms_are_in_no_log() -> None:
    key = "sk-ant-api03-" + "a1B2" * 10
    answered("claude-code", "PostToolUse", **bash(f"{ROWS}\n{key}"))
    with kept("claude-code") as session:
        assert not any(key in session.recall(f"s{step}").text for step in range(1, session.tip + 1))


@pytest.mark.parametrize("answer", ["short", {"stdout": "x" * 7_000}, None, 3, [], {"image": {"data": "AAAA" * 900}}])
def test_a_short_result_passes(answer: Any) -> None:
    assert answered("claude-code", "PostToolUse", **bash(answer)) is None


@pytest.mark.parametrize("host", HOSTS)
def test_before_a_compaction_the_summary_is_told_what_must_stay(host: str) -> None:
    assert "never touch rows above 400" in main([host], event(host, "PreCompact", trigger="auto"))


@pytest.mark.parametrize("host", HOSTS)
def test_after_a_compaction_the_view_comes_in_parts_that_a_host_takes_whole(host: str) -> None:
    for at in range(12):
        answered(host, "PostToolUse", **bash(rows_of(at), f"toolu_{at}"))
    parts = [answered(host, "SessionStart", f"{part}/3", source="compact") for part in (1, 2, 3)]
    texts = [part["hookSpecificOutput"]["additionalContext"] for part in parts if part]
    assert len(texts) == 3
    assert all(len(text) < 9_900 for text in texts)
    assert any("never touch rows above 400" in text for text in texts)


@pytest.mark.parametrize("host", HOSTS)
def test_what_calls_named_and_the_view_leaves_out_stands_behind_it(host: str) -> None:
    paths = [f"/srv/part{at}/table-{at * 7919}.sql" for at in range(60)]
    for at, path in enumerate(paths):
        call = bash(f"{ROWS}\nrow of {at}", f"toolu_{at}") | {"tool_input": {"path": path}}
        answered(host, "PostToolUse", **call)
    parts = [answered(host, "SessionStart", f"{part}/3", source="compact") for part in (1, 2, 3)]
    texts = "".join(part["hookSpecificOutput"]["additionalContext"] for part in parts if part)
    with kept(host) as session:
        view = session.view(4_000).text
    assert not all(path in view for path in paths), "a view of this size leaves some out"
    assert all(path in texts for path in paths)


def test_a_start_that_follows_no_compaction_adds_nothing() -> None:
    assert answered("claude-code", "SessionStart", source="startup") is None
    assert answered("claude-code", "SessionStart", source="resume", prompt_cache_likely_expired=False) is None


def test_the_user_is_told_once_where_a_resumption_pays_for_all_anyway() -> None:
    told = {"source": "resume", "prompt_cache_likely_expired": True, "context_tokens": 120_000}
    parts = [answered("claude-code", "SessionStart", f"{part}/3", **told) for part in (1, 2, 3)]
    assert "120,000 tokens" in parts[0]["systemMessage"]
    assert parts[1:] == [None, None]


@pytest.mark.parametrize("raw", [b"", b"{}", b"[1]", b'{"hook_event_name": "Stop"}', b"\xff"])
def test_what_is_no_event_is_an_error_that_the_host_ignores(raw: bytes) -> None:
    with pytest.raises(InputError, match="event of claude-code"):
        main(["claude-code"], raw)


def test_on_a_fault_the_host_goes_on_with_its_own_result(tmp_path: Path) -> None:
    """Exit code 1 is no veto, and nothing is on standard output."""
    command = [sys.executable, "-m", "mcp_server.hooks", "claude-code"]
    environment = {"CTXFOLD_HOME": str(tmp_path / "file" / "below"), "PATH": "/usr/bin"}
    (tmp_path / "file").write_text("no folder")
    raw = event("claude-code", "PostToolUse", **bash(ROWS))
    done = subprocess.run(command, input=raw, capture_output=True, env=environment, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (1, b"")


def test_the_command_answers_as_the_module_does_and_is_no_veto() -> None:
    command = [sys.executable, "-m", "ctxfold", "hook", "claude-code"]
    good = subprocess.run(
        command, input=event("claude-code", "PreCompact"), capture_output=True, check=True, timeout=60
    )
    assert b"never touch rows above 400" in good.stdout
    assert subprocess.run(command, input=b"{}", capture_output=True, check=False, timeout=60).returncode == 1


def test_a_short_event_imports_nothing_of_ours() -> None:
    raw = event("claude-code", "PostToolUse", **bash("short"))
    asked = "import sys; from mcp_server.hooks.__main__ import main; main(['claude-code'], sys.stdin.buffer.read());"
    command = [sys.executable, "-c", f"{asked} print([name for name in sys.modules if name.startswith('ctxfold')])"]
    done = subprocess.run(command, input=raw, capture_output=True, check=True, timeout=60)
    assert done.stdout.strip() == b"[]"


@pytest.mark.parametrize("host", HOSTS)
def test_what_was_put_back_is_given_with_the_next_prompt_once(host: str) -> None:
    main([host], event(host, "Stop"))
    with kept(host) as session:
        session.record_transcript([HostCompacted("k1", "Some work was done.")])
        session.restore()
        hand_over(session.name, "restored")
    text = answered(host, "UserPromptSubmit", prompt="Go on")["hookSpecificOutput"]["additionalContext"]
    assert "never touch rows above 400" in text
    assert len(text) < 9_900
    assert answered(host, "UserPromptSubmit", prompt="Go on") is None


def test_what_was_put_back_and_taken_out_again_is_not_given() -> None:
    main(["codex"], event("codex", "Stop"))
    with kept("codex") as session:
        session.record_transcript([HostCompacted("k1", "Some work was done.")])
        session.restore()
        hand_over(session.name, "restored")
        session.undo()
    assert answered("codex", "UserPromptSubmit", prompt="Go on") is None


def test_a_prompt_opens_no_session_while_nothing_waits() -> None:
    raw = event("claude-code", "UserPromptSubmit", prompt="Go on")
    asked = "import sys; from mcp_server.hooks.__main__ import main; main(['claude-code'], sys.stdin.buffer.read());"
    command = [sys.executable, "-c", f"{asked} print('ctxfold.session.session' in sys.modules)"]
    done = subprocess.run(command, input=raw, capture_output=True, check=True, timeout=60)
    assert done.stdout.strip() == b"False"


def test_gemini_is_given_the_bounded_half_that_its_model_reads() -> None:
    response = {"llmContent": ROWS, "returnDisplay": ROWS}
    raw = event("gemini", "AfterTool", tool_name="shell", tool_input={"command": "list rows"}, tool_response=response)
    answer = json.loads(main(["gemini"], raw))
    assert answer["decision"] == "block"
    assert count(answer["reason"]) < BUDGET + 100
    assert "row-0 value" in answer["reason"]
    assert main(["gemini"], event("gemini", "AfterTool", tool_response={"llmContent": "short"})) == ""


def test_gemini_is_given_the_view_with_the_prompt_after_a_compaction(tmp_path: Path) -> None:
    """Its hooks tell of no compaction; its transcript does, when it rewrites the history."""
    chat = tmp_path / "session-2026-11-23T03-46-5e55ab00.jsonl"
    snapshot = {"id": "m1", "type": "user", "content": [{"text": "<state_snapshot>Rows.</state_snapshot>"}]}
    chat.write_bytes(FILES["gemini"].read_bytes() + json.dumps({"$set": {"messages": [snapshot]}}).encode() + b"\n")
    told = {"session_id": "5e55ab00-155f-4edf-a412-71d0d2a0d39d", "transcript_path": str(chat)}
    given = [
        main(["gemini"], json.dumps({"hook_event_name": name, **told}).encode())
        for name in ("BeforeAgent", "AfterAgent", "BeforeAgent", "AfterAgent", "BeforeAgent")
    ]
    assert [bool(text) for text in given] == [False, False, True, False, False]
    assert "never touch rows above 400" in json.loads(given[2])["hookSpecificOutput"]["additionalContext"]
    with Session.open("gemini-5e55ab00", create=False) as session:
        assert session.dropped().of == 1


def test_opencode_sends_its_messages_along_and_is_answered_in_one_form() -> None:
    messages = json.loads(FILES["opencode"].read_text())["messages"]

    def ask(name: str, **more: Any) -> str:
        payload = {"hook_event_name": name, "session_id": "ses_1", **more}
        return str(json.loads(main(["opencode"], json.dumps(payload).encode()))["answer"])

    assert "never touch rows above 400" in ask("PreCompact", messages=messages)
    assert "never touch rows above 400" in ask("SessionStart", messages=messages, source="compact")
    assert count(ask("PostToolUse", **bash(ROWS))) < BUDGET + 100


def test_names_of_events_within_a_result_are_only_words() -> None:
    call = bash(ROWS) | {"tool_input": {"pattern": "SessionStart", "hook_event_name": "UserPromptSubmit"}}
    assert answered("claude-code", "PostToolUse", **call) is not None


@pytest.mark.parametrize("host", HOSTS)
def test_the_parts_made_before_a_compaction_are_handed_out_after_it_once(host: str) -> None:
    for at in range(12):
        answered(host, "PostToolUse", **bash(rows_of(at), f"toolu_{at}"))
    main([host], event(host, "PreCompact"))
    raw = event(host, "SessionStart", source="compact")
    asked = f"import sys; from mcp_server.hooks.__main__ import main; print(main(['{host}', '1/3'], sys.stdin.buffer.read()));"
    command = [sys.executable, "-c", f"{asked} print('ctxfold.session.session' in sys.modules)"]
    first, loaded = subprocess.run(command, input=raw, capture_output=True, check=True, timeout=60).stdout.split(b"\n")[
        :2
    ]
    assert (b"never touch rows above 400" in first, loaded) == (True, b"False")
    second, third = (main([host, f"{part}/3"], raw) for part in (2, 3))
    assert len({first.decode(), second, third}) == 3
    assert main([host, "1/3"], raw) == first.decode(), "what was given is made anew"


def test_parts_of_a_compaction_that_did_not_come_about_are_let_go() -> None:
    main(["codex"], event("codex", "PreCompact"))
    folder = Path(os.environ["CTXFOLD_HOME"]) / "handover" / "parts"
    assert len(list(folder.iterdir())) == 3
    hand_over("codex-5e55-ab", "restored")
    main(["codex"], event("codex", "Stop"))
    assert (list(folder.iterdir()), is_waiting()) == ([], True)


def test_of_a_session_that_is_deleted_or_redacted_nothing_waits() -> None:
    for end in (lambda: delete_session("codex-5e55-ab"), lambda: kept("codex").redact("s1.1")):
        main(["codex"], event("codex", "PreCompact"))
        hand_over("codex-5e55-ab", "view")
        end()
        folder = Path(os.environ["CTXFOLD_HOME"]) / "handover"
        assert not any(place.is_file() for place in folder.rglob("*"))
