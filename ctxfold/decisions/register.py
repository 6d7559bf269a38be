"""Plan values, ids and refs; lines that somebody chose."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol, TypeVar, cast

from pydantic import BaseModel, Field

from ctxfold.errors import InputError, RefError
from ctxfold.log import parse_ref
from ctxfold.log.json import Spelled, line_form, parse
from ctxfold.log.lines import Line
from ctxfold.select.choose import find_best_line, find_excerpts
from ctxfold.select.score import BM25
from ctxfold.text.sentences import sentences
from ctxfold.text.values import facts_of
from ctxfold.text.words import counted, query_words, words
from ctxfold.tokens import count
from ctxfold.workspace import (
    Cause,
    Constraint,
    Extract,
    Extraction,
    Intent,
    IntentChange,
    Item,
    SettledDecision,
    State,
    Statement,
    Summary,
    Tile,
    Workspace,
    number_of,
    spans,
)

VERSION = 2
"""Of the appliers. Events hold resolved content, so an older session keeps its values when this grows."""

T = TypeVar("T", bound=Item | Statement)


def set_intent(intent: Intent, change: IntentChange) -> Intent:
    """Apply a change: new values at the end, changed ones where they stood, none removed. Pure."""
    return replace(
        intent,
        items=merge_by_id(intent.items, change.items),
        constraints=merge_by_id(intent.constraints, change.constraints),
        decisions=merge_by_id(intent.decisions, change.decisions),
        told=intent.told if change.told is None else change.told,
        read=change.read,
    )


def merge_by_id(known: Iterable[T], changed: Iterable[T]) -> tuple[T, ...]:
    """Values with others added, or put in their places by id. Pure."""
    fresh = {each.id: each for each in changed}
    return tuple(fresh.pop(each.id, each) for each in known) + tuple(fresh.values())


def extract(intent: Intent, extraction: Extraction) -> Intent:
    """Apply an extraction: it takes the place of the one before. Pure."""
    return replace(intent, extraction=extraction)


Todo = Sequence[str | Mapping[str, Any]]
"""A to-do as callers give it: texts, or `{"id"?, "text"?, "state"?, "evidence"?}`."""
Statements = Sequence[str | Mapping[str, Any]]
"""Constraints or decisions as callers give them: texts, or `{"id"?, "text"?, "state"?, "supersedes"?, "ref"?}`."""


@dataclass(frozen=True, slots=True)
class ItemGiven:
    """An entry of a to-do as it was given; what is empty was not said."""

    id: str = ""
    text: str = ""
    state: State | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StatementGiven:
    """A constraint or a decision as it was given; what is empty was not said.

    Attributes:
        text: its words; with an id, those that take the place of the ones there.
        holds: whether it holds from now on; None where that was not said.
        supersedes: the id of the one whose place it takes.
    """

    id: str = ""
    text: str = ""
    holds: bool | None = None
    supersedes: str = ""
    ref: str = ""


@dataclass(frozen=True, slots=True)
class PlanGiven:
    """A plan as it was given; `summary` is None and `goal` empty where none was."""

    summary: str | None = None
    todo: tuple[ItemGiven, ...] = ()
    constraints: tuple[StatementGiven, ...] = ()
    decisions: tuple[StatementGiven, ...] = ()
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
            read_items(todo or ()),
            read_statements(constraints or (), "constraints"),
            read_statements(decisions or (), "decisions"),
            (goal or "").strip(),
        )

    @property
    def empty(self) -> bool:
        """Whether nothing was given."""
        return self.summary is None and not (self.todo or self.constraints or self.decisions)


@dataclass(frozen=True, slots=True)
class Selection:
    """The address that a decider chose, the reason, the to-do item it serves, and strings to point out."""

    ref: str
    why: str = ""
    todo: str | None = None
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class EntrySource:
    """One record: its step and place in it, what sort of entry it is, its exact text, and whether a tool or a page said it."""

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
        """Lines `first` to `last`, from 1, both included, as `recall` gives them."""
        return "\n".join(self.lines[first - 1 : last])


class Records(Protocol):
    """The log, as a plan and an extraction read it."""

    def of(self, step: int) -> list[EntrySource]:
        """The records of a step in order; none when there is no such step."""

    def quoting(self, text: str) -> EntrySource | None:
        """A record that holds a text, one of the user's before others; None where none does. Blanks and capitals do not matter."""


