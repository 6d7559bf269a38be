"""What a session is after, as frozen values: to-do, constraints, what was asked in which order, and extracts. They decide nothing and read no log.

Source: U-Fold's intent-aware summary with its to-do list, and its extracted tool log. Here an item has a state that only evidence changes, and a
constraint outlives the turn, the branch and the fold it was said in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from ctxfold.errors import CorruptStore

__all__ = [
    "AMENDED",
    "CAUSES",
    "Cause",
    "Constraint",
    "Cue",
    "Extract",
    "Extraction",
    "Intent",
    "IntentChange",
    "Item",
    "Passed",
    "Said",
    "State",
    "dump_change",
    "dump_extraction",
    "load_change",
    "load_extraction",
    "number_of",
]

State = Literal["open", "done", "dropped"]
AMENDED = " → "
"""Stands between an item's words and those that changed it."""
Cue = Literal["asked", "changed", "cancelled", "returned", "settled", "told"]
"""What a turn did to the intent; `told` is a summary that a host or a model wrote."""
Cause = Literal["asked for", "intent change", "unresolved reference", "budget pressure"]
"""Why something was extracted."""
CAUSES: tuple[Cause, ...] = get_args(Cause)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to do.

    Attributes:
        id: its number on this branch, `t3`.
        text: what is to be done; in the user's own words where the user asked.
        state: open, done or dropped.
        ref: the record it was asked in, empty when a host or a model put it there.
        evidence: the records that changed its state, oldest first.
        untrusted: whether it may derive from text of a tool or a page.
    """

    id: str
    text: str
    state: State = "open"
    ref: str = ""
    evidence: tuple[str, ...] = ()
    untrusted: bool = False


@dataclass(frozen=True, slots=True)
class Constraint:
    """What the user asked to hold, forbade, or said that must stay exact: a slice of their own words.

    Attributes:
        id: its number in the session, `c4`.
        text: the words, exactly.
        ref: the record they stand in.
        superseded_by: the constraint that took its place, None while it holds.
    """

    id: str
    text: str
    ref: str
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """One stretch of the dialogue's course: where it stands, what it did, and the words; `told` by a host it has no ref."""

    ref: str
    cue: Cue
    text: str
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
    """What undone plans and extractions had looked at: of itself it calls for none again.

    Attributes:
        read: the last record they had read, as (step, place in it).
        seen: the last step of the newest fold of several that an undone extraction had looked behind.
    """

    read: tuple[int, int] = (0, 0)
    seen: int = 0


