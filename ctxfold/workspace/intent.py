"""The frozen values of the register (summary, to-do, constraints, decisions) and of extracts, with their JSON form.

Source: U-Fold's intent-aware summary with its to-do list, and its extracted tool log.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from ctxfold.errors import CorruptStore

__all__ = [
    "Cause",
    "Constraint",
    "Decision",
    "Extract",
    "Extraction",
    "Intent",
    "IntentChange",
    "Item",
    "Passed",
    "State",
    "Statement",
    "Summary",
    "dump_change",
    "dump_extraction",
    "load_change",
    "load_extraction",
    "number_of",
]

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
