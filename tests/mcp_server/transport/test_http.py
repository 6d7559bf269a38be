import json
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ResourceUpdatedNotification

from ctxfold import Session
from ctxfold.errors import InputError, Refused
from mcp_server.transport.http import LARGEST, GuardedProtocol, ListenAddress
from tests.browser_agent.agent.scripts import decide, script
from tests.mcp_server.conftest import ERAS, ROOT, said
from tests.sites.server import Site

pytestmark = pytest.mark.anyio

ALICE, BOB, OWNER = (letter * 32 for letter in "abc")
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
PING = {"jsonrpc": "2.0", "id": 99, "method": "ping", "params": {}}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


class Served:
    """A server process listening on loopback, and its address."""

    def __init__(self, *options: str) -> None:
        environment = {name: os.environ[name] for name in ("HOME", "PATH", "CTXFOLD_HOME")} | {"PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "ctxfold", "serve", "--transport", "http", "--port", "0", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd="/", env=environment)
        assert self.process.stderr is not None
        said = next(line for line in self.process.stderr if "http://" in line)
        self.url = said.split()[-1]

    def post(self, content: bytes | None = None, **headers: str) -> httpx2.Response:
        body = json.dumps(HELLO).encode() if content is None else content
        return httpx2.post(self.url, content=body, headers=HEADERS | headers, timeout=30)

    def __enter__(self) -> "Served":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        self.process.kill()
        self.process.wait(10)
        assert self.process.stderr is not None
        self.process.stderr.close()


@pytest.fixture
def served() -> Iterator[Served]:
    """A server on loopback that asks for no token."""
    with Served() as one:
        yield one


@pytest.fixture
def tokens(tmp_path: Path) -> tuple[str, str]:
    """The options by which a server asks for one of three tokens."""
    file = tmp_path / "tokens"
    file.write_text(f"alice {ALICE}\nbob {BOB}\n{OWNER}\n")
    file.chmod(0o600)
    return "--token-file", str(file)


@pytest.fixture
def guarded(tokens: tuple[str, str]) -> Iterator[Served]:
    """A server that asks for one of three tokens."""
    with Served(*tokens) as one:
        yield one


@asynccontextmanager
async def client(served: Served, era: str, token: str | None = None, **options: Any) -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(served.url, http_client=http), mode=era, **options) as connected,
    ):
        yield connected


@pytest.mark.parametrize("era", ERAS)
async def test_the_whole_story_passes_over_http_each_call_on_a_new_connection(served: Served, era: str) -> None:
    async def call(tool: str, **arguments: Any) -> str:
        async with client(served, era) as connected:
            result = await connected.call_tool(tool, arguments)
            assert not result.is_error, said(result)
            return said(result)

    await call("open_session", session="paris-trip", goal="Get to Paris.")
    step = {"calls": [{"name": "trains"}], "results": [{"text": "TGV 9713"}]}
    await call("record", session="paris-trip", user="By train.", step=step)
    await call("fold", session="paris-trip", first_step=1, summary="TGV 9713.")
    assert "TGV 9713" in await call("recall", session="paris-trip", ref="s1.3")
    await call("undo", session="paris-trip")
    async with client(served, era) as connected:
        assert (await connected.read_resource("ctxfold://sessions/paris-trip/tree")).contents
        assert (await connected.get_prompt("resume", {"session": "paris-trip"})).messages


def test_strange_hosts_and_origins_and_bodies_beyond_the_limit_are_refused(served: Served) -> None:
    assert served.post().status_code == 200
    assert served.post(origin="http://localhost:3000").status_code == 200
    for name in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"):
        assert served.post(host=name).status_code == 421, name
    for origin in ("http://evil.example", "null", "http://127.0.0.1.evil.example", "https://localhost.evil.example:80"):
        assert served.post(origin=origin).status_code == 403, origin
    assert served.post(b"x" * (LARGEST + 1)).status_code == 413
    assert served.post(b"not json").status_code == 400


