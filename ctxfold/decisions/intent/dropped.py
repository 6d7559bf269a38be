"""Compares a host's summary with the log it stands for: which words of the user, values in use and files it leaves out, and where they stand."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Literal

from ctxfold.decisions.register import Source, holds_name
from ctxfold.select.pieces import values_in
from ctxfold.text.sentences import sentences
from ctxfold.workspace import Intent

__all__ = ["LOST_KINDS", "Dropped", "Lost", "LostKind", "compare", "named_besides", "refs_of"]

LostKind = Literal["rule", "value", "file"]
LOST_KINDS: tuple[LostKind, ...] = ("rule", "value", "file")

_WORD = re.compile(r"\w+")
_EXACT = re.compile(r"[\d@_/\\]")
"""What a value has in it that nobody can guess from its words."""
_SHORT = 2
"""Characters up to which a value is a count."""
_PATH = re.compile(r"(?!\w+://)[^\s\"'`*?<>|]*(?:[/\\][^\s\"'`*?<>|]*\w|\w\.[A-Za-z]\w*)")
_ARGUMENT = re.compile(r'\s*"[^"\\]*": ')
_LATELY = 10
"""How many calls ago one counts half as much as one now."""
_TOOL = 2
"""Which line of a call names its tool."""
_NAMING = frozenset({"call", "user", "assistant"})
"""The kinds of records that name a value, where others only show it."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Something that stood before a compaction and stands nowhere in its summary.

    Attributes:
        kind: `rule`, a sentence of the user's or a constraint; `value`, an id, number or name in use; `file`, a path that calls named.
        text: it.
        ref: the newest line that holds it; empty for a constraint that no record holds.
        before: how many calls and messages had named it again until then; of a file, how many calls had named it.
        after: how many have named it since.
    """

    kind: LostKind
    text: str
    ref: str
    before: int = 0
    after: int = 0


@dataclass(frozen=True, slots=True)
class Dropped:
    """What a host's compaction, the first being 1, left out of `of` there are; `ref` is the record of its summary, `kept` how many of each kind that holds.

    `lost`: rules, the newest first, then values and files, those named most often since and until then first.
    """

    compaction: int
    of: int
    ref: str
    lost: tuple[Lost, ...]
    kept: tuple[tuple[LostKind, int], ...]


@dataclass(frozen=True, slots=True)
class _Seen:
    """A value as it was written last, where that was, how often it was named again since it first stood, and by how many calls as a file."""

    text: str
    ref: str
    named: int
    files: int


@dataclass(slots=True)
class _Trail:
    """What records hold, gathered in their order."""

    rules: dict[str, Lost] = field(default_factory=dict)
    values: dict[str, _Seen] = field(default_factory=dict)

    def read(self, source: Source) -> None:
        """Take in one record."""
        paths = {path.lower(): path for path in _paths(source)}
        for number, line in enumerate(source.lines, 1) if source.kind == "user" else ():
            for said in _sentences(line):
                self.rules.pop(_plain(said), None)
                self.rules[_plain(said)] = Lost("rule", said, f"{source.ref}:{number}")
        for value, (written, number) in _found(source, paths).items():
            seen = self.values.get(value)
            named = 0 if seen is None else seen.named + (source.kind in _NAMING)
            files = (0 if seen is None else seen.files) + (value in paths)
            self.values[value] = _Seen(written, f"{source.ref}:{number}", named, files)


def compare(
    before: Iterable[Source], summary: str, after: Iterable[Source], intent: Intent
) -> tuple[tuple[Lost, ...], tuple[tuple[LostKind, int], ...]]:
    """What a summary leaves out, and how many of each kind it holds.

    A sentence is held where its words stand there in their order, a value where it stands, a file by as much of its end as no other file shares. Constraints of `intent` are rules, and what it holds is in use.
    """
    trail = _Trail()
    for source in before:
        trail.read(source)
    since = Counter(value for source in after if source.kind in _NAMING for value in _named(source))
    told = (*(each.text for each in intent.binding), *(item.text for item in intent.open))
    wanted = {value for text in told for value in _values(text)}
    kept = dict.fromkeys(LOST_KINDS, 0)
    lost: list[Lost] = []
    for held, each in (*_rules(trail, summary, intent), *_used(trail, summary, since, wanted)):
        kept[each.kind] += held
        lost += [] if held else [each]
    return tuple(lost), tuple(kept.items())


def refs_of(dropped: Dropped) -> list[str]:
    """The lines that hold what was lost, one of each kind in turn."""
    kinds = [[each.ref for each in dropped.lost if each.kind == kind and each.ref] for kind in LOST_KINDS]
    return [ref for ref in dict.fromkeys(ref for turn in zip_longest(*kinds) for ref in turn) if ref]


def named_besides(calls: Iterable[Source], told: str, room: int) -> tuple[str, ...]:
    """The values that calls named and a text leaves out, in the order of their letters: those named often and lately, as many as `room` characters hold."""
    every, low = list(calls), told.lower()
    worth: dict[str, float] = {}
    written: dict[str, str] = {}
    for age, source in zip(range(len(every), 0, -1), every, strict=True):
        for value, (text, _) in _found(source, {path.lower(): path for path in _paths(source)}).items():
            worth[value] = worth.get(value, 0.0) + 1 / (_LATELY + age)
            written[value] = text
    taken: dict[str, str] = {}
    for value in sorted(worth, key=lambda each: -worth[each]):
        size = len(written[value]) + 1
        if size <= room and value not in low and not any(value in other for other in taken):
            taken[value] = written[value]
            room -= size
    return tuple(taken[value] for value in sorted(taken))


def _found(source: Source, paths: Mapping[str, str]) -> dict[str, tuple[str, int]]:
    """The values in a record, lower case, and those of its paths, each as its last line writes it, and that line's number."""
    found: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(source.lines, 1):
        low = line.lower()
        found |= {value: (_written(line, low, value), number) for value in _values(_said(source, number, line))}
        found |= {path: (written, number) for path, written in paths.items() if path in low}
    return found


