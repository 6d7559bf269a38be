"""`Workspace`, the frozen value a view is made of: goal, cover, register and notes, with the blocks of the cover.

The cover tiles the path: every step stands in exactly one block, in path order. A block is a raw step or a tile; what a workspace did not load,
because no budget would show it, is one `Older` block in front.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from ctxfold.errors import CorruptStore
from ctxfold.log.lines import Line, text_of
from ctxfold.workspace.forest import NOWHERE, Elsewhere
from ctxfold.workspace.guidance import Guidance
from ctxfold.workspace.intent import Intent

__all__ = [
    "Block",
    "Change",
    "Note",
    "Older",
    "Origin",
    "RawStep",
    "Status",
    "Tile",
    "Workspace",
    "dump_lines",
    "load_lines",
    "spans",
]

Status = Literal["completed", "partial", "failed"]
Origin = Literal["host", "model", "embedded"]


def spans(steps: Sequence[int]) -> str:
    """Step numbers in path order as addresses: `s4-s9`, `s3, s9-s12`."""
    runs: list[list[int]] = []
    for step in steps:
        if runs and step == runs[-1][1] + 1:
            runs[-1][1] = step
        else:
            runs.append([step, step])
    return ", ".join(f"s{first}" if first == last else f"s{first}-s{last}" for first, last in runs)


STANDING = ("user", "note")
"""The kinds of lines that outlive what surrounds them."""


class _Lined:
    """What holds lines. What is asked of all of them at every fold is gathered once a block."""

    lines: tuple[Line, ...]

    @cached_property
    def standing(self) -> tuple[Line, ...]:
        """The user's words and the findings among its lines: they outlive what surrounds them."""
        return tuple(line for line in self.lines if line.kind in STANDING)

    @cached_property
    def said(self) -> tuple[Line, ...]:
        """The user's words among its lines."""
        return tuple(line for line in self.lines if line.kind == "user")


@dataclass(frozen=True)
class RawStep(_Lined):
    """A step shown in full: every line of its full form.

    Attributes:
        n: the step.
        lines: its lines, those of late results that arrived at it included.
        raw: o200k tokens of its raw records.
        tokens: o200k tokens it costs in a view, header included.
        settled: whether it may be consolidated: its calls have answers or a later assistant step follows.
    """

    n: int
    lines: tuple[Line, ...]
    raw: int
    tokens: int
    settled: bool = True

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """The one step."""
        return (self.n,)


@dataclass(frozen=True, slots=True)
class Change:
    """A file or a record that calls changed: its path or id as they name it, and the first step that changed it with the newest, in path order."""

    name: str
    steps: tuple[int, ...]


HEADER = 3
"""Tokens a block's own header costs at most."""


@dataclass(frozen=True)
class Tile(_Lined):
    """What stands in the view for a stretch of steps that was folded.

    Attributes:
        number: its number in the session, never reused.
        steps: the steps it stands for, in path order.
        summary: prose that replaces them; empty when the kept lines say it all.
        lines: what was kept of them: the user's words, facts, calls.
        status: how the stretch ended, from evidence.
        origin: who wrote the summary.
        raw: o200k tokens of the raw records it stands for.
        tokens: o200k tokens it costs in a view.
        untrusted: whether any of it derives from a tool or a page.
        whole: whether every line of its steps still stands, because nothing could be shortened.
        children: the tiles it replaced.
        front: whether the summary stands in front of what was chosen of the steps, which a next consolidation chooses anew from the log.
        changed: what its steps changed, in the order of the newest change.
    """

    number: int
    steps: tuple[int, ...]
    summary: str
    lines: tuple[Line, ...]
    status: Status
    origin: Origin
    raw: int
    tokens: int
    untrusted: bool = False
    whole: bool = False
    children: tuple[int, ...] = ()
    front: bool = False
    changed: tuple[Change, ...] = ()

    @property
    def first(self) -> int:
        """The first step, in path order."""
        return self.steps[0]

    @property
    def last(self) -> int:
        """The last step, in path order."""
        return self.steps[-1]

    @property
    def scale(self) -> Literal["micro", "macro"]:
        """`micro` for one step (granular condensation), `macro` for several (deep consolidation). AgentFold, section 3."""
        return "micro" if len(self.steps) == 1 else "macro"

    @property
    def text(self) -> str:
        """The summary and the kept lines, as a view shows them."""
        return "\n".join(part for part in (self.summary, text_of(self.lines)) if part)

    @property
    def beside(self) -> tuple[str, ...]:
        """The addresses of results and calls of which something stands beside a written summary, because it is in use."""
        kept = (line.ref for line in self.lines if self.summary and line.kind in ("call", "data", "text"))
        return tuple(dict.fromkeys(kept))

    @property
    def id(self) -> str:
        """Its address, `b7`."""
        return f"b{self.number}"


