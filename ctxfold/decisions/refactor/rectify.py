"""Where prose says of something what a newer event says otherwise. It reads the ledger's values, changes nothing, and leaves alone whatever is not sure.

A value that merely changed is no fault: rows of results stand for their time. A summary, a model's note or a pinned note that still says the older value,
and not the newer one beside it, is one. What cannot be tied to a named thing and a field is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from ctxfold.decisions.refactor.values import Case, Fact
from ctxfold.text import query_words, sentences
from ctxfold.text.values import facts_of as values_said
from ctxfold.workspace.intent import Constraint

__all__ = ["Edit", "Ledger", "contradictions"]

_TRUTH = frozenset({"true", "false", "yes", "no", "none", "null", "y", "n"})
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.]+Z?)?")
_JOINT = r"(?:\s*[:=]\s*|\s+(?:is|are|of|at|was|now|currently|equals|stands at|set to|to)\s+(?:now\s+|currently\s+|at\s+)?|\s+)[\"'`$€£¥]?"
_SURE = re.compile(r"[:=]|\b(?:is|are|set to|stands at|equals|now)\b")
_END = re.compile(r"\W*(?:[.;,)\]]|$)")
"""Where a value that stands behind its field without a word between them must end."""
_VALUE = re.compile(r"[^\s,;()\[\]{}\"'`]*[^\s,;()\[\]{}\"'`.:!?]")
_CHANGED = re.compile(
    r"\b(?:was|were|had been|formerly|previously|originally|initially|before|from|instead of|rather than|no longer|changed|until)\b",
    re.I,
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_LONGEST = 60
"""Characters of a value that prose may be held against."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One value to be replaced in prose.

    Attributes:
        start: where it stands.
        end: where it ends.
        was: what stands there.
        fact: the newer value, and where it is told.
        at: the record that told the older one; empty where none did.
    """

    start: int
    end: int
    was: str
    fact: Fact
    at: str = ""


class Ledger:
    """The values told along a path, by what they are of.

    Args:
        facts: oldest first.
    """

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._told: dict[tuple[str, str], list[Fact]] = {}
        self._said: dict[str, set[str]] = {}
        for fact in facts:
            if fact.value and len(fact.value) <= _LONGEST:
                self._told.setdefault((fact.group, fact.field), []).append(fact)
                self._said.setdefault(fact.field, set()).add(fact.value.lower())

    @property
    def changed(self) -> list[tuple[Fact, Fact]]:
        """Each older value that has another in its place by now: the newest fact that held it, and the newest of all."""
        found: list[tuple[Fact, Fact]] = []
        for told in self._told.values():
            now = told[-1]
            older = {fact.value: fact for fact in told if fact.value != now.value}
            found += [(fact, now) for fact in older.values()]
        return sorted(found, key=lambda pair: pair[1].order)

    @cached_property
    def by_name(self) -> Mapping[str, Sequence[Sequence[Fact]]]:
        """The facts of each field, under the name of the thing they are of, in small letters."""
        found: dict[str, list[Sequence[Fact]]] = {}
        for told in self._told.values():
            names = told[-1].names
            if names:
                found.setdefault(names[-1].lower(), []).append(told)
        return found

    def says(self, name: str, value: str) -> bool:
        """Whether something is, or was, a value of a thing; both in small letters."""
        return any(fact.value.lower() == value for told in self.by_name.get(name, ()) for fact in told)

    def usual(self, field: str, value: str) -> bool:
        """Whether a value is one that this field has somewhere on the path."""
        return value.lower() in self._said.get(field, ())


def contradictions(text: str, ledger: Ledger, case: Case) -> list[Edit]:
    """The values in a text that newer events contradict.

    Args:
        text: prose.
        ledger: the values of the path.
        case: what is looked at.

    Returns:
        Edits in the order of the text, none overlapping.
    """
    found: list[Edit] = []
    subject = ""
    low = text.lower()
    for span in sentences(text):
        clause = text[span.start : span.end]
        named = sorted((at, name) for name in ledger.by_name for at in _places(low[span.start : span.end], name))
        parts = list(_owned(named, subject, len(clause), ledger))
        about = {name for _, _, name in parts}
        for start, end, name in parts:
            for told in ledger.by_name.get(name, ()):
                if all(other.lower() in low for other in told[-1].names):
                    others = _others(ledger, about, told)
                    found += _in_clause(clause[start:end], span.start + start, told, others, ledger)
        subject = parts[0][2] if parts else ""
        found += _bound(clause, span.start, case.workspace.intent.constraints)
    kept: list[Edit] = []
    for edit in sorted(found, key=lambda edit: (edit.start, -edit.end)):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept


def _owned(
    named: Sequence[tuple[int, str]], subject: str, length: int, ledger: Ledger
) -> Iterator[tuple[int, int, str]]:
    """A clause in parts, each with the thing it is about: from where one is named to where the next is.

    What is named only as a value of the thing spoken of begins no part. Where nothing is named, the clause is about what the one before it was about.
    """
    owner, start, here = subject, 0, False
    for at, name in named:
        if name == owner:
            here = True
        elif not ledger.says(owner, name):
            if here:
                yield start, at, owner
                start = at
            owner, here = name, True
    if owner:
        yield start, length, owner


def _others(ledger: Ledger, about: Set[str], told: Sequence[Fact]) -> frozenset[str]:
    """The values that other fields of the things spoken of have now: one of those is no older value of this field."""
    return frozenset(
        other[-1].value.lower() for name in about for other in ledger.by_name.get(name, ()) if other is not told
    )


def _in_clause(clause: str, start: int, told: Sequence[Fact], others: frozenset[str], ledger: Ledger) -> Iterator[Edit]:
    now = told[-1]
    low = clause.lower()
    if next(_places(low, now.value.lower()), None) is not None:
        return
    stated = _stated(clause, now, ledger)
    if stated is not None:
        at, said = stated
        older = next((fact for fact in reversed(told) if fact.value.lower() == said.lower()), None)
        yield Edit(start + at, start + at + len(said), said, now, older.ref if older else "")
        return
    for fact in {fact.value: fact for fact in told if fact.value != now.value}.values():
        value = fact.value.lower()
        if value in _TRUTH or value in others or len(value) < 2 or _same_number(value, now.value):
            continue
        places = list(_places(low, value))
        if len(places) == 1 and not _CHANGED.search(clause[: places[0]][-40:]):
            yield Edit(
                start + places[0], start + places[0] + len(value), clause[places[0] :][: len(value)], now, fact.ref
            )


def _stated(clause: str, now: Fact, ledger: Ledger) -> tuple[int, str] | None:
    """Where a clause names the field and gives another value of the same sort."""
    words = [re.escape(word) for word in _WORDS.findall(now.field)]
    if not words:
        return None
    for found in re.finditer(rf"(?<![\w-]){'[ _.-]?'.join(words)}({_JOINT})", clause, re.I):
        said = _VALUE.match(clause, found.end())
        if said is None or _CHANGED.search(found[1]) or _same_number(said[0], now.value):
            continue
        ends = _END.match(clause, said.end()) is not None
        if _alike(said[0], now, ledger, ends or _SURE.search(found[1]) is not None):
            return found.end(), said[0]
    return None


def _alike(said: str, now: Fact, ledger: Ledger, sure: bool) -> bool:
    """Whether what is said of a field is a value of its sort: a date, a number, or a word that this field has elsewhere."""
    if said.lower() == now.value.lower():
        return False
    if _DATE.fullmatch(now.value):
        return _DATE.fullmatch(said) is not None
    if _NUMBER.fullmatch(now.value):
        return _NUMBER.fullmatch(said) is not None
    if now.value.lower() in _TRUTH:
        return sure and said.lower() in _TRUTH
    return sure and ledger.usual(now.field, said)


def _same_number(one: str, other: str) -> bool:
    try:
        return float(one.strip("$€£¥").replace(",", "")) == float(other.strip("$€£¥").replace(",", ""))
    except ValueError:
        return False


def _bound(clause: str, start: int, constraints: Sequence[Constraint]) -> Iterator[Edit]:
    """A value that the user has replaced by another since, in the words of the same matter."""
    by = {each.id: each for each in constraints}
    low = clause.lower()
    for old in constraints:
        new = old
        while new.superseded_by in by:
            new = by[new.superseded_by or ""]
        if new is old or not set(query_words(old.text)) & set(query_words(new.text)) & set(query_words(clause)):
            continue
        before, after = values_said(old.text), values_said(new.text)
        gone = [value for value in before if value not in after]
        come = [value for value in after if value not in before]
        if len(gone) != 1 or len(come) != 1 or come[0].lower() in low:
            continue
        places = list(_places(low, gone[0].lower()))
        if len(places) == 1 and not _CHANGED.search(clause[: places[0]][-40:]):
            at = start + places[0]
            yield Edit(at, at + len(gone[0]), gone[0], Fact("", "said", come[0], new.ref, 0), old.ref)


_JOINS = frozenset("_.@/-")


def _places(low: str, value: str) -> Iterator[int]:
    """Where a value stands in a text, both in small letters, by itself: no letter or digit runs on, nor does a sign that joins one to it."""
    at = low.find(value)
    while at >= 0:
        before, behind = low[max(at - 2, 0) : at][::-1], low[at + len(value) : at + len(value) + 2]
        if not (_runs_on(value[:1], before) or _runs_on(value[-1:], behind)):
            yield at
        at = low.find(value, at + 1)


def _runs_on(edge: str, beside: str) -> bool:
    """Whether the two signs beside an end of a value, the nearer first, belong to it."""
    if not edge.isalnum() or not beside:
        return False
    return (
        beside[0].isalnum()
        or (beside[0] in _JOINS and beside[1:].isalnum())
        or (beside[0] == "," and edge.isdigit() and beside[1:].isdigit())
    )
