"""The plan: values and ids of the register, their sources in the log, and the appliers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, Protocol, Self, TypeVar

from pydantic import BaseModel, Field, PrivateAttr, StrictStr, ValidationError, field_validator, model_validator

from ctxfold.errors import InputError, RefError
from ctxfold.log import parse_ref, place_of
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
    """Apply a change: new values at the end, changed ones in their places, none removed; items in its order. Pure."""
    items = merge_by_id(intent.items, change.items)
    places = {name: place for place, name in enumerate(change.order)}
    return replace(
        intent,
        items=tuple(sorted(items, key=lambda item: places[item.id])) if places else items,
        constraints=merge_by_id(intent.constraints, change.constraints),
        decisions=merge_by_id(intent.decisions, change.decisions),
        told=intent.told if change.told is None else change.told,
        read=change.read,
    )


def merge_by_id(known: Iterable[T], changed: Iterable[T]) -> tuple[T, ...]:
    """Return values with changed ones in their places and new ones at the end. Pure."""
    fresh = {entry.id: entry for entry in changed}
    return tuple(fresh.pop(entry.id, entry) for entry in known) + tuple(fresh.values())


_TEXT = 2_000
"""Characters of an entry's text that are kept."""


class _EntryWritten(BaseModel, frozen=True, extra="forbid"):
    """An entry of the register, as a caller or a model writes it; empty fields were left out."""

    _cited: list[tuple[str, bool]] = PrivateAttr(default_factory=list)
    """Its source outside of the log, if it has one, and whether its words are untrusted. No input can name one."""

    def cite(self, source: str, untrusted: bool = False) -> Self:
        """Return the entry with a source outside of the log, such as `AGENTS.md:12`."""
        self._cited[:] = [(source, untrusted)]
        return self

    @model_validator(mode="before")
    @classmethod
    def _read(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            return {"text": given} if isinstance(given, str) else given
        entry = {key: value for key, value in given.items() if value is not None}
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

    id: StrictStr = Field(default="", description="Of an item that is there.")
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

    id: StrictStr = Field(default="", description="Of one that is there.")
    text: StrictStr = Field(
        default="", description="Its words, with exact values.", json_schema_extra={"maxLength": 600}
    )
    state: Literal["holds", "lifted"] | None = Field(default=None, description="Only where it changes.")
    supersedes: StrictStr = Field(default="", description="The id of the one whose place it takes.")
    ref: StrictStr = Field(default="", description="Where its words stand, as s12.1.")


class PlanWritten(BaseModel, frozen=True, extra="forbid"):
    """What the newest words and results change in the register; empty if they change nothing."""

    goal: str = Field(
        default="", max_length=400, description="What the work is for; only where nobody said it, or it changed."
    )
    todo: tuple[ItemWritten, ...] = Field(
        default=(), max_length=40, description="New and changed items, in the order in which they are to be done."
    )
    constraints: tuple[StatementWritten, ...] = Field(
        default=(), max_length=40, description="Bounds the user set, and those they changed or took back."
    )
    decisions: tuple[StatementWritten, ...] = Field(
        default=(), max_length=40, description="What was settled with the user, and need not be asked again."
    )

    @property
    def texts(self) -> list[str]:
        """Its texts, in order."""
        statements = (*self.constraints, *self.decisions)
        return [self.goal, *(each.text for each in self.todo), *(each.text for each in statements)]

    def reword(self, texts: Iterable[str]) -> PlanWritten:
        """Return the plan with other texts, in the same order."""
        left = iter(texts)
        changed: dict[str, object] = {"goal": next(left)}
        for name in ("todo", "constraints", "decisions"):
            changed[name] = [each.model_copy(update={"text": next(left)}) for each in getattr(self, name)]
        return self.model_copy(update=changed)


Todo = Sequence[str | Mapping[str, Any] | BaseModel]
"""A to-do as callers give it, in order: texts, or `{"id"?, "text"?, "state"?, "evidence"?}`; or `ItemWritten`."""
Statements = Sequence[str | Mapping[str, Any] | BaseModel]
"""Constraints or decisions: texts, or `{"id"?, "text"?, "state"?, "supersedes"?, "ref"?}`; or `StatementWritten`."""


def read_entries(kind: type[G], given: Sequence[object], what: str) -> list[G]:
    """Read entries as callers give them. Raises InputError: an entry that cannot be read."""
    entries: list[G] = []
    for number, entry in enumerate(given, 1):
        try:
            entries.append(kind.model_validate(entry))
        except ValidationError as error:
            raise InputError(f"{what} {number}, {list_faults(error, 'the entry')[0][:300]}") from error
    return entries


@dataclass(frozen=True, slots=True)
class PlanGiven:
    """A plan as a caller gave it. `summary` is None and `goal` empty if none was given."""

    summary: str | None
    todo: Sequence[ItemWritten]
    constraints: Sequence[StatementWritten]
    decisions: Sequence[StatementWritten]
    goal: str

    @property
    def empty(self) -> bool:
        """Whether nothing was given that the register holds."""
        return self.summary is None and not (self.todo or self.constraints or self.decisions)


def read_plan(
    summary: str | None,
    todo: Todo | None,
    constraints: Statements | None,
    decisions: Statements | None,
    goal: str | None,
) -> PlanGiven:
    """Read a plan as a caller gives it. Raises InputError: an empty summary, or entries that cannot be read."""
    if summary is not None and not summary.strip():
        raise InputError("an empty summary says nothing; leave it out to keep the one there is")
    return PlanGiven(
        summary and summary.strip(),
        read_entries(ItemWritten, todo or (), "to-do item"),
        read_entries(StatementWritten, constraints or (), "constraint"),
        read_entries(StatementWritten, decisions or (), "decision"),
        (goal or "").strip(),
    )


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


_FINDING = re.compile(r"s\d{1,12}\.\d{1,6}")
"""The ref of a finding. With new words or a state, a finding becomes a decision under that ref."""
_TELLING = 3
"""Words from which a sentence found in a page or a result counts as taken from there."""


def parse_statements(texts: Sequence[str], sign: str) -> list[str | dict[str, str]]:
    """Read constraints or decisions in the one-line form of a shell: `WORDS`, `c4=WORDS`, or `c4=` to lift."""
    entries: list[str | dict[str, str]] = []
    for text in texts:
        name, equals, words = text.partition("=")
        is_id = (name[:1] == sign and name[1:].isdecimal()) or (sign == "d" and _FINDING.fullmatch(name))
        if not (equals and is_id):
            entries.append(text)
        else:
            entries.append({"id": name, "text": words} if words.strip() else {"id": name, "state": "lifted"})
    return entries


def resolve_plan(
    intent: Intent, given: PlanGiven, records: Records, tip: int, first: int, read: tuple[int, int] = (0, 0)
) -> IntentChange:
    """Return the change that a plan makes.

    `tip`: the last step; `first`: the number of the next constraint; `read`: the last record that the plan has read.
    Raises InputError: an unknown id, or a ref of nothing.
    """
    places, told = _Places(records, tip), given.summary
    newest = max((number_of(decision.id) for decision in intent.decisions), default=0)
    summary = None if told is None else Summary(told, places.is_quoted(told))
    items, order = _resolve_items(intent.items, given.todo, places)
    return IntentChange(
        items,
        _resolve_statements(intent.constraints, given.constraints, places, lambda n: Constraint(f"c{first + n}", "")),
        _resolve_statements(
            intent.decisions, given.decisions, places, lambda n: SettledDecision(f"d{newest + 1 + n}", "")
        ),
        None if summary == intent.told else summary,
        read,
        order,
    )


def _resolve_items(
    before: Sequence[Item], given: Sequence[ItemWritten], places: _Places
) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    """New and changed items, and the order of all if it changes. An entry with the words of an item means that item."""
    items = {item.id: item for item in before}
    ids = {_fold(item.text): item.id for item in reversed(before)}
    newest = max(map(number_of, items), default=0)
    listed: list[str] = []
    for entry in given:
        known = entry.id or ids.get(_fold(entry.text), "")
        if known:
            item: Item = _find(items, known, "item of the to-do")
        else:
            newest += 1
            ref, untrusted = places.find_source(entry.text, cited=entry._cited)
            item = Item(f"t{newest}", entry.text, ref=ref, untrusted=untrusted)
        if entry.id and entry.text and entry.text != item.text:
            ids.pop(_fold(item.text), None)
            item = replace(item, text=entry.text, untrusted=places.is_quoted(entry.text))
        if entry.state is not None and entry.state != item.state:
            for ref in entry.evidence:
                places.check(ref)
            item = replace(item, state=entry.state, evidence=(*item.evidence, *entry.evidence))
        ids.setdefault(_fold(item.text), item.id)
        items[item.id] = item
        listed.append(item.id)
    order = _order_items(list(items), [name for name in dict.fromkeys(listed) if items[name].state == "open"])
    return _list_changed(before, items), () if order == list(items) else tuple(order)


def _order_items(names: list[str], listed: Sequence[str]) -> list[str]:
    """Ids with each listed one before the next one listed; one that is before it already stays in its place."""
    places = {name: place for place, name in enumerate(names)}
    if all(places[name] < places[later] for name, later in pairwise(listed)):
        return names
    for name, later in zip(listed[-2::-1], listed[:0:-1], strict=True):
        if names.index(name) > names.index(later):
            names.remove(name)
            names.insert(names.index(later), name)
    return names


def _resolve_statements(
    before: Sequence[S], given: Sequence[StatementWritten], places: _Places, blank: Callable[[int], S]
) -> tuple[S, ...]:
    """New and changed statements. Other words for a known one make a new one that supersedes it.

    `blank`: the nth new statement without words.
    """
    statements = {statement.id: statement for statement in before}
    ids = {_fold(statement.text): statement.id for statement in reversed(before) if statement.holds}
    added = 0
    for entry in given:
        name = entry.id or entry.supersedes
        if name not in statements and blank(0).id[0] == "d" and (finding := places.read_finding(name)):
            statements[name] = replace(blank(0), id=name, text=finding, ref=name)
        named: S | None = _find(statements, name, "constraint, decision or finding") if name else None
        alike = statements.get(ids.get(_fold(entry.text), ""))
        meant = named or (alike if alike is not None and alike.holds else None)
        if entry.text and (meant is None or _fold(meant.text) != _fold(entry.text)):
            ref, untrusted = places.find_source(entry.text, entry.ref, entry._cited)
            meant = replace(blank(added), text=entry.text, ref=ref, untrusted=untrusted)
            added += 1
            if named is not None:
                statements[named.id] = replace(named, superseded_by=meant.id)
        if meant is not None:
            meant = meant if entry.state is None else replace(meant, lifted=entry.state == "lifted")
            statements[meant.id] = meant
            if meant.holds:
                ids[_fold(meant.text)] = meant.id
    return _list_changed(before, statements)


def _list_changed(before: Sequence[T], after: Mapping[str, T]) -> tuple[T, ...]:
    known = {entry.id: entry for entry in before}
    return tuple(entry for entry in after.values() if known.get(entry.id) != entry)


def _find(entries: Mapping[str, Any], name: str, what: str) -> Any:
    if name not in entries:
        known = f"only {', '.join(list(entries)[:40])}" if entries else "there is none yet"
        raise InputError(f"no {what} {name!r}, {known}; a new one is given without an id")
    return entries[name]


def _fold(text: str) -> str:
    """A text without differences of blanks and capitals."""
    return " ".join(text.split()).casefold()


class _Places:
    """Finds the records that the words of an entry come from."""

    def __init__(self, records: Records, tip: int) -> None:
        self._records, self._tip = records, tip

    def find_source(self, text: str, ref: str = "", cited: Sequence[tuple[str, bool]] = ()) -> tuple[str, bool]:
        """Return the ref of an entry's words, and whether a tool or a page said them first.

        A source that was `cited` is returned as it is. Raises InputError: nothing is recorded at the given ref.
        """
        if cited:
            return cited[0]
        if ref:
            self.check(ref)
        record = self._records.quoting(text)
        source = "" if record is None or record.untrusted else record.ref
        return ref or source or (f"s{self._tip}" if self._tip else ""), not source and self.is_quoted(text)

    def read_finding(self, ref: str) -> str:
        """Return the words of a finding by its ref; empty if none is recorded there."""
        records = self._records.of(place_of(ref)[0]) if _FINDING.fullmatch(ref) else []
        notes = (" ".join(each.text.split())[:_TEXT] for each in records if each.ref == ref and each.kind == "note")
        return next(notes, "")

    def is_quoted(self, text: str) -> bool:
        """Return whether a sentence of a text comes from a tool or a page, and from no record of the user."""
        parts = (span.of(text) for span in sentences(text))
        records = (self._records.quoting(part) for part in parts if len(words(part)) >= _TELLING)
        return any(record is not None and record.untrusted for record in records)

    def check(self, ref: str) -> None:
        """Raise InputError if nothing is recorded at a ref."""
        try:
            address = parse_ref(ref)
        except RefError as error:
            raise InputError(f"{ref!r} is no address of a step or record; give one such as s12 or s12.2") from error
        records, k = self._records.of(getattr(address, "step", 0)), getattr(address, "record", None)
        if not any(k in (None, record.k) for record in records):
            raise InputError(f"nothing is recorded at {ref}; name a step or record that is in the log")
