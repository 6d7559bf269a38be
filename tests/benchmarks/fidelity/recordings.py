"""Recorded sessions of agents, as the board replays them: one JSON object a line, in a gzipped file.

::

    {"id": "…", "system": "…", "events": [
        {"role": "user" | "assistant" | "tool", "text": "…", "calls": [{"id", "name", "args"}], "call_id": "…"}], "checkpoints": ["…"]}

`checkpoints`, which may be left out, are what the last reply must say.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

__all__ = ["Call", "Heard", "Recording", "files", "read"]


@dataclass(frozen=True)
class Call:
    """One call of a tool."""

    id: str
    name: str
    args: Any


@dataclass(frozen=True)
class Heard:
    """One event: what somebody said, called or answered."""

    role: str
    text: str
    calls: tuple[Call, ...] = ()
    call_id: str = ""

    @cached_property
    def body(self) -> str:
        """All of it as text: what was said, then each call with its arguments."""
        called = (f"\n{call.name}({json.dumps(call.args, ensure_ascii=False)})" for call in self.calls)
        return self.text + "".join(called)

    @cached_property
    def lowered(self) -> str:
        """The body in small letters."""
        return self.body.lower()


@dataclass(frozen=True)
class Recording:
    """One recorded session."""

    id: str
    system: str
    events: tuple[Heard, ...]
    checkpoints: tuple[str, ...] = ()

    @property
    def calling(self) -> list[int]:
        """The places of the events that call something."""
        return [at for at, event in enumerate(self.events) if event.role == "assistant" and event.calls]


def read(path: Path) -> list[Recording]:
    """The sessions of one file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [_recording(json.loads(line)) for line in lines]


def _recording(row: dict[str, Any]) -> Recording:
    events = tuple(_heard(event) for event in row["events"])
    return Recording(row["id"], row["system"], events, tuple(row.get("checkpoints", ())))


def _heard(event: dict[str, Any]) -> Heard:
    calls = tuple(Call(call.get("id") or "c", call["name"], call["args"]) for call in event.get("calls", ()))
    return Heard(event["role"], event.get("text") or "", calls, event.get("call_id") or "")


def files(given: list[Path]) -> list[Path]:
    """The files named, and those of the folders named."""
    found: list[Path] = []
    for path in given:
        found.extend(sorted(path.glob("*.jsonl.gz")) if path.is_dir() else [path])
    return found
