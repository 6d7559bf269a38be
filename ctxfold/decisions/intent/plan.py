"""Reads a plan that a host, a model or a caller gave, and resolves its ids and refs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from ctxfold.decisions.intent.values import ItemGiven, PlanGiven, Records, StatementGiven
from ctxfold.errors import InputError, RefError
from ctxfold.log.refs import parse_ref
from ctxfold.text import sentences, words
from ctxfold.workspace.intent import (
    Constraint,
    Decision,
    Intent,
    IntentChange,
    Item,
    State,
    Statement,
    Summary,
    number_of,
)

__all__ = ["items_given", "resolve_plan", "statements_given", "statements_of"]

_STATES = {"open", "done", "dropped"}
_HOLDS = {None: None, "holds": True, "lifted": False}
_TEXT = 2_000
_FINDING = re.compile(r"s\d+\.\d+")
"""A finding is named by its address: with new words or state it is a decision under that."""
_TELLING = 3
"""Words from which a sentence that stands in a page or a tool's text was taken from there."""

S = TypeVar("S", bound=Statement)


def items_given(given: object) -> tuple[ItemGiven, ...]:
    """A to-do's entries from texts, or from `{"id"?, "text"?, "state"?, "evidence"?}`. Raises InputError: something else."""
    made: list[ItemGiven] = []
    for entry in _entries(given, "a to-do", ("id", "text", "state")):
        state, evidence = entry.get("state"), entry.get("evidence")
        if state is not None and state not in _STATES:
            raise InputError(f"{state!r} is not a state; use open, done or dropped")
        refs = () if evidence in (None, "") else [evidence] if isinstance(evidence, str) else evidence
        if not isinstance(refs, (list, tuple)) or not all(isinstance(ref, str) for ref in refs):
            raise InputError('evidence is a list of refs such as ["s12"]; give strings')
        made.append(ItemGiven(entry.get("id") or "", _flat(entry), cast("State | None", state), tuple(refs)))
    return tuple(made)


def statements_given(given: object, what: str) -> tuple[StatementGiven, ...]:
    """Constraints or decisions from texts, or from `{"id"?, "text"?, "state"?, "supersedes"?, "ref"?}`. Raises InputError: something else."""
    made: list[StatementGiven] = []
    for entry in _entries(given, what, ("id", "text", "state", "supersedes", "ref")):
        state = entry.get("state")
        if state not in _HOLDS:
            raise InputError(f"{state!r} is not a state of {what}; use holds or lifted")
        name, old, ref = (entry.get(key) or "" for key in ("id", "supersedes", "ref"))
        if old and not _flat(entry):
            raise InputError(f"what supersedes {old} needs a text; give its words")
        made.append(StatementGiven(name, _flat(entry), _HOLDS[state], old, ref))
    return tuple(made)


def statements_of(texts: Sequence[str], sign: str) -> list[str | dict[str, str]]:
    """Constraints or decisions from the one-line form of a shell or a tool, as `Session.plan` takes them."""
    made: list[str | dict[str, str]] = []
    for text in texts:
        name, found, words = text.partition("=")
        if not (found and ((name[:1] == sign and name[1:].isdecimal()) or (sign == "d" and _FINDING.fullmatch(name)))):
            made.append(text)
        else:
            made.append({"id": name, "text": words} if words.strip() else {"id": name, "state": "lifted"})
    return made