OVERHEAD = 12
"""o200k tokens that an extract's address and fence cost at most."""

_REF = re.compile(r"\s*s(\d{1,12})(?:\.(\d{1,6}))?(?::(\d{1,12})(?:-(\d{1,12}))?)?\s*")
_MOST = 200
_WORDS = 400


@dataclass
class Resolved:
    """What became of selections; filled while they are resolved."""

    extracts: list[Extract] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    omitted: list[str] = field(default_factory=list)
    tokens: int = 0

    def leave_out(self, what: str, ref: str, reason: str) -> None:
        """Count a selection that is not there, and say why."""
        self.counts[what] += 1
        self.omitted.append(f"{ref[:60]}: {reason}")


@dataclass(frozen=True, slots=True)
class _Range:
    source: EntrySource
    first: int
    last: int
    wish: Selection


def read_selections(given: object) -> tuple[Selection, ...]:
    """Selections from `{"ref", "why"?, "todo"?, "facts"?}`. Raises InputError: something else."""
    how = 'a selection is {"ref": "s12.2:40-80", "why": ...}; give a list of these'
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise InputError(how)
    made: list[Selection] = []
    for each in given[:_MOST]:
        if not isinstance(each, Mapping) or not isinstance(each.get("ref"), str):
            raise InputError(how)
        why, todo, facts = each.get("why"), each.get("todo"), each.get("facts") or ()
        if not all(part is None or isinstance(part, str) for part in (why, todo)):
            raise InputError("why and todo of a selection are texts; give strings or leave them out")
        if not isinstance(facts, (list, tuple)) or not all(isinstance(fact, str) for fact in facts):
            raise InputError("facts of a selection are a list of strings; give those that stand in its lines")
        said = " ".join((why or "").split())[:_WORDS]
        made.append(Selection(each["ref"], said, todo or None, tuple(facts)))
    return tuple(made)


def resolve_selections(wanted: Sequence[Selection], records: Records, items: frozenset[str], budget: int) -> Resolved:
    """Resolve selections, in their order of worth."""
    done = Resolved()
    ranges: list[_Range] = []
    for each in wanted:
        known = each.todo is None or each.todo in items
        done.counts["unknown items"] += not known
        found = _located(each if known else replace(each, todo=None), records, done)
        if found is not None:
            ranges = _merged(ranges, found, done)
    for chosen in ranges:
        _take(chosen, budget, done)
    done.counts = +done.counts
    return done


def _located(wish: Selection, records: Records, done: Resolved) -> _Range | None:
    """The lines a selection means, mended where that is safe."""
    parts = _REF.fullmatch(wish.ref)
    if parts is None:
        done.leave_out("refused", wish.ref, "not an address of lines; use s12.2:40-80")
        return None
    there = records.of(int(parts[1]))
    fitting = [each for each in there if (each.kind == "result" if parts[2] is None else each.k == int(parts[2]))]
    if parts[2] is None and parts[3] is None:  # a step alone: what it found, not what acknowledged a call
        fitting = sorted(fitting, key=lambda each: len(each.text))[-1:] or there[-1:]
    if len(fitting) != 1:
        names = ", ".join(each.ref for each in fitting or there)
        done.leave_out(
            "refused", wish.ref, f"name one record of {names[:120]}" if there else "nothing is recorded there"
        )
        return None
    source, size = fitting[0], len(fitting[0].lines)
    if parts[3] is None:
        return _Range(source, 1, size, wish)
    first, last = int(parts[3]), int(parts[4] or parts[3])
    low, high = min(first, last), max(first, last)
    if low > size or high < 1:
        done.leave_out("refused", wish.ref, f"{source.ref} has {counted(size, 'line')}")
        return None
    done.counts["mended"] += (first, last) != (max(low, 1), min(high, size))
    return _Range(source, max(low, 1), min(high, size), wish)


