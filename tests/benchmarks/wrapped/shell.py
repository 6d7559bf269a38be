"""A shell server: one tool that answers with what a command would have printed. Standard library only, so that it starts at once."""

from __future__ import annotations

import json
import random
import sys


def log(kind: str) -> str:
    """2,000 lines with an id each."""
    chance = random.Random(kind)
    lines = []
    for at in range(8_000 if kind.startswith("long") else 2_000):
        second = f"2026-11-22T10:{at // 60 % 60:02}:{at % 60:02}.{chance.randint(0, 999):03}Z"
        name = f"job_{chance.getrandbits(32):08x}" if kind == "build" else f"req_{chance.getrandbits(40):010x}"
        match kind:
            case "build":
                lines.append(f"[{at + 1}/2000] {second} compile {name} src/module_{at % 97}/part_{at}.c -> part_{at}.o")
            case _:
                level = "ERROR" if kind == "failing" and at in (700, 1_450) else "INFO"
                told = "connection refused by db-3" if level == "ERROR" else f"GET /orders/{at} 200 {at % 311} ms"
                lines.append(f"{second} {level} worker-{at % 7} {name} {told}")
    return "\n".join(lines)


def main() -> None:
    """Answer until standard input ends."""
    tool = {
        "name": "run",
        "description": "Run a command.",
        "inputSchema": {"type": "object", "properties": {"command": {"type": "string"}, "size": {"type": "integer"}}},
    }
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        match asked["method"]:
            case "initialize":
                version = asked["params"]["protocolVersion"]
                info = {"name": "shell", "version": "1"}
                result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
            case "tools/list":
                result = {"tools": [tool]}
            case "tools/call":
                arguments = asked["params"]["arguments"]
                said = log(arguments["command"])[: arguments.get("size")]
                result = {"content": [{"type": "text", "text": said}]}
            case _:
                result = {}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
