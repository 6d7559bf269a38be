"""Other people's verifiers on our server: `python -m tests.mcp_server.verifiers.run [--quick] [--hosts] [--wrapped] [--folder DIR]`.

The protocol's conformance suite, the Inspector, the TypeScript client; with `--hosts` also Claude Code, Gemini CLI and opencode, which are a gigabyte to fetch; with `--wrapped`
the suite and the Inspector on that server with and without `ctxfold wrap` before it, which must say the same; with `--quick` without the Inspector, which is what CI has time for. All come from npm and need Node 22, which comes from npm too. Where npm is missing, or they can't be fetched, this says so
loudly and checks nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]

PACKAGES = (
    "node@22",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12",
    "@modelcontextprotocol/client@2.4.0",
)
HOST_PACKAGES = ("@anthropic-ai/claude-code-linux-x64@2.1.329", "@google/gemini-cli@0.61", "opencode-linux-x64@1.18.33")

CONFORMANCE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
REQUIREMENTS = ("2026-07-28", "2025-11-25")
FETCHING, FETCHING_QUICK = 600, 90
"""Seconds npm has to fetch them."""

LOAD = ("--load", "--load-concurrency", "20", "--load-requests", "500")


@dataclass(frozen=True, slots=True)
class Bench:
    """Where the verifiers are and what they are run with."""

    folder: Path
    environment: dict[str, str]

    @property
    def node(self) -> str:
        return str(self.folder / "node_modules/node/bin/node")

    def run(self, name: str, command: Sequence[str], wanted: str = "") -> bool:
        """Run one verifier; whether it ended well and said what is wanted. Its last lines are printed when it didn't."""
        began = time.monotonic()
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=600, check=False
        )
        said = done.stdout + done.stderr
        good = done.returncode == 0 and wanted in said
        print(f"{'ok  ' if good else 'FAIL'} {name} ({time.monotonic() - began:.0f} s)", flush=True)
        if not good:
            print("\n".join(said.splitlines()[-15:]))
        return good

    def read(self, command: Sequence[str]) -> str:
        """What one verifier says, whatever it makes of it."""
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=600, check=False
        )
        return done.stdout


def main() -> int:
    """Run them all; 0 when every one is content."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the Inspector")
    parser.add_argument("--hosts", action="store_true", help="run the hosts too")
    parser.add_argument("--wrapped", action="store_true", help="compare the server with itself behind ctxfold wrap")
    parser.add_argument("--folder", type=Path, help="where npm puts things; a new temporary folder if not said")
    given = parser.parse_args()
    if shutil.which("npm") is None:
        return not_verified("npm is not here")
    with tempfile.TemporaryDirectory() as spare:
        folder = (given.folder or Path(spare)).absolute()
        wanted = [one for one in PACKAGES if not (given.quick and "inspector" in one)]
        seconds = FETCHING_QUICK if given.quick else FETCHING
        missing = fetch(folder, [*wanted, *(HOST_PACKAGES if given.hosts else ())], seconds)
        if missing:
            return not_verified(missing)
        home = Path(spare) / "home"
        home.mkdir()
        path = f"{folder / 'node_modules/node/bin'}:{os.environ['PATH']}"
        bench = Bench(
            folder, {"HOME": str(home), "PATH": path, "CTXFOLD_HOME": str(home / "ctxfold"), "PYTHONPATH": str(ROOT)}
        )
        results = [
            *conformance(bench),
            *(() if given.quick else inspector(bench)),
            *story(bench),
            *(hosts(bench, home) if given.hosts else ()),
            *(wrapped(bench) if given.wrapped else ()),
        ]
    return 0 if all(results) else 1


def not_verified(why: str) -> int:
    """Say so that nobody overlooks it. It is no failure: what is not here can't be run."""
    line = "!" * 78
    print(
        f"{line}\nNOT VERIFIED: {why}, so no outside verifier ran. Run this again where npm works.\n{line}",
        file=sys.stderr,
    )
    return 0


def fetch(folder: Path, packages: Sequence[str], seconds: float) -> str:
    """Have npm put them there. Returns why that could not be done; empty when it could."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix", str(folder)]
    try:
        done = subprocess.run([*command, *packages], stdout=subprocess.DEVNULL, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"npm did not fetch them within {seconds:g} s"
    if done.returncode:
        return "npm could not fetch them"
    shutil.copy(HERE / "story.mjs", folder)
    return ""


@contextmanager
def served(bench: Bench, module: str, *options: str) -> Iterator[str]:
    """A server process over HTTP at a free port; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    environment = bench.environment
    command = [sys.executable, "-m", module, *(option.replace("PORT", port) for option in options)]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL) as process:
        wait_for(int(port))
        yield f"http://127.0.0.1:{port}/mcp"
        process.terminate()


def wait_for(port: int) -> None:
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(f"nothing listens at port {port}")