@dataclass(frozen=True, slots=True)
class Older:
    """The oldest stretch of a path, in too many blocks for any budget to show: where it ends, and what it would cost. `raw`: o200k tokens of their raw records."""

    first: int
    last: int
    count: int
    raw: int


Block = RawStep | Tile


@dataclass(frozen=True, slots=True)
class Note:
    """Something said about the session rather than in it. The slot `goal` holds the goal first and its revisions after."""

    slot: Literal["goal"]
    text: str


NOTHING = Intent()
"""The intent of a session where nothing was planned."""
UNGUIDED = Guidance()
"""The guidance of a session where nothing was refactored."""


@dataclass(frozen=True)
class Workspace:
    """Everything a view needs, and nothing more.

    Attributes:
        path_length: how many steps the path has.
        older: what lies before the loaded blocks, if anything.
        words: the user's words and the findings of steps in `older`, in path order: they outlive what surrounds them.
        blocks: tiles and raw steps in path order.
        notes: the notes, oldest first.
        unfolded: o200k tokens the whole path would cost raw.
        intent: the to-do of this branch, the session's constraints and what was extracted last.
        elsewhere: what stands on other branches and topics.
        guidance: what refactorings left beside the cover: a thought, the key facts, superseded values.
    """

    path_length: int = 0
    older: Older | None = None
    words: tuple[Line, ...] = ()
    blocks: tuple[Block, ...] = ()
    notes: tuple[Note, ...] = ()
    unfolded: int = 0
    intent: Intent = NOTHING
    elsewhere: Elsewhere = NOWHERE
    guidance: Guidance = UNGUIDED

    @property
    def goal(self) -> str:
        """What the session is for; empty when nothing was said."""
        return next((note.text for note in self.notes), "")

    @property
    def revisions(self) -> tuple[str, ...]:
        """What replaced or narrowed the goal since, oldest first."""
        return tuple(note.text for note in self.notes)[1:]

    @property
    def latest(self) -> Block | None:
        """The last block of the path."""
        return self.blocks[-1] if self.blocks else None

    def holding(self, step: int) -> int | None:
        """Which of the blocks holds a step; None where none does. Along a path steps were recorded in the order of their numbers."""
        at = bisect_left(self.blocks, step, key=_last)
        return at if at < len(self.blocks) and step in self.blocks[at].steps else None

    @property
    def asked(self) -> str:
        """The user's last words among the newest blocks; empty where none stand there."""
        said = [line.text for block in self.blocks[-4:] for line in block.said]
        return said[-1] if said else ""

    @property
    def tokens(self) -> int:
        """o200k tokens of the blocks as they are settled."""
        return sum(block.tokens for block in self.blocks)


def _last(block: Block) -> int:
    return block.steps[-1]


def dump_lines(lines: Iterable[Line]) -> list[list[object]]:
    """Lines as JSON: all they hold, in order."""
    return [list(line) for line in lines]


def load_lines(tree: object) -> tuple[Line, ...]:
    """Lines from JSON made by `dump_lines`, or by version 0.1, whose lines held keys of facts. Raises CorruptStore when it is neither."""
    if not isinstance(tree, list):
        raise CorruptStore("rendered lines do not read back; restore a copy of the store")
    try:
        return tuple(_first_form(tree) if tree and len(tree[0]) == _FIRST_FORM else (_line(*parts) for parts in tree))
    except (TypeError, ValueError) as error:
        raise CorruptStore("rendered lines do not read back; restore a copy of the store") from error


def _line(kind: Any, ref: str, text: str, tokens: int, cuts: Any, *rest: Any) -> Line:
    depth, table, untrusted = rest
    return Line(kind, ref, text, tokens, tuple(cuts), depth, table, untrusted)


_FIRST_FORM = 7
"""Parts of a line as version 0.1 kept it: keys of facts, pointers, and two marks as one number."""


def _first_form(tree: list[Any]) -> list[Line]:
    """Lines of version 0.1, those that stood behind each other as one."""
    made: list[Line] = []
    joined = False
    for kind, ref, text, tokens, _, _, marks in tree:
        before = made[-1] if made else None
        if before is not None and marks & 2 and before.kind == kind and (before.ref == ref or kind == "call"):
            seam = " " if before.text.endswith(":") or (kind == "call" and not joined) else "; "
            made[-1] = before._replace(text=before.text + seam + text.lstrip("<> "), tokens=before.tokens + tokens)
        else:
            made.append(Line(kind, ref, text, tokens, untrusted=bool(marks & 1)))
        joined = bool(marks & 2)
    return made
