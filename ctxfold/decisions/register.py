"""The plan: values and ids of the register, their sources in the log, and the appliers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol, Self, TypeVar

from pydantic import (
    BaseModel,
    Field,
    StrictStr,
    ValidationError,
    field_validator,
    model_validator,
)

from ctxfold.errors import InputError, RefError
from ctxfold.log import parse_ref
from ctxfold.log.json import line_form
from ctxfold.text.json import list_faults
from ctxfold.text.sentences import sentences
from ctxfold.text.words import words
from ctxfold.workspace import (
    Constraint,
    Intent,
    IntentChange,
    Item,
    SettledDecision,
    State,
    Statement,
    Summary,
    number_of,
)

VERSION = 2
"""The version of the appliers, kept in events. Events hold resolved content, so replay never resolves anew."""

T = TypeVar("T", bound=Item | Statement)
S = TypeVar("S", bound=Statement)
G = TypeVar("G", bound=BaseModel)


def set_intent(intent: Intent, change: IntentChange) -> Intent:
    """Apply a change: new values at the end, changed ones in their places, none removed. Pure."""
    return replace(
        intent,
        items=merge_by_id(intent.items, change.items),
        constraints=merge_by_id(intent.constraints, change.constraints),
        decisions=merge_by_id(intent.decisions, change.decisions),
        told=intent.told if change.told is None else change.told,
        read=change.read,
    )


def merge_by_id(known: Iterable[T], changed: Iterable[T]) -> tuple[T, ...]:
    """Return values with changed ones in their places and new ones at the end. Pure."""
    fresh = {each.id: each for each in changed}
    return tuple(fresh.pop(each.id, each) for each in known) + tuple(fresh.values())


_TEXT = 2_000
"""Characters of an entry's text that are kept."""


class _EntryWritten(BaseModel, frozen=True, extra="forbid"):
    """An entry of the register, as a caller or a model writes it; empty fields were left out."""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            return {"text": given} if isinstance(given, str) else given
        entry = {key: each for key, each in given.items() if each is not None}
        text = entry.get("text")
        return {**entry, "text": " ".join(text.split())[:_TEXT]} if isinstance(text, str) else entry

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        entry = self.given()
        if not ("id" in entry or "text" in entry):
            raise ValueError("give a text, or the id of an entry that is there")
        if "supersedes" in entry and "text" not in entry:
            raise ValueError(f"what supersedes {entry['supersedes']} needs a text; give its words")
        return self

    def given(self, clean: Callable[[str], str] = str) -> dict[str, Any]:
        """Return the entry as `Session.plan` takes it, its text passed through `clean`."""
        entry = {name: value for name, value in self.model_dump(mode="json").items() if value}
        return {**entry, "text": clean(entry["text"])} if "text" in entry else entry


class ItemWritten(_EntryWritten, frozen=True):
    """One entry of a to-do: a new text, or an item by its id with what changed."""

    id: StrictStr = Field(default="", description="Of an item that is there; leave it out for a new one.")
    text: StrictStr = Field(
        default="",
        description="What is to be done, with the facts and bounds it needs.",
        json_schema_extra={"maxLength": 600},
    )
    state: State | None = Field(default=None, description="Only where it changes.")
    evidence: tuple[StrictStr, ...] = Field(
        default=(),
        description="Refs that show the new state, as s12.3: a call that worked, or the user.",
        json_schema_extra={"maxItems": 8},
    )

    @field_validator("evidence", mode="before")
    @classmethod
    def _list(cls, refs: object) -> object:
        return [refs] if isinstance(refs, str) and refs else refs or ()


class StatementWritten(_EntryWritten, frozen=True):
    """A constraint or a decision: a new text, or one that is there by its id with what changed."""

    id: StrictStr = Field(default="", description="Of one that is there; leave it out for a new one.")
    text: StrictStr = Field(
        default="", description="Its words, with exact values.", json_schema_extra={"maxLength": 600}
    )
    state: Literal["holds", "lifted"] | None = Field(default=None, description="Only where it changes.")
    supersedes: StrictStr = Field(default="", description="The id of the one whose place it takes.")
    ref: StrictStr = Field(default="", description="Where its words stand, as s12.1.")


Todo = Sequence[str | Mapping[str, Any] | ItemWritten]
"""A to-do as callers give it: texts, or `{"id"?, "text"?, "state"?, "evidence"?}`."""
Statements = Sequence[str | Mapping[str, Any] | StatementWritten]
"""Constraints or decisions as callers give them: texts, or `{"id"?, "text"?, "state"?, "supersedes"?, "ref"?}`."""


