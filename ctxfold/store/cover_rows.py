"""The SQLite rows of tiles, covers and notes."""

from __future__ import annotations

import sqlite3

from ctxfold.store.codec import COVERED, damaged, decode, encode, holds, intact, put, reseal

__all__ = ["CoverRows"]


class CoverRows:
    """Tiles, the cells of covers, and notes."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute

    def tile(self, session: int, tile: int) -> bytes | None:
        """The body of a folded tile; empty where it is not what was written."""
        row = self._run(
            "SELECT CAST(body AS BLOB), body_sum = checksum(CAST(body AS BLOB)) FROM tile WHERE session = ? AND id = ?",
            (session, tile),
        ).fetchone()
        return None if row is None else bytes(row[0]) if row[1] else b""

    def tile_end(self, session: int, tile: int) -> int | None:
        """The last step, in path order, of a folded tile."""
        rows = self._run(f"SELECT last, {holds('tile')} FROM tile WHERE session = ? AND id = ?", (session, tile))
        return next((int(last) for (last,) in intact(rows, f"block b{tile}")), None)

    def tile_numbers(self, session: int) -> list[int]:
        """Every tile of a session."""
        return [int(tile) for (tile,) in self._run("SELECT id FROM tile WHERE session = ? ORDER BY id", (session,))]

    def next_tile(self, session: int) -> int:
        """A tile number never used in this session."""
        return int(self._run("SELECT ifnull(max(id), 0) + 1 FROM tile WHERE session = ?", (session,)).fetchone()[0])

    def add_tile(self, session: int, tile: int, first: int, last: int, tokens: int, body: bytes) -> None:
        """Keep a folded tile."""
        self._run(
            f"INSERT INTO tile ({COVERED['tile']}, sum, body, body_sum)"
            " VALUES (?1, ?2, ?3, ?4, ?5, checksum(?1, ?2, ?3, ?4, ?5), ?6, checksum(?6))",
            (session, tile, first, last, tokens, body),
        )

    def replace_tile(self, session: int, tile: int, body: bytes) -> None:
        """Rewrite a tile's body: for redaction alone."""
        self._run(
            "UPDATE tile SET body = ?1, body_sum = checksum(?1) WHERE session = ?2 AND id = ?3", (body, session, tile)
        )

    def cell(self, session: int, cell: int) -> tuple[int, int]:
        """A cell of a cover: the cell before it and its tile."""
        rows = self._run(f"SELECT prev, tile, {holds('cell')} FROM cell WHERE session = ? AND id = ?", (session, cell))
        for prev, tile in intact(rows, f"cell {cell} of a cover"):
            return int(prev), int(tile)
        raise damaged(f"cell {cell} of a cover")

    def cells(self, session: int) -> list[tuple[int, int, int]]:
        """Every cell of a session as (number, the one before, tile)."""
        rows = self._run(f"SELECT id, prev, tile, {holds('cell')} FROM cell WHERE session = ? ORDER BY id", (session,))
        return [(cell, prev, tile) for cell, prev, tile in intact(rows, "a cell of a cover")]

    def add_cell(self, session: int, prev: int, tile: int) -> int:
        """A cell after another; its number."""
        cell = int(self._run("SELECT ifnull(max(id), 0) + 1 FROM cell WHERE session = ?", (session,)).fetchone()[0])
        self.put_cell(session, cell, prev, tile)
        return cell

    def put_cell(self, session: int, cell: int, prev: int, tile: int) -> None:
        """A cell under its own number: for import alone."""
        self._run(put("cell"), (session, cell, prev, tile))

    def notes(self, session: int, note: int) -> list[tuple[str, str]]:
        """The notes that lead to a root, oldest first, as (slot, text)."""
        found: list[tuple[str, str]] = []
        while note:
            rows = intact(
                self._run(
                    f"SELECT prev, slot, text, {holds('note')} FROM note WHERE session = ? AND id = ?", (session, note)
                ),
                f"note {note}",
            )
            if not rows:
                raise damaged(f"note {note}")
            note, slot, text = rows[0]
            found.append((str(slot), decode(text)))
        return found[::-1]

    def note_links(self, session: int) -> list[tuple[int, int, str, str]]:
        """Every note of a session as (number, the one before, slot, text)."""
        rows = self._run(
            f"SELECT id, prev, slot, text, {holds('note')} FROM note WHERE session = ? ORDER BY id", (session,)
        )
        return [(note, prev, slot, decode(text)) for note, prev, slot, text in intact(rows, "a note")]

    def add_note(self, session: int, prev: int, slot: str, text: str) -> int:
        """A note after another; its number."""
        note = int(self._run("SELECT ifnull(max(id), 0) + 1 FROM note WHERE session = ?", (session,)).fetchone()[0])
        self.put_note(session, note, prev, slot, text)
        return note

    def put_note(self, session: int, note: int, prev: int, slot: str, text: str) -> None:
        """A note under its own number: for import alone."""
        self._run(put("note"), (session, note, prev, slot, encode(text)))

    def replace_note(self, session: int, note: int, text: str) -> None:
        """Rewrite a note's text: for redaction alone."""
        self._run("UPDATE note SET text = ? WHERE session = ? AND id = ?", (encode(text), session, note))
        self._run(f"{reseal('note')} WHERE session = ? AND id = ?", (session, note))
