"""The frozen values of a view: steps and tiles, the register, notes, guidance, other branches."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from pydantic import BaseModel, Field

from ctxfold.log.lines import Line, text_of

Decider = Literal["host", "model", "embedded"]
"""`host`: the host's model or a person; `model`: a model that we asked; `embedded`: deterministic code, offline."""


@dataclass(frozen=True, slots=True)
class By:
    """Who made a decision, and why. No rule reads the reason: it is for readers of the history."""

    decider: Decider = "host"
    reason: str = ""

    @property
    def author(self) -> Literal["host", "model"]:
        """Who wrote a text; a person counts as the host."""
        return "model" if self.decider == "model" else "host"


Action = Literal["continue", "create", "switch", "new_topic", "rename"]
Slot = Literal["thought", "key_info"]
"""`thought`: advice for the next steps, in a sentence or two. `key_info`: facts that must not be overlooked."""
State = Literal["open", "done", "dropped"]
Status = Literal["completed", "partial", "failed"]
Origin = Literal["host", "model", "embedded"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the user with its ref, and its outcome.

    `reply`: the start of the answer, to compare by; `gist`: a short form of it for views, fenced if a page said it.
    """

    steps: tuple[int, ...]
    said: str
    ref: str
    reply: str = ""
    gist: str = ""


@dataclass(frozen=True, slots=True)
class BranchSummary:
    """The newest turns of a branch that are on no other branch, in path order.

    `forked_at`: the last step it shares; `earlier`: refs of its steps before those turns; `visited`: its last event.
    """

    branch: str
    topic: str
    forked_at: int
    turns: tuple[Turn, ...]
    earlier: str = ""
    visited: int = 0


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The other branches: those of the topic, then those of other topics. Each turn is on one of them alone."""

    branch: str = ""
    topic: str = ""
    branches: tuple[BranchSummary, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether the other branches hold nothing."""
        return not any(each.turns for each in self.branches)


@dataclass(frozen=True, slots=True)
class ForestView:
    """What a decider is shown: the turns of the active path, oldest first, and the other branches."""

    path: tuple[Turn, ...]
    elsewhere: Elsewhere


@dataclass(frozen=True, slots=True)
class Pin:
    """A note that a refactoring added when the path had `depth` steps."""

    slot: Slot
    text: str
    depth: int
    untrusted: bool = False


@dataclass(frozen=True, slots=True)
class Superseded:
    """A value that a newer one replaced. `by`: the record of the new value."""

    was: str
    now: str
    by: str


THOUGHT = 8
"""Steps for which a thought is shown: it is advice for the next steps."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """All that refactorings left on a branch. `depths`: their tiles, each with the number of refactorings inside it."""

    thought: Pin | None = None
    key_info: Pin | None = None
    superseded: tuple[Superseded, ...] = ()
    depths: tuple[tuple[int, int], ...] = ()
    made: int = 0

    def at(self, path_length: int) -> Guidance:
        """Return the guidance for a path of so many steps, without a thought that is too old."""
        over = self.thought is not None and path_length - self.thought.depth >= THOUGHT
        return replace(self, thought=None) if over else self


@dataclass(frozen=True, slots=True)
class Item:
    """An item of the to-do, `t3` on its branch.

    `ref`: the record of its words, else the step it was written at; `evidence`: the refs given for its states, oldest
    first; `untrusted`: its words come from a tool or a page.
    """

    id: str
    text: str
    state: State = "open"
    ref: str = ""
    evidence: tuple[str, ...] = ()
    untrusted: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """A constraint or a decision: it holds until it is superseded or lifted. `ref`, `untrusted` as in `Item`.

    `id`: of a constraint in the session, `c4`; of a decision on its branch, `d2`; of a finding its ref.
    """

    id: str
    text: str
    ref: str = ""
    superseded_by: str | None = None
    lifted: bool = False
    untrusted: bool = False

    @property
    def holds(self) -> bool:
        """Whether it is in force."""
        return self.superseded_by is None and not self.lifted


class Constraint(Statement):
    """A bound on everything that is done, on every branch."""


class SettledDecision(Statement):
    """A choice that was settled on this branch and need not be asked again."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The dialogue so far, as a host or a model summed it up; `untrusted` as in `Item`."""

    text: str = ""
    untrusted: bool = False


@dataclass(frozen=True, slots=True)
class Extract:
    """Lines of a record that serve the intent.

    `text`: as `recall` gives it for the ref; with `part`, a slice of it, since a line is too long. `facts`: strings
    that were pointed out, each a slice of `text`; `constraints`: bounds that the lines state or imply. `todo`: the
    item they serve, if one was named.
    """

    ref: str
    text: str
    why: str = ""
    todo: str | None = None
    facts: tuple[str, ...] = ()
    untrusted: bool = False
    part: bool = False
    constraints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """The lines that one extraction brought, and an account of its selections.

    Attributes:
        extracts: the lines that the view shows from now on.
        hint: advice for the next act.
        counts: how many selections were mended, merged, cut, refused or left out, and how many facts were deleted.
        omitted: refs that were chosen and left out, with the reason.
        tokens: o200k tokens of the extracts.
        read: how many records of the session models have read; `unread`: refs of new lines that none was shown.
    """

    extracts: tuple[Extract, ...]
    need: str = ""
    hint: str = ""
    counts: tuple[tuple[str, int], ...] = ()
    omitted: tuple[str, ...] = ()
    tokens: int = 0
    read: int = 0
    unread: str = ""


@dataclass(frozen=True, slots=True)
class Intent:
    """The register: to-do and decisions of this branch, constraints of every branch, the newest summary of the dialogue
    and extraction. `read`: the last record that a plan had read, as (step, number in it).
    """

    items: tuple[Item, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    decisions: tuple[SettledDecision, ...] = ()
    told: Summary = Summary()
    extraction: Extraction | None = None
    read: tuple[int, int] = (0, 0)

    @property
    def summary(self) -> str:
        """The newest summary of the dialogue; empty if nobody wrote one."""
        return self.told.text

    @property
    def open(self) -> tuple[Item, ...]:
        """The items that are not done."""
        return tuple(item for item in self.items if item.state == "open")

    @property
    def binding(self) -> tuple[Constraint, ...]:
        """The constraints that hold."""
        return tuple(each for each in self.constraints if each.holds)

    @property
    def lifted(self) -> frozenset[str]:
        """The refs of findings that no longer hold."""
        return frozenset(each.id for each in self.decisions if not (each.holds or number_of(each.id)))

    @property
    def extracts(self) -> tuple[Extract, ...]:
        """The lines of the newest extraction, without those that serve a closed item."""
        needed = (None, *(item.id for item in self.open))
        return tuple(each for each in (self.extraction.extracts if self.extraction else ()) if each.todo in needed)

    @property
    def empty(self) -> bool:
        """Whether a view shows nothing of it."""
        return not (self.items or self.constraints or self.decisions or self.told.text or self.extracts)


@dataclass(frozen=True, slots=True)
class IntentChange:
    """The decision of a plan: new and changed values, whole. No `told` keeps the summary; `order` lists all ids."""

    items: tuple[Item, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    decisions: tuple[SettledDecision, ...] = ()
    told: Summary | None = None
    read: tuple[int, int] = (0, 0)
    order: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether it changes nothing."""
        return not (self.items or self.constraints or self.decisions or self.order) and self.told is None


def number_of(name: str) -> int:
    """Return the number in an id such as `t3`; 0 for the ref of a finding."""
    return int(name[1:]) if name[1:].isdecimal() else 0


STANDING = ("user", "note")
"""The kinds of lines that a view shows even of steps that it does not: the user's words and findings."""


class _Lined:
    """Holds lines, and collects those that every fold asks for once."""

    lines: tuple[Line, ...]

    @cached_property
    def standing(self) -> tuple[Line, ...]:
        """The user's words and the findings among its lines."""
        return tuple(line for line in self.lines if line.kind in STANDING)

    @cached_property
    def said(self) -> tuple[Line, ...]:
        """The user's words among its lines."""
        return tuple(line for line in self.lines if line.kind == "user")


@dataclass(frozen=True)
class RawStep(_Lined):
    """A step shown in full: every line of its full form.

    Attributes:
        lines: its lines, with those of late results that are shown in it.
        raw: o200k tokens of its raw records.
        tokens: its cost in a view in o200k tokens, header included.
        settled: whether it may be folded: its calls have results, or a later assistant step follows.
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
    """A file or a record that calls changed: its path or id, and the first and the newest step that changed it."""

    name: str
    steps: tuple[int, ...]


class MemoryParts(BaseModel, frozen=True, extra="forbid"):
    """What the next reader must know of the past, in nine parts; a part that holds nothing is empty."""

    wanted: str = Field(default="", description="What the user is after now, how that changed, what is owed to them.")
    laid_down: str = Field(default="", description="Rules and wishes of the user in force, in their own words.")
    state: str = Field(
        default="", description="Each file, record or page that changed: its value now, then the earlier ones."
    )
    decided: str = Field(default="", description="Decisions with their reasons, and what was rejected.")
    failed: str = Field(default="", description="Failures: the exact message and how it ended; wrong explanations.")
    said: str = Field(
        default="", description="What was explained, proposed, promised or asked: the content, point by point."
    )
    facts: str = Field(default="", description="Ids, values, names, commands and paths, bound to what they belong to.")
    open: str = Field(default="", description="What is not done, not yet seen to hold, or not yet told to the user.")
    next: str = Field(default="", description="The next action with its arguments, and what limits it.")


class Memory(MemoryParts, frozen=True, extra="forbid"):
    """A memory as it is kept. `report`: the text of somebody who wrote no parts, such as a host's own summary."""

    report: str = ""

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """The parts that hold something, each with its heading, in order; without the report."""
        every = ((name, getattr(self, name).strip()) for name in MemoryParts.model_fields)
        return tuple((name.replace("_", " "), text) for name, text in every if text)

    @property
    def text(self) -> str:
        """The text of all parts and of the report."""
        return "\n".join([*(text for _, text in self.parts), self.report]).strip()


HEADER = 3
"""o200k tokens of a block's own header at most."""


@dataclass(frozen=True)
class Tile(_Lined):
    """The short form of folded steps in a view.

    Attributes:
        summary: prose that replaces its steps; empty if the kept lines say it all.
        lines: the lines that were kept: the user's words, facts, calls.
        status: how the steps ended, as their author says, else from evidence.
        goal, outcome: what they were for and what came of them; empty if nobody said so.
        todo: the item of the to-do that they served; empty if none is known.
        origin: who wrote the summary.
        raw: o200k tokens of the raw records of its steps; `tokens` is its cost in a view.
        whole: whether it keeps every line of its steps, because nothing could be shortened.
        changed: the files and records that its steps changed, in the order of the newest change.
        memory: what somebody wrote about the past up to its last step, if the tile is the memory of the path.
        as_of: the latest step that the author of the memory had read.
        fresh: o200k tokens of the raw records of its steps after that one.
        marks: the values of the summary that the log lacks, which are marked in it.
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
    changed: tuple[Change, ...] = ()
    memory: Memory | None = None
    as_of: int = 0
    fresh: int = 0
    marks: tuple[str, ...] = ()
    goal: str = ""
    outcome: str = ""
    todo: str = ""

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
        """`micro` for one step (granular condensation), `macro` for several (deep consolidation); AgentFold."""
        return "micro" if len(self.steps) == 1 else "macro"

    @property
    def text(self) -> str:
        """The summary and the kept lines, as a view shows them."""
        return "\n".join(part for part in (self.summary, text_of(self.lines)) if part)

    @property
    def id(self) -> str:
        """Its address, `b7`."""
        return f"b{self.number}"


@dataclass(frozen=True, slots=True)
class Older:
    """The oldest steps of a path, which are not loaded, since no budget would show them; `raw` in o200k tokens."""

    first: int
    last: int
    count: int
    raw: int


Block = RawStep | Tile


@dataclass(frozen=True)
class Workspace:
    """Everything a view needs, and nothing more.

    Attributes:
        path_length: the number of steps of the path.
        older: the steps before the loaded blocks, if any.
        words: the user's words and the findings of steps in `older`, in path order.
        blocks: tiles and raw steps in path order.
        goals: the goal, then its revisions.
        unfolded: the raw cost of the whole path in o200k tokens.
        intent: the register.
        guidance: a thought, key facts and superseded values that refactorings added.
    """

    path_length: int = 0
    older: Older | None = None
    words: tuple[Line, ...] = ()
    blocks: tuple[Block, ...] = ()
    goals: tuple[str, ...] = ()
    unfolded: int = 0
    intent: Intent = Intent()
    elsewhere: Elsewhere = Elsewhere()
    guidance: Guidance = Guidance()

    @property
    def goal(self) -> str:
        """The first goal of the session; empty without one."""
        return next(iter(self.goals), "")

    @property
    def latest(self) -> Block | None:
        """The last block of the path."""
        return self.blocks[-1] if self.blocks else None

    def holding(self, step: int) -> int | None:
        """Return the index of the block that holds a step. Steps along a path have growing numbers."""
        at = bisect_left(self.blocks, step, key=lambda block: block.steps[-1])
        return at if at < len(self.blocks) and step in self.blocks[at].steps else None

    def covering(self, steps: Iterable[int]) -> list[Block]:
        """Return the blocks that hold any of these steps."""
        inside = set(steps)
        return [block for block in self.blocks if not inside.isdisjoint(block.steps)]

    @property
    def asked(self) -> str:
        """The user's last words among the newest blocks; empty if there are none."""
        said = [line.text for block in self.blocks[-4:] for line in block.said]
        return said[-1] if said else ""

    @property
    def tokens(self) -> int:
        """o200k tokens of the blocks."""
        return sum(block.tokens for block in self.blocks)
