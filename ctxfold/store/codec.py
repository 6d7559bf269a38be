"""Encodes what a store keeps: texts and JSON as UTF-8, compressed where it pays and addressed by a hash, and rows with a checksum and counts that miss a lost one."""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from ctxfold.errors import CorruptStore

__all__ = [
    "COVERED",
    "PLAIN",
    "RECOUNT",
    "SEARCHED",
    "ZLIB",
    "column",
    "damaged",
    "decode",
    "digest",
    "encode",
    "from_column",
    "holds",
    "intact",
    "pack",
    "pack_json",
    "pack_text",
    "put",
    "recount",
    "register",
    "reseal",
    "seal_all",
    "searchable",
    "unpack",
    "unpack_json",
]


PLAIN, ZLIB = 0, 1
_WORTH_PACKING = 200


def encode(text: str) -> bytes:
    """The bytes of a text; lone surrogates, which JSON can carry, survive."""
    return text.encode("utf-8", "surrogatepass")


def decode(raw: bytes) -> str:
    """The text of bytes made by `encode`."""
    return raw.decode("utf-8", "surrogatepass")


def column(text: str) -> str | bytes:
    """A text as a column of text takes it: the database's own texts hold no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return encode(text)
    return text


def from_column(kept: str | bytes) -> str:
    """The text that `column` made it of."""
    return decode(kept) if isinstance(kept, bytes) else kept


def digest(raw: bytes) -> bytes:
    """The content hash of raw bytes, 16 bytes of BLAKE2b."""
    return blake2b(raw, digest_size=16).digest()


def pack(raw: bytes) -> tuple[int, bytes]:
    """How bytes are kept: the packing and the packed bytes."""
    if len(raw) >= _WORTH_PACKING:
        small = zlib.compress(raw, 3)
        if len(small) < len(raw):
            return ZLIB, small
    return PLAIN, raw


def unpack(packed: int, raw: bytes) -> bytes:
    """The bytes that were packed. Raises CorruptStore: they do not read back."""
    if packed == PLAIN:
        return raw
    try:
        return zlib.decompress(raw)
    except zlib.error as error:
        raise CorruptStore("an entry does not read back; restore a copy of the store") from error


def pack_text(text: str) -> bytes:
    """A text as the store keeps it in one column: one byte that names the packing, then the bytes."""
    packed, raw = pack(encode(text))
    return bytes((packed,)) + raw


def pack_json(tree: object) -> bytes:
    """JSON as the store keeps it."""
    return pack_text(json.dumps(tree, ensure_ascii=False, separators=(",", ":")))


def unpack_json(body: bytes) -> object:
    """JSON from bytes made by `pack_json`. Raises CorruptStore: they do not read back."""
    try:
        return json.loads(decode(unpack(body[0], body[1:])))
    except (ValueError, IndexError) as error:
        raise CorruptStore("a row does not read back; restore a copy of the store") from error


_SCRIPT = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
_WIDE = re.compile(f"(?=({_SCRIPT}{{1,2}})){_SCRIPT}")
SEARCHED = 400_000
"""Characters of a record that the index holds."""


def searchable(text: str) -> str:
    """The words of a text as the index takes them: scripts without blanks become runs of two signs."""
    text = text[:SEARCHED]
    if text.isascii():
        return text
    text = text.encode("utf-8", "replace").decode("utf-8")
    return _WIDE.sub(lambda found: f" {found[1]} ", text)


COVERED = {
    "session": "id, name, created, current, budget, heads, plans",
    "lane": "session, id, parent, fork",
    "step": "session, n, parent, lane, depth, open, tokens, raw, upto, raw_upto, time, held, late, words, noted",
    "record": "session, step, k, at, kind, origin, call_id, entry, shown, idempotency",
    "head": "session, id, name, topic, seq, created",
    "topic": "session, id, name",
    "event": "session, seq, head, prev, kind, decider, cause, json, time, revision, tip, cover, notes, decision, undone, intent, guide",
    "tile": "session, id, first, last, tokens",
    "cell": "session, id, prev, tile",
    "note": "session, id, prev, slot, text",
}
"""Of each table the columns that its checksum covers. What can be made anew from others (a record's form, a tile's body) has a checksum of its own."""

_BODIES = {"record": ("form", "form_sum"), "tile": ("body", "body_sum")}


def register(connection: sqlite3.Connection) -> None:
    """Teach a connection the function that the SQL of this module calls."""
    connection.create_function("checksum", -1, _checksum, deterministic=True)


def _checksum(*cells: object) -> int:
    """A checksum that tells any two rows apart that differ in one bit, or in 32 that lie together."""
    return zlib.crc32(cells[0]) if len(cells) == 1 and isinstance(cells[0], bytes) else zlib.crc32(repr(cells).encode())


def put(table: str, how: str = "INSERT") -> str:
    """The statement that keeps a row of a table, its covered columns as parameters, with its checksum."""
    columns = COVERED[table]
    marks = ", ".join(f"?{at}" for at in range(1, columns.count(",") + 2))
    return f"{how} INTO {table} ({columns}, sum) VALUES ({marks}, checksum({marks}))"


def holds(table: str) -> str:
    """The expression that is true of a row whose checksum is its own."""
    return f"{table}.sum = checksum({', '.join(f'{table}.{column}' for column in COVERED[table].split(', '))})"


def reseal(table: str) -> str:
    """The statement that writes the checksum of changed rows anew; what follows it chooses them."""
    return f"UPDATE {table} SET sum = checksum({COVERED[table]})"


def intact(rows: Iterable[tuple[Any, ...]], what: str) -> list[tuple[Any, ...]]:
    """Rows without their last column, which says whether the checksum is their own. Raises CorruptStore: one's is not."""
    found = list(rows)
    if not all(row[-1] for row in found):
        raise damaged(what)
    return [row[:-1] for row in found]


