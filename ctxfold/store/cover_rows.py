"""The SQLite rows of tiles, covers and notes, as `protocol.Cover` describes them."""

from __future__ import annotations

import sqlite3

from ctxfold.errors import CorruptStore
from ctxfold.store.codec import decode, encode

__all__ = ["CoverRows"]


class CoverRows:
    """`protocol.Cover` over SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute

    def tile(self, session: int, tile: int) -> bytes | None:
        row = self._run("SELECT body FROM tile WHERE session = ? AND id = ?", (session, tile)).fetchone()
        return None if row is None else bytes(row[0])

    def tile_end(self, session: int, tile: int) -> int | None:
        row = self._run("SELECT last FROM tile WHERE session = ? AND id = ?", (session, tile)).fetchone()
        return None if row is None else int(row[0])

    def tile_numbers(self, session: int) -> list[int]:
        return [int(tile) for (tile,) in self._run("SELECT id FROM tile WHERE session = ? ORDER BY id", (session,))]

    def next_tile(self, session: int) -> int:
        return int(self._run("SELECT ifnull(max(id), 0) + 1 FROM tile WHERE session = ?", (session,)).fetchone()[0])

    def add_tile(self, session: int, tile: int, first: int, last: int, tokens: int, body: bytes) -> None:
        self._run(
            "INSERT INTO tile (session, id, first, last, tokens, body) VALUES (?, ?, ?, ?, ?, ?)",
            (session, tile, first, last, tokens, body),
        )

    def replace_tile(self, session: int, tile: int, body: bytes) -> None:
        self._run("UPDATE tile SET body = ? WHERE session = ? AND id = ?", (body, session, tile))

    def cell(self, session: int, cell: int) -> tuple[int, int] | None:
        row = self._run("SELECT prev, tile FROM cell WHERE session = ? AND id = ?", (session, cell)).fetchone()
        return None if row is None else (int(row[0]), int(row[1]))

    def cells(self, session: int) -> list[tuple[int, int, int]]:
        return self._run("SELECT id, prev, tile FROM cell WHERE session = ? ORDER BY id", (session,)).fetchall()

    def add_cell(self, session: int, prev: int, tile: int) -> int:
        cell = int(self._run("SELECT ifnull(max(id), 0) + 1 FROM cell WHERE session = ?", (session,)).fetchone()[0])
        self.put_cell(session, cell, prev, tile)
        return cell

    def put_cell(self, session: int, cell: int, prev: int, tile: int) -> None:
        self._run("INSERT INTO cell (session, id, prev, tile) VALUES (?, ?, ?, ?)", (session, cell, prev, tile))

    def notes(self, session: int, note: int) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        while note:
            row = self._run(
                "SELECT prev, slot, text FROM note WHERE session = ? AND id = ?", (session, note)
            ).fetchone()
            if row is None:
                raise CorruptStore(f"note {note} is not there; restore a copy of the store")
            note = int(row[0])
            found.append((str(row[1]), decode(row[2])))
        return found[::-1]

    def note_rows(self, session: int) -> list[tuple[int, str]]:
        return [(note, text) for note, _, _, text in self.note_links(session)]

    def note_links(self, session: int) -> list[tuple[int, int, str, str]]:
        rows = self._run("SELECT id, prev, slot, text FROM note WHERE session = ? ORDER BY id", (session,))
        return [(note, prev, slot, decode(text)) for note, prev, slot, text in rows]

    def add_note(self, session: int, prev: int, slot: str, text: str) -> int:
        note = int(self._run("SELECT ifnull(max(id), 0) + 1 FROM note WHERE session = ?", (session,)).fetchone()[0])
        self.put_note(session, note, prev, slot, text)
        return note

    def put_note(self, session: int, note: int, prev: int, slot: str, text: str) -> None:
        self._run(
            "INSERT INTO note (session, id, prev, slot, text) VALUES (?, ?, ?, ?, ?)",
            (session, note, prev, slot, encode(text)),
        )

    def replace_note(self, session: int, note: int, text: str) -> None:
        self._run("UPDATE note SET text = ? WHERE session = ? AND id = ?", (encode(text), session, note))