def _entries(given: object, what: str, texts: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise InputError(f"{what} is a list of texts, or of entries with {', '.join(texts)}; give a list")
    for each in given:
        entry = {"text": each} if isinstance(each, str) else each
        if not isinstance(entry, Mapping):
            raise InputError(f"an entry of {what} is a text or an object with {', '.join(texts)}; give one of these")
        if not all(entry.get(key) is None or isinstance(entry[key], str) for key in texts):
            raise InputError(f"{', '.join(texts)} of an entry of {what} are texts; give strings or leave them out")
        if not (entry.get("id") or (entry.get("text") or "").strip()):
            raise InputError(f"an entry of {what} needs a text, or the id of one that is there; give either")
        yield entry


def _flat(entry: Mapping[str, Any]) -> str:
    return " ".join((entry.get("text") or "").split())[:_TEXT]


def resolve_plan(
    intent: Intent, given: PlanGiven, records: Records, tip: int, first: int, read: tuple[int, int] = (0, 0)
) -> IntentChange:
    """What a given plan changes. Raises InputError: an unknown id, or an address where nothing is recorded."""
    source = _Places(records, tip)
    after = max((number_of(each.id) for each in intent.decisions), default=0) + 1
    told = None if given.summary is None else Summary(given.summary, source.is_quoted(given.summary))
    return IntentChange(
        tuple(_items(intent, given.todo, source)),
        tuple(_statements(intent.constraints, given.constraints, source, lambda n: Constraint(f"c{first + n}", ""))),
        tuple(_statements(intent.decisions, given.decisions, source, lambda n: Decision(f"d{after + n}", ""))),
        None if told == intent.told else told,
        read,
    )


def _items(intent: Intent, given: Sequence[ItemGiven], source: _Places) -> Iterator[Item]:
    items = {item.id: item for item in intent.items}
    for each in given:
        if each.id:
            item = _known(items, each.id, "item of the to-do")
        else:
            same = [item for item in items.values() if _same(item.text, each.text)]
            number = max(map(number_of, items), default=0) + 1
            ref, untrusted = ("", False) if same else source.of(each.text)
            item = same[0] if same else Item(f"t{number}", each.text, ref=ref, untrusted=untrusted)
        if each.text and each.text != item.text and each.id:
            item = replace(item, text=each.text, untrusted=source.is_quoted(each.text))
        if each.state is not None and each.state != item.state:
            for ref in each.evidence:
                source.check(ref)
            item = replace(item, state=each.state, evidence=(*item.evidence, *each.evidence))
        items[item.id] = item
    before = {item.id: item for item in intent.items}
    yield from (item for item in items.values() if before.get(item.id) != item)


def _statements(
    before: Sequence[S], given: Sequence[StatementGiven], source: _Places, blank: Callable[[int], S]
) -> Iterator[S]:
    """New and changed statements. Other words for one that is there are a new one in its place: nothing that was said is lost."""
    known = {each.id: each for each in before}
    for each in given:
        old = each.id or each.supersedes
        if old not in known and blank(0).id[0] == "d" and (finding := source.finding(old)):
            known[old] = replace(blank(0), id=old, text=finding, ref=old)
        was = _known(known, old, "constraint, decision or finding") if old else None
        same: S | None = was or next((it for it in known.values() if it.holds and _same(it.text, each.text)), None)
        if each.text and (same is None or not _same(same.text, each.text)):
            ref, untrusted = source.of(each.text, each.ref)
            made = replace(
                blank(_numbered(known.values()) - _numbered(before)), text=each.text, ref=ref, untrusted=untrusted
            )
            known[made.id] = made
            if was is not None:
                known[was.id] = replace(was, superseded_by=made.id)
            same = made
        if same is not None and each.holds is not None:
            known[same.id] = replace(same, lifted=not each.holds)
    there = {each.id: each for each in before}
    yield from (each for each in known.values() if there.get(each.id) != each)


def _numbered(every: Iterable[Statement]) -> int:
    """How many bear a number of their own: what stands for a finding bears its address."""
    return sum(number_of(each.id) > 0 for each in every)


def _known(there: Mapping[str, Any], name: str, what: str) -> Any:
    if name not in there:
        raise InputError(
            f"no {what} {name!r}, only {', '.join(there)}; a new one is given without an id"
            if there
            else f"no {what} {name!r}, there is none yet; a new one is given without an id"
        )
    return there[name]


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


class _Places:
    """Where the words of an entry come from."""

    def __init__(self, records: Records, tip: int) -> None:
        self._records, self._tip = records, tip

    def of(self, text: str, ref: str = "") -> tuple[str, bool]:
        """The address of an entry's words, and whether a tool or a page said them first. Raises InputError: the address that was given names nothing."""
        found = self._records.quoting(text)
        if ref:
            self.check(ref)
        said = "" if found is None or found.untrusted else found.ref
        return ref or said or (f"s{self._tip}" if self._tip else ""), not said and self.is_quoted(text)

    def finding(self, ref: str) -> str:
        """The words of a finding by its address; empty where none is recorded there."""
        step = ref[1:].partition(".")[0]
        there = self._records.of(int(step)) if ref[:1] == "s" and step.isdecimal() else []
        return next(
            (" ".join(each.text.split())[:_TEXT] for each in there if each.ref == ref and each.kind == "note"), ""
        )

    def is_quoted(self, text: str) -> bool:
        """Whether a sentence of a text stands in text of a tool or a page, and in none of the user's."""
        told = (span.of(text) for span in sentences(text))
        found = (self._records.quoting(each) for each in told if len(words(each)) >= _TELLING)
        return any(each is not None and each.untrusted for each in found)

    def check(self, ref: str) -> None:
        """Raises InputError where nothing is recorded at an address."""
        try:
            named = parse_ref(ref)
        except RefError as error:
            raise InputError(f"{ref!r} is no address of a step or record; give one such as s12 or s12.2") from error
        there, record = self._records.of(getattr(named, "step", 0)), getattr(named, "record", None)
        if not there or (record is not None and all(each.k != record for each in there)):
            raise InputError(f"nothing is recorded at {ref}; name a step or record that is in the log")
