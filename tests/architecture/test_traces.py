"""How many files a newcomer reads to follow one thing through the house: the files whose functions run, from the call to its end."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest
from mcp import Client

from ctxfold import Session
from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
PACKAGES = tuple(f"{ROOT / name}/" for name in ("ctxfold", "browser_agent", "mcp_server"))

RECORD_TO_VIEW = 39
MCP_FOLD = 42


class Trace:
    """The files of ours of which a function was called, in any thread started since, while `on`."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.on = False

    def see(self, frame: FrameType, event: str, _arg: object) -> None:
        name = frame.f_code.co_filename
        if self.on and event == "call" and frame.f_code.co_name != "<module>" and name.startswith(PACKAGES):
            self.files.add(name.removeprefix(f"{ROOT}/"))


@pytest.fixture
def trace() -> Iterator[Trace]:
    """A trace that is off until it is turned on."""
    made, before = Trace(), sys.getprofile()
    threading.setprofile(made.see)
    sys.setprofile(made.see)
    yield made
    threading.setprofile(None)
    sys.setprofile(before)


def steps(session: Session, many: int) -> None:
    for n in range(many):
        rows = ", ".join(f'{{"id": "A{n}{m}", "price": {m}.5}}' for m in range(8))
        call = {"name": "look", "args": {"n": n}, "id": "c"}
        session.record_step(f"Looking at {n}.", calls=[call], results=[{"id": "c", "text": f'{{"rows": [{rows}]}}'}])


def test_a_result_is_followed_from_its_recording_to_a_view_in_few_files(trace: Trace) -> None:
    with Session.open("trip", goal="Plan three days", store=":memory:") as session:
        steps(session, 20)
        trace.on = True
        steps(session, 1)
        shown = session.view(1_000)
        trace.on = False
    assert "A07" in shown.text
    assert "ctxfold/session/record.py" in trace.files
    assert "ctxfold/view/choose.py" in trace.files
    assert len(trace.files) <= RECORD_TO_VIEW, "\n".join(sorted(trace.files))


@pytest.mark.anyio
async def test_a_fold_of_a_host_is_followed_in_few_files(trace: Trace) -> None:
    with Session.open("trip", goal="Plan three days") as session:
        steps(session, 20)
    async with Client(build_server(Pools())) as client:
        await client.call_tool("open_session", {"session": "trip"})
        trace.on = True
        said = await client.call_tool("fold", {"session": "trip", "first_step": 1, "last_step": 12})
        trace.on = False
    assert not said.is_error, said
    assert "mcp_server/tools/fold.py" in trace.files
    assert len(trace.files) <= MCP_FOLD, "\n".join(sorted(trace.files))
