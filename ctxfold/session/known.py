"""What stands in the view already, asked while a new record is rendered. It looks back along one path and never changes anything.

A fact is known only while its line stands in the settled cover: once a fold has dropped it, the next record that holds it shows it in full again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, compress, count
from operator import is_not
from typing import Any, NamedTuple, TypeVar

from ctxfold.log.compact.blobs import without_blobs
from ctxfold.log.compact.cells import parse
from ctxfold.log.compact.prose import parts, values
from ctxfold.log.compact.tables import Cells, cells_of, columns_of
from ctxfold.log.compact.unwrap import trees_of
from ctxfold.log.facts import Known, content_key, identity_key, objects, shape_key
from ctxfold.log.lines import Line
from ctxfold.log.records import Record
from ctxfold.store.protocol import Reading
from ctxfold.store.values import Path
from ctxfold.workspace.workspace import Block, RawStep, Tile, Workspace

__all__ = ["PathLedger", "Words"]


class Place(NamedTuple):
    """The newest record on a path that settles a key: its row, its address, the step it stands in, its text."""

    row: int
    ref: str
    at: int
    entry: int
    kind: str


class Words:
    """The telling words and the ledger keys that stand in a workspace, and which block each step stands in, kept up as it changes.

    Words are read when one is first asked for: most records never ask.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._words: Counter[str] = Counter()
        self._keys: Counter[int] = Counter()
        self._at: dict[int, Block] = {}
        self._lanes: tuple[int, ...] = ()
        self._places: dict[int, Place] = {}
        self._unread: list[tuple[Sequence[Line], str, int]] = []
        self._exchange((), workspace.blocks)

    def add(self, lines: Sequence[Line], keys: Iterable[int]) -> None:
        """Take in lines that were added to the view, and the ledger keys in them."""
        self._unread.append((lines, "", 1))
        self._keys.update(keys)

    def places(self, path: Path) -> dict[int, Place]:
        """Where along a path keys were found, for as long as it is the same path."""
        lanes = tuple(lane for lane, _ in path)
        if lanes != self._lanes:
            self._lanes, self._places = lanes, {}
        return self._places

    def grew(self, step: RawStep) -> None:
        """Take in the step at the path's end as it stands now; its lines were added one by one."""
        self._at[step.n] = step

    def became(self, before: Workspace, after: Workspace) -> None:
        """Take in that other blocks stand now: only those that differ are read."""
        old, new = before.blocks, after.blocks
        start = _alike(old, new)
        end = _alike(old[start:][::-1], new[start:][::-1])
        self._exchange(old[start : len(old) - end], new[start : len(new) - end])

    def settles(self, key: int) -> bool:
        """Whether the value of a ledger key stands in a line."""
        return self._keys.get(key, 0) > 0

    def stands(self, step: int, key: int) -> bool:
        """Whether the value of a key that a step settled stands where that step does."""
        match self._at.get(step):
            case Tile() as tile:
                return key in tile.keys
            case RawStep():
                return True
            case None:
                return False

    def __contains__(self, word: str) -> bool:
        while self._unread:
            lines, prose, sign = self._unread.pop()
            for text in (prose, *(line.text for line in lines)):
                for telling in values(text[:_READ]):
                    for each in (telling, *parts(telling)):
                        _add(self._words, each, sign)
        return self._words.get(word, 0) > 0

    def _exchange(self, old: Sequence[Block], new: Sequence[Block]) -> None:
        """Take in blocks in place of others. Most keys of a block stand in what is folded of it too: they are left alone."""
        for step in chain.from_iterable(block.steps for block in old):
            self._at.pop(step, None)
        for block in new:
            self._at.update(dict.fromkeys(block.steps, block))
        self._unread += [(*_said(block), -1) for block in old]
        self._unread += [(*_said(block), 1) for block in new]
        before, now = _keys_of(old), _keys_of(new)
        if before == now:
            return
        for key, times in before.items():
            if now.get(key, 0) != times:
                _add(self._keys, key, now.get(key, 0) - times)
        for key, times in now.items():
            if key not in before:
                _add(self._keys, key, times)


def _said(block: Block) -> tuple[Sequence[Line], str]:
    return block.lines, block.summary if isinstance(block, Tile) else ""


def _keys_of(blocks: Iterable[Block]) -> Counter[int]:
    return Counter(chain.from_iterable([line.keys for block in blocks for line in block.lines]))


