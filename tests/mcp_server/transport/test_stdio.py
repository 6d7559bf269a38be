import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.to_thread import run_sync
from mcp import Client, StdioServerParameters

from ctxfold import Session
from tests.mcp_server.conftest import ERAS, ROOT, Host, said

pytestmark = pytest.mark.anyio

Start = Callable[..., Host]

COMMAND = ["-m", "ctxfold", "serve"]
WRITES = 500


@asynccontextmanager
async def started(era: str) -> AsyncIterator[Client]:
    """A real client and the server process it started, as a host does."""
    environment = {name: os.environ[name] for name in ("HOME", "PATH", "CTXFOLD_HOME")} | {"PYTHONPATH": str(ROOT)}
    server = StdioServerParameters(command=sys.executable, args=COMMAND, env=environment, cwd="/")
    async with Client(server, mode=era) as client:
        yield client


async def cli(*arguments: str, given: bytes = b"") -> str:
    """What a command prints."""
    done = await anyio.run_process([sys.executable, "-m", "ctxfold", *arguments], input=given, cwd=ROOT)
    return done.stdout.decode()


@pytest.mark.parametrize("era", ERAS)
async def test_a_session_written_over_mcp_is_read_by_the_command_line_and_back(era: str) -> None:
    async with started(era) as client:
        await client.call_tool("open_session", {"session": "paris-trip", "goal": "Get to Paris."})
        step = {"calls": [{"name": "trains"}], "results": [{"text": "TGV 9713, 49 EUR\r\n é"}]}
        await client.call_tool("record", {"session": "paris-trip", "user": "By train.", "step": step})
        await client.call_tool("fold", {"session": "paris-trip"})
        assert "Get to Paris." in await cli("context", "paris-trip")
        assert "TGV 9713, 49 EUR\r\n é" in await cli("recall", "paris-trip", "s1.3")
        await cli("undo", "paris-trip")
        await cli("record", "paris-trip", given=b"From the shell.")
        assert "From the shell." in said(await client.call_tool("context", {"session": "paris-trip"}))


@pytest.mark.long
def test_killing_the_server_between_any_two_calls_loses_nothing(host: Start) -> None:
    def again() -> Host:
        one = host()
        one.begin()
        return one

    one = again()
    one.call("open_session", session="paris-trip", goal="Paris.")
    for n in range(1, 4):
        assert f"recorded s{n} " in one.call("record", session="paris-trip", reply=f"Reply {n}.")
        one.process.kill()
        one.process.wait(10)
        one = again()
    one.call("fold", session="paris-trip", first_step=1, last_step=2, summary="Two replies.")
    one.process.kill()
    one.process.wait(10)
    one = again()
    assert "Reply 2." in one.call("recall", session="paris-trip", ref="s2.1")
    assert "Two replies." in one.call("context", session="paris-trip")


@pytest.mark.long
async def test_two_servers_on_one_session_lose_no_write() -> None:
    """1,000 calls, every one of them answered with the step it made."""
    steps: dict[str, list[int]] = {"a": [], "b": []}

    async def write(who: str) -> None:
        async with started("auto") as client:
            await client.call_tool("open_session", {"session": "shared", "budget": 2000})
            ready.append(who)
            while len(ready) < 2:
                await anyio.lowlevel.checkpoint()
            for n in range(WRITES):
                result = await client.call_tool("record", {"session": "shared", "reply": f"{who} wrote {n}."})
                assert not result.is_error, said(result)
                assert result.structured_content is not None
                steps[who].append(int(result.structured_content["recorded"][0][1:]))

    ready: list[str] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write, "a")
        tasks.start_soon(write, "b")
    assert sorted(steps["a"] + steps["b"]) == list(range(1, 2 * WRITES + 1))

    def check() -> None:
        with Session.open("shared", create=False) as session:
            for who, numbers in steps.items():
                for n, step in enumerate(numbers):
                    assert session.recall(f"s{step}.1").text == f"{who} wrote {n}."

    await run_sync(check)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--caps", "pages"], "core,browser"),
        (["--model", "script:/no/file"], "/no/file"),
        (["--storage-state", "/no/state"], "/no/state"),
        (["--secret", "pin"], "names no source"),
    ],
)
def test_what_it_could_not_serve_with_is_one_line_before_it_serves(options: list[str], words: str) -> None:
    command = [sys.executable, "-m", "ctxfold", "serve", *options]
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