def _merged(ranges: Sequence[_Range], new: _Range, done: Resolved) -> list[_Range]:
    """Ranges with another: those it overlaps and itself as one, at the place of the first."""
    made: list[_Range] = []
    place: int | None = None
    for old in ranges:
        if not (old.source.ref == new.source.ref and old.first <= new.last and new.first <= old.last):
            made.append(old)
            continue
        wish = replace(
            old.wish,
            why="; ".join(dict.fromkeys(part for part in (old.wish.why, new.wish.why) if part))[:_WORDS],
            todo=old.wish.todo or new.wish.todo,
            facts=tuple(dict.fromkeys((*old.wish.facts, *new.wish.facts))),
        )
        new = _Range(old.source, min(old.first, new.first), max(old.last, new.last), wish)
        done.counts["merged"] += 1
        place = len(made) if place is None else place
    made.insert(len(made) if place is None else place, new)
    return made


def _take(each: _Range, budget: int, done: Resolved) -> None:
    """Put a range among the extracts, as far as the budget allows."""
    source, wish = each.source, each.wish
    price = OVERHEAD + (count(wish.why) if wish.why else 0)
    room = budget - done.tokens - price
    last = _fitting(source, each.first, each.last, room)
    if last < each.first:
        done.leave_out("left out", f"{source.ref}:{each.first}-{each.last}", "over the budget")
        return
    if last < each.last:
        done.leave_out("cut", f"{source.ref}:{last + 1}-{each.last}", "over the budget")
    text, ref = source.slice(each.first, last), f"{source.ref}:{each.first}-{last}"
    facts = tuple(fact for fact in wish.facts if fact and fact in text)
    done.counts["facts deleted"] += len(wish.facts) - len(facts)
    done.extracts.append(Extract(ref, text, wish.why, wish.todo, facts, source.untrusted))
    done.tokens += count(text) + price


def _fitting(source: EntrySource, first: int, last: int, room: int) -> int:
    """The last line up to which a range fits; one before its first when not even that does."""
    spent, end = 0, first - 1
    for at in range(first, last + 1):
        line = source.lines[at - 1]
        spent += count(line) + 1 if len(line) <= 64 * max(room, 1) else room + 2
        if spent > room + 1:
            break
        end = at
    while end >= first and count(source.slice(first, end)) > room:
        end -= 1
    return end


_WHOLE = 90
"""o200k tokens up to which an object is taken whole."""
_SHORT = 24
"""o200k tokens up to which a field without a word of the query goes with those that hold one."""
_FIELDS = 6
"""Fields that stand for a larger object of which no field holds a word of the query: its first."""
_FAINT = 0.3
"""Of the best score, what a unit must pass."""
_UNITS = 6_000
_READ = 400_000
"""Characters of a record above which only its best line is looked for."""
_SHARE = 48
_LINE = 4_000
"""Characters of a line of a long record that may be taken."""