def read_entries(kind: type[G], given: Sequence[object], what: str) -> list[G]:
    """Read entries as callers give them. Raises InputError: an entry that cannot be read."""
    made: list[G] = []
    for number, each in enumerate(given, 1):
        try:
            made.append(kind.model_validate(each))
        except ValidationError as error:
            raise InputError(f"{what} {number}, {list_faults(error, 'the entry')[0][:300]}") from error
    return made


@dataclass(frozen=True, slots=True)
class PlanGiven:
    """A plan as a caller gave it. `summary` is None and `goal` empty if none was given."""

    summary: str | None = None
    todo: Sequence[ItemWritten] = ()
    constraints: Sequence[StatementWritten] = ()
    decisions: Sequence[StatementWritten] = ()
    goal: str = ""

    @classmethod
    def of(
        cls,
        summary: str | None,
        todo: Todo | None,
        constraints: Statements | None,
        decisions: Statements | None,
        goal: str | None,
    ) -> PlanGiven:
        """Read a plan. Raises InputError: an empty summary, or entries that cannot be read."""
        if summary is not None and not summary.strip():
            raise InputError("an empty summary says nothing; leave it out to keep the one there is")
        return cls(
            None if summary is None else summary.strip(),
            read_entries(ItemWritten, todo or (), "to-do item"),
            read_entries(StatementWritten, constraints or (), "constraint"),
            read_entries(StatementWritten, decisions or (), "decision"),
            (goal or "").strip(),
        )

    @property
    def empty(self) -> bool:
        """Whether nothing was given that the register holds."""
        return self.summary is None and not (self.todo or self.constraints or self.decisions)


@dataclass(frozen=True)
class EntrySource:
    """One record of the log. `untrusted`: a tool or a page said it."""

    step: int
    k: int
    kind: str
    text: str
    untrusted: bool

    @property
    def ref(self) -> str:
        """Its address."""
        return f"s{self.step}.{self.k}"

    @cached_property
    def lines(self) -> list[str]:
        """The lines that ranges count."""
        return line_form(self.text)

    def slice(self, first: int, last: int) -> str:
        """Return lines `first` to `last`, from 1, both included, as `recall` gives them."""
        return "\n".join(self.lines[first - 1 : last])


class Records(Protocol):
    """The log, as a plan and an extraction read it."""

    def of(self, step: int) -> list[EntrySource]:
        """Return the records of a step in order; none of an unknown step."""

    def quoting(self, text: str) -> EntrySource | None:
        """Return a record that holds a text, blanks and capitals aside; one of the user before others."""


_FINDING = re.compile(r"s\d+\.\d+")
"""The ref of a finding. With new words or a state, a finding becomes a decision under that ref."""
_TELLING = 3
"""Words from which a sentence found in a page or a result counts as taken from there."""


def parse_statements(texts: Sequence[str], sign: str) -> list[str | dict[str, str]]:
    """Read constraints or decisions in the one-line form of a shell: `WORDS`, `c4=WORDS`, or `c4=` to lift."""
    made: list[str | dict[str, str]] = []
    for text in texts:
        name, found, words = text.partition("=")
        if not (found and ((name[:1] == sign and name[1:].isdecimal()) or (sign == "d" and _FINDING.fullmatch(name)))):
            made.append(text)
        else:
            made.append({"id": name, "text": words} if words.strip() else {"id": name, "state": "lifted"})
    return made


def resolve_plan(
    intent: Intent, given: PlanGiven, records: Records, tip: int, first: int, read: tuple[int, int] = (0, 0)
) -> IntentChange:
    """Return the change that a plan makes. Raises InputError: an unknown id, or a ref of nothing.

    `tip`: the last step; `first`: the number of the next constraint; `read`: the last record that the plan has read.
    """
    source = _Places(records, tip)
    after = max((number_of(each.id) for each in intent.decisions), default=0) + 1
    told = None if given.summary is None else Summary(given.summary, source.is_quoted(given.summary))
    return IntentChange(
        tuple(_resolve_items(intent, given.todo, source)),
        tuple(_resolve(intent.constraints, given.constraints, source, lambda n: Constraint(f"c{first + n}", ""))),
        tuple(_resolve(intent.decisions, given.decisions, source, lambda n: SettledDecision(f"d{after + n}", ""))),
        None if told == intent.told else told,
        read,
    )