@dataclass(frozen=True, slots=True)
class Intent:
    """What the session is after, as a view needs it.

    Attributes:
        course: the dialogue's course, oldest first.
        items: the to-do, in the order it arose; it only grows, states change.
        constraints: the session's register, on whichever branch each was said.
        extraction: the newest extraction, None when there is none.
        read: the last of the user's records that was read, as (step, place in it).
        planned: whether anything was ever planned here.
        passed: what undone plans and extractions had looked at.
    """

    course: tuple[Said, ...] = ()
    items: tuple[Item, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    extraction: Extraction | None = None
    read: tuple[int, int] = (0, 0)
    planned: bool = False
    passed: Passed = Passed()

    @property
    def looked(self) -> tuple[int, int]:
        """The last record that a trigger need not look at."""
        return max(self.read, self.passed.read)

    @property
    def summary(self) -> str:
        """The dialogue's course as one text, each of the user's words under its address."""
        return "\n".join(_told(said) for said in self.course)

    @property
    def open(self) -> tuple[Item, ...]:
        """What is still to be done."""
        return tuple(item for item in self.items if item.state == "open")

    @property
    def binding(self) -> tuple[Constraint, ...]:
        """The constraints that hold."""
        return tuple(each for each in self.constraints if each.superseded_by is None)

    @property
    def extracts(self) -> tuple[Extract, ...]:
        """What was extracted last."""
        return self.extraction.extracts if self.extraction else ()

    @property
    def empty(self) -> bool:
        """Whether a view has nothing to say of it."""
        return not (self.planned or self.constraints or self.extracts)

    def item(self, wanted: str) -> Item | None:
        """An item by its id."""
        return next((item for item in self.items if item.id == wanted), None)


def _told(said: Said) -> str:
    match said.cue:
        case "told":
            return said.text
        case "asked":
            return f"{said.ref}: {said.text}"
        case _:
            return f"{said.ref} ({said.cue}): {said.text}"


@dataclass(frozen=True, slots=True)
class IntentChange:
    """The decision: what a plan changed, resolved.

    Attributes:
        course: what is added to the dialogue's course; with `afresh`, what it is from now on.
        items: new items, and items whose state or text changed, whole.
        constraints: new ones, and older ones that are superseded now, whole.
        read: up to where the user's words were read.
        afresh: whether `course` replaces what was there.
    """

    course: tuple[Said, ...] = ()
    items: tuple[Item, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    read: tuple[int, int] = (0, 0)
    afresh: bool = False

    @property
    def nothing(self) -> bool:
        """Whether it would change nothing."""
        return not (self.course or self.items or self.constraints or self.afresh)


def number_of(name: str) -> int:
    """The number in an id such as `t3`; 0 when there is none."""
    return int(name[1:]) if name[1:].isdecimal() else 0


def dump_change(change: IntentChange) -> dict[str, Any]:
    """A change as JSON."""
    return {
        "course": [[said.ref, said.cue, said.text, said.untrusted] for said in change.course],
        "items": [
            {
                "id": item.id, "text": item.text, "state": item.state, "ref": item.ref, "evidence": list(item.evidence),
                "untrusted": item.untrusted,
            }
            for item in change.items
        ],
        "constraints": [
            {"id": each.id, "text": each.text, "ref": each.ref, "superseded_by": each.superseded_by}
            for each in change.constraints
        ],
        "read": list(change.read), "afresh": change.afresh,
    }  # fmt: skip


def load_change(tree: Any) -> IntentChange:
    """A change from JSON made by `dump_change`. Raises CorruptStore when it is not."""
    try:
        return IntentChange(
            tuple(Said(*said) for said in tree["course"]),
            tuple(Item(**{**item, "evidence": tuple(item["evidence"])}) for item in tree["items"]),
            tuple(Constraint(**each) for each in tree["constraints"]),
            (int(tree["read"][0]), int(tree["read"][1])),
            bool(tree["afresh"]),
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise CorruptStore("a plan does not read back; restore a copy of the store") from error


def dump_extraction(made: Extraction) -> dict[str, Any]:
    """An extraction as JSON."""
    return {
        "extracts": [
            {
                "ref": each.ref, "text": each.text, "why": each.why, "todo": each.todo, "path": each.path, "facts": list(each.facts),
                "untrusted": each.untrusted, "part": each.part,
            }
            for each in made.extracts
        ],
        "cause": made.cause, "need": made.need, "hint": made.hint, "counts": [list(pair) for pair in made.counts],
        "omitted": list(made.omitted), "tokens": made.tokens, "seen": made.seen, "asked": made.asked,
    }  # fmt: skip


def load_extraction(tree: Any) -> Extraction:
    """An extraction from JSON made by `dump_extraction`. Raises CorruptStore when it is not."""
    try:
        found = tuple(Extract(**{**each, "facts": tuple(each["facts"])}) for each in tree["extracts"])
        counts = tuple((str(name), int(number)) for name, number in tree["counts"])
        return replace(
            Extraction(found, tree["cause"], tree["need"], tree["hint"], counts),
            omitted=tuple(tree["omitted"]),
            tokens=tree["tokens"],
            seen=tree.get("seen", 0),
            asked=tree.get("asked", True),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptStore("an extraction does not read back; restore a copy of the store") from error