_Lines = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is taken or left as one: ranges of lines, or one slice of them, the words it is judged by, and what it is a version of."""

    source: EntrySource
    ranges: tuple[_Lines, ...]
    said: str
    name: str = ""
    part: str = ""


@dataclass(frozen=True, slots=True)
class _Object:
    """An object of a structured record: its lines and path, its plain fields with their lines, what names it, and the lines that name it and those around it."""

    lines: _Lines
    path: str
    fields: tuple[tuple[_Lines, str], ...]
    name: str
    naming: tuple[_Lines, ...]


def choose_lines(query: str, sources: Sequence[EntrySource], budget: int, shown: str = "") -> list[Extract]:
    """The parts of records that fit a query best, within a budget, in the order of the log. Nothing is chosen all of whose words stand in `shown`."""
    wanted, standing = query_words(query), frozenset(words(shown))
    units: list[_Unit] = []
    named: set[str] = set()
    share = max(_SHARE, budget // max(sum(parse(source.text) is None for source in sources), 1)) - 2 * OVERHEAD
    for source in sources:
        for unit in _units(source, query, wanted, share) if len(units) <= _UNITS else ():
            if unit.name not in named and not (shown and standing.issuperset(words(unit.said))):
                units.append(unit)
                named |= {unit.name} - {""}
    scores = BM25([words(unit.said) for unit in units]).scores(wanted)
    least = max(scores, default=0.0) * _FAINT
    best = sorted((at for at, score in enumerate(scores) if score > least), key=lambda at: (-scores[at], at))
    return _within([units[at] for at in best if units[at].ranges], budget)


def _within(units: Sequence[_Unit], budget: int) -> list[Extract]:
    """The first of some units that fit a budget, as extracts in the order of the log, lines that touch as one."""
    taken: dict[tuple[int, int], tuple[EntrySource, set[_Lines]]] = {}
    parts: list[tuple[tuple[int, int, int], Extract]] = []
    for unit in units:
        source = unit.source
        known = taken.setdefault((source.step, source.k), (source, set()))[1]
        fresh = [lines for lines in unit.ranges if lines not in known]
        price = sum(count(unit.part or source.slice(*lines)) + OVERHEAD for lines in fresh)
        if price > budget:
            continue
        budget -= price
        if unit.part:
            first, last = unit.ranges[0]
            made = Extract(f"{source.ref}:{first}-{last}", unit.part, untrusted=source.untrusted, part=True)
            parts.append(((source.step, source.k, first), made))
        else:
            known.update(fresh)
    for (step, k), (source, ranges) in taken.items():
        for first, last in _joined(ranges):
            made = Extract(f"{source.ref}:{first}-{last}", source.slice(first, last), untrusted=source.untrusted)
            parts.append(((step, k, first), made))
    return [made for _, made in sorted(parts, key=lambda each: each[0])]


def _joined(ranges: set[_Lines]) -> list[_Lines]:
    made: list[_Lines] = []
    for first, last in sorted(ranges):
        if made and first <= made[-1][1] + 1:
            made[-1] = (made[-1][0], max(made[-1][1], last))
        else:
            made.append((first, last))
    return made


def _units(source: EntrySource, query: str, wanted: Sequence[str], share: int) -> Iterator[_Unit]:
    asked = frozenset(wanted)
    if len(source.text) > _READ:
        at, _ = find_best_line(source.lines, asked)
        if len(source.lines[at]) <= _LINE and not asked.isdisjoint(words(source.lines[at])):
            yield _Unit(source, ((at + 1, at + 1),), source.lines[at])
        return
    tree = parse(source.text)
    if tree is not None:
        yield from (_of_object(source, each, asked) for each in _objects(tree))
    elif not asked.isdisjoint(words(source.text)):
        for span in find_excerpts(source.text, query, share):
            text = span.of(source.text)
            lines = source.text.count("\n", 0, span.start) + 1, source.text.count("\n", 0, span.end) + 1
            whole = len(source.slice(*lines)) <= 2 * len(text) + 40
            yield _Unit(source, (lines,), text, part="" if whole else text)


def _of_object(source: EntrySource, each: _Object, asked: frozenset[str]) -> _Unit:
    """An object whole where it is small, else the fields that hold a word of the query; one that holds none is counted for how rare words are, and never taken."""
    said = " ".join([each.path, *(text for _, text in each.fields)])
    if asked.isdisjoint(words(said)):
        return _Unit(source, (), said, each.name)
    whole = source.slice(*each.lines)
    if len(whole) <= _WHOLE * 8 and count(whole) <= _WHOLE:
        kept = [each.lines]
    else:
        telling = {lines: text for lines, text in each.fields if not asked.isdisjoint(words(text))}
        left = _WHOLE - sum(map(count, telling.values()))
        for lines, text in each.fields:
            if lines not in telling and len(text) <= _SHORT * 8 and (price := count(text)) <= min(left, _SHORT):
                telling[lines] = text
                left -= price
        kept = [*telling] or [lines for lines, _ in each.fields[:_FIELDS]]
    return _Unit(source, tuple(_joined({*kept, *each.naming})), said, each.name)


def _objects(tree: Any) -> Iterator[_Object]:
    """Every object with values of its own, outermost first."""
    stack: list[tuple[Any, int, str, tuple[_Lines, ...]]] = [(tree, 1, "", ())]
    while stack:
        node, line, path, around = stack.pop()
        at = line + 1
        fields: list[tuple[_Lines, str]] = []
        inner: list[tuple[Any, int, str]] = []
        for key, child in node.items() if isinstance(node, dict) else ((None, child) for child in node):
            size = _height(child)
            if key is not None and _plain(child):
                fields.append(((at, at + size - 1), f"{key} {_said(child)}"))
            elif isinstance(child, (dict, list)) and child:
                inner.append((child, at, path if key is None else f"{path} {key}".strip()))
            at += size
        named = _first_name(node) if isinstance(node, dict) else None
        own = [lines for lines, text in fields if named and text.startswith(f"{named[0]} ")][:1]
        naming = (*around, *own)
        stack.extend((child, start, where, naming) for child, start, where in reversed(inner))
        if fields:
            yield _Object((line, at), path, tuple(fields), f"{path}|{named[0]}={named[1]}" if named else "", naming)


def _first_name(node: dict[str, Any]) -> tuple[str, str] | None:
    """The first field of an object that holds a text or a whole number, by which the object is told from others."""
    named = ((key, str(value)) for key, value in node.items() if isinstance(value, (str, int)) and value is not True)
    return next(named, None)


def _plain(child: Any) -> bool:
    nested = child if isinstance(child, list) else [child]
    return not any(isinstance(each, (dict, list)) for each in nested)


def _said(child: Any) -> str:
    if isinstance(child, list):
        return " ".join(map(_said, child))
    return child.spelling if isinstance(child, Spelled) else str(child)


def _height(node: Any) -> int:
    """How many lines a value takes in the line form."""
    total, stack = 0, [node]
    while stack:
        each = stack.pop()
        if isinstance(each, (dict, list)) and each:
            total += 2
            stack.extend(each.values() if isinstance(each, dict) else each)
        else:
            total += 1
    return total


_STATES = {"open", "done", "dropped"}
_HOLDS = {None: None, "holds": True, "lifted": False}
_TEXT = 2_000
_FINDING = re.compile(r"s\d+\.\d+")
"""A finding is named by its address: with new words or state it is a decision under that."""
_TELLING = 3
"""Words from which a sentence that stands in a page or a tool's text was taken from there."""

