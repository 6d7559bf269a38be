"""What a coding host's request after a compaction holds of the user's rules and of the ids in use, with our hooks and
without.

    python -m tests.benchmarks.coding_hosts claude-code | codex | opencode | gemini PROGRAM

PROGRAM is the host as npm installs it. It makes sixty calls in an empty home, with a double as its model, and compacts.
gemini-cli compacts only between the prompts of one sitting, which no command starts: for it the request after a
resumption is measured.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ctxfold import Session, sessions
from tests.benchmarks.coding_hosts.doubles import Double, ScriptedTurn, serve
from tests.benchmarks.shared.harness import make_parser, temporary_home

CALLS, RULES = 60, 20
SECONDS = 600
"""Seconds that one command of a host may take."""
FULL_WINDOW = {"opencode": 990_000}
"""Tokens that the last request is said to cost, for a host that compacts by them."""
CODEX_CONFIG = """\
model = "gpt-5"
model_provider = "double"
approval_policy = "never"
sandbox_mode = "danger-full-access"
model_auto_compact_token_limit = 24000
model_context_window = 60000
[model_providers.double]
name = "double"
base_url = "{url}/v1"
env_key = "MOCK_KEY"
wire_api = "responses"
"""


class Host:
    """One host in an empty home, with a double as its model."""

    def __init__(self, program: str, home: Path, double: Double) -> None:
        self.home, self.double = home, double
        self._program = program
        self.environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(Path(__file__).parents[3]),
            "CTXFOLD_HOME": str(home / "kept"),
            "MOCK_KEY": "x",
            "ANTHROPIC_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": double.url,
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "GEMINI_API_KEY": "x",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GOOGLE_GEMINI_BASE_URL": double.url,
        }
        (home / "work").mkdir()

    def run(self, *arguments: str) -> str:
        """Run the host. Returns its output."""
        options: dict[str, Any] = {"cwd": self.home / "work", "env": self.environment, "stdin": subprocess.DEVNULL}
        command = [self._program, *arguments]
        done = subprocess.run(command, **options, capture_output=True, text=True, check=True, timeout=SECONDS)
        return str(done.stdout)

    def write_settings(self, path: str, settings: dict[str, Any]) -> None:
        """Add settings to a JSON file of the host's."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        before = json.loads(file.read_text()) if file.exists() else {}
        file.write_text(json.dumps({**before, **settings}))


def drive_claude_code(host: Host, task: str) -> int:
    """Work, compact, go on. Returns the number of the first request after the compaction."""
    done = host.run("-p", task, "--allowedTools", "Bash", "--output-format", "json")
    again = ("--resume", json.loads(done)["session_id"], "--output-format", "json", "-p")
    host.run(*again, "/compact")
    before = len(host.double.requests)
    host.run(*again, "Go on")
    return before


def drive_codex(host: Host, task: str) -> int:
    """Work. Codex compacts by itself: the next request has fewer results than the one before it."""
    config = host.home / ".codex" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text(CODEX_CONFIG.format(url=host.double.url))
    host.run("exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check", task)
    results = [json.dumps(request).count("function_call_output") for request in host.double.requests]
    return max(at for at in range(1, len(results)) if results[at] < results[at - 1])


def drive_opencode(host: Host, task: str) -> int:
    """Work. opencode compacts by itself when its window is said to be full, and goes on."""
    provider = {"anthropic": {"options": {"baseURL": f"{host.double.url}/v1", "apiKey": "x"}}}
    settings = {"provider": provider, "model": "anthropic/claude-sonnet-4-5", "permission": "allow"}
    host.write_settings(".config/opencode/opencode.json", settings)
    host.run("run", task)
    return len(host.double.requests) - 1


def drive_gemini(host: Host, task: str) -> int:
    """Work, then resume."""
    host.write_settings(".gemini/settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})
    host.run("-m", "gemini-2.5-pro", "--yolo", "-p", task)
    before = len(host.double.requests)
    host.run("-m", "gemini-2.5-pro", "--yolo", "--resume", "latest", "-p", "Go on")
    return before


DRIVERS = {"claude-code": drive_claude_code, "codex": drive_codex, "opencode": drive_opencode, "gemini": drive_gemini}


def measure(name: str, program: str, home: Path, hooks: bool) -> str:
    """Run a host once. Returns the figures in a line."""
    chance = random.Random(7)
    codes = [f"{chance.randrange(16**8):08X}-{chance.choice('QXZ')}{at}" for at in range(CALLS)]
    rules = [f"Rule {at}: never touch table T{chance.randrange(10**6)}." for at in range(RULES)]
    turns = [
        ScriptedTurn(
            f"I look at part {at}.",
            f"seq -f 'row-{at}-%g value' 1 {chance.choice((3, 5, 900))}; echo order {code} open",
            FULL_WINDOW.get(name, 0) if at == CALLS - 1 else 0,
        )
        for at, code in enumerate(codes)
    ]
    with serve(Double([*turns, ScriptedTurn("Done so far.")])) as double:
        host = Host(program, home, double)
        if hooks:
            command = [sys.executable, "-m", "ctxfold", "install", name, "--hooks"]
            subprocess.run(command, env=host.environment, check=True, capture_output=True)
        before = DRIVERS[name](host, " ".join(["List the rows.", *rules]))
    request = json.dumps(double.requests[before], ensure_ascii=False)
    inline = sum(code in request for code in codes)
    recalled = count_recalled(name, home, [code for code in codes if code not in request]) if hooks else 0
    held = sum(rule in request for rule in rules) / RULES
    ids = f"ids inline {inline / CALLS:.2f}   inline or by one recall {(inline + recalled) / CALLS:.2f}"
    return f"rules {held:.2f}   {ids}   {len(request):,} characters"


def count_recalled(host: str, home: Path, codes: Sequence[str]) -> int:
    """Return how many codes one search each finds."""
    store = str(home / "kept" / "ctxfold.db")
    name = next(session.name for session in sessions(store) if session.name.startswith(host))
    with Session.open(name, store=store, create=False) as session:
        return sum(any(code in hit.text for hit in session.recall(query=code, limit=5)) for code in codes)


def main() -> None:
    """Print a line for the host alone, and one for it with our hooks."""
    parser = make_parser("coding_hosts", __doc__)
    parser.add_argument("host", choices=DRIVERS)
    parser.add_argument("program")
    chosen = parser.parse_args()
    print(f"{chosen.host}: {CALLS} calls, {RULES} rules, one compaction; in the next request")
    for hooks in (False, True):
        with temporary_home() as home:
            figures = measure(chosen.host, chosen.program, home, hooks)
        print(f"  {'with our hooks' if hooks else 'the host alone':<16}{figures}", flush=True)


if __name__ == "__main__":
    main()
