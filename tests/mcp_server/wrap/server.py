"""A server to wrap: it says what it is told to, in the ways that good and bad servers have. Standard library only, so that it starts at once."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

ROWS = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}}}},
    "required": ["rows"],
}
STRICT = {**ROWS, "additionalProperties": False}
SCHEMAS: dict[str, Any] = {"say": None, "texts": None, "rows": ROWS, "strict": STRICT}


GARBAGE = '\nStarting up…\n[1, 2]\n{"level": "info"}\n'


def send(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def words(many: int) -> str:
    return "\n".join(f"line {at} of job_{at * 7919 % 100003:05d}" for at in range(many))


def blocks(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


def call(name: str, args: dict[str, Any]) -> dict[str, Any]:
    """The result of a tool."""
    rows = {"rows": [{"id": f"row_{at:04d}", "note": f"note {at}"} for at in range(args.get("many", 900))]}
    match name:
        case "say":
            return {
                "content": blocks(args.get("text", words(args.get("many", 2)))),
                "isError": args.get("fails", False),
            }
        case "texts":
            picture = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
            link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
            return {
                "content": [*blocks("a short one"), picture, *blocks(words(3000)), link],
                "structuredContent": {"n": 1},
            }
        case "rows" | "strict":
            return {"content": blocks(json.dumps(rows)), "structuredContent": rows}
        case "bare":
            return {"content": [], "structuredContent": {"order": f"W-{args['order']}"}}
        case "recall":
            return {"content": blocks("the server's own")}
        case "sample":
            send({"jsonrpc": "2.0", "id": "s1", "method": "sampling/createMessage", "params": {"messages": []}})
            return {"content": blocks(sys.stdin.buffer.readline().decode().strip())}
        case "next":
            return {"content": blocks(sys.stdin.buffer.readline().decode().strip())}
        case "progress":
            token = args["token"]
            send(
                {
                    "jsonrpc": "2.0",
                    "method": "notifications/progress",
                    "params": {"progressToken": token, "progress": 1},
                }
            )
            return {"content": blocks("done")}
        case "garbage":
            sys.stdout.write(GARBAGE)
            return {"content": blocks("after garbage")}
        case "flood":
            for _ in range(200):
                sys.stderr.write("x" * 10_000 + "\n")
            return {"content": blocks("after a flood")}
        case "die":
            sys.stderr.write("out of cheese\n")
            sys.stderr.flush()
            sys.exit(7)
        case _:
            pass
    raise AssertionError(name)


def answer(asked: dict[str, Any], own: bool) -> dict[str, Any]:
    """The result of a request."""
    params = asked.get("params") or {}
    match asked["method"]:
        case "initialize":
            info = {"name": "fake", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            if "cursor" not in params:
                first = [{"name": "first", "inputSchema": {"type": "object"}}]
                return {"tools": first, "nextCursor": "2"}
            named = [*SCHEMAS, *(["recall"] if own else [])]
            tools = [{"name": name, "inputSchema": {"type": "object"}, "description": "né 記"} for name in named]
            return {
                "tools": [
                    tool | ({"outputSchema": s} if (s := SCHEMAS.get(str(tool["name"]))) else {}) for tool in tools
                ]
            }
        case "tools/call":
            return call(params["name"], params.get("arguments") or {})
        case _:
            return {"echo": params}


def main() -> None:
    """Answer until standard input ends; with `deaf` go on after that. A line that is no message comes back."""
    for line in sys.stdin.buffer:
        try:
            asked = json.loads(line)
            method = asked["method"]
        except (ValueError, RecursionError, TypeError, KeyError):
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            continue
        if "id" in asked:
            send({"jsonrpc": "2.0", "id": asked["id"], "result": answer(asked, "own" in sys.argv)})
        elif method == "notifications/cancelled":
            send({"jsonrpc": "2.0", "method": "notifications/told", "params": asked["params"]})
    if "deaf" in sys.argv:
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)


if __name__ == "__main__":
    main()