def test_the_health_endpoint_says_that_it_is_up_and_nothing_else(guarded: Served) -> None:
    answer = httpx2.get(guarded.url.removesuffix("/mcp") + "/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_without_a_right_token_nobody_comes_in(guarded: Served) -> None:
    for value in (
        None,
        "",
        "Bearer wrong",
        f"Basic {ALICE}",
        f"Bearer {ALICE[:-1]}",
        ALICE,
    ):
        answer = guarded.post() if value is None else guarded.post(authorization=value)
        assert answer.status_code == 401, value
        assert "ctxfold" not in answer.text
    assert guarded.post(authorization=f"Bearer {ALICE}").status_code == 200
    assert guarded.post(authorization=f"Bearer {ALICE}", host="evil.example").status_code == 421


async def test_a_session_of_the_older_protocol_is_its_own_tokens_alone(guarded: Served) -> None:
    alice, bob = ({"authorization": f"Bearer {token}"} for token in (ALICE, BOB))
    nobody: dict[str, str] = {}
    session = {"mcp-session-id": guarded.post(authorization=f"Bearer {ALICE}").headers["mcp-session-id"]}
    for caller, status in ((alice, 200), (bob, 404), (nobody, 401)):
        headers = HEADERS | caller | session
        assert httpx2.post(guarded.url, json=PING, headers=headers, timeout=30).status_code == status


@pytest.mark.parametrize("era", ERAS)
async def test_another_principals_session_is_as_if_it_were_not_there(guarded: Served, era: str) -> None:
    secret = "alice-secret-1848"
    async with client(guarded, era, ALICE) as alice:
        await alice.call_tool("open_session", {"session": "plans", "goal": secret})
        await alice.call_tool("record", {"session": "plans", "user": secret})
    for token in (BOB, OWNER):
        async with client(guarded, era, token) as other:
            answers = [
                await other.call_tool(tool, {"session": "plans"} | more)
                for tool, more in (
                    ("record", {"user": "Hi."}),
                    ("context", {}),
                    ("recall", {"ref": "s1"}),
                    ("recall", {"query": secret}),
                    ("fold", {}),
                    ("undo", {}),
                )
            ]
            assert all(answer.is_error for answer in answers)
            assert {said(answer).split(".")[0] for answer in answers} == {"no session 'plans'"}
            assert secret not in said(await other.call_tool("recall", {"query": secret}))
            listed = await other.read_resource("ctxfold://sessions")
            assert "plans" not in listed.model_dump_json()
            opened = await other.call_tool("open_session", {"session": "plans"})
            assert secret not in said(opened)
            assert "created yes" in said(opened)
    async with client(guarded, era, ALICE) as alice:
        assert secret in said(await alice.call_tool("context", {"session": "plans"}))


async def test_no_listener_hears_of_another_principals_session(guarded: Served) -> None:
    uri = "ctxfold://sessions/plans/context"
    async with client(guarded, "auto", ALICE) as alice, client(guarded, "auto", BOB) as bob:
        for one in (alice, bob):
            await one.call_tool("open_session", {"session": "plans"})
        async with (
            bob.listen(resource_subscriptions=[uri]) as heard_by_bob,
            alice.listen(resource_subscriptions=[uri]) as heard_by_alice,
        ):
            await alice.call_tool("record", {"session": "plans", "user": "Hi."})
            with anyio.fail_after(10):
                await anext(aiter(heard_by_alice))
            with anyio.move_on_after(0.5) as waited:
                await anext(aiter(heard_by_bob))
            assert waited.cancelled_caught


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")  # the older era's calls, on purpose
async def test_no_subscriber_of_the_older_protocol_hears_of_another_principals_session(guarded: Served) -> None:
    heard: dict[str, anyio.Event] = {ALICE: anyio.Event(), BOB: anyio.Event()}

    def hear(token: str) -> Callable[[object], Any]:
        async def handle(message: object) -> None:
            if isinstance(message, ResourceUpdatedNotification):
                heard[token].set()

        return handle

    async with (
        client(guarded, "legacy", ALICE, message_handler=hear(ALICE)) as alice,
        client(guarded, "legacy", BOB, message_handler=hear(BOB)) as bob,
    ):
        for one in (alice, bob):
            await one.call_tool("open_session", {"session": "plans"})
            await one.subscribe_resource("ctxfold://sessions/plans/tree")
        await alice.call_tool("record", {"session": "plans", "user": "Hi."})
        with anyio.fail_after(10):
            await heard[ALICE].wait()
        with anyio.move_on_after(0.5):
            await heard[BOB].wait()
        assert not heard[BOB].is_set()


async def test_live_pages_and_runs_outlast_the_connection_and_are_their_principals_alone(
    tokens: tuple[str, str],
) -> None:
    async def call(token: str, tool: str, **arguments: Any) -> CallToolResult:
        async with client(one, "auto", token) as connected:
            return await connected.call_tool(tool, arguments)

    page = "<title>Tides</title><h1>Spring tides</h1><p>A spring tide comes twice a month.</p>"
    shared = (*tokens, "--caps", "core,browser", "--model", "explorer")
    with Site(pages={"/": page}) as site, Served(*shared, "--allow", f"127.0.0.1:{site.port}") as one:
        for token in (ALICE, BOB):
            await call(token, "open_session", session="trip")
        assert "Spring tides" in said(await call(ALICE, "page_open", session="trip", url=site.url))
        assert "twice a month" in said(await call(ALICE, "page_read", session="trip", find="twice"))
        assert "no page is open" in said(await call(BOB, "page_read", session="trip"))
        asked = {"session": "trip", "task": "Which tide comes twice a month?", "start_url": site.url}
        found = (await call(ALICE, "browse", **asked)).structured_content
        assert found is not None
        assert "twice a month" in found["answer"]
        assert (await call(ALICE, "browse_status", run=found["run"])).structured_content == found
        assert "no run of that name" in said(await call(BOB, "browse_status", run=found["run"]))


@asynccontextmanager
async def browsing(tmp_path: Path) -> AsyncIterator[tuple[Served, dict[str, Any], Callable[[], str]]]:
    """A server whose runs wait for what never comes, what to call for one, and what the session says became of it."""
    with Site(pages={"/": "<title>Harbour</title><p>Ships.</p>"}) as site:
        wait = {"kind": "wait_for", "text": "never shown", "seconds": 30}
        waits = script(tmp_path, *[decide("Wait.", wait) for _ in range(3)])
        with Served("--model", waits, "--allow", f"127.0.0.1:{site.port}") as one:
            async with client(one, "auto") as connected:
                await connected.call_tool("open_session", {"session": "trip"})

            def became() -> str:
                with Session.open("trip", create=False) as session:
                    return session.recall(f"s{session.tip}").text if session.tip else ""

            arguments = {"session": "trip", "task": "Find a ship.", "start_url": site.url}
            yield one, {"name": "browse", "arguments": arguments}, became


async def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    with anyio.fail_after(seconds):
        while not condition():  # noqa: ASYNC110 - another process writes it
            await anyio.sleep(0.05)


async def test_a_cancelled_call_is_answered_and_only_its_own_client_can_cancel_it(tmp_path: Path) -> None:
    async with browsing(tmp_path) as (one, asked, became), httpx2.AsyncClient(headers=HEADERS, timeout=30) as http:
        sessions = [(await http.post(one.url, json=HELLO)).headers["mcp-session-id"] for _ in range(2)]
        mine, others = ({"mcp-session-id": session} for session in sessions)
        call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": asked}
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
        async with http.stream("POST", one.url, json=call, headers=mine) as answer:
            assert answer.status_code == 200
            await until(lambda: "browse" in became())
            assert (await http.post(one.url, json=cancel, headers=others)).status_code == 202
            assert (await http.post(one.url, json=cancel)).status_code == 400
            assert (await http.post(one.url, json=PING, headers=mine)).status_code == 200
            assert "cancelled" not in became()
            assert (await http.post(one.url, json=cancel, headers=mine)).status_code == 202
            with anyio.fail_after(30):
                said_last = [line async for line in answer.aiter_lines() if line.startswith("data: {")][-1]
        assert json.loads(said_last.removeprefix("data: ")) == {
            "jsonrpc": "2.0",
            "id": 7,
            "error": {"code": -32800, "message": "Request cancelled"},
        }
        await until(lambda: "cancelled after" in became())


async def test_a_client_that_hangs_up_takes_its_run_with_it(tmp_path: Path) -> None:
    async with browsing(tmp_path) as (one, asked, became), client(one, "auto") as connected:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connected.call_tool, asked["name"], asked["arguments"])
            await until(lambda: "browse" in became())
            tasks.cancel_scope.cancel()
        await until(lambda: "cancelled after" in became())


