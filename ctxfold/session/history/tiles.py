"""Stores tiles, and covers as chains of cells.

A cell holds one tile and the cell before it, so a cover shares everything older with the cover it came from: folding at the end of a path
adds one cell, undoing points back at an older one, forking copies nothing.
"""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any, NamedTuple

from ctxfold.errors import CorruptStore
from ctxfold.log.json_tree import canonical
from ctxfold.session.history.commit import Happened, advance
from ctxfold.store.codec import digest, encode, pack_text, unpack_json
from ctxfold.store.sqlite import Reading, Writing
from ctxfold.store.values import HeadRow, State
from ctxfold.workspace.by import Decider
from ctxfold.workspace.workspace import Change, Tile, dump_lines, load_lines

__all__ = [
    "Outline",
    "behind",
    "cover_with",
    "dump_tile",
    "is_lost",
    "load_tile",
    "put_tile",
    "read_outline",
    "read_tile",
    "tile_digest",
    "tiles_of",
]

_log = logging.getLogger(__name__)

VERSION = 1
"""Of the fold applier. A tile holds its resolved lines, so an older session keeps its bytes when this grows."""


def dump_tile(tile: Tile) -> dict[str, Any]:
    """A tile as JSON, steps as runs."""
    runs: list[list[int]] = []
    for step in tile.steps:
        if runs and step == runs[-1][1] + 1:
            runs[-1][1] = step
        else:
            runs.append([step, step])
    return {
        "id": tile.number, "steps": runs, "summary": tile.summary, "lines": dump_lines(tile.lines), "status": tile.status, "origin": tile.origin,
        "raw": tile.raw, "tokens": tile.tokens, "untrusted": tile.untrusted, "whole": tile.whole, "children": list(tile.children),
        **({"front": True} if tile.front else {}),
        **({"changed": [[each.name, *each.steps] for each in tile.changed]} if tile.changed else {}),
    }  # fmt: skip


def load_tile(tree: Any) -> Tile:
    """A tile from JSON made by `dump_tile`. Raises CorruptStore when it is not."""
    try:
        steps = tuple(step for first, last in tree["steps"] for step in range(first, last + 1))
        return Tile(
            tree["id"], steps, tree["summary"], load_lines(tree["lines"]), tree["status"], tree["origin"],
            tree["raw"], tree["tokens"], tree["untrusted"], tree["whole"], tuple(tree["children"]), tree.get("front", False),
            tuple(Change(name, tuple(steps)) for name, *steps in tree.get("changed", ())),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptStore("a folded block does not read back; restore a copy of the store") from error


def read_tile(tx: Reading, session: int, tile: int) -> Tile:
    """A tile by number. Raises CorruptStore when it is not there."""
    return load_tile(unpack_json(_body(tx, session, tile)))


def is_lost(tx: Reading, session: int, tile: int) -> bool:
    """Whether a tile's body is not what was written and may be left out: the embedded folder made it, of what nobody wrote a summary of, so its steps
    in full say all that it said. Raises CorruptStore: it is not what was written, and holds what a host or a model wrote.
    """
    if tx.cover.tile(session, tile) != b"":
        return False
    written: list[frozenset[int]] = []
    for event in tx.forest.events(session):
        payload = json.loads(event.json)
        tiles, steps = [payload.get("tile"), *payload.get("tiles", ())], frozenset(payload.get("steps", ()))
        if event.decider != "embedded" and tiles != [None]:
            written.append(steps)
        elif tile in tiles and not any(inner <= steps for inner in written):
            _log.warning("block b%d of this store is damaged: it is left out, and its steps stand in full", tile)
            return True
    raise CorruptStore(
        f"block b{tile} of this store is damaged, and its summary stood nowhere else; restore a copy, "
        "or run `ctxfold doctor --salvage NEW-FILE`, which takes over the log beneath it"
    )


def tiles_of(tx: Reading, session: int, cover: int) -> list[Tile]:
    """The tiles of a cover in path order, without those that are lost."""
    found: list[Tile] = []
    while cover:
        cover, number = tx.cover.cell(session, cover)
        if not is_lost(tx, session, number):
            found.append(read_tile(tx, session, number))
    return found[::-1]


class Outline(NamedTuple):
    """What a tile is without its lines. `written`: whether a host or a model wrote it in place of its steps; `children`: the tiles it replaced."""

    number: int
    first: int
    size: int
    written: bool
    children: tuple[int, ...]

    @classmethod
    def of(cls, tile: Tile) -> Outline:
        """The outline of a tile that is at hand."""
        return cls(
            tile.number, tile.first, len(tile.steps), tile.origin != "embedded" and not tile.front, tile.children
        )


def read_outline(tx: Reading, session: int, tile: int) -> Outline:
    """A tile by number, its lines left unread. Raises CorruptStore when it is not there."""
    try:
        tree: Any = unpack_json(tx.cover.tile(session, tile) or b"")
        size = sum(last - first + 1 for first, last in tree["steps"])
        written = tree["origin"] != "embedded" and not tree.get("front", False)
        return Outline(tree["id"], tree["steps"][0][0], size, written, tuple(tree["children"]))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise CorruptStore(f"block b{tile} does not read back; restore a copy of the store") from error


def tile_digest(tx: Reading, session: int, tile: int) -> bytes:
    """The content hash of a tile as it is stored: an older version wrote its lines in another form. Raises CorruptStore when it is not there."""
    return digest(encode(canonical(unpack_json(_body(tx, session, tile)))))


def _body(tx: Reading, session: int, tile: int) -> bytes:
    body = tx.cover.tile(session, tile)
    if body is None:
        raise CorruptStore(f"block b{tile} is not there; restore a copy of the store")
    return body


def put_tile(tx: Writing, session: int, state: State, tile: Tile, said: tuple[Decider, str], head: HeadRow) -> State:
    """Commit a tile on a branch, whose cover has whole blocks where it goes: its body, the cells of the cover it makes, one event."""
    cover, kept = cover_with(tx, session, state.cover, tile)
    payload = {"tile": tile.number, "steps": list(tile.steps), "version": VERSION}
    return advance(tx, session, head, state, replace(state, cover=cover), Happened("folded", payload, (kept,), *said))


def cover_with(tx: Writing, session: int, cover: int, tile: Tile) -> tuple[int, bytes]:
    """Keep a tile; the newest cell of a cover with it in place of those whose steps it stands for, and its content hash."""
    body = canonical(dump_tile(tile))
    tx.cover.add_tile(session, tile.number, tile.first, tile.last, tile.tokens, pack_text(body))
    cover, kept = behind(tx, session, cover, tile)
    for number in (tile.number, *kept):
        cover = tx.cover.add_cell(session, cover, number)
    return cover, digest(encode(body))


def behind(tx: Reading, session: int, cover: int, tile: Tile) -> tuple[int, list[int]]:
    """Of a cover that a tile is to stand in: the newest cell before it, and the tiles that go on standing behind it, in path order."""
    inside = set(tile.steps)
    kept: list[int] = []
    first = tx.log.step(session, tile.first)
    while cover:
        row = tx.cover.cell(session, cover)
        end = tx.cover.tile_end(session, row[1])
        if end is None:
            raise CorruptStore(f"block b{row[1]} is not there; restore a copy of the store")
        last = tx.log.step(session, end)
        if first is not None and last is not None and last.depth < first.depth:
            break
        if end not in inside:
            kept.append(row[1])
        cover = row[0]
    return cover, kept[::-1]
