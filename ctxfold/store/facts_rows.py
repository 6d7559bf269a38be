"""The rows of what can be derived anew: ledger keys and the search over words; `protocol.Facts` says what each method does."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterable

from ctxfold.store.codec import searchable
from ctxfold.store.values import Path

__all__ = ["FactsRows"]

_ERA = 16
"""Steps of a path whose facts stand together: an append writes to the few pages of one era, however long the session is."""
_NEWEST = """
    WITH RECURSIVE down (era) AS (
      SELECT :era UNION ALL
      SELECT era - 1 FROM down
      WHERE era > 0 AND NOT EXISTS (SELECT 1 FROM fact WHERE session = :session AND fact.era = down.era AND key = :key)
    )
    SELECT era, lane, depth, record FROM fact WHERE session = :session AND key = :key AND era = (SELECT min(era) FROM down)
"""
"""The rows of a key in the newest era that has any."""
_WORD = re.compile(r"[^\W_]+")


class FactsRows:
    """`protocol.Facts` over SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute
        self._many = connection.executemany

    def known(self, session: int, key: int, path: Path) -> int | None:
        tops = dict(path)
        era = max(tops.values(), default=-1) // _ERA
        while era >= 0:
            rows = self._run(_NEWEST, {"session": session, "key": key, "era": era}).fetchall()
            there = [(depth, record) for _, lane, depth, record in rows if depth <= tops.get(lane, -1)]
            if there:
                return int(max(there)[1])
            era = rows[0][0] - 1 if rows else -1
        return None

    def add_facts(self, session: int, lane: int, depth: int, facts: Iterable[tuple[int, int]]) -> None:
        era = depth // _ERA
        self._many(
            "INSERT OR IGNORE INTO fact (session, era, key, lane, depth, record) VALUES (?, ?, ?, ?, ?, ?)",
            [(session, era, key, lane, depth, record) for key, record in facts],
        )

    def search(self, session: int, query: str, limit: int) -> list[tuple[int, float]]:
        words = _words(query)
        scores: dict[int, float] = {}
        for word in words:
            rows = self._run(
                "SELECT fts.rowid FROM fts JOIN record ON record.id = fts.rowid WHERE fts MATCH ? AND record.session = ? ORDER BY fts.rowid DESC LIMIT ?",
                (f'"{word}"', session, _RANKED),
            ).fetchall()
            weight = 1 / (1 + math.log1p(len(rows)))
            for (record,) in rows:
                scores[record] = scores.get(record, 0.0) + weight
        best = sorted(scores.items(), key=lambda each: (-each[1], -each[0]))
        return best[:limit]

    def holding(self, session: int, name: str, limit: int) -> list[int]:
        words = _words(name)
        if not words:
            return []
        match = " AND ".join(f'"{word}"' for word in words)
        rows = self._run(
            "SELECT fts.rowid FROM fts JOIN record ON record.id = fts.rowid WHERE fts MATCH ? AND record.session = ? ORDER BY fts.rowid DESC LIMIT ?",
            (match, session, limit),
        )
        return [int(record) for (record,) in rows]


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(_WORD.findall(searchable(text).lower())))[:32]


_RANKED = 2_000
"""Records a word is looked for in, the newest: an index that keeps neither texts nor places knows no better rank than how rare a word is."""
