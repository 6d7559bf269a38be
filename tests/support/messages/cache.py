"""The prompt cache of a Messages API server, in account only: what a request would read, write and pay in full.

A breakpoint makes the server keep the prefix that ends there, and look for kept prefixes there and up to twenty blocks before.
Nothing is stored but digests; entries do not expire here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ctxfold.tokens import count
from tests.support.messages.rules import MessagesRequest

__all__ = ["Charge", "PrefixCache", "digests"]

LOOK_BACK = 20
"""How many blocks before a breakpoint a kept prefix is looked for."""

LEAST = 512
"""The shortest prefix, in tokens, that is kept."""


@dataclass(frozen=True, slots=True)
class Charge:
    """How the prompt of one request is charged, in tokens."""

    input: int
    cache_read: int
    cache_write: int


@dataclass(frozen=True, slots=True)
class _Segment:
    """One tool or block, in the order of the prompt: what it says, what it costs, whether a breakpoint stands on it."""

    text: str
    tokens: int
    marked: bool


class PrefixCache:
    """The prefixes kept so far, for each model."""

    def __init__(self) -> None:
        self._kept: dict[str, set[str]] = {}

    def charge(self, request: MessagesRequest) -> Charge:
        """Account for a request and keep the prefixes it marks."""
        segments = list(_segments(request))
        prefixes = digests([segment.text for segment in segments])
        ends = _running([segment.tokens for segment in segments])
        kept = self._kept.setdefault(request.model, set())
        marked = [at for at, segment in enumerate(segments) if segment.marked and ends[at] >= LEAST]
        hits = [at for mark in marked for at in range(max(mark - LOOK_BACK, 0), mark + 1) if prefixes[at] in kept]
        read = ends[max(hits)] if hits else 0
        written = max((ends[at] for at in marked), default=0)
        kept.update(prefixes[at] for at in marked)
        total = ends[-1]
        return Charge(input=total - max(read, written), cache_read=read, cache_write=max(written - read, 0))


def digests(texts: list[str]) -> list[str]:
    """The digest of each prefix of `texts`."""
    running, found = hashlib.sha256(), []
    for text in texts:
        running.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
        found.append(running.copy().hexdigest())
    return found


def _segments(request: MessagesRequest) -> Iterator[_Segment]:
    for tool in request.tools:
        yield _segment("tool", tool.model_dump(), tool.cache_control is not None)
    for text in request.system_blocks:
        yield _segment("system", text.model_dump(), text.cache_control is not None)
    everything = [(turn.role, block) for turn in request.messages for block in turn.blocks]
    for at, (role, block) in enumerate(everything):
        automatic = request.cache_control is not None and at == len(everything) - 1
        yield _segment(role, block.model_dump(), automatic or getattr(block, "cache_control", None) is not None)


def _segment(place: str, part: dict[str, Any], marked: bool) -> _Segment:
    part.pop("cache_control", None)
    words = part["text"] if part.get("type") == "text" else json.dumps(part, sort_keys=True)
    return _Segment(text=f"{place}\n{json.dumps(part, sort_keys=True)}", tokens=count(words), marked=marked)


def _running(numbers: list[int]) -> list[int]:
    total, sums = 0, []
    for number in numbers:
        total += number
        sums.append(total)
    return sums