async def test_no_page_of_the_servers_machine_is_opened_that_nobody_listed() -> None:
    with Site(pages={"/": "<title>Router</title><p>Set the password.</p>"}) as site:
        with Served("--caps", "core,browser", "--model", "explorer") as one:
            async with client(one, "auto") as connected:
                await connected.call_tool("open_session", {"session": "trip"})
                for host in ("127.0.0.1", "localhost", "[::1]", "127.1"):
                    url = f"http://{host}:{site.port}/"
                    assert (await connected.call_tool("page_open", {"session": "trip", "url": url})).is_error
                for host in ("127.0.0.1", "2130706433"):
                    asked = {"session": "trip", "task": "Look.", "start_url": f"http://{host}:{site.port}/"}
                    assert "password" not in said(await connected.call_tool("browse", asked))
        assert site.seen == []


@pytest.mark.parametrize("era", ERAS)
async def test_no_file_of_the_servers_machine_is_taken_in(served: Served, era: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("notes")
    async with client(served, era) as connected:
        await connected.call_tool("open_session", {"session": "paris-trip"})
        result = await connected.call_tool("record", {"session": "paris-trip", "file": str(path)})
        assert result.is_error
        assert "over HTTP" in said(result)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_leaves_on_a_signal_while_a_client_listens(served: Served, number: signal.Signals) -> None:
    async def signal_and_wait() -> None:
        async with client(served, "auto") as connected:
            await connected.call_tool("open_session", {"session": "paris-trip"})
            async with connected.listen(resource_subscriptions=["ctxfold://sessions"]):
                served.process.send_signal(number)
                await anyio.to_thread.run_sync(served.process.wait, 2.0)
                raise ConnectionError  # leave without a word to a server that is gone

    with pytest.raises(ExceptionGroup):
        await signal_and_wait()
    assert served.process.poll() is not None


def test_another_address_than_loopback_needs_a_token_and_a_name() -> None:
    for host in ("0.0.0.0", "192.168.1.5", "example.com", "::"):
        with pytest.raises(Refused, match="--token-file"):
            ListenAddress(host, 0)
    with pytest.raises(InputError, match="--allow-host"):
        ListenAddress("0.0.0.0", 0, open=False)
    assert "ctx.example:*" in ListenAddress("0.0.0.0", 0, ("ctx.example",), open=False).security.allowed_hosts
    for host in ("127.0.0.1", "localhost", "::1", "127.8.8.8"):
        ListenAddress(host, 0)


def connect_raw(served: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(served.url.rsplit(":", 1)[1].split("/")[0])), timeout=10)


