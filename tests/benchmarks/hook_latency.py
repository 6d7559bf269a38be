"""What a hook costs in a session that grows: median wall and processor time beyond `python -c pass`, measured in the
same run.

    python -m tests.benchmarks.hook_latency [--calls 120]

A conversation, a third of whose calls have a long result, is written to a transcript of Claude Code's, and at each of
its events the command that `ctxfold install` writes is run as the host would. *processor* is the hook's own time; the
helper's comes last (on Linux).
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcp_server.hooks.helper import find_socket
from tests.benchmarks.shared.harness import make_parser, temporary_home

COMMAND = [sys.executable, "-I", "-m", "mcp_server.hooks", "claude-code"]
NOTHING = [sys.executable, "-I", "-c", "pass"]


def make_events(transcript: Path, calls: int) -> Iterator[tuple[str, list[str], bytes]]:
    """Yield the events of a conversation while its transcript grows: kind, the command's part, and the JSON."""

    def write(role: str, at: int, content: Any, **more: Any) -> None:
        message = {"role": role, "content": content}
        line = {"type": role, "uuid": f"{role}-{at}-{len(str(content))}", "message": message, **more}
        with transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def make(name: str, **more: Any) -> bytes:
        event = {"session_id": "5e55-ab", "transcript_path": str(transcript), "hook_event_name": name, **more}
        return json.dumps(event).encode()

    chance = random.Random(4)
    for at in range(calls):
        if at % 6 == 0:
            write("user", at, f"Look at part {at} and keep to rule R-{chance.randrange(10**6)}.")
            yield "UserPromptSubmit", [], make("UserPromptSubmit", prompt="Go on")
        rows = "\n".join(
            f"row-{at}-{n} state ok id {chance.randrange(16**8):08X} path src/part{at}/file{n}.py"
            for n in range(900 if at % 3 == 0 else 20)
        )
        call, args = f"call-{at}", {"command": f"list {at}"}
        use = {"type": "tool_use", "id": call, "name": "Bash", "input": args}
        write("assistant", at, [{"type": "text", "text": f"I look at part {at}."}, use])
        response = {"stdout": rows, "stderr": ""}
        event = make("PostToolUse", tool_name="Bash", tool_use_id=call, tool_input=args, tool_response=response)
        yield "PostToolUse, 60 KB" if at % 3 == 0 else "PostToolUse, short", [], event
        write("user", at, [{"type": "tool_result", "tool_use_id": call, "content": rows[:6_000]}])
        if at % 6 == 5:
            yield "Stop", [], make("Stop")
        if at % 30 == 29:
            yield "PreCompact", [], make("PreCompact", trigger="auto")
            write("user", at, "Some work was done.", isCompactSummary=True)
            for part in ("1/3", "2/3", "3/3"):
                yield "SessionStart after compaction", [part], make("SessionStart", source="compact")


def run(command: list[str], event: bytes) -> tuple[float, float]:
    """Run a command. Returns its wall and processor time in milliseconds, without what it leaves running."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, input=event, stdout=subprocess.PIPE, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall * 1000, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def read_helper_time() -> float | None:
    """Return the helper's processor time in seconds; None where there is no helper or no /proc."""
    try:
        pid = int(Path(f"{find_socket()}.lock").read_text())
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print a line for each kind of event."""
    parser = make_parser("hook_latency", __doc__)
    parser.add_argument("--calls", type=int, default=120, help="calls of the conversation")
    chosen = parser.parse_args()
    took: dict[str, list[tuple[float, float]]] = defaultdict(list)
    with temporary_home() as home:
        transcript = home / "transcript.jsonl"
        for kind, part, event in make_events(transcript, chosen.calls):
            took["python -c pass"].append(run(NOTHING, b""))
            took[kind].append(run([*COMMAND, *part], event))
        helper = read_helper_time()
        size = transcript.stat().st_size
        shutil.rmtree(home / "helper", ignore_errors=True)  # ends the helper
    base = [statistics.median(times) for times in zip(*took.pop("python -c pass"), strict=True)]
    print(f"transcript {size:,} bytes; python -c pass: {base[0]:.0f} ms, processor {base[1]:.0f} ms; beyond it:")
    for kind, every in took.items():
        wall, own = (statistics.median(times) - at for times, at in zip(zip(*every, strict=True), base, strict=True))
        p95 = sorted(times for times, _ in every)[int(len(every) * 0.95)] - base[0]
        print(f"{kind:<29}{len(every):>4} hooks   p50 {wall:>6.0f} ms   p95 {p95:>6.0f} ms   processor {own:>6.0f} ms")
    if helper is not None:
        print(f"the helper: {helper * 1000 / sum(map(len, took.values())):.0f} ms of processor for each hook")


if __name__ == "__main__":
    main()
