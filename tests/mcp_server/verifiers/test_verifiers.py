"""Other people's verifiers on our server: the protocol's conformance suite, the Inspector, the TypeScript client, real hosts.

    python3 run.py test -m long tests/mcp_server/verifiers

All come from npm into one folder, `CTXFOLD_VERIFIERS` or a temporary one, and need Node 22, which comes from npm too.
The hosts are a gigabyte. Where npm cannot fetch them these tests fail: nothing was verified.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.mcp_server.verifiers.host_loop import run_loop

pytestmark = [pytest.mark.long, pytest.mark.timeout(1_800)]

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
VERIFIERS = (
    "node@22",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12",
    "@modelcontextprotocol/client@2.4.0",
)
HOSTS = ("@anthropic-ai/claude-code-linux-x64@2.1.329", "@google/gemini-cli@0.61", "opencode-linux-x64@1.18.33")
CLAUDE = "node_modules/@anthropic-ai/claude-code-linux-x64/claude"
OPENCODE = "node_modules/opencode-linux-x64/bin/opencode"
CONFORMANCE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
REQUIREMENTS = ("2026-07-28", "2025-11-25")
LOAD = ("--load", "--load-concurrency", "20", "--load-requests", "500")
SERVE = ("--", sys.executable, "-m", "ctxfold", "serve")
BARE = (sys.executable, "-m", "tests.mcp_server.verifiers.serve", "stdio")
WRAPPED = (sys.executable, "-m", "ctxfold", "wrap", "--session", "verified", "--", *BARE)


@dataclass(frozen=True, slots=True)
class Bench:
    """A folder of npm's packages, and the environment that they run in."""

    folder: Path
    environment: dict[str, str]

    @property
    def node(self) -> str:
        return str(self.folder / "node_modules/node/bin/node")

    def fetch(self, packages: Sequence[str]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        quiet = ["--no-audit", "--no-fund", "--loglevel", "error"]
        subprocess.run(["npm", "install", *quiet, "--prefix", str(self.folder), *packages], check=True, timeout=600)
        shutil.copy(HERE / "story.mjs", self.folder)

    def run(self, *command: str) -> str:
        """What a verifier says, which must end well."""
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=600, check=False
        )
        said = done.stdout + done.stderr
        assert done.returncode == 0, "\n".join(said.splitlines()[-30:])
        return said

    def read(self, *command: str) -> str:
        """What a verifier says, whatever it makes of it."""
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True, timeout=600, check=False
        ).stdout

    def inspect(self, *options: str) -> list[str]:
        """The Inspector's command with some options."""
        kept = [f"{name}={self.environment[name]}" for name in ("CTXFOLD_HOME", "PYTHONPATH")]
        return [self.node, INSPECTOR, "--cli", "-e", kept[0], "-e", kept[1], *options]

    @contextmanager
    def serve(self, module: str, *options: str) -> Iterator[str]:
        """Serve over HTTP at a free port; the address."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, "-m", module, *(option.replace("PORT", str(port)) for option in options)]
        with subprocess.Popen(command, cwd=ROOT, env=self.environment, stderr=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + 30
            while not listens(port) and time.monotonic() < deadline:
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/mcp"
            process.kill()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    home = tmp_path_factory.mktemp("home")
    folder = Path(os.environ.get("CTXFOLD_VERIFIERS") or tmp_path_factory.mktemp("npm")).absolute()
    path = f"{folder / 'node_modules/node/bin'}:{os.environ['PATH']}"
    made = Bench(
        folder,
        {"HOME": str(home), "PATH": path, "CTXFOLD_HOME": str(home / "ctxfold"), "PYTHONPATH": str(ROOT),
         "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    )  # fmt: skip
    made.fetch(VERIFIERS)
    return made


@pytest.mark.parametrize("requirements", REQUIREMENTS)
def test_the_conformance_suite_is_content(bench: Bench, requirements: str) -> None:
    """With the suite's fixtures on the real server object."""
    with bench.serve("tests.mcp_server.verifiers.serve", "PORT") as url:
        bench.run(bench.node, CONFORMANCE, *suite_options(bench, url, requirements))


@pytest.mark.parametrize("requirements", REQUIREMENTS)
def test_the_conformance_suite_says_the_same_of_a_wrapped_server(bench: Bench, requirements: str) -> None:
    verdicts = []
    for command in (BARE, WRAPPED):
        with bench.serve("tests.mcp_server.verifiers.bridge", "PORT", *command) as url:
            said = bench.read(bench.node, CONFORMANCE, *suite_options(bench, url, requirements))
        verdicts.append([line for line in said.splitlines() if line[:1] in "✓✗"])
    assert verdicts[0]
    assert verdicts[0] == verdicts[1]


def suite_options(bench: Bench, url: str, requirements: str) -> list[str]:
    return ["server", "--url", url, "--requirements", requirements, "-o", str(bench.folder / "out")]


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_the_inspector_finds_strict_schemas(bench: Bench, era: str) -> None:
    bench.run(*bench.inspect("--method", "tools/list", "--strict", "--protocol-era", era, *SERVE))


@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list", "resources/templates/list"])
def test_the_inspector_lists_the_same_behind_wrap(bench: Bench, era: str, method: str) -> None:
    asked = bench.inspect("--method", method, "--protocol-era", era, "--")
    bare, wrapped = (json.loads(bench.read(*asked, *command)) for command in (BARE, WRAPPED))
    if method == "tools/list":
        wrapped["tools"] = wrapped["tools"][:-1]
    assert bare == wrapped


def test_five_hundred_calls_twenty_at_once(bench: Bench) -> None:
    call = ("--method", "tools/call", "--tool-name")
    bench.run(*bench.inspect(*call, "open_session", "--tool-arg", "session=load", *SERVE))
    record = (*call, "record", "--tool-arg", "session=load", "--tool-arg", "reply=hello")
    assert '"ok": 500' in bench.run(*bench.inspect(*record, *LOAD, *SERVE))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_typescript_client_tells_its_story(bench: Bench, mode: str) -> None:
    bench.run(bench.node, "story.mjs", mode, *SERVE[1:])
    with bench.serve("ctxfold", "serve", "--transport", "http", "--port", "PORT") as url:
        bench.run(bench.node, "story.mjs", mode, url)


def test_hosts_read_what_install_writes_and_one_runs_a_whole_loop(bench: Bench, tmp_path: Path) -> None:
    bench.fetch(HOSTS)
    claude = str(bench.folder / CLAUDE)
    gemini = (bench.node, str(bench.folder / "node_modules/.bin/gemini"))
    for host, command in {
        "claude-code": (claude,),
        "gemini": gemini,
        "opencode": (str(bench.folder / OPENCODE),),
    }.items():
        bench.run(sys.executable, "-m", "ctxfold", "install", host)
        assert "onnected" in bench.run(*command, "mcp", "list"), host
    assert "All done." in run_loop(claude, str(Path(sys.executable).with_name("ctxfold")), tmp_path)
