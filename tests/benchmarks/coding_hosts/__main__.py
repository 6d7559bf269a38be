"""Runs a coding host as npm installs it, through sixty calls and a compaction, and says what of the user's rules and of the ids in use the next request holds.

`python -m tests.benchmarks.coding_hosts claude-code PROGRAM` (or codex, opencode, gemini). Each client runs in an empty home, once with our hooks and once without.
gemini-cli compacts only between the prompts of one sitting, which no command starts: of it the request after a resumption is measured.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from ctxfold import Session, sessions
from tests.benchmarks.coding_hosts.doubles import Double, Turn, serving

CALLS, RULES = 60, 20
_SECONDS = 600


def main(host: str, program: str) -> None:
    """Print a line for the client alone, and one for it with our hooks."""
    print(f"{host}: {CALLS} calls, {RULES} rules, one compaction; in the next request")
    for hooks in (False, True):
        with tempfile.TemporaryDirectory(prefix="coding-host-") as home:
            print(
                f"  {'with our hooks' if hooks else 'the host alone':<16}{_run(host, program, Path(home), hooks)}",
                flush=True,
            )


def _run(host: str, program: str, home: Path, hooks: bool) -> str:
    rng = random.Random(7)
    codes = [f"{rng.randrange(16**8):08X}-{rng.choice('QXZ')}{at}" for at in range(CALLS)]
    rules = [f"Rule {at}: never touch table T{rng.randrange(10**6)}." for at in range(RULES)]
    full = {"opencode": 990_000}.get(host, 0)
    turns = [
        Turn(f"I look at part {at}.", _command(at, code, rng), full if at == CALLS - 1 else 0)
        for at, code in enumerate(codes)
    ] + [Turn("Done so far.")]
    environment = _environment(home)
    if hooks:
        command = [sys.executable, "-m", "ctxfold", "install", host, "--hooks"]
        subprocess.run(command, env=environment | _here(), check=True, capture_output=True)
    with serving(Double(turns)) as double:
        before = _drive(host, program, home, double, " ".join(["List the rows.", *rules]), environment | _here())
    request = json.dumps(double.requests[before], ensure_ascii=False)
    held = sum(rule in request for rule in rules)
    inline = [code in request for code in codes]
    found = sum(inline) + (
        sum(_recalled(host, home, code) for code, there in zip(codes, inline, strict=True) if not there) if hooks else 0
    )
    return f"rules {held / RULES:.2f}   ids inline {sum(inline) / CALLS:.2f}   inline or by one recall {found / CALLS:.2f}   {len(request):,} characters"


def _command(at: int, code: str, rng: random.Random) -> str:
    rows = rng.choice((3, 5, 900))
    return f"seq -f 'row-{at}-%g value' 1 {rows}; echo order {code} open"


def _environment(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home), "PATH": os.environ["PATH"], "MOCK_KEY": "x", "ANTHROPIC_API_KEY": "sk-test", "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CTXFOLD_HOME": str(home / "kept"),
    }  # fmt: skip


def _here() -> dict[str, str]:
    return {"PYTHONPATH": str(Path(__file__).parents[3])}


def _drive(host: str, program: str, home: Path, double: Double, task: str, environment: dict[str, str]) -> int:
    """Run the client through the task and a compaction; which request is the first one after it."""
    work = home / "work"
    work.mkdir()
    if host == "codex":
        return _drive_codex(program, home, double, task, environment)
    if host == "opencode":
        return _drive_opencode(program, home, double, task, environment)
    if host == "gemini":
        return _drive_gemini(program, home, double, task, environment)
    given = environment | {"ANTHROPIC_BASE_URL": double.url}
    base = [program, "-p", task, "--allowedTools", "Bash", "--output-format", "json"]
    done = subprocess.run(base, cwd=work, env=given, capture_output=True, text=True, check=True, timeout=_SECONDS)
    session = json.loads(done.stdout)["session_id"]
    again = [program, "--resume", session, "--output-format", "json", "-p"]
    subprocess.run([*again, "/compact"], cwd=work, env=given, capture_output=True, check=True, timeout=_SECONDS)
    before = len(double.requests)
    subprocess.run([*again, "Go on"], cwd=work, env=given, capture_output=True, check=True, timeout=_SECONDS)
    return before


def _drive_codex(program: str, home: Path, double: Double, task: str, environment: dict[str, str]) -> int:
    """Codex compacts by itself, by the size that its model's double says: the first request that is much shorter than the one before it."""
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex" / "config.toml").write_text(
        'model = "gpt-5"\nmodel_provider = "double"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
        "model_auto_compact_token_limit = 24000\nmodel_context_window = 60000\n"
        f'[model_providers.double]\nname = "double"\nbase_url = "{double.url}/v1"\nenv_key = "MOCK_KEY"\nwire_api = "responses"\n'
    )
    command = [program, "exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check", task]
    subprocess.run(command, cwd=home / "work", env=environment, capture_output=True, check=True, timeout=_SECONDS)
    calls = [len(re.findall("function_call_output", json.dumps(each))) for each in double.requests]
    return max(at for at in range(1, len(calls)) if calls[at] < calls[at - 1])


def _drive_opencode(program: str, home: Path, double: Double, task: str, environment: dict[str, str]) -> int:
    """opencode compacts by itself when the double says that its window is full, and then goes on."""
    settings = home / ".config" / "opencode" / "opencode.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    provider = {"anthropic": {"options": {"baseURL": f"{double.url}/v1", "apiKey": "x"}}}
    settings.write_text(
        json.dumps({"provider": provider, "model": "anthropic/claude-sonnet-4-5", "permission": "allow"})
    )
    command = [program, "run", task]
    subprocess.run(
        command,
        cwd=home / "work",
        env=environment,
        capture_output=True,
        check=True,
        timeout=_SECONDS,
        stdin=subprocess.DEVNULL,
    )
    return len(double.requests) - 1


def _drive_gemini(program: str, home: Path, double: Double, task: str, environment: dict[str, str]) -> int:
    """The first request after the conversation is resumed."""
    settings = home / ".gemini" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    there = json.loads(settings.read_text()) if settings.exists() else {}
    settings.write_text(json.dumps({**there, "security": {"auth": {"selectedType": "gemini-api-key"}}}))
    given = environment | {
        "GOOGLE_GEMINI_BASE_URL": double.url, "GEMINI_API_KEY": "x", "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }  # fmt: skip
    base = [program, "-m", "gemini-2.5-pro", "--yolo"]
    subprocess.run([*base, "-p", task], cwd=home / "work", env=given, capture_output=True, check=True, timeout=_SECONDS)
    before = len(double.requests)
    again = [*base, "--resume", "latest", "-p", "Go on"]
    subprocess.run(again, cwd=home / "work", env=given, capture_output=True, check=True, timeout=_SECONDS)
    return before


def _recalled(host: str, home: Path, code: str) -> bool:
    """Whether one search finds the line that holds a code."""
    store = str(home / "kept" / "ctxfold.db")
    name = next(each.name for each in sessions(store) if each.name.startswith(host))
    with Session.open(name, store=store, create=False) as session:
        return any(code in hit.text for hit in session.recall(query=code, limit=5))


if __name__ == "__main__":
    main(*sys.argv[1:3])
