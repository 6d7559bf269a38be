"""Scripted decisions of the kinds that models give, and what their prompts cost by the account of a prefix cache."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from browser_agent.actions import Outcome
from ctxfold.messages.apis import CACHE_MARK
from ctxfold.models import Reply, Request, Usage
from ctxfold.models.anthropic import body
from ctxfold.tokens import count
from tests.support.messages.cache import PrefixCache
from tests.support.messages.rules import checked

__all__ = ["STREAMS", "Bill", "Priced", "append_only", "decisions"]

READ, WRITE, OUT = 0.05, 1.25, 5.0
"""Prices beside that of a token read in full."""

_STATM = Path("/proc/self/statm")

STREAMS = ("folds", "every", "none")
"""`folds`: two of three steps folded, and each twentieth several at once; `every`: each step folded; `none`: no fold at all."""


@dataclass
class Bill:
    """What the requests of one run cost, in tokens read in full; `rewritten`: how many did not read all that the one before had put into the cache."""

    requests: list[int] = field(default_factory=list)
    read: int = 0
    written: int = 0
    full: int = 0
    output: int = 0
    cache: PrefixCache = field(default_factory=PrefixCache)
    rewritten: int = 0
    _kept: int = 0

    def add(self, sent: Mapping[str, Any], said: int) -> Usage:
        """Charge one request, and what was said to it."""
        charge = self.cache.charge(checked(dict(sent), counting=False))
        self.rewritten += charge.cache_read < self._kept
        self._kept = charge.cache_read + charge.cache_write
        self.requests.append(charge.input + charge.cache_read + charge.cache_write)
        self.read += charge.cache_read
        self.written += charge.cache_write
        self.full += charge.input
        self.output += said
        return Usage(charge.input, said, charge.cache_read, charge.cache_write)

    @property
    def cost(self) -> float:
        """All of it."""
        return self.full + READ * self.read + WRITE * self.written + OUT * self.output


def decisions(stream: str, urls: Sequence[str], steps: int) -> list[dict[str, Any]]:
    """One decision a step: a page is opened, searched, read and looked at again; then the next. The last gives up."""
    made: list[dict[str, Any]] = []
    begun, before = 1, ""
    for at in range(steps - 1):
        url = urls[at // 4 % len(urls)]
        action = (
            {"kind": "navigate", "url": url},
            {"kind": "find", "query": "default"},
            {"kind": "read", "page": 1},
            {"kind": "scroll", "direction": "bottom"},
        )[at % 4]
        name = url.partition("//")[2].partition("/")[2]
        decision: dict[str, Any] = {
            "thought": f"Look at {name}, part {at % 4 + 1}, for what was asked.",
            "actions": [action],
        }
        if at and stream == "folds" and at % 20 == 0:
            decision["fold"] = {
                "summary": f"Looked through the pages up to {before}; none of them answers.",
                "first_step": begun,
            }
            begun = at + 1
        elif at and (stream == "every" or (stream == "folds" and at % 3)):
            decision["fold"] = {"summary": f"Looked at {before}: it tells of its defaults, and not of what was asked."}
        made.append(decision)
        before = name
    return [*made, {"thought": "Seen enough.", "actions": [{"kind": "give_up", "reason": "the script ends here"}]}]


class Priced:
    """A model that decides by a script and keeps a bill of what it is asked."""

    name = "script:priced"

    def __init__(self, script: Sequence[dict[str, Any]]) -> None:
        self.bill = Bill()
        self.first: Request | None = None
        self.resident: list[int] = []
        self._left = iter(script)

    async def decide(self, request: Request) -> Reply:
        """The next decision."""
        self.first = self.first or request
        decision = next(self._left)
        self.resident.append(_resident())
        usage = self.bill.add(body("claude-priced", request), count(json.dumps(decision)))
        return Reply(arguments=decision, usage=usage, model=self.name)


def _resident() -> int:
    """Pages of memory that this process has."""
    return int(_STATM.read_text().split()[1])


def append_only(first: Request, script: Sequence[dict[str, Any]], outcomes: Sequence[Outcome]) -> Bill:
    """The same run with each lean page appended and nothing folded: the whole past is kept for the cache."""
    bill, blocks = Bill(), [{"type": "text", "text": first.messages[0]["content"][0]["text"]}]
    opening = body("claude-priced", first)
    for at, decision in enumerate(script):
        lean = {key: value for key, value in decision.items() if key != "fold"}
        marked = [*blocks[:-1], {**blocks[-1], **CACHE_MARK}]
        bill.add({**opening, "messages": [{"role": "user", "content": marked}]}, count(json.dumps(lean)))
        page = outcomes[at].observation if at < len(outcomes) else None
        said = "\n".join((json.dumps(lean), page.text if page is not None else ""))
        blocks.append({"type": "text", "text": said})
    return bill
