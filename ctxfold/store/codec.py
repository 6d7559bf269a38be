"""Encodes texts and JSON as the bytes a store keeps: UTF-8, compressed where it pays, addressed by a hash."""

from __future__ import annotations

import json
import re
import zlib
from hashlib import blake2b

from ctxfold.errors import CorruptStore

__all__ = [
    "PLAIN",
    "SEARCHED",
    "ZLIB",
    "column",
    "decode",
    "digest",
    "encode",
    "from_column",
    "pack",
    "pack_json",
    "pack_text",
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
    """The bytes that were packed.

    Raises:
        CorruptStore: they do not read back.
    """
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
    """JSON from bytes made by `pack_json`.

    Raises:
        CorruptStore: they do not read back.
    """
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
