"""The values of the log: steps and their raw records.

A *step* is one assistant message with what it called and got; a user message opens a step. A *record* is one raw entry of a step,
addressed `s12.2` by its step and its place in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

__all__ = ["KINDS", "UNTRUSTED", "Call", "Kind", "Origin", "Record", "Step"]

Kind = Literal["user", "assistant", "call", "result", "note"]
Origin = Literal["user", "model", "tool", "page"]

KINDS: tuple[Kind, ...] = get_args(Kind)
UNTRUSTED: frozenset[Origin] = frozenset({"tool", "page"})
"""Origins whose text is data: it is marked in every view, and in every summary made from it."""


@dataclass(frozen=True, slots=True)
class Record:
    """One raw entry of a step.

    Attributes:
        step: the step it belongs to.
        k: its place in the step, from 1; `s{step}.{k}` is its address.
        kind: what sort of entry it is.
        origin: who it came from.
        text: the exact text. A call is the JSON of its name and arguments.
        call_id: the caller's id of a call or of the call a result answers; hosts reuse ids, so only (step, call_id) names a call.
        at: the step under which it is shown; another than `step` for a result that came late.
        shown: the shorter form given by whoever recorded it, if any.
        call: of a result that does not stand behind its call, that call's number among those of its step, from 1; 0 where nobody need count.
    """

    step: int
    k: int
    kind: Kind
    origin: Origin
    text: str
    call_id: str | None = None
    at: int = 0
    shown: str | None = None
    call: int = 0

    @property
    def ref(self) -> str:
        """Its address, `s12.2`."""
        return f"s{self.step}.{self.k}"

    @property
    def late(self) -> bool:
        """Whether it arrived after later steps had been recorded."""
        return self.at not in (0, self.step)

    @property
    def untrusted(self) -> bool:
        """Whether its text came from a tool or a page."""
        return self.origin in UNTRUSTED


@dataclass(frozen=True, slots=True)
class Call:
    """What an assistant asked for: a tool's name, its arguments and the caller's id for it."""

    name: str
    args: Any
    id: str


@dataclass(frozen=True, slots=True)
class Step:
    """One node of the log's tree.

    Attributes:
        n: its number, global to the session and never reused.
        parent: the step before it on its path; 0 for the first step of a topic.
        lane: the unbranched chain it lies on; only a fork begins a new one.
        depth: its place on its path, from 1.
        open: whether it holds user words only and waits for the assistant.
        tokens: o200k tokens of its full form.
        raw: o200k tokens of its raw records.
        upto: tokens of the full forms of the path up to and with it.
        raw_upto: the same for the raw records.
        time: when it was opened, seconds since 1970.
    """

    n: int
    parent: int
    lane: int
    depth: int
    open: bool
    tokens: int
    raw: int
    upto: int
    raw_upto: int
    time: float
