"""Full-text search over the records of a store, by the index of SQLite (FTS5)."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxfold.store import Query

Scope = int | str
"""Which records are searched: those of a session, by its number; else of all sessions whose names begin so."""
INDEX = (
    "CREATE VIRTUAL TABLE fts USING fts5"
    " (text, content = '', detail = none, tokenize = 'porter unicode61 remove_diacritics 2')"
)
SEARCHED = 400_000
"""Characters of a record that the index holds."""
_RANKED = 2_000
"""Records a word is looked up in, the newest: the index keeps no texts and knows no better rank than rarity."""
_MOST_WORDS = 32
_SCRIPT = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
_PAIRS = re.compile(f"(?=({_SCRIPT}{{1,2}})){_SCRIPT}")
_WORD = re.compile(r"[^\W_]+")


class SearchRows:
    """The words of records."""

    def __init__(self, query: Query) -> None:
        self._query = query

    def add(self, record: int, text: str) -> None:
        """Index a record."""
        sql = "INSERT INTO fts (rowid, text) VALUES (:record, :words)"
        self._query(sql, record=record, words=_index_form(text))

    def remove(self, record: int, text: str) -> None:
        """Take a record out of the index, which has to be given the words that were put in."""
        sql = "INSERT INTO fts (fts, rowid, text) VALUES ('delete', :record, :words)"
        self._query(sql, record=record, words=_index_form(text))

    def ranked(self, scope: Scope, query: str, limit: int) -> list[tuple[int, float]]:
        """Records that hold words of a query, best first, with a score that grows with fit.

        By three other words of a later call the first hit's step holds the value that the call used in .57 of 240
        searches of recorded sessions (`tests.benchmarks.recall_hits`). Neither a weight by idf, by how often a word
        occurs or by length, nor a score of whole steps differs from that by more than the error, .03.
        """
        scores: dict[int, float] = {}
        for word in _words(query):
            records = self._match(scope, f'"{word}"', _RANKED)
            for record in records:
                scores[record] = scores.get(record, 0.0) + 1 / (1 + math.log1p(len(records)))
        return sorted(scores.items(), key=lambda score: (-score[1], -score[0]))[:limit]

    def holding(self, scope: Scope, name: str, limit: int) -> list[int]:
        """Records that hold every word of a name, newest first."""
        words = _words(name)
        return self._match(scope, " AND ".join(f'"{word}"' for word in words), limit) if words else []

    def _match(self, scope: Scope, words: str, limit: int) -> list[int]:
        """The newest records that match a query of SQLite's."""
        rows = self._query(
            "SELECT fts.rowid FROM fts JOIN record ON record.id = fts.rowid"
            f" WHERE fts MATCH :words AND {within(scope)} ORDER BY fts.rowid DESC LIMIT :limit",
            words=words, scope=scope, limit=limit,
        )  # fmt: skip
        return [record for (record,) in rows]


def within(scope: Scope) -> str:
    """SQL that holds for the records of a scope, given as `:scope`."""
    sessions = "id = :scope" if isinstance(scope, int) else "substr(name, 1, length(:scope)) = :scope"
    return f"record.session IN (SELECT id FROM session WHERE {sessions})"


def _words(text: str) -> list[str]:
    """The words of a query, each once."""
    return list(dict.fromkeys(_WORD.findall(_index_form(text).lower())))[:_MOST_WORDS]


def _index_form(text: str) -> str:
    """The words of a text as the index takes them: scripts without blanks become runs of two signs."""
    text = text[:SEARCHED]
    if text.isascii():
        return text
    text = text.encode("utf-8", "replace").decode("utf-8")
    return _PAIRS.sub(lambda pair: f" {pair[1]} ", text)