def _alike(old: Sequence[Block], new: Sequence[Block]) -> int:
    """How many blocks two covers begin with alike."""
    return next(compress(count(), map(is_not, old, new)), min(len(old), len(new)))


_Counted = TypeVar("_Counted")


def _add(counts: Counter[_Counted], each: _Counted, sign: int) -> None:
    """Count; what stands nowhere any more is forgotten."""
    now = counts.get(each, 0) + sign
    if now:
        counts[each] = now
    else:
        counts.pop(each, None)


_READ = 200_000


class PathLedger:
    """The ledger along one path, as far as it stands in the view.

    Args:
        tx: an open transaction.
        session: the session's row id.
        path: the path up to the step being recorded.
        words: what stands in the settled cover of that path.
    """

    def __init__(self, tx: Reading, session: int, path: Path, words: Words) -> None:
        self._tx, self._session, self._path, self._words = tx, session, path, words
        self._places = words.places(path)
        self._fresh: dict[int, tuple[str, _Values]] = {}
        self._read: dict[int, _Values] = {}

    def find(self, key: int) -> Known | None:
        """The newest place on the path where this key's value stands in the view."""
        if key in self._fresh:
            ref, values_there = self._fresh[key]
            return Known(ref, partial(values_there.of, key))
        if not self._words.settles(key):
            return None
        place = self._places.get(key) or self._place(key)
        if place is None or not self._words.stands(place.at, key):
            return None
        if place.row not in self._read:
            self._read[place.row] = _Values(partial(self._tx.log.text, place.entry), place.kind)
        return Known(place.ref, partial(self._read[place.row].of, key))

    def _place(self, key: int) -> Place | None:
        row = self._tx.facts.known(self._session, key, self._path)
        there = None if row is None else self._tx.log.record_by_id(row)
        if there is None:
            return None
        place = self._places[key] = Place(there.id, f"s{there.step}.{there.k}", there.at, there.entry, there.kind)
        return place

    def says(self, word: str) -> bool:
        """Whether a word stands somewhere in the view already."""
        return word in self._words

    def took(self, record: Record, lines: Sequence[Line], keys: Sequence[int]) -> None:
        """Take in a record just rendered, its lines and the ledger keys in them, so that the next record of the step sees them."""
        self._words.add(lines, keys)
        self._fresh.update(dict.fromkeys(keys, (record.ref, _Values(lambda: record.text, record.kind))))
        for key in self._places.keys() & keys:
            del self._places[key]


class _Values:
    """The JSON objects and lists inside one record by ledger key, read and indexed kind by kind when first asked for: a ref needs none of it."""

    def __init__(self, text: Callable[[], str], kind: str) -> None:
        self._text, self._kind = text, kind
        self._nodes: list[tuple[str, Any]] | None = None
        self._kinds = iter((_identities, _shapes, _contents))
        self._by_key: dict[int, Any] = {}

    def of(self, key: int) -> Any:
        """The value that settles a key; None for a text's own key."""
        while key not in self._by_key:
            index = next(self._kinds, None)
            if index is None:
                return None
            for made, node in index(self._all()):
                self._by_key.setdefault(made, node)
        return self._by_key[key]

    def _all(self) -> list[tuple[str, Any]]:
        if self._nodes is None:
            self._nodes = [node for tree in self._trees() for node in objects(tree)]
        return self._nodes

    def _trees(self) -> Iterable[Any]:
        text = self._text()
        if self._kind != "call":
            return trees_of(text)
        call = parse(without_blobs(text))
        return (call.get("args"),) if isinstance(call, dict) else ()


def _identities(nodes: list[tuple[str, Any]]) -> Iterator[tuple[int, Any]]:
    for path, node in nodes:
        key = identity_key(node, f".{path}" if path else "")
        if key is not None:
            yield key, node


def _shapes(nodes: list[tuple[str, Any]]) -> Iterator[tuple[int, Any]]:
    """Of several objects with as many columns no reader could tell which row is meant: none of them is given."""
    made = [(cells, len(columns_of(node, cells)), node) for node, cells in _cells(nodes)]
    often = Counter(shown for _, shown, _ in made)
    return ((shape_key(cells.texts), node if often[shown] == 1 else None) for cells, shown, node in made)


def _cells(nodes: list[tuple[str, Any]]) -> Iterator[tuple[dict[str, Any], Cells]]:
    return ((node, cells_of(node)) for _, node in nodes if isinstance(node, dict))


def _contents(nodes: list[tuple[str, Any]]) -> Iterator[tuple[int, Any]]:
    return ((content_key(node), node) for _, node in nodes)
