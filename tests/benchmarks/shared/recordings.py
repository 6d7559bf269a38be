"""Recorded agent sessions: read from gzipped files, joined end to end, and replayed into a `Session`.

A file has one JSON object a line:

    {"id", "system", "events": [{"role": "user" | "assistant" | "tool", "text", "calls"?: [{"id", "name", "args"}],
     "call_id"?}], "checkpoints"?: [what the last reply must say]}
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ctxfold import Session


@dataclass(frozen=True)
class RecordedCall:
    """One call of a tool."""

    id: str
    name: str
    args: Any


@dataclass(frozen=True)
class RecordedEvent:
    """One event: a user's message, an assistant's message with its calls, or the result of a call."""

    role: str
    text: str
    calls: tuple[RecordedCall, ...] = ()
    call_id: str = ""

    @cached_property
    def body(self) -> str:
        """The text, then each call with its arguments on a line of its own."""
        called = (f"\n{call.name}({json.dumps(call.args, ensure_ascii=False)})" for call in self.calls)
        return self.text + "".join(called)

    @cached_property
    def lowered(self) -> str:
        """The body in lower case."""
        return self.body.lower()


@dataclass(frozen=True)
class Recording:
    """One recorded session."""

    id: str
    system: str
    events: tuple[RecordedEvent, ...]
    checkpoints: tuple[str, ...] = ()

    @property
    def calling(self) -> list[int]:
        """The places of the events that make calls."""
        return [at for at, event in enumerate(self.events) if event.role == "assistant" and event.calls]


def find_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files among `paths`, and the recordings in each folder among them."""
    return [file for path in paths for file in (sorted(path.glob("*.jsonl.gz")) if path.is_dir() else [path])]


def read_recordings(path: Path) -> list[Recording]:
    """Read the sessions of one file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [_read_recording(json.loads(line)) for line in lines]


def _read_recording(row: dict[str, Any]) -> Recording:
    events = tuple(
        RecordedEvent(
            event["role"],
            event.get("text") or "",
            tuple(RecordedCall(call.get("id") or "c", call["name"], call["args"]) for call in event.get("calls", ())),
            event.get("call_id") or "",
        )
        for event in row["events"]
    )
    return Recording(row["id"], row["system"], events, tuple(row.get("checkpoints", ())))


def join_recordings(recordings: Sequence[Recording]) -> Recording:
    """Join sessions end to end into one, under the first one's system prompt."""
    events = tuple(event for recording in recordings for event in recording.events)
    return Recording(f"{len(recordings)} joined", recordings[0].system, events)


class Replay:
    """Records a recording into a session, event by event, as a driver would.

    Args:
        session: the session that records.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._calling: RecordedEvent | None = None
        self._results: list[dict[str, str]] = []
        self._step = 0

    def add(self, event: RecordedEvent) -> None:
        """Take in an event. A call is recorded once its results, which follow it, are complete."""
        if event.role == "tool" and self._calling is not None:
            ids = [call.id for call in self._calling.calls]
            place = min(len(self._results), len(ids) - 1)
            self._results.append({"id": event.call_id if event.call_id in ids else ids[place], "text": event.text})
            return
        self.settle()
        if event.role == "user":
            self.session.record_turn(user=event.text)
        elif event.role == "tool":
            self.session.record_result(self._step, event.call_id or "late", event.text)
        elif event.calls:
            self._calling = event
        else:
            self.session.record_reply(event.text)

    def settle(self) -> None:
        """Record the call that waits for results, with those that came."""
        if self._calling is None:
            return
        calls = [{"name": call.name, "args": call.args, "id": call.id} for call in self._calling.calls]
        self._step = self.session.record_step(self._calling.text, calls, self._results).step
        self._calling, self._results = None, []
