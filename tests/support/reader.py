"""A reader who knows nothing but a view's lines and its legend, and says which values belong together. It asks the code under test for nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ctxfold.log.lines import Line

__all__ = ["Read", "Reader", "pairs", "split"]

Cells = dict[tuple[str, ...], str]

_ADDRESS = re.compile(r"s\d+\.\d+")
_NESTED = re.compile(r"([^\s=(\[]+)\((.*)\)", re.DOTALL)
_PAIR = re.compile(r"([^\s=(\[\"]+)=(.*)", re.DOTALL)
_GROUP = re.compile(r"([^\s=(\[]+)\[(.*)\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Read:
    """What one row says of one thing: its cells by path; a cell the row calls the same as elsewhere is left out."""

    ref: str
    cells: Cells


@dataclass
class Reader:
    """Reads rows one after the other, as they stand in a view."""

    named: list[Read] = field(default_factory=list)
    """The rows that stand with the names of their columns."""
    header: tuple[str, int, list[tuple[str, ...]]] = ("", 0, [])
    """The table a row may belong to: its record, how deep its header stands, its columns."""
    tables: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    """The columns of the newest table of each record: what a header means that names the record."""
    above: list[str] = field(default_factory=list)
    last: dict[tuple[str, int], Read] = field(default_factory=dict)
    """The last row at an indent of a record: what "above" means there."""

    def read(self, lines: Iterable[Line]) -> Iterator[Read]:
        """What each row says that can be read on its own or by what it names."""
        for line in lines:
            if line.kind == "data":
                yield from self.row(line.ref, line.indent, line.text.lstrip("<> "))

    def row(self, ref: str, indent: int, text: str) -> Iterator[Read]:
        """One row."""
        words = split(text)
        while len(words) > 1 and (words[0] == "-" or words[0].endswith(":")):
            words = words[1:]
        right_above = self.last.pop((ref, indent), None)
        if indent <= self.header[1]:
            self.header = ("", 0, [])
        if words and words[0] == "as" and len(words) > 2:
            name = words[1].removesuffix(":")
            heads = self.named if name != "above" else [right_above] if right_above is not None else []
            told, self.last[ref, indent] = self.under(ref, name, words[2:], heads)
            yield told
        elif text.endswith(":"):
            named = self.tables.get(words[1].removesuffix(":")) if words[0] == "as" and len(words) == 2 else None
            self.tables[ref] = columns(words) if named is None else named
            self.header, self.above = (ref, indent, self.tables[ref]), []
        elif text.endswith("rest as before"):
            return
        elif said := dict(pairs(words)):
            read = Read(ref, said)
            self.named.append(read)
            self.last[ref, indent] = read
            yield read
        elif self.header[0] == ref and self.header[1] < indent and not text.endswith("(as above)"):
            yield from self.cells(ref, words)

    def cells(self, ref: str, words: list[str]) -> Iterator[Read]:
        """A row of the table it stands in; where the rows are told by names of their own, these stand first and have no column."""
        names = self.header[2]
        cells = [up if cell == "^" else cell for cell, up in zip(words, self.above or words, strict=False)]
        if len(names) <= len(cells) <= len(names) + 1:
            self.above = cells
            yield Read(ref, dict(zip(names, cells[len(cells) - len(names) :], strict=True)))

    def under(self, ref: str, name: str, words: list[str], heads: list[Read]) -> tuple[Read, Read]:
        """A row of values alone, read under the newest row it can mean: of that address or name, with a column for each value.

        Returns:
            What it says, and the row as one whose columns the next may use.
        """
        words = [word for word in words if word != "…null"]
        bare = sum(not any(named.fullmatch(word) for named in (_PAIR, _NESTED, _GROUP)) for word in words)
        head = next(
            read
            for read in reversed(heads)
            if (name == "above" or (read.ref == name if _ADDRESS.fullmatch(name) else name in read.cells.values()))
            and len(read.cells) == bare
        )
        names = list(head.cells)
        cells = [head.cells[path] if cell == "^" else cell for path, cell in zip(names, words, strict=False)]
        told = {path: cell for path, cell in zip(names, cells, strict=True) if not cell.startswith("=")}
        return Read(ref, {**told, **dict(pairs(words[len(names) :]))}), Read(ref, dict(zip(names, cells, strict=True)))


def split(text: str) -> list[str]:
    """The words of a row: cut at each blank outside quotes, brackets and parentheses."""
    words, depth, quoted, word, escaped = [], 0, False, "", False
    for sign in text:
        if quoted:
            quoted = sign != '"' or escaped
            escaped = sign == "\\" and not escaped
        elif sign == '"':
            quoted = True
        elif sign in "[(":
            depth += 1
        elif sign in ")]":
            depth -= 1
        elif sign == " " and not depth:
            words.append(word)
            word = ""
            continue
        word += sign
    return [*words, word]


def pairs(words: Iterable[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Cells that stand with their names."""
    for word in words:
        if nested := _NESTED.fullmatch(word):
            yield from (((nested[1], *path), cell) for path, cell in pairs(split(nested[2])))
        elif group := _GROUP.fullmatch(word):
            yield (group[1],), word[len(group[1]) :]
        elif pair := _PAIR.fullmatch(word):
            yield (pair[1],), pair[2]


def columns(words: list[str]) -> list[tuple[str, ...]]:
    """The paths a table's header names."""
    made: list[tuple[str, ...]] = []
    for word in (*(word for word in words[:-1] if not word.endswith(":")), words[-1].removesuffix(":")):
        nested = _NESTED.fullmatch(word)
        group = _GROUP.fullmatch(word)
        inside = [(nested[1], name) for name in split(nested[2])] if nested else [(group[1] if group else word,)]
        made.extend(inside)
    return made
