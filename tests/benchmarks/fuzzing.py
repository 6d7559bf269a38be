"""Junk for every tool of a server with a live page: `python -m tests.benchmarks.fuzzing [CALLS] [SEED]`.

Each answer must be a result within the limit, or an error that names the next call; none may be the SDK's bare one, and the server must go on.
"""

from __future__ import annotations

import collections
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from mcp_server.server import build_server
from mcp_server.sessions.pool import Pools
from mcp_server.tools import TOOLS
from mcp_server.tools.results import LIMIT
from tests.mcp_server.conftest import said
from tests.mcp_server.tools.test_fuzz import NAMES, VALUES
from tests.sites.server import LAB, Site

KINDS = ("navigate", "back", "click", "type", "fill_form", "select", "check", "press", "scroll", "upload", "download", "dialog", "tab",
         "wait_for", "find", "read", "extract", "answer", "fly")  # fmt: skip


def action(chance: random.Random, url: str) -> dict[str, Any]:
    """An action that may or may not make sense."""
    ref = f"e{chance.randrange(60)}"
    given: dict[str, Any] = {
        "ref": ref, "text": chance.choice(["a", "", "\0", "<secret:none>", "é" * 40]), "submit": chance.random() < 0.3,
        "fields": [{"ref": ref, "value": "true"}], "values": [chance.choice(["One", "x", ""])], "checked": True, "key": chance.choice(["Enter", "Tab", "Nokey", "F5"]),
        "direction": "down", "paths": ["/etc/hostname"], "accept": True, "op": chance.choice(["list", "new", "close", "switch", "spin"]), "index": chance.randrange(4),
        "url": chance.choice([url, f"{url}/form.html", f"{url}/status?code=500", "about:blank", "http://127.0.0.1:9", "//x"]), "event": "quiet", "seconds": 0.2,
        "query": chance.choice(["the", "zzz", "\ud800"]), "page": chance.choice([1, 99, 0]), "wanted": {"type": chance.choice(["object", "array", "odd"])},
    }  # fmt: skip
    kind = chance.choice(KINDS)
    fields = {"navigate": ["url"], "click": ["ref"], "type": ["ref", "text", "submit"], "fill_form": ["fields"], "select": ["ref", "values"], "check": ["ref", "checked"],
              "press": ["key"], "scroll": ["direction"], "upload": ["ref", "paths"], "download": ["ref"], "dialog": ["accept"], "tab": ["op", "index"],
              "wait_for": ["event", "seconds"], "find": ["query"], "read": ["page"], "extract": ["wanted"]}.get(kind, [])  # fmt: skip
    if chance.random() < 0.15:
        fields = [*fields, chance.choice([*given])]
    return {"kind": kind} | {name: given[name] for name in fields}


async def fuzz(calls: int, seed: int) -> int:
    """Call tools at random; how many answers were wrong."""
    chance, wrong, tally = random.Random(seed), 0, collections.Counter[str]()
    offered = [spec.name for spec in TOOLS]
    with Site(LAB) as site:
        async with Client(build_server(Pools(), caps=("core", "browser"))) as client:
            await client.call_tool("open_session", {"session": "fuzz"})
            await client.call_tool("page_open", {"session": "fuzz", "url": site.url})
            for _ in range(calls):
                tool = "page_act" if chance.random() < 0.5 else chance.choice(offered)
                arguments: dict[str, Any] = {
                    chance.choice(NAMES): chance.choice(VALUES) for _ in range(chance.randrange(3))
                }
                arguments |= {"session": "fuzz"} if chance.random() < 0.9 else {}
                if tool == "page_act":
                    arguments = {
                        "session": "fuzz",
                        "actions": [action(chance, site.url) for _ in range(chance.randrange(1, 4))],
                    }
                began = time.monotonic()
                result = await client.call_tool(tool, arguments)
                text, took = said(result), time.monotonic() - began
                bare = "Error executing tool" in text or "failed inside" in text
                if bare or (result.is_error and "Next: " not in text) or len(text) > LIMIT or took > 50:
                    wrong += 1
                    print(f"WRONG {tool} {arguments!r:.300} -> {took:.1f} s {text:.300}")
                tally[f"{tool} {'error' if result.is_error else 'ok'}"] += 1
            assert not (await client.call_tool("context", {"session": "fuzz"})).is_error
    for name, number in sorted(tally.items()):
        print(f"{number:5} {name}")
    return wrong


def main() -> int:
    """Print what was answered; 0 when nothing was wrong."""
    calls, seed = (int(word) for word in [*sys.argv[1:], "400", "20261120"][:2])
    with tempfile.TemporaryDirectory() as home:
        os.environ["CTXFOLD_HOME"] = str(Path(home))
        wrong = anyio.run(fuzz, calls, seed)
    print(f"{calls} calls, {wrong} wrong answers")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
