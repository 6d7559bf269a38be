"""Kills the wrapper at random moments and looks for what the host saw replaced: all of it must be in the log.

    python -m tests.benchmarks.wrapped.kills [--kills 100]

Each time a wrapper is started, asked for several long results at once, and killed with SIGKILL, by its own id, within the time that takes. Exits 1 where a byte is
missing, or where a server outlives its wrapper.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from pathlib import Path

from ctxfold import Session
from tests.mcp_server.wrap.server import words
from tests.support.peer import Peer, text_of

ROOT = Path(__file__).parents[3]
SERVER = ROOT / "tests" / "mcp_server" / "wrap" / "server.py"
AT_ONCE = 6
WITHIN = 0.6


def children(process: int) -> list[int]:
    """The processes that a process started."""
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def lives(process: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def kill_once(store: Path, chance: random.Random) -> tuple[dict[str, int], int]:
    """Start, ask, kill. What the host saw replaced, as how many lines each ref stands for; and how many servers lived on."""
    options = ["--session", "killed", "--store", str(store)]
    command = [sys.executable, "-m", "ctxfold", "wrap", *options, "--", sys.executable, str(SERVER)]
    seen: dict[str, int] = {}
    with Peer(command, env={"PYTHONPATH": str(ROOT)}) as host:
        host.open()
        host.call("say", many=1_500)
        started = children(host.process.pid)
        asked = {number: chance.randint(1_500, 2_500) for number in range(100, 100 + AT_ONCE)}
        for number, many in asked.items():
            params = {"name": "say", "arguments": {"many": many}}
            host.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        time.sleep(chance.uniform(0, WITHIN))
        host.process.kill()
        host.process.wait()
        assert host.process.stdout is not None
        for line in host.process.stdout:
            if not line.endswith(b"\n"):
                continue
            message = json.loads(line)
            found = re.match(r"\[(s\d+\.\d+)", text_of(message["result"]))
            if found:
                seen[found[1]] = asked[message["id"]]
    deadline = time.monotonic() + 5
    while any(map(lives, started)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return seen, sum(map(lives, started))


def main() -> int:
    """Run it and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    kills = parser.parse_args().kills
    chance = random.Random(17)
    missing = replaced = left = 0
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "killed.db"
        every: dict[str, int] = {}
        for _ in range(kills):
            seen, alive = kill_once(store, chance)
            every |= seen
            left += alive
        with Session.open("killed", store=str(store)) as session:
            for ref, many in every.items():
                replaced += 1
                missing += session.recall(ref).text != words(many)
    print(
        f"{kills} kills: {replaced} results that the host saw replaced, {missing} not in the log; {left} servers left"
    )
    return int(bool(missing or left or not replaced))


if __name__ == "__main__":
    sys.exit(main())