def conformance(bench: Bench) -> Iterator[bool]:
    """Both requirement sets, on the real server object with the suite's fixtures."""
    for requirements in REQUIREMENTS:
        with served(bench, "tests.mcp_server.verifiers.serve", "PORT") as url:
            options = [
                "server",
                "--url",
                url,
                "--requirements",
                requirements,
                "-o",
                str(bench.folder / f"out-{requirements}"),
            ]
            yield bench.run(f"conformance {requirements}", [bench.node, CONFORMANCE, *options])


def wrapped(bench: Bench) -> Iterator[bool]:
    """The suite and the Inspector on a server on pipes, and on the same server behind `ctxfold wrap`: they must say the same, but for the tool that is added."""
    bare = [sys.executable, "-m", "tests.mcp_server.verifiers.serve", "stdio"]
    behind = [sys.executable, "-m", "ctxfold", "wrap", "--session", "verified", "--", *bare]
    for requirements in REQUIREMENTS:
        said: list[list[str]] = []
        for command in (bare, behind):
            with served(bench, "tests.mcp_server.verifiers.bridge", "PORT", *command) as url:
                options = [
                    "server",
                    "--url",
                    url,
                    "--requirements",
                    requirements,
                    "-o",
                    str(bench.folder / "out-wrapped"),
                ]
                told = bench.read([bench.node, CONFORMANCE, *options])
            said.append([line for line in told.splitlines() if line[:1] in "✓✗"])
        yield same(f"conformance {requirements} behind wrap, {len(said[0])} scenarios", *said)
    env = [part for name in ("CTXFOLD_HOME", "PYTHONPATH") for part in ("-e", f"{name}={bench.environment[name]}")]
    for era in ("modern", "legacy"):
        for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
            asked = [bench.node, INSPECTOR, "--cli", *env, "--method", method, "--protocol-era", era, "--"]
            lists = [json.loads(bench.read([*asked, *command])) for command in (bare, behind)]
            if method == "tools/list":
                lists[1]["tools"] = lists[1]["tools"][:-1]
            yield same(f"inspector {method}, {era}, behind wrap", *lists)


def same(name: str, one: object, other: object) -> bool:
    """Whether two verdicts are the same, said aloud."""
    print(f"{'ok  ' if one == other else 'FAIL'} {name}", flush=True)
    return bool(one) and one == other


def inspector(bench: Bench) -> Iterator[bool]:
    """Strict schemas in both eras, and 500 calls at 20 at once."""
    cli = [
        bench.node,
        INSPECTOR,
        "--cli",
        "-e",
        f"CTXFOLD_HOME={bench.environment['CTXFOLD_HOME']}",
        "-e",
        f"PYTHONPATH={ROOT}",
    ]
    serve = ["--", sys.executable, "-m", "ctxfold", "serve"]
    for era in ("modern", "legacy"):
        yield bench.run(
            f"inspector strict, {era}", [*cli, "--method", "tools/list", "--strict", "--protocol-era", era, *serve]
        )
    call = ["--method", "tools/call", "--tool-name"]
    yield bench.run("inspector open_session", [*cli, *call, "open_session", "--tool-arg", "session=load", *serve])
    record = [*call, "record", "--tool-arg", "session=load", "--tool-arg", "reply=hello"]
    yield bench.run("inspector 500 calls, 20 at once", [*cli, *record, *LOAD, *serve], '"ok": 500')


def story(bench: Bench) -> Iterator[bool]:
    """The TypeScript client's story in both eras, on both transports."""
    with served(bench, "ctxfold", "serve", "--transport", "http", "--port", "PORT") as url:
        for mode in ("auto", "legacy"):
            yield bench.run(
                f"typescript client, {mode}, stdio",
                [bench.node, "story.mjs", mode, sys.executable, "-m", "ctxfold", "serve"],
            )
            yield bench.run(f"typescript client, {mode}, http", [bench.node, "story.mjs", mode, url])


def hosts(bench: Bench, home: Path) -> Iterator[bool]:
    """What `ctxfold install` writes, read by the hosts themselves; then one whole agent loop."""
    claude = str(bench.folder / "node_modules/@anthropic-ai/claude-code-linux-x64/claude")
    gemini = [bench.node, str(bench.folder / "node_modules/.bin/gemini")]
    opencode = str(bench.folder / "node_modules/opencode-linux-x64/bin/opencode")
    bench.environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    for host, command in (("claude-code", [claude]), ("gemini", gemini), ("opencode", [opencode])):
        yield bench.run(f"install {host}", [sys.executable, "-m", "ctxfold", "install", host])
        yield bench.run(f"{host} mcp list", [*command, "mcp", "list"], "onnected")
    ctxfold = str(Path(sys.executable).with_name("ctxfold"))
    yield bench.run(
        "a whole loop in claude-code",
        [sys.executable, "-m", "tests.mcp_server.verifiers.host_loop", claude, ctxfold],
        "All done.",
    )


if __name__ == "__main__":
    sys.exit(main())