def test_a_wrong_token_is_refused_before_the_body_is_read(guarded: Served) -> None:
    head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer wrong\r\nContent-Length: 4000000\r\n\r\n"
    with connect_raw(guarded) as line:
        line.sendall(head.encode())
        assert line.recv(100).startswith(b"HTTP/1.1 401 ")


def test_eleven_hundred_half_open_connections_keep_nobody_out(served: Served) -> None:
    with ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        for number in range(1_100):
            line = stack.enter_context(connect_raw(served))
            if number % 2:
                line.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127")
        assert served.post().status_code == 200
    assert served.post().status_code == 200


async def test_a_request_that_takes_too_long_is_dropped() -> None:
    class Hurried(GuardedProtocol):
        request_seconds = 0.2

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    server = uvicorn.Server(uvicorn.Config(app, http=Hurried, ws="none", port=0, lifespan="off", log_level="error"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve)
        await until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        for sent in (b"", b"GET / HTTP/1.1\r\nHost", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf"):
            async with await anyio.connect_tcp("127.0.0.1", port) as line:
                if sent:
                    await line.send(sent)
                with anyio.fail_after(5), pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                    await line.receive()
        async with httpx2.AsyncClient() as http:
            for _ in range(2):
                assert (await http.post(f"http://127.0.0.1:{port}/", content=b"whole")).status_code == 200
                await anyio.sleep(0.3)
        server.should_exit = True
