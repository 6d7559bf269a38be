"""Records, steps, refs, and the full form of a record as lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from ctxfold.errors import RefError

Kind = Literal["user", "assistant", "call", "result", "note"]
Origin = Literal["user", "model", "tool", "page"]

UNTRUSTED: frozenset[Origin] = frozenset({"tool", "page"})
"""Origins that give data: their text is marked in every view, and in every summary made from it."""


@dataclass(frozen=True, slots=True)
class Record:
    """One raw entry of a step.

    Attributes:
        step: the step it belongs to.
        k: its place in the step, from 1; `s{step}.{k}` is its address.
        kind: what sort of entry it is.
        origin: who it came from.
        text: the exact text. A call is the JSON of its name and arguments.
        call_id: the caller's id of a call, or of the call that a result answers. Hosts reuse ids: only (step, call_id)
            names a call.
        at: the step under which it is shown; another than `step` for a result that came late.
        shown: the shorter form given by whoever recorded it, if any.
        call: for a result that does not follow its call, that call's number in its step, from 1; else 0.
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


@dataclass(frozen=True, slots=True)
class StepRef:
    """One step, all its records: `s12`."""

    step: int

    def __str__(self) -> str:
        return f"s{self.step}"


@dataclass(frozen=True, slots=True)
class RecordRef:
    """One raw record: `s12.2`."""

    step: int
    record: int

    def __str__(self) -> str:
        return f"s{self.step}.{self.record}"


@dataclass(frozen=True, slots=True)
class RangeRef:
    """Lines `first` to `last`, 1-based and inclusive, of a record's line form: `s12.2:40-80`.

    `record` is None for `s12:40-80`, which means the one result of the step.
    """

    step: int
    record: int | None
    first: int
    last: int

    def __str__(self) -> str:
        record = "" if self.record is None else f".{self.record}"
        return f"s{self.step}{record}:{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class StretchRef:
    """A stretch of the log by step numbers, both ends included: `s4-s9`."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"s{self.first}-s{self.last}"


@dataclass(frozen=True, slots=True)
class BlockRef:
    """A folded tile: `b7`."""

    block: int

    def __str__(self) -> str:
        return f"b{self.block}"


Ref = StepRef | RecordRef
"""The address that recording returns."""
Address = StepRef | RecordRef | RangeRef | StretchRef | BlockRef
"""Whatever can be recalled."""

_NUMBER = r"[1-9][0-9]{0,11}"
_GRAMMAR = re.compile(
    rf"""b(?P<block>{_NUMBER})
      | s(?P<from>{_NUMBER})-s?(?P<to>{_NUMBER})
      | s(?P<step>{_NUMBER})(?:\.(?P<record>[1-9]\d{{0,5}}))?(?: :(?P<first>{_NUMBER})(?:-(?P<last>{_NUMBER}))?)?""",
    re.VERBOSE,
)
_STEP = re.compile(rf"s?({_NUMBER})")
_HOW = "use s12 (a step), s12.2 (a record), s12.2:40-80 (lines), s4-s9 (a stretch) or b7 (a block)"


def parse_ref(text: str | Ref) -> Address:
    """Read an address. Blanks around it are allowed.

    Raises RefError: not an address, or one that ends before it begins.
    """
    if isinstance(text, (StepRef, RecordRef)):
        return text
    if not isinstance(text, str):
        raise RefError(f"a ref is text, not {type(text).__name__}; {_HOW}")
    parts = _GRAMMAR.fullmatch(text.strip())
    if parts is None:
        raise RefError(f"{_quote(text)} is not a ref; {_HOW}")
    match {name: int(number) for name, number in parts.groupdict().items() if number}:
        case {"block": block}:
            return BlockRef(block)
        case {"from": first, "to": last}:
            ref: StretchRef | RangeRef = StretchRef(first, last)
        case {"step": step, "first": first, **rest}:
            ref = RangeRef(step, rest.get("record"), first, rest.get("last", first))
        case {"step": step, "record": record}:
            return RecordRef(step, record)
        case numbers:
            return StepRef(numbers["step"])
    if ref.last < ref.first:
        raise RefError(f"{_quote(text)} ends before it begins; write the lower number first")
    return ref


def parse_step(at: int | str | Ref) -> int:
    """The step number of `12`, `"12"`, `"s12"` or what recording returned. Raises RefError for anything else."""
    if isinstance(at, (StepRef, RecordRef)):
        return at.step
    found = _STEP.fullmatch(str(at).strip())
    if found is None:
        raise RefError(f"{_quote(str(at))} does not name one step; use the form s12")
    return int(found[1])


def place_of(ref: str) -> tuple[int, int]:
    """The step and the record where an address begins: record 0 if it names none, (0, 0) for a block or no address."""
    parts = _GRAMMAR.fullmatch(ref)
    return (int(parts["step"] or parts["from"] or 0), int(parts["record"] or 0)) if parts else (0, 0)


def _quote(words: str) -> str:
    """A wrong argument as an error shows it."""
    return repr(words if len(words) <= 40 else words[:37] + "...")


def runs_of(steps: Sequence[int]) -> list[list[int]]:
    """Return step numbers as runs, each its first and last number."""
    groups = groupby(enumerate(steps), lambda placed: placed[1] - placed[0])
    return [[run[0][1], run[-1][1]] for run in (list(group) for _, group in groups)]


def spans(steps: Sequence[int]) -> str:
    """Return step numbers in path order as refs: `s4-s9`, `s3, s9-s12`."""
    return ", ".join(f"s{first}" if first == last else f"s{first}-s{last}" for first, last in runs_of(steps))