def _rules(trail: _Trail, summary: str, intent: Intent) -> Iterator[tuple[bool, Lost]]:
    """Constraints and the user's sentences, the newest first, each with whether the summary holds it."""
    rules = {_plain(each.text): Lost("rule", each.text, each.ref) for each in reversed(intent.binding)}
    plain = f" {_plain(summary)} "
    for words, rule in (rules | dict(reversed(trail.rules.items()))).items():
        yield f" {words} " in plain, rule


def _used(trail: _Trail, summary: str, since: Counter[str], wanted: set[str]) -> Iterator[tuple[bool, Lost]]:
    """Values in use, then files, those named most often first, each with whether the summary holds it."""
    ends = Counter(end for value, seen in trail.values.items() if seen.files for end in _ends(value))
    newest = list(reversed(trail.values.items()))
    ranked = sorted(newest, key=lambda each: (each[1].files > 0, -since[each[0]], -each[1].named))
    for value, seen in ranked:
        if not (seen.files or seen.named or since[value] or value in wanted):
            continue
        names = [value, *(end for end in _ends(value) if seen.files and ends[end] == 1)]
        held = any(holds_name(summary, name) for name in names)
        if seen.files:
            yield held, Lost("file", seen.text, seen.ref, seen.files, since[value])
        else:
            yield held, Lost("value", seen.text, seen.ref, seen.named, since[value])


def _named(source: Source) -> set[str]:
    """The values that a record holds."""
    return {value for number, line in enumerate(source.lines, 1) for value in _values(_said(source, number, line))}


def _said(source: Source, number: int, line: str) -> str:
    """A line; of a call without the name of an argument, and without the tool's, which is its first."""
    if source.kind != "call":
        return line
    return "" if number == _TOOL else _ARGUMENT.sub("", line)


def _values(line: str) -> Iterator[str]:
    """The ids, numbers, addresses and joined names in a line, lower case."""
    return (value for value in values_in(line) if len(value) > _SHORT and _EXACT.search(value))


def _written(line: str, low: str, value: str) -> str:
    """A value as a line writes it."""
    at = low.find(value)
    return line[at : at + len(value)] if at >= 0 else value


def _sentences(line: str) -> Iterator[str]:
    """The sentences of a line that say anything."""
    return (
        span.of(line) for span in sentences(line) if not _plain(span.of(line)).isdecimal() and _plain(span.of(line))
    )


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _paths(source: Source) -> Iterator[str]:
    """The arguments of a call that are a path and nothing else."""
    if source.kind == "call":
        stack: list[Any] = [json.loads(source.text)]
        while stack:
            match stack.pop():
                case dict() as tree:
                    stack += tree.values()
                case list() as items:
                    stack += items
                case str() as text if _PATH.fullmatch(text):
                    yield text
                case _:
                    continue


def _ends(path: str) -> Sequence[str]:
    """The ends of a path, from its last part on."""
    parts = re.split(r"[/\\]", path)
    return ["/".join(parts[at:]) for at in range(len(parts) - 1, 0, -1) if parts[-1]]
