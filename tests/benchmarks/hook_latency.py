"""What a hook costs in a session that grows: median wall time and processor time beyond `python -c pass`, both in the same run.

    python -m tests.benchmarks.hook_latency [--calls 120] [--alone]

A conversation of some calls, a third of them with a long result, is written to a transcript of Claude Code's, and at each of its events the command that
`ctxfold install` writes is run, as the host would. `--alone` names the store by a URL, which has no helper, so that each does the work itself. *processor* is the hook's own; the
helper's is told at the end (Linux alone says it).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mcp_server.hooks.helper import find_socket

_COMMAND = [sys.executable, "-I", "-m", "mcp_server.hooks", "claude-code"]
_NOTHING = [sys.executable, "-I", "-c", "pass"]


def main() -> None:
    """Print a line for each kind of event."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.hook_latency")
    parser.add_argument("--calls", type=int, default=120, help="calls of the conversation")
    parser.add_argument("--alone", action="store_true", help="without the helper")
    chosen = parser.parse_args()
    took: dict[str, list[tuple[float, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="hooks-") as home:
        os.environ["CTXFOLD_HOME"] = home
        if chosen.alone:
            os.environ["CTXFOLD_DATABASE_URL"] = f"sqlite:///{home}/ctxfold.db"
        transcript = Path(home) / "transcript.jsonl"
        for kind, part, event in conversation(transcript, chosen.calls):
            took["python -c pass"].append(run(_NOTHING, b""))
            took[kind].append(run([*_COMMAND, *part], event))
        served = None if chosen.alone else processor_of_helper()
        size = transcript.stat().st_size
        shutil.rmtree(Path(home) / "helper", ignore_errors=True)
    base = [statistics.median(each) for each in zip(*took.pop("python -c pass"), strict=True)]
    print(f"transcript {size:,} bytes; python -c pass: {base[0]:.0f} ms, processor {base[1]:.0f} ms; beyond it:")
    for kind, every in took.items():
        wall, own = (statistics.median(each) - at for each, at in zip(zip(*every, strict=True), base, strict=True))
        worst = sorted(each for each, _ in every)[int(len(every) * 0.95)] - base[0]
        print(
            f"{kind:<28}{len(every):>5} hooks   p50 {wall:>6.0f} ms   p95 {worst:>6.0f} ms   processor {own:>6.0f} ms"
        )
    if served is not None:
        print(f"the helper: {served * 1000 / sum(map(len, took.values())):.0f} ms of processor for each hook")


def conversation(transcript: Path, calls: int) -> Iterator[tuple[str, list[str], bytes]]:
    """The events of a conversation, each with its kind and the command's part, as the transcript grows."""
    rng = random.Random(4)
    for at in range(calls):
        if at % 6 == 0:
            _write(transcript, "user", at, f"Look at part {at} and keep to rule R-{rng.randrange(10**6)}.")
            yield "UserPromptSubmit", [], _event(transcript, "UserPromptSubmit", prompt="Go on")
        rows = "\n".join(
            f"row-{at}-{n} state ok id {rng.randrange(16**8):08X} path src/part{at}/file{n}.py"
            for n in range(900 if at % 3 == 0 else 20)
        )
        args = {"command": f"list {at}"}
        _write(transcript, "assistant", at, [{"type": "text", "text": f"I look at part {at}."}, {"type": "tool_use", "id": f"call-{at}", "name": "Bash", "input": args}])  # fmt: skip
        told = {"tool_name": "Bash", "tool_use_id": f"call-{at}", "tool_input": args, "tool_response": {"stdout": rows, "stderr": ""}}  # fmt: skip
        kind = "PostToolUse, 60 KB" if at % 3 == 0 else "PostToolUse, short"
        yield kind, [], _event(transcript, "PostToolUse", **told)
        _write(transcript, "user", at, [{"type": "tool_result", "tool_use_id": f"call-{at}", "content": rows[:6_000]}])
        if at % 6 == 5:
            yield "Stop", [], _event(transcript, "Stop")
        if at % 30 == 29:
            yield "PreCompact", [], _event(transcript, "PreCompact", trigger="auto")
            _write(transcript, "user", at, "Some work was done.", isCompactSummary=True)
            for part in ("1/3", "2/3", "3/3"):
                yield "SessionStart after compaction", [part], _event(transcript, "SessionStart", source="compact")


def _write(transcript: Path, role: str, at: int, content: Any, **more: Any) -> None:
    line = {"type": role, "uuid": f"{role}-{at}-{len(str(content))}", "message": {"role": role, "content": content}, **more}  # fmt: skip
    with transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _event(transcript: Path, name: str, **more: Any) -> bytes:
    told: Mapping[str, Any] = {"session_id": "5e55-ab", "transcript_path": str(transcript), "hook_event_name": name, **more}  # fmt: skip
    return json.dumps(told).encode()


def run(command: list[str], event: bytes) -> tuple[float, float]:
    """Milliseconds of wall time and of processor that a command took. What it starts and leaves running is not waited for, and not counted."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, input=event, stdout=subprocess.PIPE, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall * 1000, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def processor_of_helper() -> float | None:
    """The seconds of processor that the helper took since it was started; None where the system does not say, or no helper runs."""
    try:
        pid = int(Path(f"{find_socket()}.lock").read_text())
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return None
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