def damaged(what: str) -> CorruptStore:
    """The error where something of a kind is not what was written."""
    return CorruptStore(
        f"{what} of this store is damaged; restore a copy, or run `ctxfold doctor --salvage NEW-FILE`, which takes over what still reads"
    )


def seal_all(connection: sqlite3.Connection) -> None:
    """Write every checksum anew: for a store that had none."""
    for table in COVERED:
        connection.execute(reseal(table))
    for table, (body, kept) in _BODIES.items():
        connection.execute(f"UPDATE {table} SET {kept} = checksum({body})")


def _nearest(column: str, kind: str) -> str:
    """The step itself where it holds a record of a kind, else what its parent says."""
    return (
        f"CASE WHEN EXISTS (SELECT 1 FROM record WHERE record.session = step.session AND record.step = step.n AND kind = '{kind}') THEN n"
        f" ELSE ifnull((SELECT older.{column} FROM step AS older WHERE older.session = step.session AND older.n = step.parent), 0) END"
    )


RECOUNT = (
    "UPDATE step SET"
    " held = (SELECT count(*) FROM record WHERE record.session = step.session AND record.step = step.n),"
    " late = (SELECT count(*) FROM record WHERE record.session = step.session AND record.at = step.n AND record.at <> record.step),"
    f" words = {_nearest('words', 'user')}, noted = {_nearest('noted', 'note')}"
    " WHERE session = ? AND n = ?"
)
"""Counts one step anew: its records, those of others shown in it, and the nearest steps back that hold words of the user and notes."""


def recount(connection: sqlite3.Connection, session: int | None = None) -> None:
    """Count every step of a session, or of all, oldest first, for each builds on the one before it."""
    chosen = "" if session is None else " WHERE session = ?1"
    given = () if session is None else (session,)
    places = connection.execute(f"SELECT session, n FROM step{chosen} ORDER BY session, n", given).fetchall()
    connection.executemany(RECOUNT, places)
    connection.execute(reseal("step") + chosen, given)
