"""Bounds ten results of five kinds as our wrapper and hooks do, and gives the same session to Headroom.

    python -m venv V; V/bin/pip install headroom-ai; python -m tests.benchmarks.headroom V/bin/python

*inline*: the ids of all results that stand in the last request. *recalled*: or in what a new process gives back. *exact*: the results that a new process gives back byte for byte, of those that are not whole in
the last request. *cost*: of all requests, in tokens, what stands at the start as in the request before at .1, the rest at 1.25; of the whole results 1.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ctxfold import Session
from ctxfold.tokens import count
from ctxfold.view.result import Result, bounded

Message = dict[str, Any]
BUDGETS = (2_000, 10_000)
"""o200k tokens of one result: the usual ones, and as many as let the last request grow as large as theirs."""
HERE = Path(__file__).with_name("theirs.py")


def main(python: str) -> None:
    """Print a line for each."""
    rng = random.Random(5)
    results = [make(kind, rng) for _ in range(2) for kind in KINDS]
    ids = [each for _, named in results for each in named]
    texts = [text for text, _ in results]
    whole = messages_of(texts)
    full = cost([whole[:end] for end in ends_of(whole)])
    print(f"{len(texts)} results, {sum(map(count, texts)):,} tokens, {len(ids):,} ids")
    with tempfile.TemporaryDirectory() as folder:
        for budget in BUDGETS:
            told, kept = ours(texts, f"{folder}/{budget}.db", budget)
            requests = [messages_of(told)[:end] for end in ends_of(whole)]
            line(f"ctxfold, {budget:,} each", requests, ids, texts, kept, full)
    for name, frozen in (("headroom", False), ("headroom, prefix told", True)):
        requests = ask(python, "compress", {"messages": whole, "ends": ends_of(whole), "frozen": frozen})
        line(name, requests, ids, texts, ask(python, "retrieve", requests[-1]), full)


def line(
    name: str,
    requests: Sequence[Sequence[Message]],
    ids: Sequence[str],
    texts: Sequence[str],
    kept: Sequence[str],
    full: float,
) -> None:
    """Print the figures of one."""
    last = "\n".join(str(each.get("content")) for each in requests[-1])
    short = [text for text in texts if text not in last]
    inline = sum(each in last for each in ids) / len(ids)
    held = "\n".join([last, *kept])
    found = sum(each in held for each in ids) / len(ids)
    exact = f"{sum(text in kept for text in short)} of {len(short)}"
    print(
        f"  {name:<24}inline {inline:.3f}   or recalled {found:.3f}   exact after a restart {exact}   {count(last):>7,} tokens in the last request   cost {cost(requests) / full:.2f}",
        flush=True,
    )


def ours(texts: Sequence[str], store: str, budget: int) -> tuple[list[str], list[str]]:
    """The bounded results; and what another process recalls of them."""
    told: list[str] = []
    refs: list[str] = []
    with Session.open("beside", store=store) as session:
        for at, text in enumerate(texts):
            step = session.record_step(calls=[{"name": "look", "args": {"at": at}, "id": f"c{at}"}])
            refs.append(str(session.record_result(step, f"c{at}", text)))
            told.append(bounded(Result(text, refs[-1]), "", budget).text)
    code = "import json, sys; from ctxfold import Session; store, *refs = sys.argv[1:]; s = Session.open('beside', store=store, create=False); print(json.dumps([s.recall(ref).text for ref in refs]))"
    done = subprocess.run([sys.executable, "-c", code, store, *refs], capture_output=True, check=True)
    return told, json.loads(done.stdout)


def messages_of(texts: Sequence[str]) -> list[Message]:
    """A session that calls a tool for each text."""
    made: list[Message] = [{"role": "user", "content": "Go through the orders, the log and the page. Change nothing."}]
    for at, text in enumerate(texts):
        call = {"id": f"c{at}", "type": "function", "function": {"name": "look", "arguments": json.dumps({"at": at})}}
        made += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{at}", "content": text},
        ]
    return made


def ends_of(messages: Sequence[Message]) -> list[int]:
    """Where requests end: after the user's words, and after each result."""
    return list(range(1, len(messages) + 1, 2))


def cost(requests: Sequence[Sequence[Message]]) -> float:
    """Tokens of the input of all requests as a provider with a prompt cache counts them."""
    total, before = 0.0, list[Message]()
    for request in requests:
        same = next(
            (at for at, (old, new) in enumerate(zip(before, request, strict=False)) if old != new),
            min(len(before), len(request)),
        )
        sizes = [count(json.dumps(each, ensure_ascii=False)) for each in request]
        total += 0.1 * sum(sizes[:same]) + 1.25 * sum(sizes[same:])
        before = list(request)
    return total


def ask(python: str, what: str, given: Any) -> Any:
    """One process of theirs."""
    done = subprocess.run(
        [python, str(HERE), what], input=json.dumps(given).encode(), capture_output=True, check=True, timeout=600
    )
    return json.loads(done.stdout.decode().rpartition("\n")[2])


def make(kind: str, rng: random.Random) -> tuple[str, list[str]]:
    """A result, and the ids in it."""
    codes = [f"{rng.randrange(16**8):08X}-{rng.choice('QXZ')}{at}" for at in range(SIZES[kind])]
    match kind:
        case "records":
            rows = [
                {
                    "id": code,
                    "customer": f"C{rng.randrange(10**5)}",
                    "total": rng.randrange(10**4) / 100,
                    "state": rng.choice(["open", "paid"]),
                }
                for code in codes
            ]
            return json.dumps(rows), codes
        case "log":
            return "\n".join(
                f"2026-11-{1 + at % 28:02} 10:{at % 60:02} {rng.choice(['INFO', 'WARN'])} worker took order {code} in {rng.randrange(900)} ms"
                for at, code in enumerate(codes)
            ), codes
        case "page":
            return "\n".join(
                f'  - row "{code}" [ref=e{at}]: cell "{rng.randrange(10**4)} EUR", button "Open"'
                for at, code in enumerate(codes)
            ), codes
        case "source":
            return "\n".join(
                f"def load_{at}(value):\n    return fetch('{code}', value * {rng.randrange(99)})\n"
                for at, code in enumerate(codes)
            ), codes
        case _:
            return "\n".join(f"./orders/{code[:2]}/{code}.json" for code in codes), codes


SIZES = {"records": 300, "log": 2_000, "page": 400, "source": 120, "files": 300}
KINDS = tuple(SIZES)

if __name__ == "__main__":
    main(sys.argv[1])
