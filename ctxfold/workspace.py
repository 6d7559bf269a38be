"""The frozen values: tiles, steps, register, notes, branches."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal

from ctxfold.errors import CorruptStore
from ctxfold.log.lines import KEY_INFO, SUPERSEDED, THINKING, Line, text_of, unposed
from ctxfold.tokens import count, head

Decider = Literal["host", "model", "embedded"]
"""`host`: the host's model, or a person, through a call; `model`: one that we asked; `embedded`: a deterministic decider, offline."""


@dataclass(frozen=True, slots=True)
class By:
    """Who made a decision, and why in a few words. No rule reads the reason: it is for whoever reads the history."""

    decider: Decider = "host"
    reason: str = ""


Action = Literal["continue", "create", "switch", "new_topic", "rename"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the user, whole and with its address, and what came of it.

    `reply`: what the assistant said first, to compare by, never shown; `gist`: a short form as a view shows it, marked where it is not to be trusted.
    """

    steps: tuple[int, ...]
    said: str
    ref: str
    reply: str = ""
    gist: str = ""


@dataclass(frozen=True, slots=True)
class BranchSummary:
    """What a branch holds that stands on no other: its own turns in path order, the newest when there are many.

    `forked_at`: the step it leaves another branch after; `earlier`: addresses of steps before those turns; `visited`: the event it last moved at.
    """

    branch: str
    topic: str
    forked_at: int
    turns: tuple[Turn, ...]
    earlier: str = ""
    visited: int = 0


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What stands beside the active path. `branches`: the other branches of the topic, then those of other topics; each turn stands on one of them alone."""

    branch: str = ""
    topic: str = ""
    branches: tuple[BranchSummary, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing was said anywhere else."""
        return not any(each.turns for each in self.branches)


NOWHERE = Elsewhere()
"""Nothing beside the path: a session of one branch."""


@dataclass(frozen=True, slots=True)
class ForestView:
    """All that a decider is shown: the turns of the active path, shared ones included, oldest first, and what stands beside it."""

    path: tuple[Turn, ...]
    elsewhere: Elsewhere


Slot = Literal["thought", "key_info"]
"""`thought`: what to do differently, in a sentence or two. `key_info`: what must not be overlooked."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A note that a refactoring added when the path had `depth` steps, and the records it was made of; none where a host or a model wrote it freely."""

    slot: Slot
    text: str
    depth: int
    refs: tuple[str, ...] = ()
    untrusted: bool = False


@dataclass(frozen=True, slots=True)
class Superseded:
    """A value that a newer event took the place of. `at`: the record that held it; `by`: the one that does. `of`, `field` and `at` are empty where nobody said."""

    of: str
    field: str
    was: str
    at: str
    now: str
    by: str


THOUGHT = 8
"""Steps for which a thought is shown: it is about what to do next."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """All that refactorings left on a branch. `depths`: the tiles that refactorings made, with how many refactorings stand inside each."""

    thought: Pin | None = None
    key_info: Pin | None = None
    superseded: tuple[Superseded, ...] = ()
    depths: tuple[tuple[int, int], ...] = ()
    made: int = 0

    @property
    def silent(self) -> bool:
        """Whether a view shows nothing of it."""
        return self.thought is None and self.key_info is None and not self.superseded

    def at(self, path_length: int) -> Guidance:
        """What of it is to be shown on a path of so many steps: all but a thought whose time is over."""
        over = self.thought is not None and path_length - self.thought.depth >= THOUGHT
        return replace(self, thought=None) if over else self


_SUPERSEDED = 12
"""Superseded values a view names at most, the newest."""
_ROOM = (400, 200, 64, 24, 0)
"""o200k tokens of a note, by the form of the view's end."""


def shown_guidance(guidance: Guidance, texts: Sequence[str], form: int) -> str:
    """What a view says of it at its very end: superseded values that still stand in the view, the thought, the key facts last."""
    stale = [each for each in guidance.superseded if any(each.was in text for text in texts)]
    named = [
        f"{_named(each)}{each.now} ({each.by}), not {each.was}{f' ({each.at})' if each.at else ''}"
        for each in stale[-_SUPERSEDED:]
    ]
    parts: list[str] = []
    if named and form < 3:
        parts.append("\n".join([SUPERSEDED, *(f"< {name}" for name in named)]))
    for pin, title in ((guidance.thought, THINKING), (guidance.key_info, KEY_INFO)):
        if pin is not None:
            parts.append(_pinned(pin, title, _ROOM[form]))
    return "\n".join(parts)


def _named(each: Superseded) -> str:
    named = " ".join(filter(None, (each.of, each.field)))
    return f"{named}: " if named else ""


def _pinned(pin: Pin, title: str, most: int) -> str:
    if not most:
        return f"{title}: {' '.join(pin.refs[:4]) or '…'}"
    text = pin.text if len(pin.text) <= most or count(pin.text) <= most else f"{head(pin.text, most)} …"
    if not pin.untrusted:
        return unposed(f"{title}: {text}")
    return "\n".join([f"{title}:", *(f"< {line}" for line in text.splitlines())])


def dump_guidance(guidance: Guidance) -> dict[str, Any]:
    """Guidance as JSON."""
    return {
        "pins": [
            {"slot": pin.slot, "text": pin.text, "depth": pin.depth, "refs": list(pin.refs), "untrusted": pin.untrusted}
            for pin in (guidance.thought, guidance.key_info)
            if pin is not None
        ],
        "superseded": [
            {"of": each.of, "field": each.field, "was": each.was, "at": each.at, "now": each.now, "by": each.by}
            for each in guidance.superseded
        ],
        "depths": [list(pair) for pair in guidance.depths],
        "made": guidance.made,
    }


def load_guidance(tree: Any) -> Guidance:
    """Guidance from JSON made by `dump_guidance`. Raises CorruptStore when it is not."""
    try:
        pins = [Pin(**{**each, "refs": tuple(each["refs"])}) for each in tree["pins"]]
        return Guidance(
            next((pin for pin in pins if pin.slot == "thought"), None),
            next((pin for pin in pins if pin.slot == "key_info"), None),
            tuple(Superseded(**each) for each in tree["superseded"]),
            tuple((int(tile), int(depth)) for tile, depth in tree["depths"]),
            int(tree["made"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptStore("a refactoring does not read back; restore a copy of the store") from error


State = Literal["open", "done", "dropped"]
Cause = Literal["asked for", "intent change", "unresolved reference", "budget pressure", "compaction"]
"""Why something was planned or extracted."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to do.

    Attributes:
        id: its number on this branch, `t3`.
        text: what is to be done.
        state: open, done or dropped.
        ref: the record that holds its words, else the step it was written at; empty where nothing was recorded.
        evidence: the addresses that were given for its states, oldest first.
        untrusted: whether its words stand in text of a tool or a page.
    """

    id: str
    text: str
    state: State = "open"
    ref: str = ""
    evidence: tuple[str, ...] = ()
    untrusted: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that holds until it is superseded or lifted.

    Attributes:
        id: its number: of a constraint in the session, `c4`; of a decision on its branch, `d2`; of a finding its address, `s12.3`.
        ref: the record that holds its words, else the step it was written at; empty where nothing was recorded.
        superseded_by: what took its place, None while nothing did.
        lifted, untrusted: whether it was taken back, and whether its words stand in text of a tool or a page.
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
    """What must hold, whatever is done."""


class Decision(Statement):
    """What was settled, and need not be asked again."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The dialogue so far in the words of a host or a model; `untrusted` as of an item."""

    text: str = ""
    untrusted: bool = False


@dataclass(frozen=True, slots=True)
class Extract:
    """Lines of a record that serve the intent.

    Attributes:
        ref: their address.
        text: their text: what `recall` gives for the ref, or, when `part`, a slice of it.
        why: what they are for.
        todo: the item they serve, if one was named.
        path: the JMESPath that chose values of a structured record; `text` is then those values as JSON.
        facts: the strings that were pointed out, each a slice of `text`.
        untrusted: whether the record came from a tool or a page.
        part: whether `text` is less than the lines of `ref`: one of them is too long.
    """

    ref: str
    text: str
    why: str = ""
    todo: str | None = None
    path: str = ""
    facts: tuple[str, ...] = ()
    untrusted: bool = False
    part: bool = False


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one extraction brought, and what became of the rest of what was chosen.

    Attributes:
        extracts: what stands in the view from now on.
        cause: why it was made.
        need: what was looked for, in words.
        hint: what the next act should heed.
        counts: how many selections were mended, merged, cut, refused or left out, and how many facts were deleted.
        omitted: addresses that were chosen and left out, with the reason.
        tokens: o200k tokens of the extracts.
        seen: the last step of the newest fold of several that stood when it was made, 0 for none.
        asked: whether somebody asked for it, or for part of it; off where a trigger alone called for it.
    """

    extracts: tuple[Extract, ...]
    cause: Cause = "asked for"
    need: str = ""
    hint: str = ""
    counts: tuple[tuple[str, int], ...] = ()
    omitted: tuple[str, ...] = ()
    tokens: int = 0
    seen: int = 0
    asked: bool = True

    def counted(self, what: str) -> int:
        """How many selections something befell; 0 when none."""
        return dict(self.counts).get(what, 0)


@dataclass(frozen=True, slots=True)
class Passed:
    """What undone plans and extractions had looked at: it triggers nothing again.

    `read`: the last record they had read, as (step, place in it); `seen`: the last step of the newest fold of several that one had looked behind.
    """

    read: tuple[int, int] = (0, 0)
    seen: int = 0


@dataclass(frozen=True, slots=True)
class Intent:
    """What the session is after, as a view needs it.

    Attributes:
        items: the to-do, in the order it arose; it only grows, states change.
        constraints: the session's, on whichever branch each was written.
        decisions: this branch's.
        told: the summary that was written last.
        extraction: the newest extraction, None when there is none.
        read: the last record that a plan had read, as (step, place in it).
        passed: what undone plans and extractions had looked at.
    """

    items: tuple[Item, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    decisions: tuple[Decision, ...] = ()
    told: Summary = Summary()
    extraction: Extraction | None = None
    read: tuple[int, int] = (0, 0)
    passed: Passed = Passed()

    @property
    def looked(self) -> tuple[int, int]:
        """The last record that a trigger need not look at."""
        return max(self.read, self.passed.read)

    @property
    def summary(self) -> str:
        """The dialogue so far; empty where nobody wrote it."""
        return self.told.text

    @property
    def open(self) -> tuple[Item, ...]:
        """What is still to be done."""
        return tuple(item for item in self.items if item.state == "open")

    @property
    def binding(self) -> tuple[Constraint, ...]:
        """The constraints that hold."""
        return tuple(each for each in self.constraints if each.holds)

    @property
    def lifted(self) -> frozenset[str]:
        """The addresses of findings that hold no more."""
        return frozenset(each.id for each in self.decisions if not (each.holds or number_of(each.id)))

    @property
    def extracts(self) -> tuple[Extract, ...]:
        """What was extracted last."""
        return self.extraction.extracts if self.extraction else ()

    @property
    def empty(self) -> bool:
        """Whether a view has nothing to say of it."""
        return not (self.items or self.constraints or self.decisions or self.told.text or self.extracts)


@dataclass(frozen=True, slots=True)
class IntentChange:
    """The decision: what a plan changed, resolved; new values and changed ones, whole. `told`: the summary from now on; None leaves what there is."""

    items: tuple[Item, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    decisions: tuple[Decision, ...] = ()
    told: Summary | None = None
    read: tuple[int, int] = (0, 0)

    @property
    def nothing(self) -> bool:
        """Whether it would change nothing."""
        return not (self.items or self.constraints or self.decisions) and self.told is None


def number_of(name: str) -> int:
    """The number in an id such as `t3`; 0 when there is none, as in the address of a finding."""
    return int(name[1:]) if name[1:].isdecimal() else 0


def dump_change(change: IntentChange) -> dict[str, Any]:
    """A change as JSON."""
    tree = asdict(change)
    tree["summary"] = tree.pop("told")
    return tree


def load_change(tree: Any) -> IntentChange:
    """A change from JSON made by `dump_change`, of this version or of 0.1. Raises CorruptStore when it is not."""
    try:
        return IntentChange(
            tuple(Item(**{**item, "evidence": tuple(item["evidence"])}) for item in tree["items"]),
            tuple(Constraint(**each) for each in tree["constraints"]),
            tuple(Decision(**each) for each in tree.get("decisions", ())),
            _summary_of(tree),
            (int(tree["read"][0]), int(tree["read"][1])),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise CorruptStore("a plan does not read back; restore a copy of the store") from error


def _summary_of(tree: Any) -> Summary | None:
    """The summary of a change. One of 0.1 holds stretches of the dialogue in its place, of which some are a host's or a model's words."""
    if "course" not in tree:
        return None if tree["summary"] is None else Summary(**tree["summary"])
    told = [(text, untrusted) for _, cue, text, untrusted in tree["course"] if cue == "told"]
    if not told and not tree["afresh"]:
        return None
    return Summary("\n".join(text for text, _ in told), any(untrusted for _, untrusted in told))


def dump_extraction(made: Extraction) -> dict[str, Any]:
    """An extraction as JSON."""
    return asdict(made)


def load_extraction(tree: Any) -> Extraction:
    """An extraction from JSON made by `dump_extraction`. Raises CorruptStore when it is not."""
    try:
        found = tuple(Extract(**{**each, "facts": tuple(each["facts"])}) for each in tree["extracts"])
        counts = tuple((str(name), int(number)) for name, number in tree["counts"])
        made = Extraction(**{**tree, "extracts": found, "counts": counts})
        return replace(made, omitted=tuple(made.omitted))
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptStore("an extraction does not read back; restore a copy of the store") from error


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