def _resolve_items(intent: Intent, given: Sequence[ItemWritten], source: _Places) -> Iterator[Item]:
    items = {item.id: item for item in intent.items}
    by_words = {_fold(item.text): item.id for item in reversed(intent.items)}
    newest = max(map(number_of, items), default=0)
    for each in given:
        known = each.id or by_words.get(_fold(each.text), "")
        if known:
            item: Item = _find(items, known, "item of the to-do")
        else:
            newest += 1
            ref, untrusted = source.of(each.text)
            item = Item(f"t{newest}", each.text, ref=ref, untrusted=untrusted)
            by_words[_fold(each.text)] = item.id
        if each.text and each.text != item.text and each.id:
            by_words.pop(_fold(item.text), None)
            item = replace(item, text=each.text, untrusted=source.is_quoted(each.text))
            by_words.setdefault(_fold(each.text), item.id)
        if each.state is not None and each.state != item.state:
            for ref in each.evidence:
                source.check(ref)
            item = replace(item, state=each.state, evidence=(*item.evidence, *each.evidence))
        items[item.id] = item
    before = {item.id: item for item in intent.items}
    yield from (item for item in items.values() if before.get(item.id) != item)


def _resolve(
    before: Sequence[S], given: Sequence[StatementWritten], source: _Places, blank: Callable[[int], S]
) -> Iterator[S]:
    """New and changed statements. Other words for one that is there make a new one that supersedes it."""
    known = {each.id: each for each in before}
    holding = {_fold(each.text): each.id for each in reversed(before) if each.holds}
    added = 0
    for each in given:
        old = each.id or each.supersedes
        if old not in known and blank(0).id[0] == "d" and (finding := source.finding(old)):
            known[old] = replace(blank(0), id=old, text=finding, ref=old)
        was: S | None = _find(known, old, "constraint, decision or finding") if old else None
        same = was or known.get(holding.get(_fold(each.text), ""))
        if each.text and (same is None or _fold(same.text) != _fold(each.text)):
            ref, untrusted = source.of(each.text, each.ref)
            same = replace(blank(added), text=each.text, ref=ref, untrusted=untrusted)
            added += 1
            known[same.id] = same
            if was is not None:
                known[was.id] = replace(was, superseded_by=same.id)
                holding.pop(_fold(was.text), None)
            holding[_fold(each.text)] = same.id
        if same is not None and each.state is not None:
            known[same.id] = replace(same, lifted=each.state == "lifted")
            if each.state == "lifted":
                holding.pop(_fold(same.text), None)
            elif known[same.id].holds:
                holding.setdefault(_fold(same.text), same.id)
    there = {each.id: each for each in before}
    yield from (each for each in known.values() if there.get(each.id) != each)


def _find(there: Mapping[str, Any], name: str, what: str) -> Any:
    if name not in there:
        known = f"only {', '.join(list(there)[:40])}" if there else "there is none yet"
        raise InputError(f"no {what} {name!r}, {known}; a new one is given without an id")
    return there[name]


def _fold(text: str) -> str:
    """A text without differences of blanks and capitals."""
    return " ".join(text.split()).casefold()


class _Places:
    """Finds the records that the words of an entry come from."""

    def __init__(self, records: Records, tip: int) -> None:
        self._records, self._tip = records, tip

    def of(self, text: str, ref: str = "") -> tuple[str, bool]:
        """Return the ref of an entry's words, and whether a tool or a page said them first.

        Raises InputError: the ref that was given is one of nothing.
        """
        if ref:
            self.check(ref)
        found = self._records.quoting(text)
        said = "" if found is None or found.untrusted else found.ref
        return ref or said or (f"s{self._tip}" if self._tip else ""), not said and self.is_quoted(text)

    def finding(self, ref: str) -> str:
        """Return the words of a finding by its ref; empty if none is recorded there."""
        step = ref[1:].partition(".")[0]
        there = self._records.of(int(step)) if ref[:1] == "s" and step.isdecimal() else []
        notes = (" ".join(each.text.split())[:_TEXT] for each in there if each.ref == ref and each.kind == "note")
        return next(notes, "")

    def is_quoted(self, text: str) -> bool:
        """Return whether a sentence of a text comes from a tool or a page, and from no record of the user."""
        told = (span.of(text) for span in sentences(text))
        found = (self._records.quoting(each) for each in told if len(words(each)) >= _TELLING)
        return any(each is not None and each.untrusted for each in found)

    def check(self, ref: str) -> None:
        """Raise InputError if nothing is recorded at a ref."""
        try:
            named = parse_ref(ref)
        except RefError as error:
            raise InputError(f"{ref!r} is no address of a step or record; give one such as s12 or s12.2") from error
        there, record = self._records.of(getattr(named, "step", 0)), getattr(named, "record", None)
        if not there or (record is not None and all(each.k != record for each in there)):
            raise InputError(f"nothing is recorded at {ref}; name a step or record that is in the log")