S = TypeVar("S", bound=Statement)


def read_items(given: object) -> tuple[ItemGiven, ...]:
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


def read_statements(given: object, what: str) -> tuple[StatementGiven, ...]:
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


def parse_statements(texts: Sequence[str], sign: str) -> list[str | dict[str, str]]:
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
        tuple(_statements(intent.decisions, given.decisions, source, lambda n: SettledDecision(f"d{after + n}", ""))),
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


_NAMES = 6
"""Names that are looked up at most."""
_RECENT = 6
"""Blocks at the end in which the user's new words are looked for."""
_TRIGGERS_SHORT = 2
"""Characters from which a value may be one that the log is searched for."""
_TRIGGERS_READ = 4_000
_STRETCH = 8
"""Steps that must have been folded since for the budget to press: folds may come thick where steps are long."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """A reason to plan or to extract. `detail`: what it was in this case; `need`: what is to be looked for, empty for what the intent is about."""

    cause: Cause
    detail: str
    need: str = ""

    def __str__(self) -> str:
        return f"{self.cause}: {self.detail}"


def is_folded(workspace: Workspace) -> bool:
    """Whether anything on the path stands in the view in less than its full form."""
    return workspace.older is not None or any(isinstance(block, Tile) and not block.whole for block in workspace.blocks)


def find_lost_reference(
    workspace: Workspace, fresh: Callable[[Line], bool], held: Callable[[str], bool]
) -> Trigger | None:
    """A value in the user's words that stands nowhere else in the view and somewhere in the log."""
    said = [line.text.partition(" ")[2] for block in workspace.blocks[-_RECENT:] for line in block.said if fresh(line)]
    names = [name for text in said for name in facts_of(text[:_TRIGGERS_READ]) if len(name) >= _TRIGGERS_SHORT]
    if not names:
        return None
    shown = "\n".join(_shown(workspace, fresh))
    absent = [name for name in dict.fromkeys(names) if not has_name(shown, name)]
    lost = [name for name in absent[:_NAMES] if held(name)]
    if not lost:
        return None
    return Trigger("unresolved reference", ", ".join(name[:40] for name in lost[:3]), " ".join(lost))


