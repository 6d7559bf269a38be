"""A coding host's hooks: long results bounded in their own shape, and a view given back around a compaction."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path, PurePath
from typing import Any

import pytest

from ctxfold import Session
from ctxfold.errors import InputError
from ctxfold.tokens import count
from mcp_server.hooks.__main__ import is_short
from mcp_server.hooks.events import BUDGET, Conversations, answer_event
from mcp_server.hooks.helper import find_socket
from mcp_server.install.hooks import plan_hooks
from tests.ctxfold.messages.test_files import FILES

ROWS = "\n".join(f"row-{n} value ID-{n * 7919}-XK" for n in range(1_000))
HOSTS = ("claude-code", "codex")


def rows_of(at: int) -> str:
    """Rows of which none stands in those of another number."""
    return "\n".join(f"row-{n} value ID-{n * 7919 + at}-XK{at}" for n in range(1_000))


def main(arguments: list[str], raw: bytes) -> str:
    """The answer of a hook to an event, empty for none."""
    with Conversations() as conversations:
        return "" if is_short(raw) else answer_event(arguments, raw, conversations)


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


def test_gemini_is_given_the_bounded_half_that_its_model_reads() -> None:
    response = {"llmContent": ROWS, "returnDisplay": ROWS}
    raw = event("gemini", "AfterTool", tool_name="shell", tool_input={"command": "list rows"}, tool_response=response)
    answer = json.loads(main(["gemini"], raw))
    assert answer["decision"] == "block"
    assert count(answer["reason"]) < BUDGET + 100
    assert "row-0 value" in answer["reason"]
    assert main(["gemini"], event("gemini", "AfterTool", tool_response={"llmContent": "short"})) == ""


def test_opencode_sends_its_messages_along_and_is_answered_in_one_form() -> None:
    messages = json.loads(FILES["opencode"].read_text())["messages"]

    def ask(name: str, **more: Any) -> str:
        payload = {"hook_event_name": name, "session_id": "ses_1", **more}
        return str(json.loads(main(["opencode"], json.dumps(payload).encode()))["answer"])

    assert "never touch rows above 400" in ask("PreCompact", messages=messages)
    assert "never touch rows above 400" in ask("SessionStart", messages=messages, source="compact")
    assert count(ask("PostToolUse", **bash(ROWS))) < BUDGET + 100


def test_a_short_event_imports_nothing_of_ours() -> None:
    raw = event("claude-code", "PostToolUse", **bash("short"))
    asked = (
        "import sys; from mcp_server.hooks.__main__ import respond; respond(['claude-code'], sys.stdin.buffer.read())"
    )
    command = [sys.executable, "-c", f"{asked}; print([name for name in sys.modules if name.startswith('ctxfold')])"]
    done = subprocess.run(command, input=raw, capture_output=True, check=True, timeout=60)
    assert done.stdout.strip() == b"[]"


def test_gemini_is_given_the_view_with_the_prompt_after_a_compaction_once(tmp_path: Path) -> None:
    """Its hooks report no compaction; its transcript does, when it rewrites the history."""
    chat = tmp_path / "session-2026-11-23T03-46-5e55ab00.jsonl"
    snapshot = {"id": "m1", "type": "user", "content": [{"text": "<state_snapshot>Rows.</state_snapshot>"}]}
    chat.write_bytes(FILES["gemini"].read_bytes() + json.dumps({"$set": {"messages": [snapshot]}}).encode() + b"\n")
    told = {"session_id": "5e55ab00-155f-4edf-a412-71d0d2a0d39d", "transcript_path": str(chat)}

    def fire(name: str) -> str:
        return main(["gemini"], json.dumps({"hook_event_name": name, **told}).encode())

    assert fire("AfterAgent") == ""
    given = fire("BeforeAgent")
    assert "never touch rows above 400" in json.loads(given)["hookSpecificOutput"]["additionalContext"]
    prompt = {"id": "m2", "type": "user", "content": [{"text": "Go on with the rows."}]}
    chat.write_bytes(chat.read_bytes() + json.dumps(prompt).encode() + b"\n")
    assert (fire("AfterAgent"), fire("BeforeAgent")) == ("", "")


HOSTILE = "from pathlib import Path; Path({mark!r}).touch(); raise SystemExit(9)\n"


@pytest.mark.parametrize("start", ["hook", "helper"])
def test_no_module_of_the_working_directory_is_run(start: str, tmp_path: Path) -> None:
    """A project may have a `json.py` or an `mcp_server/` of its own."""
    mark, project = tmp_path / "was-run", tmp_path / "project"
    for name in ("json.py", "socket.py", "mcp_server/__init__.py", "ctxfold/__init__.py"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(HOSTILE.format(mark=str(mark)))
    if start == "hook":
        group = plan_hooks("claude-code", sys.executable, PurePath("settings.json"), None, None).after
        command = json.loads(group or "")["hooks"]["PostToolUse"][0]["hooks"][0]["command"]
        subprocess.run(
            command,
            shell=True,
            cwd=project,
            input=event("claude-code", "PostToolUse", **bash(ROWS)),
            check=True,
            timeout=60,
        )
    else:
        code = f"from mcp_server.hooks.helper import find_socket, start_helper; import os; os.chdir({str(project)!r}); start_helper(find_socket())"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60, cwd=Path(__file__).parents[3])
    path = find_socket()
    assert path is not None
    while not os.path.exists(path) and not mark.exists():
        time.sleep(0.05)
    assert not mark.exists()
