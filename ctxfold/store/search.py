"""Full-text search."""

from __future__ import annotations

import math
import re
import sqlite3

from ctxfold.store.codec import searchable

_WORD = re.compile(r"[^\W_]+")


class SearchRows:
    """The words of records, which can be indexed anew."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute

    def ranked(self, session: int, query: str, limit: int) -> list[tuple[int, float]]:
        """Records that hold the words, best first, with a score that grows with fit."""
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
        """Records that hold every word of a name, newest first."""
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