def has_name(text: str, name: str) -> bool:
    """Whether a value stands in a text as one of its own, not within a longer one."""
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text, re.I | re.A) is not None


def _shown(workspace: Workspace, fresh: Callable[[Line], bool]) -> Iterable[str]:
    """What the view shows beside the new words of the user."""
    yield from (line.text for line in workspace.words)
    yield from (each.text for each in workspace.intent.extracts)
    for block in workspace.blocks:
        if isinstance(block, Tile):
            yield block.summary
        yield from (line.text for line in block.lines if line.kind != "user" or not fresh(line))


def find_newest_fold(workspace: Workspace) -> int:
    """The last step of the newest tile of several, 0 when there is none: a fold of one step presses on nothing."""
    return max((tile.last for tile in _macros(workspace)), default=0)


def find_pressure(workspace: Workspace, seen: int) -> Trigger | None:
    """A good stretch of steps that was folded for the budget since the last extraction."""
    newest = find_newest_fold(workspace)
    if newest - seen < _STRETCH:
        return None
    tile = next(tile for tile in _macros(workspace) if tile.last == newest)
    return Trigger("budget pressure", f"{tile.id} of {spans(tile.steps)}")


def _macros(workspace: Workspace) -> Iterable[Tile]:
    return (block for block in workspace.blocks if isinstance(block, Tile) and len(block.steps) > 1)


class ItemWritten(BaseModel, frozen=True, extra="forbid"):
    """One entry of a to-do: a new text, or an item by its id with what changed."""

    id: str = Field(default="", description="Of an item that is there; leave it out for a new one.")
    text: str = Field(default="", max_length=600, description="What is to be done, with the facts and bounds it needs.")
    state: Literal["open", "done", "dropped"] | None = Field(default=None, description="Only where it changes.")
    evidence: tuple[str, ...] = Field(
        default=(), max_length=8, description="Refs that show the new state, as s12.3: a call that worked, or the user."
    )

    def given(self, clean: Callable[[str], str] = str) -> dict[str, Any]:
        """The entry as a plan takes it: what was left out is not said."""
        said: dict[str, Any] = {"id": self.id, "text": clean(self.text), "state": self.state}
        return {name: value for name, value in {**said, "evidence": list(self.evidence)}.items() if value}


class StatementWritten(BaseModel, frozen=True, extra="forbid"):
    """A constraint or a decision: a new text, or one that is there by its id with what changed."""

    id: str = Field(default="", description="Of one that is there; leave it out for a new one.")
    text: str = Field(default="", max_length=600, description="Its words, with exact values.")
    state: Literal["holds", "lifted"] | None = Field(default=None, description="Only where it changes.")
    supersedes: str = Field(default="", description="The id of the one whose place it takes.")
    ref: str = Field(default="", description="Where its words stand, as s12.1.")

    def given(self) -> dict[str, str]:
        """The entry as a plan takes it: what was left out is not said."""
        return {name: value for name, value in self.model_dump().items() if value}


class LinesWritten(BaseModel, frozen=True, extra="forbid"):
    """One choice of lines."""

    ref: str = Field(description="A record and its lines, as s12.2:40-80.")
    why: str = Field(default="", max_length=200, description="What they are for, in your own words.")
    todo: str | None = Field(default=None, description="The item they serve, as t3.")
    facts: tuple[str, ...] = Field(default=(), max_length=12, description="Strings in them that matter, unchanged.")
