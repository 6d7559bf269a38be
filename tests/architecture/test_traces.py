"""How many files a newcomer reads to follow one thing through the house: the files of ours whose functions run, from
the call to its end.
"""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from mcp import Client

from ctxfold import Session
from mcp_server.hooks.events import Conversations, answer_event
from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools
from tests.mcp_server.conftest import said
from tests.sites.server import LAB, Site

ROOT = Path(__file__).parents[2]
PACKAGES = tuple(f"{ROOT / name}/" for name in ("ctxfold", "browser_agent", "mcp_server"))
MOST = {"record": 14, "view": 21, "page_act": 32, "hook": 32, "recall": 14}


@contextmanager
def follow(walk: str) -> Iterator[set[str]]:
    """Collect the files of ours of which a function is called, in this thread and any started since; fail above the
    walk's number.
    """
    files: set[str] = set()

    def see(frame: FrameType, event: str, _arg: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and frame.f_code.co_name != "<module>" and name.startswith(PACKAGES):
            files.add(name.removeprefix(f"{ROOT}/"))

    before = sys.getprofile()
    threading.setprofile(see)
    sys.setprofile(see)
    try:
        yield files
    finally:
        threading.setprofile(None)
        sys.setprofile(before)
    assert len(files) <= MOST[walk], f"{walk}: {len(files)} files\n" + "\n".join(sorted(files))


def record_steps(session: Session, many: int) -> None:
    """Record steps whose results are tables of ids."""
    for n in range(many):
        rows = ", ".join(f'{{"id": "A{n}{m}", "price": {m}.5}}' for m in range(8))
        call = {"name": "look", "args": {"n": n}, "id": "c"}
        session.record_step(f"Looking at {n}.", calls=[call], results=[{"id": "c", "text": f'{{"rows": [{rows}]}}'}])


@pytest.fixture
def session() -> Iterator[Session]:
    """A session of twenty steps."""
    with Session.open("trip", goal="Plan three days", store=":memory:") as opened:
        record_steps(opened, 20)
        yield opened


def test_a_step_recorded(session: Session) -> None:
    with follow("record") as files:
        record_steps(session, 1)
    assert "ctxfold/session/record.py" in files


def test_a_view_rendered(session: Session) -> None:
    with follow("view") as files:
        shown = session.view(1_000)
    assert shown.tokens <= 1_000
    assert "ctxfold/view/render.py" in files


def test_a_recall_by_words(session: Session) -> None:
    with follow("recall") as files:
        assert session.recall(query="price A07")
    assert "ctxfold/session/recall.py" in files


def test_a_long_result_at_a_hook(tmp_path: Path) -> None:
    text = "\n".join(f"row {n}: order-{n * 7919} is shipped" for n in range(3_000))
    event = {
        "session_id": "abc", "transcript_path": str(tmp_path / "t.jsonl"), "cwd": str(tmp_path), "hook_event_name": "PostToolUse",
        "tool_name": "Bash", "tool_input": {"command": "list"}, "tool_response": {"stdout": text}, "tool_use_id": "toolu_1",
    }  # fmt: skip
    with follow("hook") as files, Conversations() as conversations:
        assert answer_event(["claude-code"], json.dumps(event).encode(), conversations)
    assert "mcp_server/hooks/events.py" in files


@pytest.mark.anyio
async def test_an_act_on_a_page() -> None:
    with Site(LAB) as site:
        async with Client(build_server(Pools(), caps=("core", "browser"))) as client:
            await client.call_tool("open_session", {"session": "trip"})
            opened = await client.call_tool("page_open", {"session": "trip", "url": f"{site.url}/"})
            assert not opened.is_error, said(opened)
            with follow("page_act") as files:
                done = await client.call_tool(
                    "page_act", {"session": "trip", "actions": [{"kind": "scroll", "direction": "down"}]}
                )
            assert not done.is_error, said(done)
    assert "browser_agent/actions/perform.py" in files
